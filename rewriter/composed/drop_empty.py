"""Parts of joined solutions of which there are none, whatever the data are."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from ontoweir.mappings.model.catalog import Catalog, ColumnType, IntType
from ontoweir.mappings.model.column_types import XSD
from ontoweir.rewriter.composed.solution_part import SolutionPart, open_begun
from ontoweir.rewriter.composed.split_joined import JoinedText, PartOfText
from ontoweir.rewriter.model.joined import JoinKind
from ontoweir.rewriter.model.spj import Attribute, Compare, ConstantOutput, Op, Output, SpjUnion
from ontoweir.rewriter.standing.make_standing import some_value

_NONE = ConstantOutput("0", is_iri=False, datatype=f"{XSD}integer", kind=IntType())
"""In the place of a term that no solution has."""
Known: TypeAlias = dict[str, "tuple[set[ColumnType | None], tuple[Output, ...]] | None"]
"""Variables, each with the types and the terms that it has elsewhere (None: nowhere)."""
_SHOWN = (JoinKind.INNER, JoinKind.LEFT)


def drop_empty(
    asked: JoinedText, unions: Sequence[SpjUnion]
) -> tuple[JoinedText, tuple[SpjUnion, ...]]:
    """The parts without those that take nothing away and bring nothing: sides of a UNION, and what
    must not be there, of patterns that nothing matches; and of others of no solution (is_empty)
    the variables alone that no other part has, as there is none to be joined.

    Args:
        asked: the texts.
        unions: their queries.
    """
    empty = [is_empty(union) for union in unions]
    if not any(empty):
        return asked, tuple(unions)
    if any(part.kind is JoinKind.UNION for part in asked.parts):
        kept = [n for n, nothing in enumerate(empty) if not nothing] or [0]
        parts = [
            replace(asked.parts[n], kind=JoinKind.UNION if number else JoinKind.INNER)
            for number, n in enumerate(kept)
        ]
        return replace(asked, parts=tuple(parts)), tuple(unions[n] for n in kept)
    kept = [n for n, p in enumerate(asked.parts) if not (empty[n] and p.kind is JoinKind.ABSENT)]
    parts = [_narrow(asked, n, empty) if empty[n] else asked.parts[n] for n in kept]
    return replace(asked, parts=tuple(parts)), tuple(unions[n] for n in kept)


def is_empty(union: SpjUnion) -> bool:
    """Whether nothing matches the patterns of a part, and it is not one group of all, which has a
    row of nothing.

    Args:
        union: the query of a part.
    """
    one = union.aggregation is not None and not union.aggregation.group
    return not union.disjuncts and union.joined is None and union.standing is None and not one


def open_nothing(first: SpjUnion, variables: Known, catalog: Catalog) -> SolutionPart:
    """The rows of a part of which there are none.

    Args:
        first: the query of the first timestamp of some streams.
        variables: of the part.
        catalog: the tables.
    """
    begun = open_begun(first, catalog)
    union = replace(begun, variables=(*variables, *begun.ends))
    some = {v: of or ({IntType()}, (_NONE,)) for v, of in variables.items()}
    kinds = {v: kind for v, (kind, _) in some.items()}
    values = {v: some_value(kind) for v, kind in kinds.items()}
    terms = {v: term for v, (_, term) in some.items()}
    return SolutionPart(_hold(union, begun, values), None, kinds, terms)


def hold_row(union: SpjUnion, first: Callable[[], SpjUnion], catalog: Catalog) -> SpjUnion:
    """One group of all, where nothing matches, over rows of which there are none; any other query
    as it is.

    Args:
        union: a part.
        first: makes the query of the first timestamp of some streams.
        catalog: the tables.
    """
    one = union.aggregation is not None and not union.aggregation.group
    if not one or union.disjuncts or union.joined is not None or union.standing is not None:
        return union
    begun = open_begun(first(), catalog)
    named = tuple(v for v in union.variables if v not in (*union.ends, *union.begins))
    whole = replace(union, variables=(*named, *begun.ends), ends=begun.ends, begins=())
    return _hold(replace(whole, buckets=begun.buckets, blocks=begun.blocks), begun, {})


def _hold(union: SpjUnion, begun: SpjUnion, values: Mapping[str, Output]) -> SpjUnion:
    """The query over rows of which there are none; of its variables some have a value of a type."""
    (row,) = begun.disjuncts
    time = Attribute(row.occurrences[0].alias, begun.blocks[0].stream.timestamp)
    outputs = {**dict.fromkeys(union.variables, _NONE), **dict(row.outputs), **values}
    never = replace(
        row,
        conditions=(Compare(time, Op.NE, time),),
        outputs=tuple((v, outputs[v]) for v in union.variables),
    )
    return replace(union, disjuncts=(never,))


def _narrow(asked: JoinedText, number: int, empty: Sequence[bool]) -> PartOfText:
    """A part without solutions: of what no part with some binds, nor one before it, and joined by
    nothing."""
    part = asked.parts[number]
    others = {
        v
        for n, other in enumerate(asked.parts)
        if (n < number or not empty[n]) and n != number and other.kind in _SHOWN
        for v in other.variables
    }
    own = tuple(v for v in part.variables if v not in others) if part.kind in _SHOWN else ()
    kind = JoinKind.LEFT if part.kind is JoinKind.LEFT else JoinKind.INNER
    return PartOfText(part.text, own or (NOTHING,), kind, ())


NOTHING = "no solution"
"""How the column is called of a part that has no variable."""
