"""Groups of all rows of which some, or none, are in a window, in SPARQL."""

from dataclasses import replace

from ontoweir.mappings.expressions.write_expression import write_expression
from ontoweir.mappings.model.catalog import BooleanType, Catalog, ColumnType, IntType, StringType
from ontoweir.mappings.model.column_types import XSD
from ontoweir.mappings.model.expression import Call, Expression, Field, Function, Value
from ontoweir.rewriter.absence.rename_views import rename_views
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.buckets.make_column import NEVER
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction, Aggregation
from ontoweir.rewriter.model.spj import (
    Attribute,
    IsNull,
    LiteralOutput,
    NullOutput,
    Output,
    SpjQuery,
    SpjUnion,
)

_HERE, _LATER = "a row", "a later row"
_COUNTED = (
    AggregateFunction.COUNT,
    AggregateFunction.SUM,
    AggregateFunction.AVG,
    AggregateFunction.MIN,
    AggregateFunction.MAX,
    AggregateFunction.COUNT_DISTINCT,
)


def compare_last(
    every: SpjUnion, recent: SpjUnion, catalog: Catalog, *, there: bool
) -> SpjUnion | None:
    """The groups of all rows, which stay, that have a row in a window, or have none: groups of
    both, of which marks say what they are, and in which nothing else is counted of those in the
    window (None: it is something else).

    Args:
        every: the groups of all rows.
        recent: the same of those in a window.
        catalog: the tables.
        there: they have a row in the window.
    """
    made, other = every.aggregation, recent.aggregation
    if made is None or other is None or not made.group or made.group != other.group:
        return None
    if every.ends or every.begins or every.blocks or recent.begins or recent.blocks:
        return None
    if len(recent.ends) != 1 or made.panes is not None or made.session_us is not None:
        return None
    if any(a.function not in _COUNTED or a.second is not None for a in made.aggregates):
        return None
    if every.variables != recent.variables[: len(every.variables)]:
        return None
    recent = rename_views(recent, {*catalog.streams, *catalog.relations})
    derived: dict[tuple[str, Expression], None] = {}
    buckets = dict.fromkeys((*every.buckets, *recent.buckets))
    (end,) = recent.ends
    disjuncts = []
    for query in every.disjuncts:
        alias, table = _find_stream(query, every, catalog)
        buckets[(table, NEVER)] = None
        never = LiteralOutput(Attribute(alias, NEVER.name), f"{XSD}dateTime")
        marks = _mark(query, alias, (1, 0), derived)
        disjuncts.append(replace(query, outputs=(*query.outputs, *marks, (end, never))))
    wide = extend_catalog(catalog, recent)
    for query in recent.disjuncts:
        alias, _ = _find_stream(query, recent, catalog)
        types, outputs, nulls = Types(wide, query.occurrences), list[tuple[str, Output]](), []
        for name, output in query.outputs:
            if name in (*made.group, end):
                outputs.append((name, output))
                continue
            kind: ColumnType = StringType()
            if isinstance(output, LiteralOutput):
                kind = types.type_of(output.value)
            nulls.append(_constant(query, alias, Value(None, kind), derived))
            outputs.append((name, NullOutput(nulls[-1])))
        marks = _mark(query, alias, (0, 1), derived)
        absent = tuple(map(IsNull, dict.fromkeys(nulls)))
        disjuncts.append(
            replace(
                query,
                conditions=(*query.conditions, *absent),
                outputs=(*outputs[:-1], *marks, outputs[-1]),
            )
        )
    return replace(
        every,
        variables=(*every.variables, _HERE, _LATER, end),
        disjuncts=tuple(disjuncts),
        aggregation=_group(made, there=there),
        views=(*every.views, *recent.views),
        buckets=tuple(buckets),
        derived=tuple(dict.fromkeys((*every.derived, *recent.derived, *derived))),
        hidden=tuple(dict.fromkeys((*every.hidden, *recent.hidden))),
        ends=(end,),
    )


def _group(made: Aggregation, *, there: bool) -> Aggregation:
    """The groups, with a condition on what marks the rows in the window."""
    aggregates = [
        replace(a, function=AggregateFunction.SUM, argument=_HERE)
        if a.function is AggregateFunction.COUNT and a.argument is None
        else a
        for a in made.aggregates
    ]
    aggregates.append(Aggregate(_LATER, AggregateFunction.MAX, _LATER))
    number = Value(0, IntType()) if there else Value(1, IntType())
    compares = Function.GREATER if there else Function.LESS
    having: Expression = Call(compares, (Field(_LATER, IntType()), number), BooleanType())
    if made.having is not None:
        having = Call(Function.AND, (made.having, having), BooleanType())
    return replace(made, aggregates=tuple(aggregates), having=having)


def _mark(
    query: SpjQuery,
    alias: str,
    numbers: tuple[int, int],
    derived: dict[tuple[str, Expression], None],
) -> list[tuple[str, Output]]:
    """What marks a row."""
    return [
        (name, LiteralOutput(_constant(query, alias, Value(number, IntType()), derived)))
        for name, number in zip((_HERE, _LATER), numbers, strict=True)
    ]


def _constant(
    query: SpjQuery, alias: str, value: Value, derived: dict[tuple[str, Expression], None]
) -> Attribute:
    table = next(o.table for o in query.occurrences if o.alias == alias)
    derived[table, value] = None
    return Attribute(alias, write_expression(value))


def _find_stream(query: SpjQuery, union: SpjUnion, catalog: Catalog) -> tuple[str, str]:
    """The alias and the name of a stream that a disjunct reads."""
    known = extend_catalog(catalog, union).streams
    return next((o.alias, o.table) for o in query.occurrences if o.table in known)
