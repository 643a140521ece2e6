"""The stream of rows that are there some time after their own."""

from collections.abc import Collection
from dataclasses import replace
from itertools import count
from math import gcd

from ontoweir.mappings.expressions.may_be_null import is_nullable
from ontoweir.mappings.model.catalog import ANSWERS, Catalog, Reference, Stream
from ontoweir.mappings.model.parse_duration import show_duration
from ontoweir.rewriter.algebra.equality_classes import valued_attributes
from ontoweir.rewriter.delays.late_rows import LateRows, timestamp_of
from ontoweir.rewriter.model.add_views import used_views
from ontoweir.rewriter.model.spj import (
    Attribute,
    Block,
    IsNull,
    LiteralOutput,
    NotNull,
    NullOutput,
    Occurrence,
    Output,
    SpjQuery,
    SpjUnion,
    ViewBranch,
)
from ontoweir.rewriter.nulls.split_nulls import split_nulls
from ontoweir.rewriter.views.declare_view import declare_stream
from ontoweir.rewriter.windows.window import BEGINS


def declare_late(
    rows: LateRows, union: SpjUnion, catalog: Catalog, taken: Collection[str]
) -> Block:
    """The rows as a stream, whose timestamp, called as theirs, is when they begin to be shown.

    Its columns keep types, domains and references; where all rows are equally late, also keys, how
    many rows there are at a time, and lags, which are so much longer.

    Args:
        rows: what is read of them.
        union: the query that reads them.
        catalog: with its views, blocks, buckets and derived columns.
        taken: the names of tables.
    """
    base = catalog.streams[rows.table]
    delay = rows.delay_us(base.step_us)
    late = "later" if delay is None else f"{show_duration(delay)} later"
    names = (f"{rows.table} {late}" + (f" ({n})" if n > 1 else "") for n in count(1))
    name = next(n for n in names if n not in taken)
    moved = {c.name for c in rows.times} if delay is not None else set()
    shown = [(own, named) for own, named in rows.columns if own not in moved]
    inner = _read_rows(rows, union, catalog, name, shown)
    own = timestamp_of(rows, catalog)
    columns = tuple(Attribute(rows.alias, c) for c, _ in shown)
    conditions = tuple(c for c in rows.conditions if not isinstance(c, IsNull))
    branch = ViewBranch((Occurrence(rows.alias, rows.table),), conditions, columns, own)
    made = declare_stream("", [branch], catalog, distinct=False)
    named = {c.name: n for c, (_, n) in zip(made.columns, shown, strict=True)}
    null = _list_null(rows) | {own for own, _ in shown if is_nullable(base, own)}
    stream = Stream(
        name,
        ANSWERS,
        base.timestamp,
        base.step_us,
        None,
        tuple(
            replace(c, name=outside, source=None, nullable=own in null)
            for c, (own, outside) in zip(made.columns, shown, strict=True)
        ),
        references=tuple(
            Reference((named[r.columns[0]],), r.relation, r.to)
            for r in made.references
            if r.columns[0] in named
        ),
        source=base.source,
    )
    time = (f"{BEGINS}1", 0) if len(rows.edges) == 1 else None
    if delay is None:
        steps = rows.spread_us // base.step_us + 1
        most = None if base.max_per_timestamp is None else base.max_per_timestamp * steps
        return Block(replace(stream, max_per_timestamp=most), inner, time)
    outside = dict(shown)
    keys = (
        tuple(base.timestamp if c == base.timestamp else outside[c] for c in key)
        for key in base.keys
        if base.timestamp in key and {*outside, base.timestamp} >= set(key)
    )
    lags = (
        replace(
            lag,
            columns=tuple(outside[c] for c in lag.columns),
            within_us=lag.within_us + delay,
            rows=None,
            one=False,
        )
        for lag in base.lags
        if set(outside) >= set(lag.columns)
    )
    grid = gcd(base.grid_us, delay)
    return Block(
        replace(
            stream,
            max_per_timestamp=base.max_per_timestamp,
            keys=tuple(keys),
            lags=tuple(lags),
            unit_us=grid if grid != base.step_us else None,
        ),
        inner,
        time,
    )


def _list_null(rows: LateRows) -> set[str]:
    """The columns that are NULL in all of them."""
    return {c.attribute.column for c in rows.conditions if isinstance(c, IsNull)}


def _read_rows(
    rows: LateRows,
    union: SpjUnion,
    catalog: Catalog,
    name: str,
    shown: list[tuple[str, str]],
) -> SpjUnion:
    """The query of the rows, as they come, with when they begin to be shown."""
    null = _list_null(rows)
    outputs: list[tuple[str, Output]] = []
    for own, named in shown:
        attribute = Attribute(rows.alias, own)
        output = NullOutput(attribute) if own in null else LiteralOutput(attribute)
        outputs.append((named, output))
    edges = [
        (f"{BEGINS}{n}", LiteralOutput(Attribute(rows.alias, c.name)))
        for n, c in enumerate(rows.edges, 1)
    ]
    query = SpjQuery(
        (Occurrence(rows.alias, rows.table),),
        rows.conditions,
        (*outputs, *edges),
        tuple(p for q in union.disjuncts for p in q.provenance if p[0] == rows.alias)[:1],
    )
    known = {a.column for c in rows.conditions for a in valued_attributes(c)} | null
    times = {c.name for c in rows.times}
    doubtful = [
        NotNull(Attribute(rows.alias, own))
        for own, _ in shown
        if own not in known and own not in times
    ]
    tables = {rows.table, *(n for v in used_views([rows.table], union.views) for n in v.tables)}
    read = {rows.table, *(v.name for v in used_views([rows.table], union.views))}
    return SpjUnion(
        name=name,
        variables=tuple(n for n, _ in query.outputs),
        disjuncts=tuple(split_nulls(query, doubtful, set(), None)),
        distinct=False,
        source=union.source,
        views=used_views([rows.table], union.views),
        buckets=tuple(b for b in union.buckets if b[0] in read | tables),
        derived=tuple(d for d in union.derived if d[0] in read | tables),
        begins=tuple(n for n, _ in edges),
        step_us=union.step_us,
        blocks=tuple(b for b in union.blocks if b.stream.name in read | tables),
    )
