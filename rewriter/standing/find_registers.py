"""Solutions of static data beside which patterns of streams match, or do not, in SPARQL."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count

from ontoweir.errors import QueryError
from ontoweir.mappings.expressions.write_expression import write_expression
from ontoweir.mappings.model.catalog import BooleanType, Catalog, Column, IntType
from ontoweir.mappings.model.column_types import XSD
from ontoweir.mappings.model.expression import Call, Expression, Field, Function, Value
from ontoweir.rewriter.absence.rename_views import rename_views
from ontoweir.rewriter.absence.unite_solutions import Solutions
from ontoweir.rewriter.blocks.make_answers import make_answers
from ontoweir.rewriter.buckets.make_column import NEVER
from ontoweir.rewriter.differences.count_rows import MULTIPLICITY
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction, Aggregation
from ontoweir.rewriter.model.spj import (
    Attribute,
    ConstantOutput,
    LiteralOutput,
    Occurrence,
    Output,
    SpjQuery,
    SpjUnion,
)
from ontoweir.rewriter.views.list_streams import list_streams
from ontoweir.rewriter.windows.window import BEGINS, ENDS

_COUNT, _MOST, _ALIAS = "how many", "most", "first moment"
_LONG_AGO = ConstantOutput("0001-01-01T00:00:00", False, f"{XSD}dateTime")
"""The time before all, which is no later than that of any row."""


def find_registers(
    alternatives: Sequence[Solutions],
    head: Sequence[str],
    catalog: Catalog,
    first: Callable[[Sequence[str]], SpjUnion],
    *,
    distinct: bool,
) -> SpjUnion | None:
    """The query of solutions of static data beside which patterns of streams match, or do not, as
    groups of these solutions, which hold from the first timestamp of the streams on, and of the
    matches, which hold as long as their windows say (None: it says something else).

    Args:
        alternatives: the solutions; what they show is among what their parts show.
        head: the answer variables.
        catalog: the tables.
        first: the query of the first timestamp of some streams.
        distinct: an answer holds once.

    Raises:
        QueryError: of DISTINCT, not all is shown on which the patterns depend.
    """
    if len(alternatives) != 1 or alternatives[0].missing or not alternatives[0].parts:
        return None
    (one,) = alternatives
    present = [hits for hits, _, there in one.parts if there]
    if one.times or one.found.blocks or (present and len(one.parts) > 1):
        return None
    if not one.found.disjuncts or list_streams(one.found, catalog):
        return None
    parts = [hits for hits, _, _ in one.parts]
    streams = tuple(dict.fromkeys(s for hits in parts for s in list_streams(hits, catalog)))
    keys = tuple(dict.fromkeys(k for _, of, _ in one.parts for k in of))
    if not streams or not set(head) <= set(keys) or any(h.blocks for h in parts):
        return None
    if any(not _has_stream(q, h, catalog) for h in parts for q in h.disjuncts):
        return None
    if distinct and set(keys) != set(head):
        raise QueryError(
            "SELECT DISTINCT of static data that does not show all on which NOT EXISTS, EXISTS or "
            "MINUS depends",
            why="an answer would hold while one of several solutions does, which come and go",
            fix=f"select {', '.join(f'?{k}' for k in keys)}, or leave DISTINCT out",
            source=one.found.source,
        )
    return _unite(one, parts, (tuple(head), keys), first(streams), catalog, distinct=distinct)


def _unite(
    one: Solutions,
    parts: Sequence[SpjUnion],
    names: tuple[tuple[str, ...], tuple[str, ...]],
    first: SpjUnion,
    catalog: Catalog,
    *,
    distinct: bool,
) -> SpjUnion:
    """One query of solutions and of what is beside them, by the keys."""
    head, keys = names
    answers, block = make_answers(first, _ALIAS, catalog)
    most, late = max((1, *(len(h.ends) for h in parts))), max(len(h.begins) for h in parts)
    ends = tuple(f"{ENDS}{n}" for n in range(1, most + 1))
    begins = tuple(f"{BEGINS}{n}" for n in range(1, late + 1))
    union = replace(one.found, disjuncts=(), aggregation=None)
    buckets: dict[tuple[str, Column], None] = {}
    derived: dict[tuple[str, Expression], None] = {}
    taken = {*catalog.streams, *catalog.relations, *(v.name for v in one.found.views)}
    disjuncts = []
    for number, part in enumerate([one.found, *parts]):
        made = part if number == 0 else rename_views(part, taken)
        taken |= {v.name for v in made.views}
        for query in made.disjuncts:
            if number == 0:
                row = Occurrence(_free_alias(query), answers.stream.name)
                query = replace(query, occurrences=(*query.occurrences, row))
            shown = dict(query.outputs)
            table, sign = query.occurrences[0], Value(int(number == 0), IntType())
            derived[(table.table, sign)] = None
            told = [shown[n] for n in made.ends]
            if not told:
                alias, of = _find_stream(query, {answers.stream.name}, made, catalog)
                buckets[(of, NEVER)] = None
                told = [LiteralOutput(Attribute(alias, NEVER.name), f"{XSD}dateTime")]
            starts: list[Output] = [shown[n] for n in made.begins]
            if late and not starts:  # from their own time on
                starts = [_LONG_AGO]
            outputs: list[tuple[str, Output]] = [(k, shown[k]) for k in keys]
            outputs.append((_COUNT, LiteralOutput(Attribute(table.alias, write_expression(sign)))))
            outputs += zip(ends, [*told, *told[-1:] * (most - len(told))], strict=True)
            outputs += zip(begins, [*starts, *starts[-1:] * (late - len(starts))], strict=True)
            disjuncts.append(replace(query, outputs=tuple(outputs)))
        buckets |= dict.fromkeys(made.buckets)
        derived |= dict.fromkeys(made.derived)
        union = replace(
            union,
            views=union.views if number == 0 else (*union.views, *made.views),
            hidden=tuple(dict.fromkeys((*union.hidden, *made.hidden))),
        )
    return replace(
        union,
        variables=(*keys, _COUNT, *ends, *begins),
        disjuncts=tuple(disjuncts),
        distinct=False,
        aggregation=_group(head, keys, distinct=distinct, present=one.parts[0][2]),
        buckets=tuple(buckets),
        derived=tuple(derived),
        ends=ends,
        begins=begins,
        blocks=(block,),
    )


def _group(
    head: tuple[str, ...], keys: tuple[str, ...], *, distinct: bool, present: bool
) -> Aggregation:
    """Groups that hold while there are solutions, and nothing, or something, beside them."""
    calls = [Aggregate(_COUNT, AggregateFunction.MIN, _COUNT)]
    least = Field(_COUNT, IntType())
    having = _compare(Function.GREATER, least, 0)
    if present:
        calls.append(Aggregate(_MOST, AggregateFunction.MAX, _COUNT))
        both = (
            _compare(Function.LESS, least, 1),
            _compare(Function.GREATER, Field(_MOST, IntType()), 0),
        )
        having = Call(Function.AND, both, BooleanType())
    if not distinct:
        calls.append(Aggregate(MULTIPLICITY, AggregateFunction.SUM, _COUNT))
    columns = head if distinct else (*head, MULTIPLICITY)
    return Aggregation(keys, tuple(calls), columns, having=having)


def _compare(function: Function, left: Expression, number: int) -> Call:
    return Call(function, (left, Value(number, IntType())), BooleanType())


def _free_alias(query: SpjQuery) -> str:
    taken = {o.alias for o in query.occurrences}
    names = (_ALIAS if n == 1 else f"{_ALIAS} {n}" for n in count(1))
    return next(n for n in names if n not in taken)


def _find_stream(
    query: SpjQuery, more: set[str], union: SpjUnion, catalog: Catalog
) -> tuple[str, str]:
    """The alias and the name of a stream that a disjunct reads."""
    known = {*extend_catalog(catalog, union).streams, *more}
    return next((o.alias, o.table) for o in query.occurrences if o.table in known)


def _has_stream(query: SpjQuery, union: SpjUnion, catalog: Catalog) -> bool:
    known = extend_catalog(catalog, union).streams
    return any(o.table in known for o in query.occurrences)
