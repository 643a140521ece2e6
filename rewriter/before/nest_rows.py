"""Rows with what static relations say of them, as a stream."""

from collections.abc import Sequence
from dataclasses import replace

from ontoweir.errors import Source
from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.model.time_bucket import Moments, TimeBucket
from ontoweir.rewriter.absence.unite_solutions import Solutions, unite_solutions
from ontoweir.rewriter.algebra.equality_classes import condition_attributes, map_condition
from ontoweir.rewriter.buckets.make_column import make_column
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import (
    Attribute,
    Condition,
    LiteralOutput,
    Occurrence,
    Output,
    SpjQuery,
    SpjUnion,
    output_attributes,
)


def nest_rows(
    union: SpjUnion, read: Occurrence, times: Sequence[str], catalog: Catalog
) -> tuple[SpjUnion, Catalog] | None:
    """The query that reads a relation that changes beside one stream: its row and what is joined
    with it, other than the relation, are rows of a stream, whose columns the relation's key may
    equal.

    Args:
        union: of one disjunct.
        read: the relation.
        times: the answer variables that are times of rows.
        catalog: the tables, with those of the query.

    Returns:
        None: there are several streams; else with the catalog that has the rows' stream.

    Raises:
        QueryError: of a variable it is not known what it is.
    """
    (query,) = union.disjuncts
    others = tuple(o for o in query.occurrences if o != read)
    hosts = [o for o in others if o.table in catalog.streams]
    if len(hosts) != 1:
        return None
    stamp = _stamp_of(hosts[0], catalog)
    moment = make_column(TimeBucket(Moments()))
    shown = {n: o for n, o in query.outputs if _is_of(o, others)}
    time = next((n for n in times if _is_time(shown.get(n), stamp.alias, moment.name)), None)
    if time is None:
        return None
    conditions = [c for c in query.conditions if not _reads(c, read)]
    outer = [c for c in query.conditions if _reads(c, read)]
    asked = [a for c in outer for a in condition_attributes(c) if a.alias != read.alias]
    names = {a: f"of it {n}" for n, a in enumerate(dict.fromkeys(a for a in asked if a != stamp))}
    outputs = {**shown, **{name: LiteralOutput(a) for a, name in names.items()}}
    inner = replace(
        query, occurrences=others, conditions=tuple(conditions), outputs=tuple(outputs.items())
    )
    found = replace(union, disjuncts=(inner,), variables=tuple(outputs))
    source = union.source or Source("", 1)
    made = unite_solutions(
        f"{union.name} row",
        tuple(outputs),
        [Solutions(found, (time,), (), ())],
        catalog,
        distinct=False,
        source=source,
    )
    (rows,), (block,) = made.disjuncts, made.blocks
    (row,), of = rows.occurrences, dict(rows.outputs)
    places = {a: of[name] for a, name in names.items()}
    if not all(isinstance(o, LiteralOutput) for o in places.values()):
        return None

    def change(attribute: Attribute) -> Attribute:
        if attribute == stamp:
            return Attribute(row.alias, block.stream.timestamp)
        output = places.get(attribute)
        return output.value if isinstance(output, LiteralOutput) else attribute

    told = {name: of[name] if name in shown else output for name, output in query.outputs}
    at = shown[time]
    assert isinstance(at, LiteralOutput)
    told[time] = replace(at, value=Attribute(row.alias, moment.name))
    nested = replace(
        union,
        disjuncts=(
            SpjQuery(
                (row, read),
                (*rows.conditions, *(map_condition(c, change) for c in outer)),
                tuple(told.items()),
                query.provenance,
            ),
        ),
        buckets=(*union.buckets, (block.stream.name, moment)),
        blocks=made.blocks,
    )
    return nested, extend_catalog(catalog, nested)


def _stamp_of(row: Occurrence, catalog: Catalog) -> Attribute:
    stream = catalog.table(row.table)
    assert isinstance(stream, Stream)
    return Attribute(row.alias, stream.timestamp)


def _is_of(output: Output, others: Sequence[Occurrence]) -> bool:
    """Whether an output is made of rows of these alone."""
    return {a.alias for a in output_attributes(output)} <= {o.alias for o in others}


def _is_time(output: Output | None, alias: str, moment: str) -> bool:
    return isinstance(output, LiteralOutput) and output.value == Attribute(alias, moment)


def _reads(condition: Condition, read: Occurrence) -> bool:
    return any(a.alias == read.alias for a in condition_attributes(condition))
