"""Expressions of several rows, of doubles, whole numbers and decimals, compared with columns of
others: replayed and live, as DuckDB answers the same SQL over every prefix."""

from collections import Counter
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog, Column, IntType, Relation, Stream
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case, Tables
from tests.oracle.test_delays import _last_rows
from tests.oracle.test_sql_nulls import CATALOG as PLAIN
from tests.oracle.test_sql_nulls import MARKERS, NOTHING
from tests.oracle.test_stacked_queries import make_job, run_live
from tests.oracle.test_windows import _micros, _Oracle, _plain
from tests.runtime.in_process import replay_here, store

_NAMES = "fabhg"
_COLUMNS = tuple(
    Column(n, IntType()) if n == "a" else c
    for n in _NAMES
    if (c := PLAIN.streams["s"].column(n)) is not None
)
CATALOG = Catalog(
    {n: Stream(n, NOTHING, "ts", 1, 20, _COLUMNS) for n in "stu"},
    {"r": Relation("r", NOTHING, _COLUMNS)},
)
_VALUES: dict[str, tuple[Any, ...]] = {
    "f": (0.1, 0.2, 0.3, 0.30000000000000004, -0.1, 0.7, 0.7999999999999999, 5.0, 5.3, -0.0, 1e16),
    "a": (-3, -1, 0, 1, 2, 5, 2000, 2001),
    "b": tuple(map(Decimal, ("-0.10", "0.10", "0.30", "1.30", "2.00", "0.00"))),
    "h": (0, 1, 2),
    "g": ("x", "y"),
}
_OPS = ("<", "<=", "=", "<>", ">=", ">")


def make_data(random: Random) -> Tables:
    share = random.choice([0.0, 0.1, 0.4])

    def row() -> tuple[Any, ...]:
        return tuple(None if random.random() < share else random.choice(_VALUES[n]) for n in _NAMES)

    data: Tables = {}
    for name in "stu":
        times = sorted(random.randrange(MARKERS) for _ in range(random.randint(0, 8)))
        data[name] = ([*_NAMES, "ts"], [(*row(), time) for time in times])
    data["r"] = (list(_NAMES), [row() for _ in range(random.randint(0, 4))])
    return data


def _number(random: Random, aliases: str, kinds: str, depth: int) -> str:
    if not depth or random.random() < 0.15:
        constants = ("5", "0.1", "0.3", "2", "1.8e0", "32") if "f" in kinds else ("1", "3", "0.3")
        column = f"{random.choice(aliases)}.{random.choice(kinds)}"
        return column if random.random() < 0.8 else random.choice(constants)
    left, right, other = (_number(random, aliases, kinds, depth - 1) for _ in range(3))
    match random.randrange(9):
        case 0:
            return f"ABS({left})"
        case 1:
            return f"COALESCE({left}, {right})"
        case 2:
            return f"LEAST({left}, {right})"
        case 3:
            return f"CASE WHEN {left} {random.choice(_OPS)} {right} THEN {other} ELSE {left} END"
        case _:
            return f"({left} {random.choice('+--*')} {right})"


def _condition(random: Random, aliases: str, kinds: str) -> str:
    def number() -> str:
        return _number(random, aliases, kinds, random.randint(0, 2))

    op = random.choice(_OPS)
    match random.randrange(7):
        case 0 | 1:  # a difference, with a constant or a column of a third row
            left, right = (f"{random.choice(aliases)}.{random.choice(kinds)}" for _ in range(2))
            limit = random.choice(["5", "0.1", f"{random.choice(aliases)}.{random.choice(kinds)}"])
            return f"{left} - {right} {op} {limit}"
        case 2:
            return f"({number()} {op} {number()} OR {number()} {random.choice(_OPS)} {number()})"
        case 3:
            return f"{number()} BETWEEN {number()} AND {number()}"
        case 4:
            return f"NOT ({number()} {op} {number()})"
        case _:
            return f"{number()} {op} {number()}"


def make_query(random: Random) -> tuple[str, bool, set[str]]:
    """A query, whether it has groups, and its tables."""
    aliases = "xyz"[: random.choice([2, 2, 2, 3])]
    tables = [random.choice("sttsu") for _ in aliases]
    if random.random() < 0.2:
        tables[-1] = "r"
    live = [a for a, t in zip(aliases, tables, strict=True) if t != "r"]
    conditions = []
    for one, other in pairwise(live):
        near = f"{one}.ts <= {other}.ts", f"{other}.ts <= {one}.ts + INTERVAL '3' MICROSECOND"
        conditions += [f"{one}.ts = {other}.ts"] if random.random() < 0.4 else [*near]
    # doubles are in units of decimals where both are compared: they go without each other here
    kinds = random.choice(["f", "f", "fa", "a", "b", "ab", "ah", "hf"])
    conditions += [_condition(random, aliases, kinds) for _ in range(random.randint(0, 2))]
    random.shuffle(conditions)
    rest = ", ".join(f"{t} AS {a}" for t, a in zip(tables, aliases, strict=True))
    rest += f" WHERE {' AND '.join(conditions)}" if conditions else ""
    value = _number(random, aliases, kinds, 2)
    if random.random() < 0.3:
        call = random.choice(["MAX({})", "MIN({})", "COUNT({})", "COUNT(DISTINCT {})"])
        part = random.choice(["", f" FILTER (WHERE {_condition(random, aliases, kinds)})"])
        text = f"SELECT x.h AS c0, {call.format(value)}{part} AS c1 FROM {rest} GROUP BY x.h"
        return text, True, set(tables)
    word = random.choice(["", "", "DISTINCT "])
    return f"SELECT {word}{value} AS c0, x.h AS c1 FROM {rest}", False, set(tables)


def _same(rows: Counter[Any]) -> Counter[Any]:
    """Numbers by their values; constants are shown as texts."""
    found: Counter[Any] = Counter()
    for row, count in rows.items():
        cells = [float(c) if c not in ("x", "y") else c for c in row if c is not None]
        if len(cells) == len(row):
            found[tuple(cells)] += count
    return found


def check(seed: int) -> str:
    random = Random(seed)
    text, groups, tables = make_query(random)
    data = make_data(random)
    try:
        union = parse_sql(text, CATALOG, name="q", file="q.sql")
    except QueryError as error:
        return f"refused: {error.what.split(',')[0][:40]}"
    verdict = check_query(union, CATALOG, disprove=False)
    if verdict.plans is None or verdict.tier is Tier.UNSATISFIABLE:
        return str(verdict.tier)
    assert verdict.bound is not None
    case, oracle = Case(CATALOG, union, data, MARKERS), _Oracle(data)
    last = max((row[-1] for n in tables - {"r"} for row in data[n][1]), default=-1)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        catalog, statics = store(case, random, Path(folder))
        job = make_job(verdict, union, catalog)
        options: dict[str, Any] = {"statics": statics, "rows_per_range": 1}
        options["rows_per_chunk"] = random.choice([1, 2, 5, 100])
        whole, summary = replay_here(patch, job, Path(folder, "1.parquet"), **options, ranges=1)
        assert verdict.bound.rows is None or summary.state_rows_max <= verdict.bound.rows
        many, _ = replay_here(patch, job, Path(folder, "n.parquet"), **options, ranges=3)
        live, done = run_live(case, verdict, random, Path(folder))
        for rows, until in ((whole, last), (many, last), (live, done)):
            for marker in range(until + 1):
                found = _last_rows(rows, marker) if groups else _found(rows, marker)
                assert _same(found) == _same(oracle.answers(text, marker)), (text, marker)
    return f"{'stream of matches, ' if union.blocks else ''}{verdict.tier}"


def _found(rows: list[dict[str, Any]], marker: int) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for row in rows:
        if _micros(row["at"]) <= marker:
            cells = tuple(_plain(c) for n, c in row.items() if n not in ("at", "multiplicity"))
            found[cells] += row.get("multiplicity", 1)
    return found


@budget(0.1)
@given(seed=SEEDS)
def test_types_of_several_rows_equal_duckdb(seed: int) -> None:
    event(check(seed))


@pytest.mark.parametrize(
    "condition",
    [
        "(2 + x.b) + (y.b - x.b) > (x.b - y.b)",
        "(x.b - ABS(y.b)) <= y.b",
        "x.a + y.a BETWEEN x.h AND 5",
        "x.a + y.a IN (1, 2)",
        "x.a + y.a IS NOT NULL",
        "(x.a > 3 OR y.a > 3)",
        "NOT (x.a > 3 AND y.b > 1)",
        "(x.f > y.f OR EXTRACT(EPOCH FROM y.ts - x.ts) + x.h > 3)",
    ],
)
def test_conditions_of_several_rows_are_read(condition: str) -> None:
    """They were refused, of columns with names of ours."""
    text = f"SELECT x.h AS c0, y.h AS c1 FROM s x, t y WHERE x.ts = y.ts AND {condition}"
    union = parse_sql(text, CATALOG, name="q", file="q.sql")
    assert union.blocks
    assert check_query(union, CATALOG).plans is not None


def test_a_condition_that_never_holds_is_refused() -> None:
    text = "SELECT x.a - y.a AS c0 FROM s x, t y WHERE x.ts = y.ts AND 1 = 2"
    with pytest.raises(QueryError, match="never holds"):
        parse_sql(text, CATALOG, name="q", file="q.sql")
