"""Matches the stars of a conjunctive query, so that unions stay inside.

Atoms with one subject and one time form a star. Its matches (one for each way to choose assertions
that meet) are rows of few tables, so that all of them together are a view; the query joins views,
where it would be a union of all combinations of matches of its stars.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from ontoweir.mappings.model.assertion import MappingAssertion
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.progress.progress import OnProgress, ignore_progress
from ontoweir.rewriter.algebra.equality_classes import Types, map_condition, map_output
from ontoweir.rewriter.model.query import (
    AnyFilter,
    Atom,
    ClassAtom,
    ConjunctiveQuery,
    Term,
    Variable,
    atom_terms,
    filter_variables,
)
from ontoweir.rewriter.model.spj import Attribute, ConstantOutput, IriOutput, Occurrence
from ontoweir.rewriter.model.work_budget import WorkBudget
from ontoweir.rewriter.tmappings.may_meet import differ_at_ends, fixed_ends
from ontoweir.rewriter.tmappings.unify_outputs import unify_outputs
from ontoweir.rewriter.unfold.match_atoms import MANY, Match, make_budget, match_atoms
from ontoweir.rewriter.unfold.translate_filters import translate_choice
from ontoweir.rewriter.unfold.translate_times import is_beside_value
from ontoweir.rewriter.unfold.unite_matches import Wanted, unite_matches
from ontoweir.rewriter.views.make_sets import SetMaker

MAX_APART = 12
"""Up to so many combinations are disjuncts of their own: each is decided, and explained, apart."""

_Choices = tuple[tuple[MappingAssertion, ...], ...]


def match_stars(
    query: ConjunctiveQuery,
    choices: _Choices,
    sets: SetMaker,
    *,
    on_progress: OnProgress = ignore_progress,
) -> tuple[Match, ...]:
    """The matches of a query: few in all, as match_atoms has them; else with a view for the matches
    of a star that can be one table.

    Args:
        query: a conjunctive query.
        choices: the assertions for each of its atoms.
        sets: makes views, and has the catalog with them.
        on_progress: hears how many combinations were tried.

    Raises:
        QueryError: as match_atoms.
    """
    stars = _list_stars(query)
    if prod(map(len, choices)) <= MAX_APART and not query.choices:
        return tuple(match_atoms(query, choices, sets.catalog, on_progress=on_progress))

    def match(star: tuple[int, ...]) -> Sequence[Match]:
        own = replace(query, atoms=tuple(query.atoms[n] for n in star))
        mine = tuple(choices[n] for n in star)
        return tuple(match_atoms(own, mine, sets.catalog, on_progress=on_progress))

    parts: list[tuple[tuple[int, ...], Sequence[Match]]] = [(star, match(star)) for star in stars]
    if prod(len(_filter(query, star, found, sets)) for star, found in parts) > MAX_APART:
        parts = [
            part
            for star, found in parts
            for part in (
                [((n,), match((n,))) for n in star] if _is_joined(star, found) else [(star, found)]
            )
        ]
        matched = [
            unite_matches(_filter(query, star, found, sets), _list_wanted(query, star), sets)
            for star, found in parts
        ]
    else:
        matched = [_filter(query, star, found, sets) for star, found in parts]
    ways = [_Ways(found) for found in matched]
    if max(len(way.matches) for way in ways) >= MANY:
        ways = _order(ways)
    budget = make_budget(query, choices, on_progress)
    return tuple(_combine(ways, Match(), sets.catalog, query, budget))


def _filter(
    query: ConjunctiveQuery, star: tuple[int, ...], found: Sequence[Match], sets: SetMaker
) -> tuple[Match, ...]:
    """A star's matches, each with the cases of the choices that compare its values only: one for
    each combination of cases."""
    bound = {t for n in star for t in atom_terms(query.atoms[n]) if isinstance(t, Variable)}
    own = [c for c in query.choices if c.variables <= bound]
    made = tuple(found)
    for choice in own:
        if any(_has_moments(choice, match, sets) for match in made):
            continue  # their column is there when all is matched
        made = tuple(
            replace(match, conditions=(*match.conditions, *case), said=match.said | {choice})
            for match in made
            for case in translate_choice(
                choice, match.bindings, match.times, Types(sets.catalog, match.occurrences)
            )
        )
    return made


def _has_moments(choice: AnyFilter, match: Match, sets: SetMaker) -> bool:
    """Whether a choice compares times with values."""
    types = Types(sets.catalog, match.occurrences)
    return any(
        is_beside_value(f, match.bindings, match.times, types)
        for case in choice.cases
        for f in case
    )


def _is_joined(star: tuple[int, ...], found: Sequence[Match]) -> bool:
    """Whether a star has more matches than triples maps that make them: then its atoms are views,
    and the star joins them."""
    maps = {(p.mapping, p.mapping_source) for match in found for _, p in match.provenance}
    return len(star) > 1 and len(found) > len(maps)


def _list_stars(query: ConjunctiveQuery) -> tuple[tuple[int, ...], ...]:
    """The places of atoms with one subject and one time."""
    stars: dict[tuple[Term, Variable | None], list[int]] = {}
    for place, atom in enumerate(query.atoms):
        stars.setdefault((_subject(atom), atom.time), []).append(place)
    return tuple(map(tuple, stars.values()))


def _list_wanted(query: ConjunctiveQuery, star: tuple[int, ...]) -> Wanted:
    """What else asks for variables of a star: answers, filters, other stars."""
    needed: set[Variable] = set()
    for place, atom in enumerate(query.atoms):
        if place not in star:
            needed |= {t for t in atom_terms(atom) if isinstance(t, Variable)}
    needed.update(v for f in query.filters for v in filter_variables(f))
    needed.update(v for choice in query.choices for v in choice.variables)
    needed.update(bucket.time for bucket in query.buckets)
    shown = set(query.head) - needed
    return Wanted(_name(query, star), frozenset(shown | needed), frozenset(shown), query.distinct)


def _subject(atom: Atom) -> Term:
    return atom.term if isinstance(atom, ClassAtom) else atom.subject


def _name(query: ConjunctiveQuery, star: tuple[int, ...]) -> str:
    """What a star's view is called: after its subject."""
    subject = _subject(query.atoms[star[0]])
    return f"{subject.name}_star" if isinstance(subject, Variable) else "star"


class _Ways:
    """The matches of a star; those in which a variable is a constant, by the constant, and those in
    which it is an IRI, by how that begins and ends."""

    def __init__(self, matches: Sequence[Match]) -> None:
        self.matches = matches
        self.variables = tuple(dict.fromkeys(v for match in matches for v in match.bindings))
        self._exact: dict[Variable, dict[str, list[Match]]] = {v: {} for v in self.variables}
        self._open: dict[Variable, list[Match]] = {v: [] for v in self.variables}
        self._alike: dict[tuple[Variable, tuple[str, str]], Sequence[Match]] = {}
        for match in matches:
            for variable in self.variables:
                output = match.bindings.get(variable)
                if isinstance(output, ConstantOutput):
                    self._exact[variable].setdefault(output.value, []).append(match)
                else:
                    self._open[variable].append(match)

    def fitting(self, match: Match) -> Iterator[Match]:
        """Those that may meet a match, given what it binds."""
        exact: Sequence[Match] = ()
        others = self.matches
        for variable in self.variables:
            known = match.bindings.get(variable)
            if isinstance(known, ConstantOutput):
                same = self._exact[variable].get(known.value, [])
                if len(same) + len(self._open[variable]) < len(exact) + len(others):
                    exact, others = same, self._open[variable]
            elif isinstance(known, IriOutput):
                alike = self._fixed_alike(variable, fixed_ends(known.parts))
                if len(alike) < len(exact) + len(others):
                    exact, others = (), alike
        yield from exact
        yield from others

    def _fixed_alike(self, variable: Variable, ends: tuple[str, str]) -> Sequence[Match]:
        """All but those in which a variable is an IRI that begins or ends otherwise, whatever the
        rows."""
        key = variable, ends
        if key not in self._alike:
            self._alike[key] = [m for m in self.matches if _may_fit(m, variable, ends)]
        return self._alike[key]


def _may_fit(match: Match, variable: Variable, ends: tuple[str, str]) -> bool:
    output = match.bindings.get(variable)
    return not (isinstance(output, IriOutput) and differ_at_ends(fixed_ends(output.parts), ends))


def _order(ways: Sequence[_Ways]) -> list[_Ways]:
    """Stars that share a variable with those before come first, of these the one with the fewest
    matches."""
    rest, done = list(ways), list[_Ways]()
    bound: set[Variable] = set()
    while rest:
        best = min(
            rest,
            key=lambda w: (bool(bound) and bound.isdisjoint(w.variables), len(w.matches)),
        )
        rest.remove(best)
        done.append(best)
        bound.update(best.variables)
    return done


def _combine(
    ways: Sequence[_Ways],
    match: Match,
    catalog: Catalog,
    query: ConjunctiveQuery,
    budget: WorkBudget,
) -> Iterator[Match]:
    if not ways:
        yield match
        return
    for following in budget.over(ways[0].fitting(match)):
        both = _join(match, following, catalog, query)
        if both is not None:
            yield from _combine(ways[1:], both, catalog, query, budget)


def _join(
    match: Match, following: Match, catalog: Catalog, query: ConjunctiveQuery
) -> Match | None:
    """Two matches as one, where the variables that they share can be equal."""
    names: dict[str, str] = {}
    for number, o in enumerate(following.occurrences, len(match.occurrences) + 1):
        names[o.alias] = f"{o.alias.rpartition('_')[0] or o.alias}_{number}"

    def rename(a: Attribute) -> Attribute:
        return Attribute(names[a.alias], a.column)

    occurrences = (
        *match.occurrences,
        *(Occurrence(names[o.alias], o.table) for o in following.occurrences),
    )
    types = Types(catalog, occurrences)
    conditions = [*match.conditions, *(map_condition(c, rename) for c in following.conditions)]
    bindings = dict(match.bindings)
    for variable, output in following.bindings.items():
        made = map_output(output, rename)
        if variable not in bindings:
            bindings[variable] = made
            continue
        equations = unify_outputs(bindings[variable], made, types, query.source)
        if equations is None:
            return None
        conditions.extend(equations)
    times = dict(match.times)
    for variable, attributes in following.times.items():
        times[variable] = (*times.get(variable, ()), *map(rename, attributes))
    return Match(
        occurrences,
        tuple(conditions),
        bindings,
        times,
        (*match.provenance, *((names.get(a, a), p) for a, p in following.provenance)),
        match.repeating or following.repeating,
        match.said | following.said,
    )
