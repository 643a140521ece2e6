"""SELECT of columns that are declared nullable: replayed in one range and in several, and live, as
DuckDB answers the same SQL over every prefix, NULL included."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import DataError, QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.sql.print_sql import print_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case, Tables
from tests.oracle.test_sql_nulls import CATALOG as PLAIN
from tests.oracle.test_sql_nulls import MARKERS, make_data
from tests.oracle.test_stacked_queries import make_job, run_live
from tests.oracle.test_windows import _micros, _Oracle, _plain
from tests.runtime.in_process import replay_here, store


def _declare(*nullable: str) -> Catalog:
    def changed(table: Any) -> Any:
        columns = (replace(c, nullable=c.name in nullable) for c in table.columns)
        return replace(table, columns=tuple(columns))

    streams = {n: changed(s) for n, s in PLAIN.streams.items()}
    relations = {n: changed(r) for n, r in PLAIN.relations.items()}
    return Catalog(streams, relations)


CATALOG = _declare(*"abghdf")
_NONE: Tables = {}
_HELD = {"s": "abghdf", "t": "abgh", "r": "hag"}


class _Answers(_Oracle):
    """DuckDB at times, with the rows in which something is NULL."""

    def answers(self, text: str, now: int) -> Counter[Any]:
        super().answers("SELECT 1", now)
        return Counter(self.base.execute(text).fetchall())


def _condition(random: Random, every: list[str]) -> str:
    column = random.choice(every)
    other = random.choice([c for c in every if c[-1] == column[-1]])
    match random.randrange(6):
        case 5:
            sides = (_condition(random, every), _condition(random, every))
            return random.choice(["({} OR {})", "NOT ({} AND {})"]).format(*sides)
        case 0:
            return f"{column} IS NULL"
        case 1:
            return f"{column} IS NOT NULL"
        case 2 if other != column:
            return f"{column} {random.choice(['=', '<>', '<='])} {other}"
        case _:
            whole = random.choice([c for c in every if c[-1] in "ah"])
            return f"{whole} {random.choice(['<', '=', '>='])} {random.randint(-1, 2)}"


def make_query(random: Random) -> str:
    """A SELECT of some columns, and what is computed of them, over some tables."""
    aliases = "xyz"[: random.choice([1, 1, 2, 2, 3])]
    tables = [random.choice("stst") for _ in aliases]
    if len(aliases) > 1 and random.random() < 0.4:
        tables[-1] = "r"
    live = [a for a, t in zip(aliases, tables, strict=True) if t != "r"]
    conditions = []
    for one, other in pairwise(live):
        conditions.append(random.choice([f"{one}.ts < {other}.ts", f"{one}.ts = {other}.ts"]))
        if random.random() < 0.5:
            conditions.append(f"{other}.ts <= {one}.ts + INTERVAL '3' MICROSECOND")
        if random.random() < 0.6:
            tie = random.choice("hg")
            conditions.append(f"{one}.{tie} = {other}.{tie}")
    if tables[-1] == "r" and random.random() < 0.7:
        conditions.append(f"{aliases[-1]}.h = {aliases[0]}.h")
    every = [f"{a}.{c}" for a, t in zip(aliases, tables, strict=True) for c in _HELD[t]]
    conditions += [_condition(random, every) for _ in range(random.choice([0, 0, 1, 2]))]
    shown = random.sample(every, k=random.randint(1, 4))
    if random.random() < 0.3:
        column = random.choice([c for c in every if c[-1] in "ah"])
        computed = f"{column} + 1", f"CASE WHEN {column} > 0 THEN 'x' END", f"ABS({column})"
        shown.append(random.choice(computed))
    columns = ", ".join(f"{c} AS c{n}" for n, c in enumerate(shown))
    word = random.choice(["", "", "DISTINCT "])
    rest = ", ".join(f"{t} AS {a}" for t, a in zip(tables, aliases, strict=True))
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"SELECT {word}{columns} FROM {rest}{where}"


def _found(rows: list[dict[str, Any]], marker: int) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for row in rows:
        if _micros(row["at"]) <= marker:
            cells = tuple(_plain(c) for n, c in row.items() if n not in ("at", "multiplicity"))
            found[cells] += row.get("multiplicity", 1)
    return found


def compare(random: Random, text: str, catalog: Catalog, data: Tables) -> str:
    """Assert that a query, if it is bounded, is answered as DuckDB does at every time."""
    try:
        union = parse_sql(text, catalog, name="q", file="q.sql")
        verdict = check_query(union, catalog, disprove=False)
    except QueryError as error:
        return f"refused: {error.what.split(',')[0][:40]}"
    if verdict.plans is None or verdict.tier is Tier.UNSATISFIABLE:
        return str(verdict.tier)
    assert verdict.bound is not None
    case, oracle = Case(catalog, union, data, MARKERS), _Answers(data)
    last = max((row[-1] for n in "st" for row in data[n][1]), default=-1)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        stored, statics = store(case, random, Path(folder))
        job = make_job(verdict, union, stored)
        options: dict[str, Any] = {"statics": statics, "rows_per_range": 1}
        options["rows_per_chunk"] = random.choice([1, 2, 5, 100])
        whole, summary = replay_here(patch, job, Path(folder, "1.parquet"), **options, ranges=1)
        assert verdict.bound.rows is None or summary.state_rows_max <= verdict.bound.rows, text
        many, _ = replay_here(patch, job, Path(folder, "n.parquet"), **options, ranges=3)
        live, done = run_live(case, verdict, random, Path(folder))
        for rows, until in ((whole, last), (many, last), (live, done)):
            for marker in range(until + 1):
                assert _found(rows, marker) == oracle.answers(text, marker), (text, marker)
        if not union.blocks and not union.derived:
            printed = print_sql(union, catalog, dialect="duckdb", comments=False)
            assert oracle.answers(printed, MARKERS) == oracle.answers(text, MARKERS), printed
    return f"{verdict.tier}, {'optional' if 'optional=True' in repr(union) else 'valued'}"


def check(seed: int) -> str:
    random = Random(seed)
    return compare(random, make_query(random), CATALOG, make_data(random))


@budget(0.3)
@given(seed=SEEDS)
def test_null_is_shown_as_duckdb_shows_it(seed: int) -> None:
    event(check(seed))


def _replay(
    text: str, catalog: Catalog, rows: list[tuple[Any, ...]], ranges: int, others: Tables = _NONE
) -> Counter[Any]:
    """What a query answers over a table `s`, and others, cut into so many ranges."""
    data: Tables = {**make_data(Random(1)), "s": ([*_HELD["s"], "ts"], rows), **others}
    union = parse_sql(text, catalog, name="q", file="q.sql")
    verdict = check_query(union, catalog, disprove=False)
    case = Case(catalog, union, data, MARKERS)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        stored, statics = store(case, Random(1), Path(folder))
        job = make_job(verdict, union, stored)
        options: dict[str, Any] = {"statics": statics, "rows_per_range": 1, "ranges": ranges}
        return _found(replay_here(patch, job, Path(folder, "1.parquet"), **options)[0], MARKERS)


@pytest.mark.parametrize(
    ("nullable", "shown", "hidden"),
    [
        ("", [], {("s", "a"), ("s", "g")}),
        ("a", [(None, "x")], {("s", "g")}),
        ("g", [(1, None)], {("s", "a")}),
        ("ag", [(None, "x"), (1, None)], set()),
    ],
)
def test_null_is_shown_where_it_is_declared(
    nullable: str, shown: list[Any], hidden: set[Any]
) -> None:
    rows = [(None, None, "x", 1, None, None, 0), (1, None, None, 1, None, 2.0, 1)]
    text, catalog = "SELECT a, g FROM s", _declare(*nullable)
    assert _replay(text, catalog, rows, 1) == Counter(shown)
    assert set(parse_sql(text, catalog, name="q", file="q.sql").hidden) == hidden


_ABSENT = "NOT EXISTS (SELECT 1 FROM t AS p WHERE p.ts <= x.ts AND p.h = x.a)"
_INNER = f"(SELECT x.ts AS ts, x.h, x.a FROM s AS x WHERE {_ABSENT})"
_LATER = (
    "NOT EXISTS (SELECT 1 FROM t AS p WHERE p.ts > x.ts AND p.h = x.a "
    "AND p.ts <= x.ts + INTERVAL '3' MICROSECOND)"
)
_NESTED = (
    "EXISTS (SELECT 1 FROM r AS y WHERE y.h = x.h "
    "AND NOT EXISTS (SELECT 1 FROM t AS q WHERE q.ts <= x.ts AND q.g = y.g))"
)


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        (f"SELECT x.h FROM s AS x WHERE {_ABSENT}", 2),
        (f"SELECT w.h FROM {_INNER} AS w LEFT JOIN t AS y ON y.ts = w.ts AND y.h = 0", 2),
        (f"SELECT w.a FROM {_INNER} AS w LEFT JOIN t AS y ON y.ts = w.ts AND y.h = 0", 1),
        # what is computed of a partner that is not there is NULL
        (f"SELECT y.a + w.h FROM {_INNER} AS w LEFT JOIN t AS y ON y.ts = w.ts AND y.h = 0", 2),
        (f"SELECT x.h, x.a FROM s AS x WHERE {_ABSENT}", 1),
        (f"SELECT w.h FROM (SELECT x.h, x.a FROM s AS x WHERE {_ABSENT}) AS w", 2),
        (f"SELECT w.h, w.a FROM (SELECT x.h, x.a FROM s AS x WHERE {_ABSENT}) AS w", 1),
        (f"SELECT w.h FROM (SELECT x.h, x.a FROM s AS x WHERE {_ABSENT}) AS w WHERE w.h = 1", 2),
        (f"SELECT DISTINCT x.h, x.ts FROM s AS x WHERE {_LATER} AND {_NESTED}", 2),
    ],
)
def test_what_is_not_shown_may_be_null(text: str, answers: int) -> None:
    assert _ask_absent(text, PLAIN) == answers


@pytest.mark.parametrize(("nullable", "answers"), [("", 1), ("a", 2)])
def test_columns_of_subqueries_are_null_as_declared(nullable: str, answers: int) -> None:
    rows = "(SELECT x.ts AS ts, x.h, x.a FROM s AS x WHERE NOT x.h = 2)"
    absent = _ABSENT.replace("x.", "w.")
    catalog = _declare(*nullable)
    assert _ask_absent(f"SELECT w.h, w.a FROM {rows} AS w WHERE {absent}", catalog) == answers
    joined = "LEFT JOIN t AS y ON y.ts = w.ts AND y.h = 0"
    assert _ask_absent(f"SELECT w.h, w.a FROM {rows} AS w {joined}", catalog) == answers


def _ask_absent(text: str, catalog: Catalog) -> int:
    """How many answers there are from the first two rows, one of which has a NULL."""
    rows = [(None, None, "x", 1, None, None, 0), (2, None, "x", 1, None, None, 1)]
    more = [(None, None, "x", 0, None, None, 8)]
    others: Tables = {
        "t": (["a", "b", "g", "h", "ts"], [(None, None, "x", 1, 0), (None, None, "x", 1, 8)]),
        "r": (["h", "a", "g"], [(1, 0, "y")]),
    }
    early = "x.ts < TIMESTAMP '1970-01-01 00:00:00.000005'"
    text = text.replace("WHERE NOT", f"WHERE {early} AND NOT", 1)
    return _replay(text, catalog, [*rows, *more], 1, others).total()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT DISTINCT a, g FROM s",
        "SELECT a, g FROM s UNION SELECT a, g FROM s WHERE h = 1",
        "SELECT DISTINCT d FROM s",
    ],
)
def test_a_row_with_null_is_told_once_by_all_ranges(text: str) -> None:
    rows = [(None, None, "x", 1, None, None, time) for time in range(6)]
    catalog = _declare(*"adg")
    once = _replay(text, catalog, rows, 1)
    assert list(once.values()) == [1]
    assert _replay(text, catalog, rows, 3) == once


def test_a_value_that_stands_for_null_is_an_error() -> None:
    least = -(1 << 62) - 1
    streams = {
        n: replace(s, columns=tuple(replace(c, minimum=None, maximum=None) for c in s.columns))
        for n, s in CATALOG.streams.items()
    }
    catalog = replace(CATALOG, streams=streams)
    with pytest.raises(DataError, match="stands for NULL"):
        _replay("SELECT a FROM s", catalog, [(least, None, "x", 1, None, None, 0)], 1)


def test_the_bound_counts_null() -> None:
    """A declared domain has one value more, and a key with NULL limits nothing."""
    text = "SELECT DISTINCT h FROM s"
    for nullable, rows in ((), 3), (("h",), 4):
        catalog = _declare(*nullable)
        verdict = check_query(parse_sql(text, catalog, name="q", file="q.sql"), catalog)
        assert verdict.bound is not None
        assert verdict.bound.rows == rows
        assert ("NULL" in verdict.bound.formula) is bool(nullable)
