"""Counterexamples of what is computed of rows: DuckDB answers the same text over every subset of
the optional rows and each suffix, and finds that what is computed has values without end."""

from random import Random

import pytest
from hypothesis import event, given

from ontoweir.checker.verdict.verdict import Tier
from tests.oracle.budget import SEEDS, budget
from tests.oracle.database import open_database
from tests.oracle.test_witness_beside import decide
from tests.oracle.test_witness_shown import check_witness


def make_expression(random: Random, depth: int = 3) -> str:
    """A number, computed of the columns `a` and `h`."""
    if depth == 0 or random.random() < 0.1:
        return random.choice(["a", "a", "h", str(random.randint(-3, 200))])

    def inner() -> str:
        return make_expression(random, depth - 1)

    number = random.choice([-7, -1, 2, 10, 3])
    match random.randint(0, 9):
        case 0 | 1:
            return f"({inner()} {random.choice('+-')} {inner()})"
        case 2:
            return f"({inner()} * {number})"
        case 3:
            return f"{random.choice(['ABS', 'SIGN'])}({inner()})"
        case 4 | 5:
            return f"{random.choice(['GREATEST', 'LEAST'])}({inner()}, {inner()})"
        case 6:
            return f"CAST(FLOOR({inner()} / {abs(number)}) AS BIGINT)"
        case 7:
            return f"COALESCE({inner()}, {inner()})"
        case 8:
            return f"({inner()} % {random.randint(2, 9)})"
        case _:
            op = random.choice(["<", "<=", "=", "<>", ">", ">="])
            return f"CASE WHEN {inner()} {op} {inner()} THEN {inner()} ELSE {inner()} END"


def count_values(made: str) -> int:
    """How many values it has for some far from 0: of a column alone, or of both."""
    far = (
        "(SELECT s * (1000000000 + i * 1000000) FROM range(60) AS r(i), (VALUES (1), (-1)) AS q(s))"
    )
    with open_database() as base:
        found = [
            base.execute(f"SELECT COUNT(DISTINCT {made}) FROM {rows}").fetchone()
            for rows in (
                f"(SELECT x AS a, 1::BIGINT AS h FROM {far} AS f(x)) AS s",
                f"(SELECT 1::BIGINT AS a, x AS h FROM {far} AS f(x)) AS s",
            )
        ]
    return max(int(row[0]) for row in found if row is not None)


def check(seed: int) -> None:
    """One random expression, grouped by or shown once."""
    random = Random(seed)
    made = make_expression(random)
    shown = random.choice(["", ", g", ", HOUR(ts)"])
    names = f"{made} AS z" + {"": "", ", g": ", g", ", HOUR(ts)": ", HOUR(ts) AS o"}[shown]
    if random.random() < 0.5:
        text, groups = f"SELECT DISTINCT {names} FROM s", 1 + bool(shown)
    else:
        text = f"SELECT {names}, COUNT(*) AS n FROM s GROUP BY {made}{shown}"
        groups = 1 + bool(shown)
    if not {"a", "h"} & set(made):
        return
    verdict = decide(text)
    event(str(verdict.tier))
    if verdict.witness is None:
        return
    check_witness(text, verdict.witness, groups)
    if shown != ", g":  # which has values without end itself
        assert count_values(made) >= 40, text


@budget(0.12)
@given(seed=SEEDS)
def test_counterexamples_convince_duckdb(seed: int) -> None:
    check(seed)


@pytest.mark.parametrize(
    ("made", "tier"),
    [
        ("a + h", Tier.UNBOUNDED),
        ("COALESCE(a, h)", Tier.UNBOUNDED),
        ("a / 10", Tier.UNBOUNDED),
        ("CASE WHEN a > 5 THEN a ELSE 0 END", Tier.UNBOUNDED),
        ("a * a", Tier.UNBOUNDED),
        ("a * (3 - a)", Tier.UNBOUNDED),
        ("a * a - a * a", None),
        ("CASE WHEN a < 50 THEN a ELSE 50 END", Tier.UNBOUNDED),
        ("UPPER(CONCAT(g, '-', h))", Tier.UNBOUNDED),
        ("GREATEST(LEAST(a, 100), 0)", None),
        ("SIGN(a * h)", None),
        ("a % 7 + h % 2", None),
        ("CASE WHEN a % 2 = 0 THEN 1 ELSE 0 END", None),
        ("LENGTH(g)", Tier.UNBOUNDED),
        ("SUBSTR(g, 1, 3)", Tier.UNBOUNDED),  # more values than can be held
        ("SUBSTR(g, 1, 1)", None),  # of which there may be few
        ("YEAR(ts)", None),
    ],
)
@pytest.mark.parametrize(
    "text", ["SELECT DISTINCT {} AS z FROM s", "SELECT {} AS z, COUNT(*) AS n FROM s GROUP BY z"]
)
def test_what_has_values_without_end(made: str, text: str, tier: Tier | None) -> None:
    verdict = decide(text.format(made))
    assert (verdict.tier is Tier.UNBOUNDED) == (tier is not None)
    if verdict.witness is not None:
        check_witness(text.format(made), verdict.witness, 1)
