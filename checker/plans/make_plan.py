"""Make the synopsis plan of a disjunct, or say which value cannot be kept (theory §8)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations, islice

from ontoweir.checker.model.normal_form import NormalForm, SoleMatch, TimeLimit
from ontoweir.checker.model.plan import (
    PlanStep,
    SynopsisPlan,
    SynopsisTable,
)
from ontoweir.checker.plans.make_table import Obstacle, make_table
from ontoweir.errors import QueryError
from ontoweir.rewriter.model.watch_time import tick

MAX_STEPS = 20_000
"""A plan with more steps is refused."""


def make_plan(form: NormalForm, *, sized: bool = True) -> SynopsisPlan | tuple[Obstacle, ...]:
    """The plan of a satisfiable disjunct, or every obstacle that prevents one.

    `sized`: False leaves out the bounds of its tables, for those who ask only whether there is one.
    That frontiers stay small is not decided here (condition C3 of decide_lag; theory §7).

    Raises:
        QueryError: there are more than MAX_STEPS orders in which tuples can complete matches.
    """
    plan = _make(form, sized)
    if not isinstance(plan, SynopsisPlan) and (dated := _limit_by_dates(form)) != form:
        with_dates = _make(dated, sized)
        return with_dates if isinstance(with_dates, SynopsisPlan) else plan
    return plan


def _limit_by_dates(form: NormalForm) -> NormalForm:
    """With a limit between any two members that two dates limit: one's first, the other's last."""
    limits = [
        TimeLimit(j.index, i.index, j.last - i.first)
        for i in form.members
        for j in form.members
        if i != j
        and i.first is not None
        and j.last is not None
        and 0 <= j.last - i.first == form.lag[i.index][j.index]
    ]
    return replace(form, times=(*form.times, *limits)) if limits else form


def _make(form: NormalForm, sized: bool) -> SynopsisPlan | tuple[Obstacle, ...]:
    parts: dict[frozenset[int], tuple[frozenset[int], ...]] = {}
    everything = frozenset(range(len(form.members)))
    tables: dict[frozenset[int], tuple[PlanStep, ...]] = {}
    waiting, steps = [everything], 0
    while waiting:
        members = waiting.pop()
        if members in tables:
            continue
        possible = islice(_steps(form, members, parts), MAX_STEPS + 1 - steps)
        tables[members] = tuple(sorted(possible, key=lambda s: (len(s.now), sorted(s.now))))
        steps += len(tables[members])
        if steps > MAX_STEPS:
            raise QueryError(
                f"a plan for {len(form.members)} streams would have more than {MAX_STEPS} steps",
                why="tuples of streams that no timestamps order complete matches in every order, "
                "and each way is a step of the plan",
                fix="order the timestamps of more streams by <, or use fewer streams in one query",
            )
        for step in tables[members]:
            waiting.extend(step.past)
    made: list[SynopsisTable] = []
    obstacles: list[Obstacle] = []
    for members in sorted(tables, key=lambda m: (len(m), sorted(m))):
        last = members == everything
        table = make_table(form, members, tables[members], last=last, sized=sized)
        if isinstance(table, SynopsisTable):
            made.append(table)
        else:
            obstacles += table
    if obstacles:
        return tuple(dict.fromkeys(obstacles))
    return SynopsisPlan(form, _mark_matched(form, made))


def _mark_matched(form: NormalForm, tables: Sequence[SynopsisTable]) -> tuple[SynopsisTable, ...]:
    """The tables, where a row is dropped when the one tuple has come that could join it: in all
    that wait for it, or in none, so that what is an answer does not depend on the way.

    Of sets nothing is dropped so: a row may stand for others, which wait on.
    """
    made = list(tables)
    for sole in () if form.distinct else form.sole:
        waiting = [
            n
            for n, table in enumerate(made)
            if sole.parent in table.members and sole.child not in table.members
        ]
        if all(_tells(made[n], sole) for n in waiting) and not _is_joined_late(tables, sole):
            for n in waiting:
                made[n] = replace(made[n], matched=(*made[n].matched, sole))
    return tuple(made)


def _is_joined_late(tables: Sequence[SynopsisTable], sole: SoleMatch) -> bool:
    """Whether two tuples of the past are joined only when a third one arrives, as nothing but that
    limits the time between them: then the first is needed until it does."""
    return any(
        sole.parent in mine and sole.child not in mine and sole.child in other
        for table in tables
        for step in table.steps
        for mine in step.past
        for other in step.past
    )


def _tells(table: SynopsisTable, sole: SoleMatch) -> bool:
    """Whether a table's rows tell which tuples can join them, and from when on."""
    whole = {key.value for key in table.keys if key.whole}
    timed = any(k.member == sole.parent and k.expire_after is not None for k in table.kept)
    return timed and set(sole.values) <= whole and not table.frontier and not table.samples


def _steps(
    form: NormalForm,
    members: frozenset[int],
    parts: dict[frozenset[int], tuple[frozenset[int], ...]],
) -> Iterable[PlanStep]:
    """Every way the last tuples of a match arrive together, the rest strictly before them.

    `parts`: the components of past sets, as far as they are known.
    """
    apart = [{d.left, d.right} for d in form.time_differences if d.steps == 0]

    def choose(
        rest: tuple[int, ...], now: frozenset[int], past: frozenset[int]
    ) -> Iterable[PlanStep]:
        tick()
        if not rest:
            if now:
                if past not in parts:
                    parts[past] = tuple(_components(form, past))
                yield PlanStep(now, parts[past])
            return
        one, *others = rest
        may_be_past = not any(_below(form, one, j, 1) for j in now)
        may_be_now = not (
            any(_below(form, i, one, 1) for i in past)
            or any(_below(form, i, one, 0) or _below(form, one, i, 0) for i in now)
            or any(one in pair and pair - {one} <= now for pair in apart)
        )
        if may_be_past:
            yield from choose(tuple(others), now, past | {one})
        if may_be_now:
            yield from choose(tuple(others), now | {one}, past)

    return choose(tuple(sorted(members)), frozenset(), frozenset())


def _below(form: NormalForm, i: int, j: int, least: int) -> bool:
    """Whether lag(i→j) forbids t_j - t_i >= least."""
    lag = form.lag[i][j]
    return lag is not None and lag < least


def _components(form: NormalForm, members: frozenset[int]) -> list[frozenset[int]]:
    """The parts of a past set that explicit time constraints connect; and values that a rule
    closes, as these are to be joined while they are open."""
    edges = [(t.later, t.earlier) for t in form.times]
    edges += [(d.left, d.right) for d in form.time_differences]
    edges += [pair for o in form.open for pair in combinations(sorted(o.members), 2)]
    rest, components = set(members), []
    while rest:
        part = {min(rest)}
        while True:
            near = {b for e in edges for a, b in (e, e[::-1]) if a in part and b in rest} - part
            if not near:
                break
            part |= near
        rest -= part
        components.append(frozenset(part))
    return components
