"""Make one query of rows that hold, and of those that end them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count

from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    StringType,
    TimestampType,
)
from ontoweir.rewriter.absence.rename_views import part_views
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.aggregation import Standing
from ontoweir.rewriter.model.spj import (
    ConstantOutput,
    LiteralOutput,
    NullOutput,
    Output,
    SpjQuery,
    SpjUnion,
)
from ontoweir.rewriter.standing.answers_of import ANSWER, ENDER


def make_standing(
    rows: SpjUnion, enders: SpjUnion, standing: Standing, catalog: Catalog
) -> SpjUnion | None:
    """The query whose answers are the rows of one that no later row of another one has ended.

    Args:
        rows: the answers, as a bag; `standing.key` are among its variables.
        enders: the rows that end those with the same key, which are its variables in that order.
        standing: how; its `ender` is to be named.
        catalog: the tables.

    Returns:
        None where a variable of the key is not of one type in both, so that equal values could
        not be told.
    """
    named = zip(standing.key, enders.variables, strict=True)
    rows, enders = part_views([rows, _rename(enders, dict(named))])
    mine, theirs = (
        {name: types_of(one, name, catalog) for name in one.variables} for one in (rows, enders)
    )
    if any(len(mine[n] | theirs[n]) > 1 for n in standing.key):
        return None
    names = (f"ends {k}" if k else "ends" for k in count())
    name = next(n for n in names if n not in rows.variables)
    answers = [replace(q, outputs=(*q.outputs, (name, ANSWER))) for q in rows.disjuncts]
    others = []
    for query in enders.disjuncts:
        own = dict(query.outputs)
        outputs: list[tuple[str, Output]] = [
            (n, own[n] if n in standing.key else some_value(mine[n])) for n in rows.variables
        ]
        others.append(replace(query, outputs=(*outputs, (name, ENDER))))
    return replace(
        rows,
        variables=(*rows.variables, name),
        disjuncts=(*answers, *others),
        distinct=False,
        standing=replace(standing, ender=name, hidden=(*standing.hidden, name)),
        views=tuple(dict.fromkeys((*rows.views, *enders.views))),
        statics=tuple(dict.fromkeys((*rows.statics, *enders.statics))),
        buckets=tuple(dict.fromkeys((*rows.buckets, *enders.buckets))),
        derived=tuple(dict.fromkeys((*rows.derived, *enders.derived))),
        blocks=tuple({b.stream.name: b for b in (*rows.blocks, *enders.blocks)}.values()),
        hidden=tuple(dict.fromkeys((*rows.hidden, *enders.hidden))),
    )


def unite_hits(hits: Sequence[SpjUnion]) -> SpjUnion | None:
    """What any of several patterns matches: beside what none of them does, it does not (None: they
    are no such queries)."""
    first, *others = part_views(hits)
    made = first
    for union in others:
        plain = not (union.ends or union.begins or union.blocks or union.aggregation)
        if not plain or {*union.variables} != {*first.variables}:
            return None
        outputs = (dict(q.outputs) for q in union.disjuncts)
        found = (
            replace(q, outputs=tuple((n, of[n]) for n in first.variables))
            for q, of in zip(union.disjuncts, outputs, strict=True)
        )
        made = replace(
            made,
            disjuncts=tuple(dict.fromkeys((*made.disjuncts, *found))),
            views=tuple(dict.fromkeys((*made.views, *union.views))),
            statics=tuple(dict.fromkeys((*made.statics, *union.statics))),
            buckets=tuple(dict.fromkeys((*made.buckets, *union.buckets))),
            derived=tuple(dict.fromkeys((*made.derived, *union.derived))),
            hidden=tuple(dict.fromkeys((*made.hidden, *union.hidden))),
        )
    return made


def _rename(union: SpjUnion, of: Mapping[str, str]) -> SpjUnion:
    """A query with other variables; `of`: what each was before."""
    outputs = [tuple((n, dict(q.outputs)[old]) for n, old in of.items()) for q in union.disjuncts]
    disjuncts = [replace(q, outputs=o) for q, o in zip(union.disjuncts, outputs, strict=True)]
    return replace(union, variables=tuple(of), disjuncts=tuple(disjuncts))


def types_of(union: SpjUnion, name: str, catalog: Catalog) -> set[ColumnType | None]:
    """The types of a variable's values (None: terms, which are shown as texts)."""
    wide = extend_catalog(catalog, union)
    return {_type_of(query, name, wide) for query in union.disjuncts}


def _type_of(query: SpjQuery, name: str, catalog: Catalog) -> ColumnType | None:
    output = dict(query.outputs)[name]
    if isinstance(output, LiteralOutput | NullOutput):
        return Types(catalog, query.occurrences).type_of(output.value)
    return output.kind if isinstance(output, ConstantOutput) else None


def some_value(kinds: set[ColumnType | None]) -> ConstantOutput:
    """A constant that changes no type of a column; nobody sees it."""
    kind = next(iter(kinds)) if len(kinds) == 1 else None
    match kind:
        case IntType() | DecimalType() | FloatType():
            text = "0"
        case BooleanType():
            text = "false"
        case DateType():
            text = "1970-01-01"
        case TimestampType():
            text = "1970-01-01 00:00:00Z"
        case StringType() | None:
            text = ""
    return ConstantOutput(text, is_iri=False, kind=kind)
