"""What a run writes of its answers."""

from collections.abc import Collection, Iterator, Sequence
from enum import StrEnum

from ontoweir.errors import QueryError
from ontoweir.rewriter.model.aggregation import Standing
from ontoweir.rewriter.model.spj import SpjUnion, output_attributes


class Emit(StrEnum):
    """`ANSWERS`: rows that are never taken back; of aggregates without buckets, updates of groups.
    `INTERVALS`: of windows, when each answer begins and ends. `CHANGES`: + and -. `SNAPSHOTS`: all
    answers that hold, whenever they change. `INSERTIONS`, `DELETIONS`: of changes, those of a kind.
    """

    ANSWERS = "answers"
    INTERVALS = "intervals"
    CHANGES = "changes"
    SNAPSHOTS = "snapshots"
    INSERTIONS = "insertions"
    DELETIONS = "deletions"


CHANGING = (Emit.CHANGES, Emit.SNAPSHOTS, Emit.INSERTIONS, Emit.DELETIONS)
"""Outputs for which it is kept what holds."""


def choose_emit(union: SpjUnion, wanted: str | None = None) -> Emit:
    """What is written of a query's answers: what was asked for, or what fits it.

    Raises:
        QueryError: the query's answers cannot be written so; or one of its columns is called like
            one that every answer has.
    """
    emit = _choose(union, wanted or union.told)
    _refuse_names(union, emit)
    return emit


def default_emit(union: SpjUnion) -> Emit:
    """What fits a query, or what it says."""
    if union.told is not None:
        return Emit(union.told)
    if union.standing is not None or _is_told_as_changes(union):
        return Emit.CHANGES
    if not union.ends:
        return Emit.ANSWERS
    return Emit.CHANGES if union.distinct or union.aggregation is not None else Emit.INTERVALS


def _choose(union: SpjUnion, wanted: str | None) -> Emit:
    windows, merged, grouped = bool(union.ends), union.distinct, union.aggregation is not None
    if wanted is None:
        return default_emit(union)
    emit = Emit(wanted)
    if union.joined is not None and emit not in CHANGING:
        raise _refuse(
            union,
            "an answer holds until a row that it is joined of is replaced, which is never known "
            "before",
            "leave --emit out: changes are written; or join each row with the latest one of its "
            "own time, ASOF JOIN, which is final",
        )
    if _is_told_as_changes(union) and emit not in CHANGING:
        raise _refuse(
            union,
            "a group is among the first until others come before it, and that is never known "
            "before",
            "leave --emit out: changes are written; or number the groups of each bucket of time, "
            "which are final: PARTITION BY date_trunc('hour', ts)",
        )
    if union.standing is not None and emit not in CHANGING:
        raise _refuse(
            union,
            "an answer holds until a later row ends it, and that is never known before",
            "leave --emit out: changes are written; or ask for the latest of each bucket of time, "
            "which is final: PARTITION BY key, date_trunc('hour', ts)",
        )
    if emit in (Emit.ANSWERS, Emit.INTERVALS) and windows and grouped:
        raise _refuse(
            union,
            "the row of a group over a sliding window ends when a row comes, or goes, that changes "
            "it, which is not known when it begins",
            "leave --emit out: changes are written",
        )
    if emit is Emit.ANSWERS and windows:
        raise _refuse(
            union,
            "an answer of a window ends, and would have to be taken back",
            "leave --emit out: " + ("changes" if merged else "intervals") + " are written",
        )
    if emit is Emit.SNAPSHOTS and not windows and not has_updates(union):
        raise _refuse(
            union,
            "its answers hold for ever, so that each snapshot would repeat all that were found",
            "leave --emit out, or write a window such as ?t > NOW() - …",
        )
    if emit is Emit.INTERVALS and not windows:
        raise _refuse(
            union,
            "its answers have no end: it has no window",
            "leave --emit out, or write a window such as ?t > NOW() - …",
        )
    if emit is Emit.INTERVALS and merged:
        raise _refuse(
            union,
            "under DISTINCT an answer is prolonged by every further match, so that its end is not "
            "known when it begins",
            "write --emit changes, or leave DISTINCT out",
        )
    return emit


def _is_told_as_changes(union: SpjUnion) -> bool:
    """Whether groups are told that have the first numbers, or what is joined of rows that come and
    go, while they do."""
    if union.joined is not None:
        return True
    return union.aggregation is not None and union.aggregation.numbered is not None


def has_updates(union: SpjUnion) -> bool:
    """Whether rows take the place of others: of groups, no bucket of time makes them final."""
    if union.standing is not None or union.joined is not None:
        return True
    if union.aggregation is None:
        return False
    buckets = {column.name for _, column in union.buckets}
    return not any(
        attribute.column in buckets
        for query in union.disjuncts
        for name, output in query.outputs
        if name in union.aggregation.group
        for attribute in output_attributes(output)
    )


def _refuse_names(union: SpjUnion, emit: Emit) -> None:
    """Raise QueryError for a column that is called like one that says when an answer holds."""
    own = ["at"]
    own += ["until"] if union.ends else []
    own += ["op"] if emit in CHANGING else []
    standing = union.standing or Standing(())
    counted = not (union.distinct or standing.distinct or standing.groups)
    own += ["multiplicity"] if counted and union.aggregation is None else []
    aggregation = union.aggregation
    aggregation = aggregation or standing.groups
    names = union.variables if aggregation is None else aggregation.shown
    if union.joined is not None:
        counted = not union.joined.is_set
        own = [n for n in own if n != "multiplicity" or counted]
        names = union.joined.told
    _refuse_own(union, own, names)
    for inner in (union, *_list_inner(union)):
        own = [] if inner.distinct else ["multiplicity"]
        if inner.aggregation is not None:
            own += ["at", "until"] if inner.ends else ["at"]
        _refuse_own(union, own, inner.variables if inner.joined is None else ())


def _list_inner(union: SpjUnion) -> Iterator[SpjUnion]:
    """The queries whose answers a query is made of."""
    parts = [] if union.joined is None else [part.query for part in union.joined.parts]
    for inner in (*parts, *(query for block in union.blocks for query in block.queries)):
        yield inner
        yield from _list_inner(inner)


def _refuse_own(union: SpjUnion, own: Sequence[str], names: Collection[str]) -> None:
    for name in own:
        if name in names:
            raise QueryError(
                f"{union.name} has a column called {name!r}",
                why=f"every answer has one of this name ({', '.join(own)})",
                fix=f"give it another name, with AS: {name}_value, say",
                source=union.source,
            )


def _refuse(union: SpjUnion, why: str, fix: str) -> QueryError:
    return QueryError(
        f"{union.name} cannot be written so (--emit)", why=why, fix=fix, source=union.source
    )
