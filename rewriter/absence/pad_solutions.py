"""Static solutions with the latest of each beside them, as the first of some rows."""

from dataclasses import replace

from ontoweir.errors import QueryError
from ontoweir.mappings.expressions.write_expression import write_expression
from ontoweir.mappings.model.catalog import Catalog, ColumnType, IntType, Stream, StringType
from ontoweir.mappings.model.expression import Expression, Value
from ontoweir.rewriter.absence.rename_views import rename_views
from ontoweir.rewriter.absence.split_latest import LatestText
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.beside.pad_latest import KEY, THERE, TIME, stand_latest
from ontoweir.rewriter.blocks.make_answers import make_answers
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import (
    Attribute,
    Condition,
    IsNull,
    LiteralOutput,
    NotNull,
    NullOutput,
    Occurrence,
    Output,
    SpjQuery,
    SpjUnion,
    output_attributes,
)

_ALIAS = "first moment"


def find_stream(latest: SpjUnion, catalog: Catalog) -> tuple[Stream, set[str]]:
    """The stream of which the latest rows are, and the columns of their key."""
    (query,) = latest.disjuncts
    standing, outputs = latest.standing, dict(query.outputs)
    assert standing is not None
    known = extend_catalog(catalog, latest).streams
    columns = {a.column for n in standing.key for a in output_attributes(outputs[n])}
    return known[query.occurrences[0].table], columns


def is_timed(union: SpjUnion, catalog: Catalog) -> bool:
    """Whether a query reads streams, in views too; or has windows or answers of others."""
    views = {v.name: v for v in union.views}
    waiting = [o.table for q in union.disjuncts for o in q.occurrences]
    while waiting:
        name = waiting.pop()
        if name in catalog.streams:
            return True
        waiting += views[name].tables if name in views else ()
    return bool(union.ends or union.begins or union.blocks)


def pad_solutions(
    asked: LatestText,
    unions: tuple[SpjUnion, SpjUnion, SpjUnion],
    first: SpjUnion,
    catalog: Catalog,
) -> SpjUnion:
    """The query of static solutions, each with those inside of OPTIONAL that have its key: from the
    first timestamp on without such a one, of which the next takes the place, as any later one does.

    Args:
        asked: the texts.
        unions: the queries of these, of which the last one has a key (find_latest).
        first: the query of the first timestamp of the stream.
        catalog: the tables.

    Raises:
        QueryError: a variable inside is a term of several types.
    """
    static, joined, latest = unions
    stream, columns = find_stream(latest, catalog)
    known = {*columns, stream.timestamp}
    single = next((k for k in stream.keys if set(k) <= known), None)
    answers, block = make_answers(first, _ALIAS, catalog)
    taken = {*catalog.streams, *catalog.relations, *(v.name for v in joined.views)}
    static = rename_views(static, taken)
    kinds = _list_kinds(asked, joined, catalog)
    derived: dict[tuple[str, Expression], None] = {}
    hidden = {f"{KEY} {n + 1}": v for n, v in enumerate(asked.own)}
    disjuncts = []
    for query in joined.disjuncts:
        shown, table = dict(query.outputs), query.occurrences[0]
        there = _constant(Value(1, IntType()), table, derived)
        outputs: list[tuple[str, Output]] = [(n, shown[n]) for n in asked.head]
        outputs += [(n, shown[v]) for n, v in hidden.items()]
        outputs += [(THERE, LiteralOutput(there)), (TIME, shown[asked.time])]
        disjuncts.append(replace(query, outputs=tuple(outputs)))
    for query in static.disjuncts:
        alias = _free_alias(query)
        row, shown = Occurrence(alias, answers.stream.name), dict(query.outputs)
        there = _constant(Value(0, IntType()), row, derived)
        nulls = {n: _constant(Value(None, k), row, derived) for n, k in kinds.items()}
        missing: list[tuple[str, Output]] = [
            (n, shown[n] if n in shown else NullOutput(nulls[n])) for n in asked.head
        ]
        missing += [(n, shown[v]) for n, v in hidden.items()]
        missing += [(THERE, LiteralOutput(there)), (TIME, NullOutput(nulls[asked.time]))]
        more: list[Condition] = [NotNull(there)]
        more += [IsNull(attribute) for attribute in dict.fromkeys(nulls.values())]
        disjuncts.append(
            replace(
                query,
                occurrences=(*query.occurrences, row),
                conditions=(*query.conditions, *more),
                outputs=tuple(missing),
            )
        )
    names = {n: n for n in (*hidden, THERE, TIME)}
    standing = stand_latest(names, len(hidden), single, told=False)
    return replace(
        joined,
        variables=(*asked.head, *names),
        disjuncts=tuple(disjuncts),
        distinct=False,
        standing=replace(standing, distinct=asked.distinct),
        views=(*joined.views, *static.views),
        buckets=tuple(dict.fromkeys((*joined.buckets, *static.buckets))),
        derived=tuple(dict.fromkeys((*joined.derived, *static.derived, *derived))),
        hidden=tuple(dict.fromkeys((*joined.hidden, *static.hidden))),
        blocks=(block,),
    )


def _constant(
    value: Value, row: Occurrence, derived: dict[tuple[str, Expression], None]
) -> Attribute:
    derived[row.table, value] = None
    return Attribute(row.alias, write_expression(value))


def _list_kinds(asked: LatestText, joined: SpjUnion, catalog: Catalog) -> dict[str, ColumnType]:
    """The types of the variables that only what is inside has: of its literals, else texts."""
    wide = extend_catalog(catalog, joined)
    kinds: dict[str, set[ColumnType]] = {}
    for query in joined.disjuncts:
        types, outputs = Types(wide, query.occurrences), dict(query.outputs)
        for name in (*(n for n in asked.head if n not in asked.own), asked.time):
            output = outputs[name]
            kind: ColumnType = StringType()
            if isinstance(output, LiteralOutput):
                kind = types.type_of(output.value)
            kinds.setdefault(name, set()).add(kind)
    several = next((n for n, of in kinds.items() if len(of) > 1), None)
    if several is not None:
        raise QueryError(
            f"?{several}, inside of OPTIONAL, is a term of several types",
            why="a column of answers has one type, also where it has no value",
            fix="map it with one type",
            source=asked.source,
        )
    return {n: next(iter(of)) for n, of in kinds.items()}


def _free_alias(query: SpjQuery) -> str:
    taken = {o.alias for o in query.occurrences}
    return next(n for n in (_ALIAS, *(f"{_ALIAS} {k}" for k in range(2, 99))) if n not in taken)
