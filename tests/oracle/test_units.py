"""Streams of different units of time in one query: answered as DuckDB does at every time, in one
range and in several, and live; every witness keeps to the units."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier, Verdict
from ontoweir.mappings.model.catalog import Catalog, Column
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Tables
from tests.oracle.test_sql_nulls import CATALOG, make_data
from tests.oracle.test_windows import compare, make_query

UNITS = (1, 2), (2, 1), (1, 3), (2, 3), (3, 2), (4, 2), (4, 6)


def with_units(first: int, second: int, *, wide: bool = False) -> Catalog:
    """The streams s and t with these units; `wide`: without the domains of their columns."""
    units = {"s": first, "t": second}
    streams = {n: replace(s, step_us=units[n]) for n, s in CATALOG.streams.items()}
    for name, stream in streams.items() if wide else ():
        columns = tuple(Column(c.name, c.type) for c in stream.columns)
        streams[name] = replace(stream, columns=columns)
    return replace(CATALOG, streams=streams)


def check(seed: int, *, windows: bool) -> str:
    random = Random(seed)
    catalog = with_units(*random.choice(UNITS), wide=random.random() < 0.5)
    data: Tables = {}
    for name, (columns, rows) in make_data(random).items():
        unit = catalog.streams[name].step_us if name in catalog.streams else 1
        if name != "r":
            rows = [(*cells, time // unit * unit) for *cells, time in rows]
        data[name] = (columns, rows)
    text = make_query(random, windows=windows)
    verdict = compare(random, text, data, catalog)
    if verdict.plans is not None:
        return str(verdict.tier)
    union = parse_sql(text, catalog, name="q", file="q.sql")
    found = check_query(union, catalog)
    if found.witness is None:
        return str(found.tier)
    shared = extend_catalog(catalog, union)
    for row in (*found.witness.optional, *found.witness.fixed, *sum(found.witness.suffixes, ())):
        if row.step is not None and row.table in catalog.streams:
            micros = row.step * shared.streams[row.table].step_us
            assert micros % catalog.streams[row.table].step_us == 0, (text, row)
    return str(found.tier)


@budget(0.5)
@given(seed=SEEDS)
def test_streams_of_different_units_equal_duckdb(seed: int) -> None:
    event(check(seed, windows=seed % 2 == 0))


def decide(text: str, first: int, second: int) -> Verdict:
    catalog = with_units(first, second, wide=True)
    return check_query(parse_sql(text, catalog, name="q", file="q.sql"), catalog)


@pytest.mark.parametrize(("slow", "timestamps"), [(1, 10), (5, 2)])
def test_a_bound_counts_the_timestamps_of_the_slower_stream(slow: int, timestamps: int) -> None:
    """Rows of the last ten microseconds: of every fifth one only, where the unit is five."""
    near = "s.ts <= t.ts + INTERVAL '10' MICROSECOND AND t.ts <= s.ts + INTERVAL '10' MICROSECOND"
    bound = decide(f"SELECT s.a FROM s JOIN t ON s.a = t.a AND {near}", 1, slow).bound
    assert bound is not None
    assert bound.rows == 20 * 10 + 20 * timestamps


def test_units_do_not_bound_what_nothing_bounds() -> None:
    verdict = decide("SELECT s.a FROM s JOIN t ON s.a = t.a AND s.ts < t.ts", 2, 3)
    assert verdict.tier is Tier.UNBOUNDED
    assert verdict.witness is not None


@pytest.mark.parametrize(("apart", "tier"), [(2, Tier.UNSATISFIABLE), (6, Tier.WINDOW_BOUNDED)])
def test_rows_are_apart_by_whole_units(apart: int, tier: Tier) -> None:
    """Two rows of a stream whose unit is six, beside one whose unit is one."""
    join = (
        f"s.a = z.a AND s.a = t.a AND t.ts = s.ts AND s.ts = z.ts + INTERVAL '{apart}' MICROSECOND"
    )
    assert decide(f"SELECT s.a FROM s, s AS z, t WHERE {join}", 6, 1).tier is tier
