"""Make the synopsis plan of a disjunct, or say which value cannot be kept (theory §8)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

from ontoweir.checker.criteria.decide_lag import FOLDED
from ontoweir.checker.model.normal_form import Inequality, Kind, NormalForm, TimeLimit, ValueClass
from ontoweir.checker.model.plan import (
    Apart,
    Bound,
    Frontier,
    Kept,
    Key,
    Step,
    SynopsisPlan,
    Table,
    Term,
)
from ontoweir.checker.normalise.breakpoints import break_at, overlap_unequal
from ontoweir.checker.plans.bound_table import bound_table
from ontoweir.checker.plans.coarsen_key import coarsen_key
from ontoweir.errors import QueryError
from ontoweir.rewriter.model.spj import FoldFunction
from ontoweir.rewriter.model.watch_time import tick

MOST_STEPS = 20_000
"""A plan with more steps is refused."""

MOST_APART = 12
"""A table whose values must differ from more later ones than this is not planned: to tell which of
its rows are needed would take long."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A value class that table `members` would have to keep, although it is unbounded."""

    value: int
    members: frozenset[int]
    reason: str


def make_plan(form: NormalForm, *, sized: bool = True) -> SynopsisPlan | tuple[Obstacle, ...]:
    """The plan of a satisfiable disjunct, or every obstacle that prevents one.

    `sized`: False leaves out the bounds of its tables, for those who ask only whether there is one.
    That frontiers stay small is not decided here ([the pair criterion], theory §7).

    Raises:
        QueryError: there are more than MOST_STEPS orders in which tuples can complete matches.
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
    tables: dict[frozenset[int], tuple[Step, ...]] = {}
    waiting, steps = [everything], 0
    while waiting:
        members = waiting.pop()
        if members in tables:
            continue
        found = islice(_steps(form, members, parts), MOST_STEPS + 1 - steps)
        tables[members] = tuple(sorted(found, key=lambda s: (len(s.now), sorted(s.now))))
        steps += len(tables[members])
        if steps > MOST_STEPS:
            raise QueryError(
                f"a plan for {len(form.members)} streams would have more than {MOST_STEPS} steps",
                why="tuples of streams that no timestamps order complete matches in every order, "
                "and each way is a step of the plan",
                fix="order the timestamps of more streams by <, or use fewer streams in one query",
            )
        for step in tables[members]:
            waiting.extend(step.past)
    made: list[Table] = []
    obstacles: list[Obstacle] = []
    for members in sorted(tables, key=lambda m: (len(m), sorted(m))):
        last = members == everything
        table = _table(form, members, tables[members], last, obstacles, sized)
        made.append(table)
    if obstacles:
        return tuple(dict.fromkeys(obstacles))
    return SynopsisPlan(form, tuple(made))


def _steps(
    form: NormalForm,
    members: frozenset[int],
    parts: dict[frozenset[int], tuple[frozenset[int], ...]],
) -> Iterable[Step]:
    """Every way the last tuples of a match arrive together, the rest strictly before them.

    `parts`: the components of past sets, as far as they are known.
    """
    apart = [{d.left, d.right} for d in form.time_differences if d.steps == 0]

    def choose(rest: tuple[int, ...], now: frozenset[int], past: frozenset[int]) -> Iterable[Step]:
        tick()
        if not rest:
            if now:
                if past not in parts:
                    parts[past] = tuple(_components(form, past))
                yield Step(now, parts[past])
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
    """The parts of a past set that explicit time constraints connect."""
    edges = [(t.later, t.earlier) for t in form.times]
    edges += [(d.left, d.right) for d in form.time_differences]
    rest, found = set(members), []
    while rest:
        part = {min(rest)}
        while True:
            near = {b for e in edges for a, b in (e, e[::-1]) if a in part and b in rest} - part
            if not near:
                break
            part |= near
        rest -= part
        found.append(frozenset(part))
    return found


def _is_live(form: NormalForm, member: int, inside: frozenset[int]) -> int | None:
    """For how many steps after its timestamp a member of a past set can be part of a partial
    match that is still waiting for someone outside within a limit; None: for ever.

    The limits of explicit constraints that lead out of the set, reached through those inside it:
    exactly what the run-time can enforce by the timestamps it keeps.
    """
    reach = {member: 0}
    while True:
        nearer = {
            t.later: reach[t.earlier] + t.steps
            for t in form.times
            if t.earlier in reach
            and {t.earlier, t.later} <= inside
            and reach[t.earlier] + t.steps < reach.get(t.later, 1 << 62)
        }
        if not nearer:
            break
        reach.update(nearer)
    waits = [
        reach[t.earlier] + t.steps
        for t in form.times
        if t.earlier in reach and t.later not in inside
    ]
    return max(min(waits), 0) if waits else None


def _waits(form: NormalForm, members: frozenset[int]) -> dict[int, int | None]:
    """The members whose tuples are kept for a limited time (None: a finite stream's, for ever)."""
    waits = {i: _is_live(form, i, members) for i in sorted(members)}
    return {i: w for i, w in waits.items() if w is not None or form.members[i].finite}


def _table(
    form: NormalForm,
    members: frozenset[int],
    steps: tuple[Step, ...],
    last: bool,
    obstacles: list[Obstacle],
    sized: bool,
) -> Table:
    keys: list[Key] = []
    apart: list[Apart] = []
    terms: dict[tuple[int, int, bool], list[Term]] = {}
    for group in form.classes:
        holders = group.members & members
        if not holders:
            continue
        best = _best(form, group.index)
        live = any(
            form.members[i].finite or _is_live(form, i, members) is not None for i in holders
        )
        if last:
            if group.projected:
                if form.distinct and not group.domain.finite:
                    obstacles.append(
                        Obstacle(group.index, members, "every distinct result must be remembered")
                    )
                keys.append(Key(group.index))
            if best is not None:
                terms.setdefault((FOLDED, best, False), []).append(Term(group.index, best, 0))
            continue
        outside = bool(group.members - members)
        if group.projected or outside:
            if not (group.domain.finite or live):
                reason = "it is in the result" if group.projected else "a later tuple must equal it"
                obstacles.append(Obstacle(group.index, members, reason))
            keys.append(Key(group.index))
            continue
        pending = [q for q in form.inequalities if _pends(form, q, group.index, members)]
        unequal = [
            (d.y if d.x == group.index else d.x, d.shift if d.x == group.index else -d.shift)
            for d in form.disequalities
            if group.index in (d.x, d.y)
            and not form.classes[d.y if d.x == group.index else d.x].members & members
        ]
        if best is not None and live:
            keys.append(Key(group.index))
            continue
        if best is not None:
            terms.setdefault((FOLDED, best, False), []).append(Term(group.index, best, 0))
        if not pending and not unequal:
            continue
        rest = [q for q in pending if not q.clips]
        if group.domain.finite or live:
            keys.append(
                coarsen_key(form, group.index, pending, unequal) if not live else Key(group.index)
            )
            continue
        if rest and not form.distinct:
            obstacles.append(
                Obstacle(group.index, members, "a later tuple must be compared with it")
            )
            continue
        clipping = [q for q in pending if q.clips]
        if any(not _tells_few(form, group, *other) for other in unequal):
            if _may_be_apart(form) and not pending:
                partners = len({(other, shift) for other, shift in unequal})
                apart.append(Apart(group.index, partners))
                keys.append(Key(group.index))
            else:
                obstacle = "a later tuple must differ from it"
                obstacles.append(Obstacle(group.index, members, obstacle))
            continue
        if clipping or unequal:
            keys.append(coarsen_key(form, group.index, clipping, unequal))
        for q in rest:
            if q.x == group.index:
                terms.setdefault((q.y, 1, q.strict), []).append(Term(group.index, 1, -q.limit))
            else:
                terms.setdefault((q.x, -1, q.strict), []).append(Term(group.index, -1, -q.limit))
    kept = tuple(k for i in sorted(members) if (k := _kept(form, i, members)) is not None)
    frontier = _frontiers(terms)
    if (len(frontier) > 1 and _must_differ(form)) or sum(a.partners for a in apart) > MOST_APART:
        values = [a.value for a in apart] or sorted(_must_differ(form))[:1]
        obstacles.extend(Obstacle(v, members, "a later tuple must differ from it") for v in values)
    bound = Bound(None, "")
    if sized:
        waits = {} if last else _waits(form, members)
        moments = () if last else kept
        bound = bound_table(form, members, keys, moments, frontier, waits, apart)
    return Table(
        members=members,
        keys=tuple(keys),
        kept=() if last else kept,
        frontier=frontier,
        steps=steps,
        stored=not last or form.distinct,
        bound=bound,
        apart=tuple(apart),
        sums=tuple(
            place
            for place, fold in enumerate(form.folds or ())
            if fold.function is FoldFunction.SUM and fold.member in members
        ),
    )


def _may_be_apart(form: NormalForm) -> bool:
    """Whether few values of a class suffice to differ from later ones: of sets, where nothing is
    counted or summed."""
    return form.distinct and all(f.function is not FoldFunction.SUM for f in form.folds or ())


def _must_differ(form: NormalForm) -> set[int]:
    """The unbounded classes of a set query that must differ from unbounded ones. With those,
    nothing is known of how many best matches by several frontier values there are."""
    if not form.distinct:
        return set()
    found = set()
    for d in form.disequalities:
        for value, other, shift in ((d.x, d.y, d.shift), (d.y, d.x, -d.shift)):
            group = form.classes[value]
            if not group.domain.finite and not _tells_few(form, group, other, shift):
                found.add(value)
    return found


def _tells_few(form: NormalForm, group: ValueClass, other: int, shift: int | Fraction) -> bool:
    """Whether what must differ from a class tells only finitely many values of it apart."""
    partner = form.classes[other]
    discrete = group.grain > 0 and partner.grain > 0 and group.kind is not Kind.STRING
    if overlap_unequal(form.classes, form.unit, group.index, other, shift) is not None:
        return True
    return partner.domain.known and (
        discrete or break_at(form.classes, form.unit, group.index, other, shift) is not None
    )


def _best(form: NormalForm, value: int) -> int | None:
    """1 where the least value of a class is wanted, -1 where the greatest is, else None."""
    for fold in form.folds or ():
        if fold.value == value and fold.function is not FoldFunction.SUM:
            return 1 if fold.function is FoldFunction.MIN else -1
    return None


def _pends(form: NormalForm, q: Inequality, value: int, members: frozenset[int]) -> bool:
    """Whether an inequality relates a class of a past set to one that is still to come."""
    if value not in (q.x, q.y):
        return False
    other = q.y if q.x == value else q.x
    return not form.classes[other].members & members


def _frontiers(terms: dict[tuple[int, int, bool], list[Term]]) -> tuple[Frontier, ...]:
    """Frontier values that differ by a constant are one."""
    serves: dict[tuple[Term, ...], list[tuple[int, int, bool]]] = {}
    for served, group in terms.items():
        ordered = sorted(group, key=lambda t: (t.value, t.sign))
        base = ordered[0].shift
        shifted = tuple(Term(t.value, t.sign, t.shift - base) for t in ordered)
        serves.setdefault(shifted, []).append(served)
    return tuple(Frontier(group, tuple(served)) for group, served in serves.items())


def _kept(form: NormalForm, member: int, inside: frozenset[int]) -> Kept | None:
    """Whether, and how long, the timestamp of a member of a past set still matters."""
    live: list[int] = []
    settle: list[int] = []
    for t in form.times:
        if t.earlier == member and t.later not in inside:
            live.append(t.steps)
        if t.later == member and t.earlier not in inside and t.steps <= -2:
            settle.append(-t.steps)
    for d in form.time_differences:
        other = d.right if d.left == member else d.left
        if member in (d.left, d.right) and other not in inside and d.steps != 0:
            settle.append(abs(d.steps) + 1)
    if not live and not settle:
        return None
    return Kept(member, min(live) if live else None, max(settle) if settle else None)
