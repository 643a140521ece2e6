"""Sides of a UNION that do not bind all that is shown, with no value in its place."""

from collections.abc import Callable, Sequence

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.aggregates.unite_parts import PART, unite_parts
from ontoweir.rewriter.composed.drop_empty import Known, open_nothing
from ontoweir.rewriter.composed.solution_part import SolutionPart, list_kinds
from ontoweir.rewriter.model.joined import Joined, JoinedPart, JoinKind
from ontoweir.rewriter.model.spj import SpjUnion


def widen_sides(
    parts: Sequence[SolutionPart],
    names: Sequence[str],
    first: Callable[[], SpjUnion],
    catalog: Catalog,
) -> list[SolutionPart] | None:
    """The sides with the columns of all: a variable that a side does not bind has no value there
    (None: a side is one group of all, or of several types).

    Args:
        parts: the sides.
        names: the variables.
        first: makes the query of the first timestamp of their streams.
        catalog: the tables.
    """
    known: Known = {}
    for part in parts:
        for name in names:
            if name in part.kinds and name not in known:
                known[name] = part.kinds[name], part.terms[name]
    made: list[SolutionPart] = []
    for part in parts:
        missing = {n: known.get(n) for n in names if n not in part.kinds}
        wide = _widen(part, missing, first(), catalog) if missing else part
        if wide is None:
            return None
        made.append(wide)
    return made


def _widen(
    part: SolutionPart, missing: Known, first: SpjUnion, catalog: Catalog
) -> SolutionPart | None:
    """A side beside nothing, as in OPTIONAL, which has the variables that are missing."""
    if part.groups is not None and not part.groups.group:
        return None
    nothing = open_nothing(first, missing, catalog)
    unions = [part.union, nothing.union]
    kinds = [list_kinds(union, catalog) for union in unions]
    if any(len(of) != 1 for kind in kinds for of in kind.values()):
        return None
    one = JoinedPart(
        part.union,
        until=tuple(f"0 {v}" for v in part.union.ends),
        groups=part.groups,
        since=tuple(f"0 {v}" for v in part.union.begins),
        ever="static" if part.ever else None,
    )
    until = tuple(f"1 {v}" for v in nothing.union.ends)
    other = JoinedPart(nothing.union, kind=JoinKind.LEFT, until=until)
    shown = (*((v, f"0 {v}") for v in part.kinds), *((v, f"1 {v}") for v in missing))
    union = unite_parts(unions, Joined(PART, (one, other), shown), kinds)
    return SolutionPart(
        union,
        None,
        {**part.kinds, **nothing.kinds},
        {**part.terms, **nothing.terms},
        loose=part.loose | missing.keys(),
    )
