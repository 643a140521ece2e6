"""Make the synopsis plan of a disjunct, or say which value cannot be kept (theory §8)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

from ontoweir.checker.decide_lag import FOLDED
from ontoweir.checker.normal_form import Inequality, Kind, NormalForm, TimeLimit
from ontoweir.checker.plan import Bound, Frontier, Kept, Key, Step, SynopsisPlan, Table, Term
from ontoweir.errors import QueryError
from ontoweir.rewriter.spj import FoldFunction

MOST_STEPS = 20_000
"""A plan with more steps is refused."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A value class that table `members` would have to keep, although it is unbounded."""

    value: int
    members: frozenset[int]
    reason: str


def make_plan(form: NormalForm) -> SynopsisPlan | tuple[Obstacle, ...]:
    """The plan of a satisfiable disjunct, or every obstacle that prevents one.

    That frontiers stay small is not decided here ([the pair criterion], theory §7).

    Raises:
        QueryError: there are more than MOST_STEPS orders in which tuples can complete matches.
    """
    plan = _make(form)
    if not isinstance(plan, SynopsisPlan) and (dated := _limit_by_dates(form)) != form:
        with_dates = _make(dated)
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


def _make(form: NormalForm) -> SynopsisPlan | tuple[Obstacle, ...]:
    everything = frozenset(range(len(form.members)))
    tables: dict[frozenset[int], tuple[Step, ...]] = {}
    waiting, steps = [everything], 0
    while waiting:
        members = waiting.pop()
        if members in tables:
            continue
        found = islice(_steps(form, members), MOST_STEPS + 1 - steps)
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
        table = _table(form, members, tables[members], members == everything, obstacles)
        made.append(table)
    if obstacles:
        return tuple(dict.fromkeys(obstacles))
    return SynopsisPlan(form, tuple(made))


def _steps(form: NormalForm, members: frozenset[int]) -> Iterable[Step]:
    """Every way the last tuples of a match arrive together, the rest strictly before them."""
    apart = [{d.left, d.right} for d in form.time_differences if d.steps == 0]

    def choose(rest: tuple[int, ...], now: frozenset[int], past: frozenset[int]) -> Iterable[Step]:
        if not rest:
            if now:
                yield Step(now, tuple(_components(form, past)))
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


def _table(
    form: NormalForm,
    members: frozenset[int],
    steps: tuple[Step, ...],
    last: bool,
    obstacles: list[Obstacle],
) -> Table:
    keys: list[Key] = []
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
                _clipped(form, group.index, pending, unequal) if not live else Key(group.index)
            )
            continue
        if rest and not form.distinct:
            obstacles.append(
                Obstacle(group.index, members, "a later tuple must be compared with it")
            )
            continue
        clipping = [q for q in pending if q.clips]
        if unequal and (
            group.kind is Kind.STRING
            or any(not form.classes[other].domain.finite for other, _ in unequal)
        ):
            obstacles.append(Obstacle(group.index, members, "a later tuple must differ from it"))
            continue
        if clipping or unequal:
            keys.append(_clipped(form, group.index, clipping, unequal))
        for q in rest:
            if q.x == group.index:
                terms.setdefault((q.y, 1, q.strict), []).append(Term(group.index, 1, -q.limit))
            else:
                terms.setdefault((q.x, -1, q.strict), []).append(Term(group.index, -1, -q.limit))
    kept = tuple(k for i in sorted(members) if (k := _kept(form, i, members)) is not None)
    frontier = _frontiers(terms)
    return Table(
        members=members,
        keys=tuple(keys),
        kept=() if last else kept,
        frontier=frontier,
        steps=steps,
        stored=not last or form.distinct,
        bound=_bound(form, members, tuple(keys), kept, frontier, last),
        sums=tuple(
            place
            for place, fold in enumerate(form.folds or ())
            if fold.function is FoldFunction.SUM and fold.member in members
        ),
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


def _clipped(
    form: NormalForm,
    value: int,
    pending: list[Inequality],
    unequal: list[tuple[int, int | Fraction]],
) -> Key:
    """The key of a class that only comparisons need: values beyond what partners reach are one."""
    if form.classes[value].grain == 0 or form.classes[value].kind is Kind.STRING:
        return Key(value)
    lows: list[int | Fraction | None] = []
    highs: list[int | Fraction | None] = []
    grain = form.classes[value].grain
    for q in pending:
        # beyond either end the comparison holds for all partners, or for none
        domain = form.classes[q.y if q.x == value else q.x].domain
        limit = q.limit if q.x == value else -q.limit
        holds, fails = (grain if q.strict else 0), (0 if q.strict else grain)
        below, above = (holds, fails) if q.x == value else (fails, holds)
        lows.append(None if domain.low is None else domain.low + limit - below)
        highs.append(None if domain.high is None else domain.high + limit + above)
    for other, shift in unequal:
        domain = form.classes[other].domain
        lows.append(None if domain.low is None else domain.low + shift - grain)
        highs.append(None if domain.high is None else domain.high + shift + grain)
    return Key(value, _common(lows, min), _common(highs, max))


def _common(limits: list[int | Fraction | None], choose: object) -> int | Fraction | None:
    known = [limit for limit in limits if limit is not None]
    if not limits or len(known) < len(limits):
        return None
    return min(known) if choose is min else max(known)


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


def _bound(
    form: NormalForm,
    members: frozenset[int],
    keys: tuple[Key, ...],
    kept: tuple[Kept, ...],
    frontier: tuple[Frontier, ...],
    last: bool,
) -> Bound:
    """Π of domain sizes of the key × live timestamps; raw tuples of live members count R a step."""
    sizes: dict[int, tuple[int | None, str]] = {}
    for key in keys:
        sizes[key.value] = _key_size(form, key)
    factors: list[tuple[int | None, str]] = []
    covered: set[int] = set()
    stamped: set[int] = set()
    if not last:
        for i in sorted(members):
            own = [k.value for k in keys if i in form.classes[k.value].members - covered]
            own = [v for v in own if v not in covered]
            wait = _is_live(form, i, members)
            unbounded = [
                v for v in own if not form.classes[v].domain.finite and sizes[v][0] is None
            ]
            if not unbounded or (wait is None and not form.members[i].finite):
                continue
            if wait is None:
                factors.append((None, f"|{form.members[i].alias}| (finite stream)"))
                covered.update(own)
                continue
            limit = _tuples(form, i)
            alias = form.members[i].alias
            factors.append((None if limit is None else limit * wait, f"R({alias}) · {wait} steps"))
            covered.update(own)
            stamped.add(i)
        for k in kept:
            if k.member in stamped:
                continue
            steps = k.settle if k.live is None else k.live
            alias = form.members[k.member].alias
            factors.append((steps, f"{steps} steps of {alias}"))
    factors.extend(size for value, size in sizes.items() if value not in covered)
    if len(frontier) > 1 and kept:
        factors.append((None, "front"))
    elif len(frontier) > 1:
        # for one choice of the values that tie the members together inside, the least frontier
        # values are found independently, in one entry; each choice can have its own
        factors.extend(_key_size(form, Key(v)) for v in _ties(form, members) if v not in sizes)
    if not factors:
        return Bound(1, "1")
    rows: int | None = 1
    for size, _ in factors:
        rows = None if rows is None or size is None else rows * size
    texts = [text for _, text in factors]
    if len(texts) > 1:
        texts = [f"({text})" if " " in text else text for text in texts]
    return Bound(rows, " · ".join(texts))


def _ties(form: NormalForm, members: frozenset[int]) -> list[int]:
    """The classes that join, or are compared between, several members of a table."""
    found = [c.index for c in form.classes if len(c.members & members) > 1]
    pairs = [(q.x, q.y) for q in form.inequalities] + [(d.x, d.y) for d in form.disequalities]
    for x, y in pairs:
        if form.classes[x].members & members and form.classes[y].members & members:
            found += [x, y]
    return list(dict.fromkeys(found))


def bound_groups(form: NormalForm, values: Iterable[int]) -> Bound:
    """A bound on the number of distinct combinations of some classes' values."""
    sizes = [_key_size(form, Key(v)) for v in dict.fromkeys(values)]
    if not sizes:
        return Bound(1, "1")
    rows: int | None = 1
    for size, _ in sizes:
        rows = None if rows is None or size is None else rows * size
    texts = [f"({text})" if len(sizes) > 1 and " " in text else text for _, text in sizes]
    return Bound(rows, " · ".join(texts))


def _tuples(form: NormalForm, member: int) -> int | None:
    """The most tuples of a member, statics folded in, that share a timestamp."""
    limit = form.max_per_timestamp[form.members[member].stream]
    if limit is None:
        return None
    for occurrence in form.members[member].statics:
        rows = form.static_fanout.get(occurrence.alias)
        if rows is None:
            return None
        limit *= rows
    return limit


def _key_size(form: NormalForm, key: Key) -> tuple[int | None, str]:
    group = form.classes[key.value]
    domain, grain = group.domain, group.grain
    low = domain.low if key.low is None else key.low
    high = domain.high if key.high is None else key.high
    clipped = key.low is not None or key.high is not None
    if clipped and low is not None and high is not None and grain:
        size = max(int((high - low) // grain) + 2, 1)
        if domain.size is None or size < domain.size:
            return size, f"|{group.name}, clipped| = {size}"
    return domain.size, domain.formula
