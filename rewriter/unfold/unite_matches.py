"""Makes views of the matches of a star: those with terms of one shape are branches of one view."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ontoweir.errors import QueryError
from ontoweir.mappings.model.assertion import TriplesMapName
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.contain_spj import is_contained
from ontoweir.rewriter.algebra.equality_classes import Types, map_output
from ontoweir.rewriter.algebra.find_contradiction import find_contradiction
from ontoweir.rewriter.model.query import Variable
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Constant,
    ConstantOutput,
    IriOutput,
    LiteralOutput,
    NotNull,
    Occurrence,
    Op,
    Output,
    Provenance,
    SpjQuery,
    ViewBranch,
    ViewColumn,
    output_attributes,
)
from ontoweir.rewriter.passes.derive_equalities import derive_equalities
from ontoweir.rewriter.passes.index_disjuncts import DisjunctIndex
from ontoweir.rewriter.passes.propagate_equalities import propagate_equalities
from ontoweir.rewriter.passes.remove_reference_joins import remove_reference_joins
from ontoweir.rewriter.passes.remove_self_joins import remove_self_joins
from ontoweir.rewriter.unfold.match_atoms import Match
from ontoweir.rewriter.views.align_branches import shape_of
from ontoweir.rewriter.views.make_sets import SetMaker

_TIME = "the time"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a star's view has: columns for the variables `needed`; `shown` of them are asked for by
    nothing but the answers; `distinct`: it does not matter how often a row is there."""

    name: str
    needed: frozenset[Variable]
    shown: frozenset[Variable]
    distinct: bool


@dataclass(frozen=True, slots=True)
class _Row:
    """A match, and as a query of the columns wanted."""

    match: Match
    query: SpjQuery


def unite_matches(matches: Sequence[Match], wanted: Wanted, sets: SetMaker) -> tuple[Match, ...]:
    """The matches of a star, those that can be rows of one table as one match of a view.

    Rows of different branches make different triples, or are chosen by different assertions, which
    are sets that exclude each other where rows count (SetMaker): so nothing repeats in the view.

    Args:
        matches: of one star.
        wanted: what its view has, and is called.
        sets: makes views, and has the catalog with them.
    """
    reduced = ((match, _reduce(match, wanted, sets.catalog)) for match in matches)
    rows = [_Row(match, query) for match, query in reduced if query is not None]
    if wanted.distinct:
        rows = _drop_contained(rows, sets.catalog)
    groups: dict[object, list[_Row]] = {}
    apart: list[Match] = []
    for row in rows:
        signature = _signature(row.query, wanted, sets.catalog)
        if signature is None:
            apart.append(row.match)
        else:
            groups.setdefault(signature, []).append(row)
    united = [_unite(group, wanted, sets) for group in groups.values()]
    return (*united, *apart)


def _drop_contained(rows: Sequence[_Row], catalog: Catalog) -> list[_Row]:
    """Without those whose rows others have too."""
    kept = DisjunctIndex[_Row](catalog, lambda row: row.query)
    for row in rows:
        try:
            if any(is_contained(row.query, other.query, catalog) for other in kept.above(row)):
                continue
            below = [r for r in kept.below(row) if is_contained(r.query, row.query, catalog)]
        except QueryError:  # too long a search: it stays
            below = []
        for other in below:
            kept.remove(other)
        kept.add(row)
    return list(kept)


def _reduce(match: Match, wanted: Wanted, catalog: Catalog) -> SpjQuery | None:
    """A star's match as a query of the variables needed and its time, with few occurrences."""
    times = [a for attributes in match.times.values() for a in attributes]
    equal = tuple(Compare(times[0], Op.EQ, other) for other in times[1:])
    outputs: tuple[tuple[str, Output], ...] = tuple(
        (variable.name, output)
        for variable, output in match.bindings.items()
        if variable in wanted.needed
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
    streams = [catalog.streams[o.table] for o in query.occurrences if o.table in catalog.streams]
    if not times and len(streams) == 1:  # outside GRAPH
        alias = next(o.alias for o in query.occurrences if o.table in catalog.streams)
        time = LiteralOutput(Attribute(alias, streams[0].timestamp))
        query = replace(query, outputs=(*query.outputs, (_TIME, time)))
    return query if find_contradiction(query, catalog) is None else None


def _signature(query: SpjQuery, wanted: Wanted, catalog: Catalog) -> object | None:
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
        if _is_listed(name, output, wanted):
            shapes.append((name, "IRI"))
            continue
        shapes.append((name, shape_of(output), tuple(types.type_of(a) for a in attributes)))
    if streams and not any(name == _TIME for name, _ in query.outputs):
        return None
    return tuple(sorted(shapes, key=str))


def _is_listed(name: str, output: Output, wanted: Wanted) -> bool:
    """Whether a constant IRI, which nothing but the answers ask for, is a value of a column."""
    return isinstance(output, ConstantOutput) and output.is_iri and Variable(name) in wanted.shown


def _unite(group: Sequence[_Row], wanted: Wanted, sets: SetMaker) -> Match:
    if len(group) == 1:
        return group[0].match
    first = dict(group[0].query.outputs)
    names = [n for n in first if n != _TIME]
    listed = {n for n in names if _is_listed(n, first[n], wanted)}
    rows = [_columns(row.query, names, listed) for row in group]
    kept: list[int] = []
    places: list[int] = []
    for n in range(len(rows[0])):
        same = next((k for k in kept if all(row[k] == row[n] for row in rows)), None)
        if same is None:
            kept.append(n)
        places.append(kept.index(n if same is None else same))
    branches = tuple(
        ViewBranch(
            row.query.occurrences,
            row.query.conditions,
            tuple(columns[k] for k in kept),
            _time(row.query),
            row.query.provenance,
        )
        for row, columns in zip(group, rows, strict=True)
    )
    some = ", ".join(dict.fromkeys(p.mapping for b in branches[:3] for _, p in b.provenance))
    why = f"{len(branches)} ways to match one subject, of {some}" + (
        " and more" if len(branches) > 3 else ""
    )
    view = sets.add_view(wanted.name, branches, distinct=False, why=why)
    alias = f"{view.name}_1"
    columns = [Attribute(alias, view.table.columns[p].name) for p in places]
    following = iter(columns)
    bindings: dict[Variable, Output] = {}
    for variable in names:
        bindings[Variable(variable)] = (
            IriOutput((next(following),))
            if variable in listed
            else map_output(first[variable], lambda _: next(following))
        )
    times: dict[Variable, tuple[Attribute, ...]] = {
        variable: (Attribute(alias, timestamp),)
        for variable in group[0].match.times
        if (timestamp := view.timestamp) is not None
    }
    return Match(
        (Occurrence(alias, view.name),),
        tuple(NotNull(c) for c in dict.fromkeys(columns)),
        bindings,
        times,
        ((alias, _provenance(branches)),),
        said=group[0].match.said,
    )


def _columns(query: SpjQuery, names: Sequence[str], listed: set[str]) -> tuple[ViewColumn, ...]:
    outputs = dict(query.outputs)
    columns: list[ViewColumn] = []
    for name in names:
        output = outputs[name]
        if name in listed and isinstance(output, ConstantOutput):
            columns.append(Constant(output.value))
        else:
            columns += output_attributes(output)
    return tuple(columns)


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
