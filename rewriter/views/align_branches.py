"""Lays assertions of one predicate side by side: which columns of each are one column of a view."""

from collections.abc import Sequence
from dataclasses import dataclass

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.assertion import MappingAssertion
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.column_types import type_family
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.algebra.is_injective import is_injective
from ontoweir.rewriter.algebra.print_spj import show_output
from ontoweir.rewriter.model.spj import (
    BlankOutput,
    Constant,
    ConstantOutput,
    IriOutput,
    LiteralOutput,
    NullOutput,
    Output,
    TemplateLiteralOutput,
    TextColumn,
    ViewBranch,
    ViewColumn,
    output_attributes,
)
from ontoweir.rewriter.tmappings.instantiate_assertion import Instance, instantiate_assertion
from ontoweir.rewriter.tmappings.unify_outputs import unify_outputs


@dataclass(frozen=True, slots=True)
class Aligned:
    """Branches with the same columns.

    `pattern`: the assertion that has most columns. `places`: of every column in its terms, in
    order, the number of the view's column (None: it is the time); a term whose text is a column
    (`texts`: of the subject, of the object) has one place.
    """

    pattern: MappingAssertion
    branches: tuple[ViewBranch, ...]
    places: tuple[int | None, ...]
    texts: tuple[bool, bool]


def align_branches(
    assertions: Sequence[MappingAssertion], catalog: Catalog, place: Source | None
) -> Aligned:
    """The branches of a view: of each assertion, what it has where the one with most columns has a
    column; of terms that no columns tell apart, their texts.

    Raises:
        QueryError: their terms may be equal, but neither columns nor texts tell when.
    """
    made = [instantiate_assertion(a, 1, catalog) for a in assertions]
    first = max(range(len(made)), key=lambda n: _count(made[n]))
    subjects, by_subject = _align([m.subject for m in made], first, made, catalog, place)
    objects = [m.object for m in made if m.object is not None]
    values, by_object = (
        _align(objects, first, made, catalog, place) if objects else ([()] * len(made), False)
    )
    rows = [(*a, *b) for a, b in zip(subjects, values, strict=True)]
    places: list[int | None] = []
    kept: list[int] = []
    for n in range(len(rows[first])):
        if _is_time([row[n] for row in rows], made, place):
            places.append(None)
            continue
        same = next((k for k in kept if all(row[k] == row[n] for row in rows)), None)
        if same is None:
            kept.append(n)
        places.append(kept.index(n if same is None else same))
    branches = tuple(
        ViewBranch(
            one.occurrences,
            one.conditions,
            tuple(row[k] for k in kept),
            one.time,
            tuple((o.alias, one.provenance) for o in one.occurrences) or (("", one.provenance),),
        )
        for one, row in zip(made, rows, strict=True)
    )
    return Aligned(assertions[first], branches, tuple(places), (by_subject, by_object))


def _count(made: Instance) -> int:
    terms = (made.subject,) if made.object is None else (made.subject, made.object)
    return sum(len(output_attributes(term)) for term in terms)


def _is_time(columns: Sequence[ViewColumn], made: Sequence[Instance], place: Source | None) -> bool:
    """Whether a column is the branches' time."""
    times = {
        one.time is not None and column == one.time
        for column, one in zip(columns, made, strict=True)
    }
    if times == {True, False}:
        raise QueryError(
            f"the same triples are made from the time of {made[0].provenance.mapping} and from "
            "other columns",
            why="equal triples count once, and these do not compare",
            fix="write SELECT DISTINCT, or make them from columns of one kind",
            source=place,
        )
    return times == {True}


def _align(
    terms: Sequence[Output],
    first: int,
    made: Sequence[Instance],
    catalog: Catalog,
    place: Source | None,
) -> tuple[list[tuple[ViewColumn, ...]], bool]:
    """What each branch has for the columns of the term of the first; or for its text (True)."""
    want = terms[first]
    types = [Types(catalog, m.occurrences) for m in made]
    columns = [_align_columns(want, types[first], t, k) for t, k in zip(terms, types, strict=True)]
    known = [c for c in columns if c is not None]
    if len(known) == len(columns):
        return known, False
    texts = [_align_text(term) for term in terms]
    told = [t for t in texts if t is not None]
    if len(told) == len(texts) and not _mixes_times(terms, types):
        return told, True
    other = next((t for t, c in zip(terms, columns, strict=True) if c is None), want)
    raise QueryError(
        f"triples with {show_output(want)} may be the same"
        if want == other
        else f"triples with {show_output(want)} and with {show_output(other)} may be the same",
        why="equal ones count once, and neither columns nor texts tell which are equal",
        fix="write SELECT DISTINCT; or use columns of one type, and templates of one shape, in the "
        'mappings; or set counts = "matches" in [project]',
        source=place,
    )


def _align_columns(
    want: Output, types: Types, have: Output, own: Types
) -> tuple[ViewColumn, ...] | None:
    """What a term has for each column of another (None: columns do not tell what is equal)."""
    if isinstance(have, ConstantOutput):
        try:
            equations = unify_outputs(want, have, types, None)
        except QueryError:
            return None
        if equations is None:
            return None
        given = {c.left: c.right for c in equations}
        values = [given.get(a) for a in output_attributes(want)]
        constants = tuple(v for v in values if isinstance(v, Constant))
        return constants if len(constants) == len(values) else None
    if shape_of(want) != shape_of(have) or not is_injective(want, types):
        return None
    pairs = zip(output_attributes(want), output_attributes(have), strict=True)
    if any(type_family(types.type_of(a)) != type_family(own.type_of(b)) for a, b in pairs):
        return None
    return output_attributes(have)


def _align_text(term: Output) -> tuple[ViewColumn, ...] | None:
    """The text of an IRI or a string (None: of others, it is not told by their text)."""
    match term:
        case IriOutput(parts=parts):
            return (TextColumn(parts, encoded=len(parts) > 1),)
        case TemplateLiteralOutput(parts=parts):
            return (TextColumn(parts, encoded=False),)
        case ConstantOutput(value=value):
            return (Constant(value),)
        case LiteralOutput() | BlankOutput() | NullOutput():
            return None


def _mixes_times(terms: Sequence[Output], types: Sequence[Types]) -> bool:
    """Whether a text would be made from the time of a stream."""
    return any(
        own.step_of(a) is not None
        for term, own in zip(terms, types, strict=True)
        for a in output_attributes(term)
    )


def shape_of(term: Output) -> object:
    """What two terms have in common that differ in their columns' values only."""
    match term:
        case ConstantOutput():
            return term
        case _:
            parts = getattr(term, "parts", None)
            return (
                type(term),
                getattr(term, "datatype", None),
                getattr(term, "language", None),
                None if parts is None else tuple(p if isinstance(p, str) else None for p in parts),
            )
