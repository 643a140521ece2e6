"""Gives a time to what always holds: GRAPH ?t ranges over the times that exist."""

from collections.abc import Sequence
from dataclasses import replace
from math import gcd

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.catalog import ANSWERS
from ontoweir.rewriter.model.query import ConjunctiveQuery, Variable
from ontoweir.rewriter.model.share_steps import UnitsDiffer
from ontoweir.rewriter.model.spj import Attribute, Occurrence, Provenance, View, ViewBranch
from ontoweir.rewriter.unfold.match_atoms import Match
from ontoweir.rewriter.views.make_sets import SetMaker
from ontoweir.rewriter.views.moments import EVERY_TIME, is_moments

_NAME = "moments"


def bind_times(
    query: ConjunctiveQuery, matches: Sequence[Match], sets: SetMaker
) -> tuple[Match, ...]:
    """The matches with a time for each GRAPH of the query. Where all patterns of a GRAPH ?t are
    matched by static relations or facts, these hold at every time: then ?t is each timestamp that
    a stream of the catalog has a row of, once.

    Args:
        query: a conjunctive query.
        matches: of all its patterns.
        sets: makes the view of all timestamps, the first time that it is needed.

    Raises:
        QueryError: the catalog has no stream.
        UnitsDiffer: it has streams of different units of time.
    """
    wanted = tuple(dict.fromkeys(a.time for a in query.atoms if a.time is not None))
    return tuple(
        _bind(match, [t for t in wanted if t not in match.times], query, sets) for match in matches
    )


def _bind(
    match: Match, unbound: Sequence[Variable], query: ConjunctiveQuery, sets: SetMaker
) -> Match:
    for time in unbound:
        view = _find_moments(time, query, sets)
        alias = f"{view.name}_{len(match.occurrences) + 1}"
        assert view.timestamp is not None
        place = next(a.source for a in query.atoms if a.time == time)
        origin = Provenance(EVERY_TIME, query_source=place, time=time.name)
        match = replace(
            match,
            occurrences=(*match.occurrences, Occurrence(alias, view.name)),
            times={**match.times, time: (Attribute(alias, view.timestamp),)},
            provenance=(*match.provenance, (alias, origin)),
        )
    return match


def _find_moments(time: Variable, query: ConjunctiveQuery, sets: SetMaker) -> View:
    what = (
        f"every pattern in GRAPH ?{time.name} can be matched by static data, which holds at every "
        "time that there is"
    )
    place = next(a.source for a in query.atoms if a.time == time)
    return find_moments(sets, what, place)


def find_moments(sets: SetMaker, what: str, place: Source | None) -> View:
    """The view of all timestamps.

    Args:
        sets: makes it, if it has not done so.
        what: in an error, what needs it.
        place: of the error.

    Raises:
        QueryError: the catalog has no stream, or streams of different units of time.
    """
    made = next((v for v in sets.views if is_moments(v)), None)
    if made is not None:
        return made
    made_here = {view.name for view in sets.views}
    streams = [
        stream
        for name, stream in sets.catalog.streams.items()
        if name not in made_here and stream.data != ANSWERS
    ]
    if not streams:
        raise QueryError(
            what,
            why="the project has no stream, so there is none",
            fix="write the patterns outside GRAPH",
            source=place,
        )
    steps = sorted({stream.step_us for stream in streams})
    if len(steps) > 1:
        raise UnitsDiffer.of(steps[0], gcd(*steps[1:]), place)
    branches = tuple(
        ViewBranch(
            (Occurrence(f"{stream.name}_1", stream.name),),
            (),
            (),
            Attribute(f"{stream.name}_1", stream.timestamp),
        )
        for stream in streams
    )
    why = "static triples hold at every timestamp of a stream"
    return sets.add_view(_NAME, branches, distinct=True, why=why)
