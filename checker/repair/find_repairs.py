"""Repairs: minimal sets of changes that make a query bounded, each checked again (theory §9)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.decide.has_plan import has_plan, undecided_forms
from ontoweir.checker.repair.changes import (
    AddWindow,
    Change,
    DeclareDomain,
    DeclareGap,
    DeclareKey,
    DeclareReference,
    DropGroup,
    DropVariable,
    apply_change,
    rank_change,
)
from ontoweir.checker.repair.propose_changes import propose_changes
from ontoweir.checker.repair.propose_nulls import propose_nulls
from ontoweir.checker.verdict.verdict import Tier, Verdict
from ontoweir.errors import OntoweirError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.model.watch_time import OutOfTimeError, Watch, look, phase, watching

Recompile = Callable[[tuple[Change, ...], Catalog], SpjUnion | None]
"""The query compiled again with changes of its own, or None where they are not in its language."""

MAX_REPAIRS = 5
"""How many repairs are given."""
TRIES = 80
"""How many sets of one and two changes are tried, the likely ones (rank_change) first."""


@dataclass(frozen=True, slots=True)
class Repair:
    """Changes that together make a query bounded, and of which none can be left out; the verdict
    with them."""

    changes: tuple[Change, ...]
    verdict: Verdict


def find_repairs(
    union: SpjUnion,
    catalog: Catalog,
    recompile: Recompile | None = None,
    *,
    timed: bool = True,
    wanted: Callable[[Change], bool] = lambda _: True,
    watch: Watch | None = None,
) -> tuple[Repair, ...]:
    """The repairs of a query, those that a person is likely to want first (rank_change).

    Single changes are tried first, with a rule that closes groups also what it does not close is
    left out; then pairs. Where none helps, all declarations are taken, and
    all windows, and else both, and what is not needed is left out again: such a set is minimal, if
    not always the smallest. At most MAX_REPAIRS repairs are given.

    Args:
        union: a query that is undecided or unbounded.
        catalog: its tables.
        recompile: compiles the query again with the changes: DISTINCT, or a variable less, change
            what existential axioms contribute, a reference removes joins. None: the changed
            union is what is checked.
        timed: False for the arrival model.
        wanted: the changes to consider.
        watch: how long that may take, and who hears how far it is. When its time is over
            (`watch.stopped`), what was found until then is all there is.
    """
    repairs: list[Repair] = []
    with watching(watch):
        try:
            with phase("looking for repairs", TRIES) as done:
                repairs.extend(_find(union, catalog, recompile, timed, wanted, done))
        except OutOfTimeError:
            if watch is None:
                raise
            watch.stopped = True
    return tuple(repairs)


def _find(
    union: SpjUnion,
    catalog: Catalog,
    recompile: Recompile | None,
    timed: bool,
    wanted: Callable[[Change], bool],
    done: Callable[[int], None],
) -> Iterator[Repair]:
    """The repairs, as they are found."""
    tried = 0

    def counted(sets: Sequence[tuple[Change, ...]]) -> Iterator[tuple[Change, ...]]:
        nonlocal tried
        for chosen in sets:
            look()
            yield chosen
            tried += 1
            done(tried)

    def mends(changes: Sequence[Change]) -> bool:
        try:
            changed, declared = _apply(changes, union, catalog)
            if recompile is not None and _dissolves(changes, union):
                changed = recompile(tuple(changes), declared) or changed
            return has_plan(changed, declared, timed=timed)
        except OntoweirError:  # its plan would be too large
            return False

    def verified(changes: tuple[Change, ...]) -> Iterator[Repair]:
        verdict = _verify(changes, _apply(changes, union, catalog), recompile, timed)
        if verdict is not None:
            yield Repair(changes, verdict)

    proposed = propose_changes(union, undecided_forms(union, catalog, timed=timed), catalog)
    changes = tuple(filter(wanted, proposed))
    tries = TRIES
    for size in (1, 2):
        closing = list(_with_nulls(changes, union, catalog))
        more = closing if size > 1 else []
        sets = sorted([*combinations(changes, size), *more], key=_rank)[:tries]
        tries -= len(sets)
        given = 0
        mending = (r for chosen in counted(sets) if mends(chosen) for r in verified(chosen))
        for repair in islice(mending, MAX_REPAIRS):
            given += 1
            yield repair
        if given and size == 1:
            mending = (r for chosen in counted(closing) if mends(chosen) for r in verified(chosen))
            yield from islice(mending, MAX_REPAIRS - given)
        if given:
            return
    for together in _TOGETHER:
        taken = [tuple(c for c in changes if isinstance(c, kinds)) for kinds in together]
        minimal = dict.fromkeys(_shrink(t, mends) for t in taken if t and mends(t))
        mending = (r for chosen in sorted(minimal, key=_rank) for r in verified(chosen))
        given = 0
        for repair in mending:
            given += 1
            yield repair
        if given:
            return


def _with_nulls(
    changes: Sequence[Change], union: SpjUnion, catalog: Catalog
) -> Iterator[tuple[Change, ...]]:
    """A rule that closes groups, and without the rows whose group it does not close: of use
    together only."""
    for change in changes:
        if isinstance(change, DeclareGap):
            changed, declared = apply_change(change, union, catalog)
            for nulls in propose_nulls(changed, extend_catalog(declared, changed)):
                if nulls not in changes:
                    yield change, nulls


_DECLARE = (DeclareReference, DeclareKey, DeclareDomain)
_TOGETHER = (
    (_DECLARE, (AddWindow,)),
    ((*_DECLARE, AddWindow),),
    ((*_DECLARE, AddWindow, DropVariable),),
    ((*_DECLARE, AddWindow, DropGroup),),
)
"""What is taken together: changes of which none can undo what another one does."""


def _dissolves(changes: Sequence[Change], union: SpjUnion) -> bool:
    """Whether a key is declared that may make a distinct view needless."""
    return any(view.distinct for view in union.views) and any(
        isinstance(change, DeclareKey) for change in changes
    )


def _rank(changes: Sequence[Change]) -> int:
    return sum(map(rank_change, changes))


def _shrink(
    changes: tuple[Change, ...], mends: Callable[[Sequence[Change]], bool]
) -> tuple[Change, ...]:
    """Without what is not needed, halves before single changes; what a person is least likely to
    want is left out first."""
    size = len(changes)
    while size > 1:
        size //= 2
        ordered = sorted(changes, key=rank_change, reverse=True)
        for start in range(0, len(ordered), size):
            fewer = tuple(c for c in changes if c not in ordered[start : start + size])
            if mends(fewer):
                changes = fewer
    return changes


def _apply(
    changes: Sequence[Change], union: SpjUnion, catalog: Catalog
) -> tuple[SpjUnion, Catalog]:
    for change in changes:
        union, catalog = apply_change(change, union, catalog)
    return union, catalog


def _verify(
    changes: tuple[Change, ...],
    repaired: tuple[SpjUnion, Catalog],
    recompile: Recompile | None,
    timed: bool,
) -> Verdict | None:
    union, catalog = repaired
    if recompile is not None:
        again = recompile(changes, catalog)
        if again is None:
            return None
        union = again
    try:
        verdict = check_query(union, catalog, disprove=False, timed=timed)
    except OntoweirError:  # its plan would be too large
        return None
    return None if verdict.tier in (Tier.UNDECIDED, Tier.UNSATISFIABLE) else verdict
