"""Queries of odd shapes (odd_shapes.py), over streams whose units differ, with keys of several
columns, and whose columns may have any value: what is bounded tells what DuckDB answers at every
time, and of what is unbounded DuckDB tells all subsets of the counterexample's tuples apart."""

from collections import Counter
from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.checker.witness.witness import Witness, WitnessRow
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget, count_tuples
from tests.oracle.compare_told import relax
from tests.oracle.odd_shapes import OddShapes
from tests.oracle.random_queries import Case, Tables
from tests.oracle.test_free_shapes import compare, draw_data
from tests.oracle.test_sql_nulls import CATALOG
from tests.oracle.test_stacked_queries import Stacked
from tests.oracle.test_windows_beside import At

_WIDE = [("h",), ("a",), ("a", "b"), ("h", "g"), ("a", "b", "g", "h")]


def draw_query(random: Random) -> tuple[str, tuple[str, ...]]:
    """A query that is read, of the first ones that are drawn."""
    drawn = "", tuple[str, ...]()
    for _ in range(8):
        drawn = OddShapes(random).draw()
        try:
            parse_sql(drawn[0], CATALOG, name="q", file="q.sql")
        except QueryError:
            continue
        break
    return drawn


def draw_world(random: Random) -> tuple[Catalog, Tables]:
    """Rows of two streams of which one may be coarser, some with a key of two columns."""
    catalog, data = draw_data(random)
    streams = dict(catalog.streams)
    if random.random() < 0.3:
        unit = random.choice([2, 3])
        streams["t"] = replace(streams["t"], step_us=unit)
        columns, rows = data["t"]
        data["t"] = columns, [row for row in rows if row[-1] % unit == 0]
    if not streams["s"].keys and random.random() < 0.2:
        for name, stream in streams.items():
            streams[name] = replace(stream, keys=(("h", "a", "ts"),))
            columns, rows = data[name]
            at = [columns.index(c) for c in ("h", "a", "ts")]
            first = {tuple(row[i] for i in at): row for row in reversed(rows)}
            kept = [row for key, row in first.items() if None not in key]
            data[name] = columns, sorted(kept, key=lambda row: row[-1])
    return replace(catalog, streams=streams), data


def check(seed: int) -> str:
    """One random query over random rows: what came of it."""
    random = Random(seed)
    query = draw_query(random)
    return compare(random, query, draw_world(random))


def check_wide(seed: int) -> str:
    """The same, of columns that may have any value; what is unbounded is so by DuckDB, too."""
    random = Random(seed)
    query = draw_query(random)
    catalog, data = draw_world(random)
    catalog = relax(catalog, random.choice(_WIDE))
    try:
        union = parse_sql(query[0], catalog, name="q", file="q.sql")
    except QueryError:
        return "refused"
    verdict = check_query(union, catalog, size=count_tuples())
    assert (verdict.witness is not None) == (verdict.tier is Tier.UNBOUNDED)
    if verdict.witness is not None:
        tell_apart(query[0], verdict.witness, catalog)
        return "unbounded"
    if verdict.tier is Tier.UNDECIDED:
        return "undecided"
    return compare(random, query, (catalog, data))


def tell_apart(text: str, witness: Witness, catalog: Catalog) -> None:
    """Assert that what the suffixes change tells all subsets of a witness's tuples apart."""
    seen: dict[Any, Any] = {}
    for chosen in product((False, True), repeat=witness.size):
        rows = [o for o, taken in zip(witness.optional, chosen, strict=True) if taken]
        before = [*witness.fixed, *rows]
        told = tuple(_change(text, catalog, before, suffix) for suffix in witness.suffixes)
        assert told not in seen, (text, chosen, seen[told])
        seen[told] = chosen


def _change(
    text: str, catalog: Catalog, before: list[WitnessRow], suffix: tuple[WitnessRow, ...]
) -> Any:
    data: dict[str, Any] = {}
    for name in (*catalog.streams, *catalog.relations):
        names = [c.name for c in catalog.table(name).columns]
        rows = [r for r in (*before, *suffix) if r.table == name]
        cells = [[dict(r.values).get(n) for n in names] for r in rows]
        timed = name in catalog.streams
        data[name] = (
            [*names, "ts"] if timed else names,
            [(*c, r.step) if timed else tuple(c) for c, r in zip(cells, rows, strict=True)],
        )
    union = parse_sql(text, catalog, name="q", file="q.sql")
    oracle, asked = At(Case(catalog, union, data, 0)), Stacked(text, text, ())
    steps = [row.step for row in suffix if row.step is not None]
    after = Counter(oracle.holding(asked, max(steps)))
    after.subtract(oracle.holding(asked, min(steps) - 1))
    return frozenset((row, n) for row, n in after.items() if n)


@budget(0.1)
@given(seed=SEEDS)
def test_queries_of_odd_shapes_equal_duckdb(seed: int) -> None:
    event(check(seed))


@budget(0.1)
@given(seed=SEEDS)
def test_of_any_values_they_are_bounded_or_refuted_as_duckdb_says(seed: int) -> None:
    event(check_wide(seed))
