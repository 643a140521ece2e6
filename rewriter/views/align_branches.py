"""Lays assertions of one predicate side by side: which columns of each are one column of a view."""

from collections.abc import Sequence
from dataclasses import dataclass

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.assertion import MappingAssertion
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.algebra.print_spj import show_output
from ontoweir.rewriter.model.spj import (
    Attribute,
    Constant,
    ConstantOutput,
    Output,
    ViewBranch,
    ViewColumn,
    output_attributes,
)
from ontoweir.rewriter.tmappings.instantiate_assertion import Instance, instantiate_assertion
from ontoweir.rewriter.tmappings.unify_outputs import unify_outputs
from ontoweir.rewriter.views.find_key import is_injective


@dataclass(frozen=True, slots=True)
class Aligned:
    """Branches with the same columns.

    `pattern`: the assertion whose terms all have the shape of; `places`: of every column in its
    terms, in order, the number of the view's column (None: it is the time).
    """

    pattern: MappingAssertion
    branches: tuple[ViewBranch, ...]
    places: tuple[int | None, ...]


def align_branches(
    assertions: Sequence[MappingAssertion], catalog: Catalog, place: Source | None
) -> Aligned:
    """The branches of a view: of each assertion, what it has where the first one that is no
    constant has a column.

    Raises:
        QueryError: their terms may be equal, but not by comparing columns.
    """
    made = [instantiate_assertion(a, 1, catalog) for a in assertions]
    first = max(range(len(made)), key=lambda n: len(_attributes(made[n])))
    pattern = made[first]
    types = Types(catalog, pattern.occurrences)
    rows = [_align(pattern, one, types, place) for one in made]
    places: list[int | None] = []
    kept: list[int] = []
    for n in range(len(_attributes(pattern))):
        times = {
            one.time is not None and row[n] == one.time for row, one in zip(rows, made, strict=True)
        }
        if times == {True}:
            places.append(None)
            continue
        if times != {False}:
            raise QueryError(
                f"the same triples are made from the time of {pattern.provenance.mapping} and from "
                "other columns",
                why="equal triples count once, and these do not compare",
                fix="write SELECT DISTINCT, or make them from columns of one kind",
                source=place,
            )
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
    return Aligned(assertions[first], branches, tuple(places))


def _attributes(made: Instance) -> tuple[Attribute, ...]:
    terms = (made.subject,) if made.object is None else (made.subject, made.object)
    return tuple(a for term in terms for a in output_attributes(term))


def _align(
    pattern: Instance, made: Instance, types: Types, place: Source | None
) -> tuple[ViewColumn, ...]:
    """What an assertion has for each attribute of the pattern's terms."""
    columns: list[ViewColumn] = []
    for want, have in ((pattern.subject, made.subject), (pattern.object, made.object)):
        if want is None or have is None:
            continue
        columns += _align_term(want, have, types, place)
    return tuple(columns)


def _align_term(
    want: Output, have: Output, types: Types, place: Source | None
) -> Sequence[ViewColumn]:
    if isinstance(have, ConstantOutput):
        equations = unify_outputs(want, have, types, place)
        if equations is not None:
            given = {c.left: c.right for c in equations}
            wanted = output_attributes(want)
            if all(isinstance(given.get(a), Constant) for a in wanted):
                return [given[a] for a in wanted]
    elif shape_of(want) == shape_of(have) and is_injective(want, types):
        return output_attributes(have)
    raise QueryError(
        f"triples with {show_output(want)} may be the same"
        if want == have
        else f"triples with {show_output(want)} and with {show_output(have)} may be the same",
        why="equal ones count once, and no comparison of columns tells which are equal",
        fix="write SELECT DISTINCT; or use templates of one shape, with a separator such as / "
        'between their columns; or set counts = "matches" in [project]',
        source=place,
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
