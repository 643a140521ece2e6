"""Repairs: each mends, none has a part that is not needed, the gentlest come first."""

from dataclasses import replace
from decimal import Decimal
from itertools import combinations
from pathlib import Path
from random import Random

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.decide.has_plan import has_plan
from ontoweir.checker.repair.changes import (
    AddOrder,
    AddWindow,
    Change,
    DeclareDomain,
    DeclareFew,
    DeclareGap,
    DeclareReference,
    DropGroup,
    DropVariable,
    LeaveNulls,
    SetDistinct,
    apply_change,
    bound_column,
    rank_change,
)
from ontoweir.checker.repair.find_repairs import MAX_REPAIRS, find_repairs
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    Scalar,
)
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.passes.remove_self_joins import remove_self_joins
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import STYLES, make_case

TOML = """
[streams.s]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 3
[streams.s.columns]
k = "int"
a = "int"
f = "double"
name = "string"
small = { type = "int", min = 0, max = 9 }
[streams.u]
source = { format = "parquet", path = "u" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 3
columns = { k = "int", b = "int", f = "double" }
[relations.r]
source = { format = "csv", path = "r" }
keys = [["k"]]
max_rows = 20
columns = { k = "int", z = "int" }
"""


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return _load(tmp_path, "")


def _load(folder: Path, rule: str, more: str = "") -> Catalog:
    """The catalog, with a rule of s, and more columns."""
    text = TOML.replace("[streams.s.columns]\n", f"{rule}\n[streams.s.columns]\n{more}")
    (folder / "ontoweir.toml").write_text(text)
    return load_project(folder, environ={}).catalog


def repairs(text: str, catalog: Catalog) -> list[tuple[Change, ...]]:
    union = parse_sql(text, catalog, name="q", file="q.sql")
    return [r.changes for r in find_repairs(union, catalog)]


def test_a_comparison_by_order(catalog: Catalog) -> None:
    text = "SELECT s.small FROM s, u WHERE s.ts < u.ts AND s.a < u.b"
    assert repairs(text, catalog) == [
        (AddWindow("s", "u"),),
        (SetDistinct(True),),
        (DeclareDomain("s", "a"),),
        (DeclareDomain("u", "b"),),
    ]


@pytest.mark.parametrize(
    ("unit", "more", "steps"),
    [
        ("1 second", "", 10),
        ("2 seconds", "", 15),  # half a minute
        ("7 seconds", "", 10),  # of which no short one has a name
        ("1 minute", "", 10),
        ("5 minutes", "", 12),  # an hour
        ("10 minutes", "", 12),  # two
        ("1 hour", "", 12),
        ("1 day", "", 14),
        ("1 millisecond", "", 10_000),  # 10 ms are of no use to anybody
        ("1 second", " AND u.ts <= z.ts AND z.ts <= u.ts + INTERVAL '15' MINUTE", 900),
        ("1 second", " AND u.ts <= z.ts AND z.ts <= u.ts + INTERVAL '2' SECOND", 2),
        ("1 second", " AND u.ts <= z.ts AND z.k <= u.k + 77", 10),
    ],
)
def test_how_long_a_window_is(tmp_path: Path, unit: str, more: str, steps: int) -> None:
    (tmp_path / "ontoweir.toml").write_text(TOML.replace("1 second", unit))
    catalog = load_project(tmp_path, environ={}).catalog
    tables = "s, u, u z" if more else "s, u"
    found = repairs(f"SELECT s.small FROM {tables} WHERE s.ts < u.ts AND s.a < u.b{more}", catalog)
    windows = {c.steps for changes in found for c in changes if isinstance(c, AddWindow)}
    assert windows == {steps}


CLOSED = """
[streams.trip]
source = { format = "parquet", path = "t" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 3
clustered = [{ columns = ["id"], within = "20 seconds" }]
columns = { id = "int", bike = "int" }
"""


def test_groups_that_a_rule_closes_but_for_null(tmp_path: Path) -> None:
    (tmp_path / "ontoweir.toml").write_text(TOML + CLOSED)
    catalog = load_project(tmp_path, environ={}).catalog
    for group in ("id", "t.id"):
        text = f"SELECT {group}, COUNT(*) AS n FROM trip t GROUP BY {group}"
        assert repairs(text, catalog)[0] == (LeaveNulls("id"),)
    assert repairs("SELECT id, COUNT(*) FROM trip WHERE id IS NOT NULL GROUP BY id", catalog) == []
    # of another column no rule says yet when its values are complete
    others = repairs("SELECT bike, COUNT(*) AS n FROM trip GROUP BY bike", catalog)
    assert (DeclareGap("trip", "bike"), LeaveNulls("bike")) in others
    assert (LeaveNulls("bike"),) not in others
    assert (DeclareGap("trip", "bike"),) not in others


def test_a_join_over_a_key_of_a_static_relation(catalog: Catalog) -> None:
    text = "SELECT DISTINCT s.small FROM s, u WHERE s.ts < u.ts AND s.k = u.k"
    assert repairs(text, catalog) == [
        (DeclareReference("s", "k", "r", "k"),),
        (DeclareReference("u", "k", "r", "k"),),
        (AddWindow("s", "u"),),
        (DeclareDomain("s", "k"),),
        (DeclareDomain("u", "k"),),
    ]


def test_a_result_that_has_to_be_remembered(catalog: Catalog) -> None:
    text = "SELECT DISTINCT s.small, s.name FROM s"
    assert repairs(text, catalog) == [
        (SetDistinct(False),),
        (DeclareDomain("s", "name"),),
        (DeclareGap("s", "name"),),
        (DropVariable("name"),),
    ]


def test_few_rows_of_what_is_closed(catalog: Catalog) -> None:
    """Of two values that tell groups apart, a gap of one suffices if it has few rows."""
    where = "FROM s WHERE s.name > '' AND s.a > 0"
    for text in (
        f"SELECT s.name, s.a, COUNT(*) AS n {where} GROUP BY s.name, s.a",
        f"SELECT DISTINCT s.name, s.a {where}",
        f"SELECT s.name, COUNT(DISTINCT s.a) AS n {where} GROUP BY s.name",
    ):
        found = repairs(text, catalog)
        assert (DeclareGap("s", "name", few=True),) in found
        assert (DeclareGap("s", "name"),) not in found
    alone = repairs(f"SELECT s.name, COUNT(*) AS n {where} GROUP BY s.name", catalog)
    assert (DeclareGap("s", "name"),) in alone
    assert not any(isinstance(c, DeclareGap) and c.few for changes in alone for c in changes)


def test_few_rows_of_what_a_rule_closes(tmp_path: Path) -> None:
    """A rule that is there and does not suffice may do so where a value has few rows."""
    gap = 'clustered = [{ columns = ["name"], gap = "9 seconds" }]'
    few = (DeclareFew("s", ("name",)),)
    group = "FROM s WHERE s.name > '' AND s.a > 0 GROUP BY s.name"
    pairs = "FROM s x, s y WHERE x.name = y.name AND x.ts < y.ts"
    ruled = _load(tmp_path, gap)
    assert few in repairs(f"SELECT s.name, COUNT(DISTINCT s.a) AS n {group}", ruled)
    assert few in repairs(f"SELECT x.a, y.a AS b {pairs}", ruled)
    for text in (
        "SELECT DISTINCT s.a FROM s WHERE s.a > 0",
        "SELECT x.a FROM s x, s y WHERE x.a = y.a AND x.ts < y.ts",
    ):
        assert not any(isinstance(c, DeclareFew) for r in repairs(text, ruled) for c in r)
    spans = _load(tmp_path, gap.replace("gap =", "within ="))
    assert few not in repairs(f"SELECT x.a, y.a AS b {pairs}", spans)


def test_few_rows_of_what_a_rule_on_two_columns_closes(tmp_path: Path) -> None:
    """The values of both are grouped by, or joined by; one alone is not closed."""
    few = (DeclareFew("s", ("name", "f2")),)
    rule = 'clustered = [{ columns = ["name", "f2"], gap = "9 seconds" }]'
    ruled = _load(tmp_path, rule, 'f2 = "int"\n')
    group = "FROM s WHERE s.name > '' AND s.f2 > 0 AND s.a > 0 GROUP BY s.name, s.f2"
    assert few in repairs(f"SELECT s.name, s.f2, COUNT(DISTINCT s.a) AS n {group}", ruled)
    pairs = "FROM s x, s y WHERE x.name = y.name AND x.f2 = y.f2 AND x.ts < y.ts"
    assert few in repairs(f"SELECT x.a, y.a AS b {pairs}", ruled)
    for text in (
        f"SELECT s.name, COUNT(DISTINCT s.a) AS n {group.replace(', s.f2', '')}",
        f"SELECT x.a, y.a AS b {pairs.replace('AND x.f2 = y.f2', '')}",
    ):
        assert not any(isinstance(c, DeclareFew) for r in repairs(text, ruled) for c in r)


def test_a_float_becomes_a_decimal_with_a_range(catalog: Catalog) -> None:
    text = "SELECT s.small FROM s, u WHERE s.ts < u.ts AND s.f = u.f"
    union = parse_sql(text, catalog, name="q", file="q.sql")
    found = find_repairs(union, catalog)
    assert found
    # what equals a decimal in a range is one of its values
    assert (DeclareDomain("u", "f"),) in [r.changes for r in found]
    assert (AddWindow("s", "u"),) in [r.changes for r in found]


def test_an_order_where_there_is_none(catalog: Catalog) -> None:
    # each may have to wait for the other, and both are in the result: an order frees the later
    found = repairs("SELECT s.a, u.b FROM s, u", catalog)
    assert all(len(changes) == 2 for changes in found)
    assert found[0] == (AddWindow("s", "u"), AddWindow("u", "s"))
    assert (AddWindow("s", "u"), AddOrder("s", "u")) in found
    assert (AddWindow("s", "u"), AddOrder("u", "s")) not in found


def test_more_than_two_changes_are_found_together(catalog: Catalog) -> None:
    """Three values wait for each other: no pair of changes helps, all declarations or all windows
    do, without those that can be spared."""
    found = repairs("SELECT x.a, y.name, z.b FROM s x, s y, u z", catalog)
    windowed, declared = found
    assert set(declared) == {
        DeclareDomain("s", "name"),
        DeclareDomain("s", "a"),
        DeclareDomain("u", "b"),
    }
    assert 3 <= len(windowed) < 6  # of six; a cycle of three is the smallest
    assert all(isinstance(c, AddWindow) for c in windowed)


def test_what_is_bounded_needs_none(catalog: Catalog) -> None:
    assert repairs("SELECT s.a FROM s", catalog) == []


def _apply(changes: tuple[Change, ...], union: SpjUnion, catalog: Catalog) -> bool:
    for change in changes:
        union, catalog = apply_change(change, union, catalog)
    return has_plan(union, catalog)


def test_a_range_meets_what_the_query_asks_for(catalog: Catalog) -> None:
    for limit, start in (("> 5000", 5001), ("< -7", -1007), ("< 7", 0)):
        found = repairs(f"SELECT DISTINCT s.a FROM s WHERE s.a {limit}", catalog)
        # a range that nobody has told of is not what comes first
        domain, gap = DeclareDomain("s", "a", start), DeclareGap("s", "a")
        assert found == [(SetDistinct(False),), (domain,), (gap,)]


def test_what_grows_is_not_given_a_range_first(catalog: Catalog) -> None:
    """A measurement or a key has no limits that one could declare: what asks for something that is
    as useful comes before a range that is invented."""
    for text, first in (
        ("SELECT s.small FROM s, u WHERE s.ts < u.ts AND s.a < u.b", AddWindow("s", "u")),
        ("SELECT s.a, COUNT(*) AS n FROM s GROUP BY s.a", DropGroup("a")),
        ("SELECT s.a, s.k, COUNT(*) AS n FROM s GROUP BY s.a, s.k", None),
        ("SELECT DISTINCT s.f FROM s", SetDistinct(False)),
        ("SELECT DISTINCT s.k FROM s", DeclareReference("s", "k", "r", "k")),
        ("SELECT s.small FROM s, u WHERE s.ts < u.ts AND s.f = u.f", AddWindow("s", "u")),
    ):
        found = repairs(text, catalog)
        assert first is None or found[0] == (first,)
        assert not any(isinstance(c, DeclareDomain) for c in found[0])
        assert any(isinstance(c, DeclareDomain) for changes in found for c in changes)


def test_what_a_reference_of_several_columns_says_is_proposed_of_each(tmp_path: Path) -> None:
    """No row is held to a reference of several columns, so that it bounds nothing by itself."""
    rule = 'references = [{ columns = ["a", "small"], relation = "r", to = ["k", "k"] }]'
    wide = _load(tmp_path, rule)
    text = "SELECT s.a, COUNT(*) AS n FROM s GROUP BY s.a"
    found = repairs(text, wide)
    assert found[0] == (DeclareReference("s", "a", "r", "k"),)
    union = parse_sql(text, wide, name="q", file="q.sql")
    (repair, *_) = find_repairs(union, wide)
    assert repair.verdict.bound is not None
    said = str(check_query(union, wide).disjuncts)
    assert "s.a is of type int, with no least and no greatest value; no row is held to" in said


LIMITS = [
    (Column("x", IntType()), 0, (0, 999)),
    (Column("x", IntType(), minimum=5), 0, (5, 1004)),
    (Column("x", IntType(), minimum=5000), 0, (5000, 5999)),
    (Column("x", IntType(), maximum=-5), 0, (-1004, -5)),
    (Column("x", IntType(), maximum=5000), 0, (0, 5000)),
    (Column("x", IntType()), 5001, (5001, 6000)),
    (Column("x", DecimalType(3, 2)), 0, (0, 9)),
    (Column("x", DecimalType(6, 2), minimum=Decimal("0.5")), 0, (Decimal("0.5"), Decimal("999.5"))),
    (Column("x", FloatType(), maximum=-0.5), 0, (Decimal("-999.5"), Decimal("-0.5"))),
    (Column("x", DateType()), 0, ("2000-01-01", "2029-12-31")),
    (Column("x", DateType(), minimum="2040-01-01"), 0, ("2040-01-01", "2069-12-31")),
    (Column("x", DateType(), maximum="1990-12-31"), 0, ("1960-12-31", "1990-12-31")),
]


@pytest.mark.parametrize(("column", "start", "limits"), LIMITS)
def test_a_limit_that_is_declared_is_kept(
    column: Column, start: int, limits: tuple[Scalar, Scalar]
) -> None:
    made = bound_column(column, start)
    assert (made.minimum, made.maximum) == limits
    if column.type == FloatType():
        assert made.type == DecimalType(5, 2)


@pytest.mark.parametrize("style", sorted(STYLES))
@budget(0.1)
@given(seed=SEEDS)
def test_no_key_of_a_stream_mends(style: str, seed: int) -> None:
    """Why no key is proposed: a stream's key holds within a step only (a run can check no more in
    bounded memory), so the self-joins it removes are within a step, where nothing waits."""
    case = make_case(Random(seed), style=style)
    if has_plan(case.query, case.catalog):
        return
    event("undecided")
    streams = {
        s.name: replace(s, keys=tuple((c.name, s.timestamp) for c in s.columns))
        for s in case.catalog.streams.values()
    }
    catalog = replace(case.catalog, streams=streams)
    disjuncts = tuple(remove_self_joins(q, catalog) for q in case.query.disjuncts)
    assert not has_plan(replace(case.query, disjuncts=disjuncts), catalog)


@pytest.mark.parametrize("style", sorted(STYLES))
@budget(0.3)
@given(seed=SEEDS)
def test_repairs_mend_and_are_minimal(style: str, seed: int) -> None:
    case = make_case(Random(seed), style=style)
    if check_query(case.query, case.catalog, disprove=False).plans is not None:
        assert has_plan(case.query, case.catalog)
        return
    assert not has_plan(case.query, case.catalog)
    found = find_repairs(case.query, case.catalog)
    event(f"{len(found)} repairs")
    assert len(found) <= MAX_REPAIRS
    ranks = [sum(map(rank_change, r.changes)) for r in found]
    assert ranks == sorted(ranks)
    for repair in found:
        assert repair.verdict.plans is not None
        assert repair.verdict.bound is not None
        assert _apply(repair.changes, case.query, case.catalog)
        for size in range(len(repair.changes)):
            for fewer in combinations(repair.changes, size):
                assert not _apply(fewer, case.query, case.catalog)
