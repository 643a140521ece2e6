"""Makes views of the matches of a star: those with terms of one shape are branches of one view."""

from collections.abc import Sequence
from dataclasses import replace

from ontoweir.mappings.model.assertion import TriplesMapName
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.equality_classes import Types, map_output
from ontoweir.rewriter.algebra.find_contradiction import find_contradiction
from ontoweir.rewriter.model.query import Variable
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    LiteralOutput,
    NotNull,
    Occurrence,
    Op,
    Output,
    Provenance,
    SpjQuery,
    ViewBranch,
    output_attributes,
)
from ontoweir.rewriter.passes.derive_equalities import derive_equalities
from ontoweir.rewriter.passes.propagate_equalities import propagate_equalities
from ontoweir.rewriter.passes.remove_reference_joins import remove_reference_joins
from ontoweir.rewriter.passes.remove_self_joins import remove_self_joins
from ontoweir.rewriter.unfold.match_atoms import Match
from ontoweir.rewriter.views.align_branches import shape_of
from ontoweir.rewriter.views.make_sets import SetMaker

_TIME = "the time"


def unite_matches(
    matches: Sequence[Match], needed: frozenset[Variable], name: str, sets: SetMaker
) -> tuple[Match, ...]:
    """The matches of a star, those that can be rows of one table as one match of a view.

    Rows of different branches make different triples, or are chosen by different assertions, which
    are sets that exclude each other where rows count (SetMaker): so nothing repeats in the view.

    Args:
        matches: of one star.
        needed: the variables that have columns in the view.
        name: for its view.
        sets: makes views, and has the catalog with them.
    """
    groups: dict[object, list[tuple[Match, SpjQuery]]] = {}
    apart: list[Match] = []
    for match in matches:
        reduced = _reduce(match, needed, sets.catalog)
        if reduced is None:
            continue  # no row satisfies it
        signature = _signature(reduced, sets.catalog)
        if signature is None:
            apart.append(match)
        else:
            groups.setdefault(signature, []).append((match, reduced))
    united = [_unite(group, name, sets) for group in groups.values()]
    return (*united, *apart)


def _reduce(match: Match, needed: frozenset[Variable], catalog: Catalog) -> SpjQuery | None:
    """A star's match as a query of the variables needed and its time, with few occurrences."""
    times = [a for attributes in match.times.values() for a in attributes]
    equal = tuple(Compare(times[0], Op.EQ, other) for other in times[1:])
    outputs: tuple[tuple[str, Output], ...] = tuple(
        (variable.name, output) for variable, output in match.bindings.items() if variable in needed
    )
    if times:
        outputs = (*outputs, (_TIME, LiteralOutput(times[0])))
    query = SpjQuery(match.occurrences, (*match.conditions, *equal), outputs, match.provenance)
    for change in (
        propagate_equalities,
        derive_equalities,
        remove_self_joins,
        remove_reference_joins,
    ):
        query = change(query, catalog)
    return query if find_contradiction(query, catalog) is None else None


def _signature(query: SpjQuery, catalog: Catalog) -> object | None:
    """What branches of one view have in common: the shapes and types of their terms, the unit of
    their time. None: it is no branch, as it joins two streams, or makes a term of a time."""
    streams = [o for o in query.occurrences if o.table in catalog.streams]
    if len(streams) > 1:
        return None
    types = Types(catalog, query.occurrences)
    shapes: list[object] = []
    for name, output in query.outputs:
        attributes = output_attributes(output)
        if name == _TIME:
            shapes.append((_TIME, types.step_of(attributes[0])))
            continue
        if any(types.step_of(a) is not None for a in attributes):
            return None
        shapes.append((name, shape_of(output), tuple(types.type_of(a) for a in attributes)))
    if streams and not any(name == _TIME for name, _ in query.outputs):
        return None
    return tuple(sorted(shapes, key=str))


def _unite(group: Sequence[tuple[Match, SpjQuery]], name: str, sets: SetMaker) -> Match:
    if len(group) == 1:
        return group[0][0]
    names = [n for n, _ in group[0][1].outputs if n != _TIME]
    rows = [_columns(query, names) for _, query in group]
    kept: list[int] = []
    places: list[int] = []
    for n in range(len(rows[0])):
        same = next((k for k in kept if all(row[k] == row[n] for row in rows)), None)
        if same is None:
            kept.append(n)
        places.append(kept.index(n if same is None else same))
    branches = tuple(
        ViewBranch(
            query.occurrences,
            query.conditions,
            tuple(row[k] for k in kept),
            _time(query),
            query.provenance,
        )
        for (_, query), row in zip(group, rows, strict=True)
    )
    some = ", ".join(dict.fromkeys(p.mapping for b in branches[:3] for _, p in b.provenance))
    why = f"{len(branches)} ways to match one subject, of {some}" + (
        " and more" if len(branches) > 3 else ""
    )
    view = sets.add_view(name, branches, distinct=False, why=why)
    alias = f"{view.name}_1"
    columns = [Attribute(alias, view.table.columns[p].name) for p in places]
    following = iter(columns)
    bindings: dict[Variable, Output] = {}
    first = dict(group[0][1].outputs)
    for variable in names:
        bindings[Variable(variable)] = map_output(first[variable], lambda _: next(following))
    times: dict[Variable, tuple[Attribute, ...]] = {
        variable: (Attribute(alias, timestamp),)
        for variable in group[0][0].times
        if (timestamp := view.timestamp) is not None
    }
    return Match(
        (Occurrence(alias, view.name),),
        tuple(NotNull(c) for c in dict.fromkeys(columns)),
        bindings,
        times,
        ((alias, _provenance(branches)),),
    )


def _columns(query: SpjQuery, names: Sequence[str]) -> tuple[Attribute, ...]:
    outputs = dict(query.outputs)
    return tuple(a for name in names for a in output_attributes(outputs[name]))


def _time(query: SpjQuery) -> Attribute | None:
    output = dict(query.outputs).get(_TIME)
    return None if output is None else output_attributes(output)[0]


def _provenance(branches: Sequence[ViewBranch]) -> Provenance:
    """Of the first branch, with the names of all triples maps."""
    origins = list(dict.fromkeys(p for b in branches for _, p in b.provenance))
    first = origins[0]
    named = (
        name
        for p in origins
        for name in (
            *([TriplesMapName(p.mapping, p.mapping_source)] if p.mapping_source else []),
            *p.others,
        )
    )
    others = tuple(name for name in dict.fromkeys(named) if name.id != first.mapping)
    axioms = tuple(dict.fromkeys(text for p in origins for text in p.axioms))
    places = tuple(dict.fromkeys(place for p in origins for place in p.axiom_sources))
    return replace(first, others=others, axioms=axioms, axiom_sources=places)
