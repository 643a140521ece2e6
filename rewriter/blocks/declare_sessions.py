"""The stream that the sessions of a query are, each final a gap after its last row."""

from collections.abc import Collection
from math import gcd

from ontoweir.mappings.model.catalog import ANSWERS, Catalog, Stream
from ontoweir.mappings.model.expression import Call, Expression, Field, Function, Value
from ontoweir.rewriter.blocks.declare_block import AT, DeclaredBlock
from ontoweir.rewriter.blocks.declare_columns import time_behind
from ontoweir.rewriter.blocks.declare_groups import declare_groups, limit_groups
from ontoweir.rewriter.groups.find_closed_groups import find_closed_groups
from ontoweir.rewriter.model.aggregation import AggregateFunction
from ontoweir.rewriter.model.spj import Attribute, SpjUnion


def declare_sessions(
    union: SpjUnion, name: str, catalog: Catalog, times: Collection[str] | None = None
) -> DeclaredBlock:
    """What follows for the sessions of a query, as a stream.

    Of the sessions that end at one time, each has a row a gap before, and no two have one key: so
    they are no more than the matches of a timestamp, and the key and the time tell them apart. The
    time of its last row, and where it ends, are so long before it is final; where it begins is a
    value, as it may be of any length.

    Args:
        union: an aggregate query of sessions.
        name: what the stream is called.
        catalog: with its views, blocks, buckets and derived columns (`extend_catalog`).
        times: the columns that may be times before the stream's (None: all).

    Raises:
        QueryError: its matches are of rows of several streams.
        UnitsDiffer: its streams have different units.
    """
    aggregation = union.aggregation
    assert aggregation is not None
    assert aggregation.session_us is not None
    found = next(find_closed_groups(union, catalog))
    stamps = [
        Attribute(closed.alias, catalog.streams[closed.stream].timestamp)
        for closed in found.queries
    ]
    base = catalog.streams[found.queries[0].stream]
    aligned = aggregation.session_us % base.step_us == 0
    behind = _find_times(union, aggregation.session_us, catalog) if aligned else {}
    behind = {n: us for n, us in behind.items() if times is None or n in times}
    made = declare_groups(union, stamps, behind.keys(), None, catalog)
    shown, group = {c.name for c in made.columns}, aggregation.group
    told = [c for c in made.columns if c.name in group]
    unit = gcd(made.stream.grid_us, aggregation.session_us)
    return DeclaredBlock(
        Stream(
            name,
            ANSWERS,
            AT,
            base.step_us,
            limit_groups(told, len(group), made.stream.max_per_timestamp),
            made.columns,
            ((*group, AT),) if set(group) <= shown else (),
            made.references,
            base.source,
            unit_us=unit if aligned and unit > base.step_us else None,
        ),
        behind,
    )


def _find_times(union: SpjUnion, gap_us: int, catalog: Catalog) -> dict[str, int]:
    """The columns of a session's row that are so long before the time when it is final, in µs: of
    the time of its last row."""
    aggregation = union.aggregation
    assert aggregation is not None
    found = {}
    for aggregate in aggregation.aggregates:
        if aggregate.function is not AggregateFunction.MAX or aggregate.argument is None:
            continue
        late = {time_behind(q, aggregate.argument, catalog) for q in union.disjuncts}
        if len(late) == 1 and (us := late.pop()) is not None:
            found[aggregate.name] = gap_us + us
    for name, made in aggregation.computed:
        of, after = _read_sum(made)
        if of in found and found[of] >= after:
            found[name] = found[of] - after
    return {n: us for n, us in found.items() if n in aggregation.columns}


def _read_sum(made: Expression) -> tuple[str, int]:
    """A time that a row has, and what is added to it, in µs ("": it is something else)."""
    match made:
        case Field(column=column):
            return column, 0
        case Call(function=Function.ADD_US, arguments=(inner, Value(value=int(us)))):
            of, after = _read_sum(inner)
            return of, after + us
        case _:
            return "", 0
