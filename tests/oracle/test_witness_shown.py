"""Counterexamples of groups with HAVING and expressions: DuckDB answers the same text over every
subset of the optional rows and each suffix, step by step; the updates that follow tell all subsets
apart."""

from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.verdict.verdict import Tier
from ontoweir.checker.witness.witness import Witness, WitnessRow
from ontoweir.errors import QueryError
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import Emit, choose_emit
from tests.oracle.budget import SEEDS, budget
from tests.oracle.database import open_database
from tests.oracle.test_witness_beside import FREE, decide

_NUMBERS = ("COUNT(*)", "COUNT({0})", "MAX({0})", "MIN({0})", "SUM({0})", "COUNT(DISTINCT {0})")
_CONDITIONAL = (
    "COUNT(*) FILTER (WHERE {0} > 5)",
    "SUM(CASE WHEN {0} < 3 THEN 1 ELSE 0 END)",
    "COUNT(CASE WHEN {0} > 5 AND x.h < 9 THEN 1 END)",
)
_SHOWN = ("{0}", "{0} + 1", "{0} * 0", "ROUND({0} / 3, 1)", "{0} > 2", "-{0}")


def make_query(random: Random) -> str:
    """Groups of a stream, or of a join, of which rows are shown as HAVING and expressions say."""
    group = random.choice([["x.a"], ["x.a"], ["x.g"], ["x.g", "x.h"], ["x.b"]])
    of = random.choice(["x.h", "x.h", "x.a"])
    numbers = _NUMBERS if random.random() < 0.6 else _CONDITIONAL
    made = [random.choice(numbers).format(of) for _ in range(2)]
    shown = [random.choice(_SHOWN).format(m) for m in made[: random.choice([0, 1, 2])]]
    tables = "s AS x"
    if random.random() < 0.3:
        tables += " JOIN t AS y ON " + random.choice(["x.a = y.a", "x.h = y.h AND x.ts <= y.ts"])
    having = ""
    if random.random() < 0.7 or not shown:
        op, number = random.choice([">", ">="]), random.choice([0, 1, 2, 3, 5, 20])
        having = f" HAVING {made[-1]} {op} {number}"
        if random.random() < 0.2:
            having += f" AND {group[0]} > {random.choice([0, 3])}" if "g" not in group[0] else ""
    listed = ", ".join([*group, *(f"{e} AS n{n}" for n, e in enumerate(shown))])
    where = random.choice(["", "", " WHERE x.h > 0"])
    return f"SELECT {listed} FROM {tables}{where} GROUP BY {', '.join(group)}{having}"


def check_witness(text: str, witness: Witness, groups: int) -> None:
    """Assert that any algorithm must tell all subsets of the optional tuples apart. Where rows are
    taken back, what they were is told; of updates, which groups are gone, at most."""
    taken_back = choose_emit(parse_sql(text, FREE, name="q", file="q.sql")) is Emit.CHANGES
    prefix = [*witness.fixed, *witness.optional]
    known = max(r.step for r in prefix if r.step is not None)
    told = set()
    for chosen in product((False, True), repeat=witness.size):
        rows = [o for o, taken in zip(witness.optional, chosen, strict=True) if taken]
        found = []
        for suffix in witness.suffixes:
            steps = sorted({r.step for r in suffix if r.step is not None})
            assert steps[0] > known
            updates, held = [], _answers(text, [*witness.fixed, *rows], groups)
            for step in steps:
                there = [r for r in suffix if r.step is not None and r.step <= step]
                now = _answers(text, [*witness.fixed, *rows, *there], groups)
                gone = held.items() - now.items() if taken_back else held.keys() - now.keys()
                updates.append((frozenset(now.items() - held.items()), frozenset(gone)))
                held = now
            found.append(tuple(updates))
        told.add(tuple(found))
    assert len(told) == 2**witness.size, (text, witness)


def _answers(text: str, rows: list[WitnessRow], groups: int) -> dict[Any, Any]:
    """What DuckDB shows of each group."""
    with open_database() as base:
        for name in ("s", "t"):
            columns = [c.name for c in FREE.streams[name].columns]
            types = {"a": "BIGINT", "b": "DECIMAL(6,2)", "g": "VARCHAR", "h": "BIGINT"}
            spec = ", ".join(f"{c} {types[c]}" for c in columns)
            base.execute(f"CREATE TEMP TABLE {name} ({spec}, ts TIMESTAMP)")
            for row in (r for r in rows if r.table == name):
                content = dict(row.values)
                marks = ", ".join("?" * len(columns))
                base.execute(
                    f"INSERT INTO {name} VALUES ({marks}, make_timestamp(?))",
                    [*(content[c] for c in columns), row.step],
                )
        return {row[:groups]: row[groups:] for row in base.execute(text).fetchall()}


def check(seed: int) -> str:
    """The verdict on a random query, whose counterexample convinces."""
    text = make_query(Random(seed))
    try:
        verdict = decide(text)
    except QueryError as error:
        if "later not" not in str(error):
            raise
        return "refused"
    assert (verdict.witness is not None) == (verdict.tier is Tier.UNBOUNDED)
    if verdict.witness is not None:
        check_witness(
            text, verdict.witness, text.partition("GROUP BY")[2].partition("HAVING")[0].count("x.")
        )
    return str(verdict.tier)


@budget(0.2)
@given(seed=SEEDS)
def test_counterexamples_convince_duckdb(seed: int) -> None:
    event(check(seed))


@pytest.mark.parametrize(
    ("having", "tier"),
    [
        ("COUNT(*) > 3", Tier.UNBOUNDED),
        ("COUNT(*) >= 250", Tier.UNBOUNDED),
        ("MAX(h) > 3", Tier.UNBOUNDED),
        ("COUNT(*) > 3 AND a < 100", Tier.UNBOUNDED),
        ("COUNT(*) > 3 AND ABS(a) < 100", Tier.UNDECIDED),  # of which there may be few
        ("COUNT(*) > 3 AND COUNT(*) > 4000", Tier.UNDECIDED),  # more rows than are laid out
    ],
)
def test_what_having_hides(having: str, tier: Tier) -> None:
    verdict = decide(f"SELECT a, COUNT(*) AS n FROM s GROUP BY a HAVING {having}")
    assert verdict.tier is tier
    if verdict.witness is not None and len(verdict.witness.suffixes[0]) < 10:  # else it takes long
        text = f"SELECT a, COUNT(*) AS n FROM s GROUP BY a HAVING {having}"
        check_witness(text, verdict.witness, 1)


@pytest.mark.parametrize(
    "shown",
    [
        "COUNT(*) FILTER (WHERE h > 3)",
        "COUNT(*) FILTER (WHERE h > 3) * 1.0 / COUNT(*)",
        "ROUND(100.0 * SUM(CASE WHEN h < 3 THEN 1 ELSE 0 END) / COUNT(*), 1)",
        "COUNT(*) FILTER (WHERE h > 3 AND b < 2) > 3",
        "AVG(CASE WHEN g = 'open' THEN 1.0 ELSE 0.0 END)",
    ],
)
def test_what_counts_some_of_the_rows(shown: str) -> None:
    text = f"SELECT a, {shown} AS n FROM s GROUP BY a"
    verdict = decide(text)
    assert verdict.witness is not None
    check_witness(text, verdict.witness, 1)


@pytest.mark.parametrize(
    ("made", "tier"),
    [
        ("UPPER(g)", Tier.UNBOUNDED),
        ("LOWER(g)", Tier.UNBOUNDED),
        ("ABS(a)", Tier.UNBOUNDED),
        ("SUBSTR(g, 1, 3)", Tier.UNBOUNDED),
        ("SUBSTR(g, 1, 1)", Tier.UNDECIDED),  # of which there may be few
        ("CASE WHEN a < 50 THEN a ELSE 50 END", Tier.UNBOUNDED),  # of what is less
        ("CASE WHEN a < 50 AND a > 0 THEN a ELSE 50 END", Tier.CONDITIONALLY_BOUNDED),
    ],
)
def test_what_is_computed_of_rows(made: str, tier: Tier) -> None:
    text = f"SELECT {made} AS z, COUNT(*) AS n FROM s GROUP BY z"
    verdict = decide(text)
    assert verdict.tier is tier
    if verdict.witness is not None:
        check_witness(text, verdict.witness, 1)
