"""Counterexamples in which a value stays open: they keep the rule with any of their optional rows,
by a check of its own, and DuckDB tells all subsets of these by what a suffix brings."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import duckdb
import pytest
from hypothesis import event, given

from ontoweir.checker.witness.witness import Witness, WitnessRow
from tests.checker.decide.test_closing_rules import ENDS, FEW, GAP, PAIRS, ROWS, SLACK, decide
from tests.oracle.budget import SEEDS, budget
from tests.oracle.database import open_database
from tests.oracle.test_witness_computed import make_expression

SHORT = GAP.replace("10 seconds", "1 second")
NONE_BETWEEN = ROWS.replace("50", "0")
RISING = SLACK.replace("20", "0")
ONE_ROW = '\nkeys = [["ts"]]'
CLOSING = (GAP, SHORT, ROWS, NONE_BETWEEN, ENDS)
THREE = PAIRS.replace("WHERE", ", buy c WHERE")
WAITS = f"SELECT a.url, b.url AS u {PAIRS} AND a.ts < b.ts"
COMPUTED = f"SELECT {{}} AS z {PAIRS} AND a.ts < b.ts"
ROW: TypeAlias = tuple[int, int, dict[str, Any]]
"""What row it is (0: always there; n: optional row n; -n: of suffix n), its step, its values."""

JOINS = [
    WAITS,
    f"SELECT DISTINCT a.url {PAIRS} AND a.ts < b.ts AND b.kind = 1",
    f"SELECT b.k {PAIRS} AND a.ts < b.ts AND a.cost < b.cost",
    f"SELECT a.url {THREE} AND a.ts < b.ts AND b.ts < c.ts AND c.price = 3",
]
GROUPS = [
    "SELECT k, COUNT(DISTINCT url) AS n FROM page WHERE k > '' GROUP BY k",
    "SELECT k, url, COUNT(*) AS n FROM page WHERE k > '' GROUP BY k, url",
]


@pytest.mark.parametrize(
    ("sql", "rule"),
    [
        *((WAITS, rule) for rule in CLOSING),
        *((sql, rule) for sql in JOINS[1:] for rule in (GAP, ROWS)),
        *((sql, rule) for sql in GROUPS for rule in (GAP, ENDS)),
        (WAITS, GAP + ONE_ROW),
        (GROUPS[0], GAP.replace("10", "2") + ONE_ROW),
    ],
)
def test_a_value_that_stays_open(sql: str, rule: str, tmp_path: Path) -> None:
    _check(sql, rule, tmp_path)


@pytest.mark.parametrize("rule", [SLACK, RISING])
@pytest.mark.parametrize("sql", [JOINS[0], "SELECT b.k FROM page a, page b WHERE a.url = b.url"])
def test_an_order_in_which_a_value_stays(sql: str, rule: str, tmp_path: Path) -> None:
    _check(sql, rule, tmp_path)


@pytest.mark.parametrize(
    ("sql", "rule"),
    [
        (WAITS, FEW),  # few rows have a value
        (WAITS, SHORT + ONE_ROW),  # each time has one row of the value, or it is closed
        (f"SELECT b.url {PAIRS} AND a.ts < b.ts AND a.kind = 1", GAP),
        ("SELECT k, COUNT(*) AS n FROM page WHERE k > '' GROUP BY k", GAP),
        (WAITS, GAP.replace("gap", "within")),
        # all open values together are a number that the rule limits
        ("SELECT DISTINCT a.k FROM page a, page b WHERE a.k = b.k AND a.ts < b.ts", ROWS),
    ],
)
def test_twin_what_is_bounded_has_none(sql: str, rule: str, tmp_path: Path) -> None:
    assert decide(sql, rule, tmp_path).witness is None


@pytest.mark.parametrize(
    ("sql", "rule"),
    [
        *((COMPUTED.format("a.cost + 1"), rule) for rule in CLOSING),
        (COMPUTED.format("a.cost + 1"), GAP + ONE_ROW),
        (COMPUTED.format("UPPER(a.url)"), GAP),
        (f"SELECT b.url {PAIRS} AND UPPER(a.url) = b.url AND a.ts < b.ts", GAP),
        (f"SELECT b.url {PAIRS} AND a.cost + 1 = b.cost AND a.kind + 1 = 2 AND a.ts < b.ts", GAP),
        ("SELECT k, COUNT(DISTINCT UPPER(url)) AS n FROM page WHERE k > '' GROUP BY k", GAP),
        (f"SELECT a.k, COUNT(DISTINCT b.url) AS n {PAIRS} AND a.ts < b.ts GROUP BY a.k", GAP),
        (f"SELECT a.k, COUNT(DISTINCT b.cost + 1) AS n {PAIRS} AND a.ts < b.ts GROUP BY a.k", ENDS),
    ],
)
def test_what_is_computed_of_a_value_that_stays_open(sql: str, rule: str, tmp_path: Path) -> None:
    _check(sql, rule, tmp_path)


@pytest.mark.parametrize(
    ("made", "name"),
    [
        ("a.cost % 7", "conditionally-bounded"),
        ("CASE WHEN a.cost > 3 THEN 1 ELSE 0 END", "conditionally-bounded"),
        ("GREATEST(LEAST(a.cost, 100), 0)", "conditionally-bounded"),
    ],
)
@pytest.mark.parametrize("rule", [GAP, ROWS])
def test_twin_what_is_computed_has_few_values(
    made: str, name: str, rule: str, tmp_path: Path
) -> None:
    assert decide(COMPUTED.format(made), rule, tmp_path).name == name


@budget(0.1)
@given(seed=SEEDS)
def test_random_expressions_of_a_value_that_stays_open(seed: int) -> None:
    """A counterexample convinces, and what is computed has values without end."""
    random = Random(seed)
    made = make_expression(random)
    rule = random.choice(CLOSING)
    of_row = re.sub(r"\bh\b", "a.kind", re.sub(r"\ba\b", "a.cost", made))
    if "a.cost" not in of_row:
        return
    with TemporaryDirectory() as place:
        verdict = decide(COMPUTED.format(of_row), rule, Path(place))
    event(verdict.name)
    if verdict.witness is not None:
        _check_witness(COMPUTED.format(of_row), rule, verdict.witness)
    if verdict.name == "unbounded":
        signs = "(VALUES (1), (-1)) AS q(s), range(4) AS k(h)"
        far = f"SELECT s * (1000000000 + i * 1000000) AS a, h FROM range(60) AS r(i), {signs}"
        with open_database() as base:
            found = base.execute(f"SELECT COUNT(DISTINCT {made}) FROM ({far})").fetchone()
        assert found is not None
        assert found[0] >= 40, made


def _check(sql: str, rule: str, tmp_path: Path) -> None:
    verdict = decide(sql, rule, tmp_path)
    assert verdict.name == "unbounded"
    assert verdict.witness is not None
    _check_witness(sql, rule, verdict.witness)


def _check_witness(sql: str, rule: str, witness: Witness) -> None:
    rows = list(_number(witness))
    subsets = [
        frozenset(chosen)
        for size in range(witness.size + 1)
        for chosen in combinations(range(1, witness.size + 1), size)
    ]
    base = _load(rows)
    told = set()
    for chosen in subsets:
        answers = [_answer(base, sql, {0, *chosen})]
        for suffix in range(1, witness.size + 1):
            there = {0, *chosen, -suffix}
            _check_rule(rule, [(step, v) for mark, step, v in rows if mark in there])
            answers.append(_answer(base, sql, there))
        if "GROUP BY" not in sql:  # what was answered before needs no memory
            answers = [answer - answers[0] for answer in answers[1:]]
        told.add(tuple(frozenset(answer.items()) for answer in answers))
    assert len(told) == len(subsets)


def _number(witness: Witness) -> Iterator[ROW]:
    marked: list[tuple[int, Sequence[WitnessRow]]] = [(0, witness.fixed)]
    marked += [(n, [row]) for n, row in enumerate(witness.optional, 1)]
    marked += [(-n, suffix) for n, suffix in enumerate(witness.suffixes, 1)]
    for mark, rows in marked:
        for row in rows:
            assert row.step is not None
            yield mark, row.step, {"table": row.table, **dict(row.values)}


def _load(rows: Sequence[ROW]) -> duckdb.DuckDBPyConnection:
    """Each row with its mark; views show those whose marks are in `there`."""
    base = open_database()
    columns = {
        "page": {"k": "TEXT", "kind": "INT", "url": "TEXT", "cost": "BIGINT", "done": "BOOLEAN"},
        "buy": {"k": "TEXT", "price": "BIGINT"},
    }
    for table, kinds in columns.items():
        shape = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
        base.execute(f"CREATE TEMP TABLE all_{table} ({shape}, ts BIGINT, mark INT)")
        there = "list_contains(getvariable('there'), mark)"
        base.execute(f"CREATE TEMP VIEW {table} AS FROM all_{table} WHERE {there}")
        for mark, step, values in rows:
            if values["table"] == table:
                marks = ", ".join("?" * (len(kinds) + 2))
                given = [*(values[name] for name in kinds), step, mark]
                base.execute(f"INSERT INTO all_{table} VALUES ({marks})", given)
    return base


def _answer(base: duckdb.DuckDBPyConnection, sql: str, there: set[int]) -> Counter[Any]:
    base.execute(f"SET VARIABLE there = {sorted(there)}")
    return Counter(base.execute(sql).fetchall())


def _check_rule(rule: str, rows: Sequence[tuple[int, dict[str, Any]]]) -> None:
    """Assert that rows of page keep it, and that no more than three come at one time."""
    page = sorted(((s, v) for s, v in rows if v["table"] == "page"), key=lambda row: row[0])
    assert max(Counter(s for s, _ in page).values(), default=0) <= 3
    steps: dict[str, list[int]] = {}
    for step, values in page:
        steps.setdefault(values["k"], []).append(step)
    most = int("".join(c for c in rule if c.isdigit()) or 0)
    if "gap" in rule:
        assert all(b - a <= most for mine in steps.values() for a, b in pairwise(mine))
    elif "rows" in rule:
        for value, mine in steps.items():
            for a, b in pairwise(mine):
                between = [v for s, v in page if a < s < b and v["k"] != value]
                assert len(between) <= most
    elif "slack" in rule:
        for step, values in page:  # rows of one time are in no order
            reached = max((v["cost"] for s, v in page if s < step), default=values["cost"])
            assert values["cost"] >= reached - most
    else:
        ended = {v["k"]: s for s, v in page if v["done"]}
        assert all(s <= ended.get(v["k"], s) for s, v in page)
        assert len(set(steps) - set(ended)) <= most
