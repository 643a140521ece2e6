"""Make one table of a synopsis plan: what is kept of the partial matches over some members."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from ontoweir.checker.criteria.decide_lag import FOLDED
from ontoweir.checker.model.normal_form import Inequality, Kind, NormalForm, ValueClass
from ontoweir.checker.model.plan import (
    Bound,
    DistinctSample,
    Frontier,
    KeptTimestamp,
    Key,
    PlanStep,
    ServedComparison,
    SynopsisTable,
    Term,
)
from ontoweir.checker.normalise.breakpoints import break_at, overlap_unequal
from ontoweir.checker.plans.bound_open_groups import wait_for_matches
from ontoweir.checker.plans.bound_table import bound_table
from ontoweir.checker.plans.coarsen_key import coarsen_key
from ontoweir.rewriter.model.spj import FoldFunction, output_attributes
from ontoweir.rewriter.windows.window import BEGINS, ENDS

MAX_PARTNERS = 12
"""A table whose values must differ from more later ones than this is not planned: to tell which of
its rows are needed would take long."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A value class that table `members` would have to keep, although it is unbounded."""

    value: int
    members: frozenset[int]
    reason: str


@dataclass(slots=True)
class _Draft:
    """What a table keeps, class by class, and what it would have to keep but cannot."""

    keys: list[Key] = field(default_factory=list)
    samples: list[DistinctSample] = field(default_factory=list)
    terms: dict[ServedComparison, list[Term]] = field(default_factory=dict)
    obstacles: list[Obstacle] = field(default_factory=list)

    def best_of(self, value: int, sign: int) -> None:
        """Keep the least (sign 1) or greatest (-1) value of a class, for a minimum or maximum."""
        self.add_term(ServedComparison(FOLDED, sign, False), Term(value, sign, 0))

    def add_term(self, served: ServedComparison, term: Term) -> None:
        """Keep a value as part of the frontier value that serves a comparison."""
        self.terms.setdefault(served, []).append(term)


def make_table(
    form: NormalForm,
    members: frozenset[int],
    steps: tuple[PlanStep, ...],
    *,
    last: bool,
    sized: bool,
) -> SynopsisTable | tuple[Obstacle, ...]:
    """The table of partial matches over `members`, or every obstacle that prevents it.

    Args:
        form: the disjunct.
        members: what the table joins.
        steps: how its rows arise.
        last: it is the table of answers.
        sized: bound its rows.
    """
    draft = _Draft()
    for group in form.classes:
        if group.members & members:
            (_add_answer if last else _add_class)(form, group, members, draft)
    frontier = _frontiers(draft.terms)
    unequal = _must_differ(form)
    if (len(frontier) > 1 and unequal) or sum(s.partners for s in draft.samples) > MAX_PARTNERS:
        values = [s.value for s in draft.samples] or sorted(unequal)[:1]
        reason = "a later tuple must differ from it"
        draft.obstacles.extend(Obstacle(v, members, reason) for v in values)
    if draft.obstacles:
        return tuple(draft.obstacles)
    if last:
        kept, waits = _kept_answers(form)
    else:
        kept = tuple(k for i in sorted(members) if (k := _kept(form, i, members)) is not None)
        waits = _waits(form, members) if sized else {}
    latest = None
    if not last and not frontier and not draft.samples:
        latest = _find_latest(form, members, kept)
    bound = Bound(None, "")
    if sized:
        keys = told_by_time(form, draft.keys) if last and kept else draft.keys
        counted = kept
        if latest is not None:
            keys, counted = [k for k in keys if k.value not in latest], ()
        bound = bound_table(form, members, keys, counted, frontier, waits, draft.samples)
    return SynopsisTable(
        members=members,
        keys=tuple(draft.keys),
        kept=kept,
        frontier=frontier,
        steps=steps,
        stored=not last or (form.distinct and not _ends(form)),
        bound=bound,
        samples=tuple(draft.samples),
        latest=latest,
        sums=tuple(
            place
            for place, fold in enumerate(form.folds or ())
            if fold.function is FoldFunction.SUM and fold.member in members
        ),
    )


def _add_answer(
    form: NormalForm, group: ValueClass, members: frozenset[int], draft: _Draft
) -> None:
    """What the table of answers keeps of a class."""
    if group.projected:
        if form.distinct and not group.domain.finite and form.query.closing is None:
            draft.obstacles.append(
                Obstacle(group.index, members, "every distinct result must be remembered")
            )
        draft.keys.append(Key(group.index))
    best = _best(form, group.index)
    if best is not None:
        draft.best_of(group.index, best)


def _add_class(form: NormalForm, group: ValueClass, members: frozenset[int], draft: _Draft) -> None:
    """What a table of partial matches keeps of a class that has columns in it."""
    opened = form.opened(members)
    live = any(
        form.members[i].finite
        or _is_live(form, i, members) is not None
        or any(o.rows is not None and i in o.members for o in opened)
        for i in group.members & members
    )
    if group.projected or group.members - members:
        is_open = any(group.index in o.values for o in opened)
        if not (group.domain.finite or live or is_open):
            reason = "it is in the result" if group.projected else "a later tuple must equal it"
            draft.obstacles.append(Obstacle(group.index, members, reason))
        draft.keys.append(Key(group.index))
        return
    best = _best(form, group.index)
    if best is not None and live:
        draft.keys.append(Key(group.index))
        return
    if best is not None:
        draft.best_of(group.index, best)
    pending = [q for q in form.inequalities if _pends(form, q, group.index, members)]
    unequal = _unequal(form, group.index, members)
    if not pending and not unequal:
        return
    if group.domain.finite or live:
        draft.keys.append(
            Key(group.index) if live else coarsen_key(form, group.index, pending, unequal)
        )
        return
    _add_unbounded(form, group, members, (pending, unequal), draft)


def _add_unbounded(
    form: NormalForm,
    group: ValueClass,
    members: frozenset[int],
    needed: tuple[list[Inequality], list[tuple[int, int | Fraction]]],
    draft: _Draft,
) -> None:
    """What is kept of an unbounded class that is only compared with later values: `needed` are the
    comparisons and the values it must differ from."""
    pending, unequal = needed
    rest = [q for q in pending if not q.clips]
    if rest and not form.distinct:
        draft.obstacles.append(
            Obstacle(group.index, members, "a later tuple must be compared with it")
        )
        return
    if any(not _tells_few(form, group, *other) for other in unequal):
        if _may_be_sampled(form) and not pending:
            draft.samples.append(DistinctSample(group.index, len(set(unequal))))
            draft.keys.append(Key(group.index))
        else:
            draft.obstacles.append(
                Obstacle(group.index, members, "a later tuple must differ from it")
            )
        return
    clipping = [q for q in pending if q.clips]
    if clipping or unequal:
        draft.keys.append(coarsen_key(form, group.index, clipping, unequal))
    for q in rest:
        outside, sign = (q.y, 1) if q.x == group.index else (q.x, -1)
        draft.add_term(ServedComparison(outside, sign, q.strict), Term(group.index, sign, -q.limit))


def _unequal(
    form: NormalForm, value: int, members: frozenset[int]
) -> list[tuple[int, int | Fraction]]:
    """The classes still to come that a class must differ from, each with the shift added to it."""
    pairs = [
        (d.y, d.shift) if d.x == value else (d.x, -d.shift)
        for d in form.disequalities
        if value in (d.x, d.y)
    ]
    return [(other, shift) for other, shift in pairs if not form.classes[other].members & members]


def _kept_answers(form: NormalForm) -> tuple[tuple[KeptTimestamp, ...], dict[int, int | None]]:
    """For how long the answers of a set that show a time are remembered, and the members' tuples
    with them: until nothing of that time can match any more."""
    closing = form.query.closing
    if not form.distinct or closing is None or form.folds is not None or _ends(form):
        return (), {}
    near = next(m.index for m in form.members if m.alias == closing.alias)
    wait = wait_for_matches(form)
    back = {i: form.lag[i][near] for i in range(len(form.members))}
    waits: dict[int, int | None] = {i: wait + lag for i, lag in back.items() if lag is not None}
    return (KeptTimestamp(near, expire_after=wait, forget_after=None),), waits


def told_by_time(form: NormalForm, keys: Sequence[Key]) -> list[Key]:
    """A key without the time that a set shows, which the kept timestamp tells."""
    closing = form.query.closing
    return [k for k in keys if closing is None or k.value != form.class_of[closing]]


def _ends(form: NormalForm) -> bool:
    """Whether answers end: then what is kept of them says when, and they need not be told once."""
    return any(name.startswith(ENDS) for name, _ in form.query.outputs)


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


def _may_be_sampled(form: NormalForm) -> bool:
    """Whether few values of a class suffice to differ from later ones: of sets, where nothing is
    counted or summed."""
    return form.distinct and all(f.function is not FoldFunction.SUM for f in form.folds or ())


def _find_latest(
    form: NormalForm, members: frozenset[int], kept: Sequence[KeptTimestamp]
) -> frozenset[int] | None:
    """The classes that rows of one member may differ in where only the latest of them is kept: when
    they leave their windows (None: all rows are kept).

    Let s and s' of one member be equal in all else, s before s', and let nothing but upper limits
    of time be asked of later partners. Whoever comes after s' and joins s joins s', too, with an
    answer that begins then and ends no earlier; whoever came before joined s when it came. Of a set
    nothing is counted, and of an answer only the last end is told. Not where a row begins to be
    shown after its own time, as then s may be shown earlier; nor where a time is shown.

    Args:
        form: the disjunct.
        members: of a table.
        kept: the timestamps that it keeps.
    """
    if not form.distinct or form.folds is not None or form.open or len(members) != 1:
        return None
    if len(kept) != 1 or kept[0].expire_after is None or kept[0].forget_after is not None:
        return None
    outputs = form.query.outputs
    if any(name.startswith(BEGINS) for name, _ in outputs):
        return None
    ends, shown = (
        {
            form.class_of[a]
            for name, output in outputs
            if name.startswith(ENDS) is ending
            for a in output_attributes(output)
        }
        for ending in (True, False)
    )
    return frozenset(v for v in ends - shown if form.classes[v].members == members)


def _must_differ(form: NormalForm) -> set[int]:
    """The unbounded classes of a set query that must differ from unbounded ones. With those,
    nothing is known of how many best matches by several frontier values there are."""
    if not form.distinct:
        return set()
    values = set()
    for d in form.disequalities:
        for value, other, shift in ((d.x, d.y, d.shift), (d.y, d.x, -d.shift)):
            group = form.classes[value]
            if not group.domain.finite and not _tells_few(form, group, other, shift):
                values.add(value)
    return values


def _tells_few(form: NormalForm, group: ValueClass, other: int, shift: int | Fraction) -> bool:
    """Whether what must differ from a class tells only finitely many values of it apart."""
    partner, unit = form.classes[other], form.unit_of(group.kind)
    discrete = group.grain > 0 and partner.grain > 0 and group.kind is not Kind.STRING
    if overlap_unequal(form.classes, unit, group.index, other, shift) is not None:
        return True
    return partner.domain.known and (
        discrete or break_at(form.classes, unit, group.index, other, shift) is not None
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


def _frontiers(terms: dict[ServedComparison, list[Term]]) -> tuple[Frontier, ...]:
    """Frontier values that differ by a constant are one."""
    serves: dict[tuple[Term, ...], list[ServedComparison]] = {}
    for served, group in terms.items():
        ordered = sorted(group, key=lambda t: (t.value, t.sign))
        base = ordered[0].shift
        shifted = tuple(Term(t.value, t.sign, t.shift - base) for t in ordered)
        serves.setdefault(shifted, []).append(served)
    return tuple(Frontier(group, tuple(served)) for group, served in serves.items())


def _kept(form: NormalForm, member: int, inside: frozenset[int]) -> KeptTimestamp | None:
    """Whether, and how long, the timestamp of a member of a past set still matters."""
    expire_after: list[int] = []
    forget_after: list[int] = []
    for t in form.times:
        if t.earlier == member and t.later not in inside:
            expire_after.append(t.steps)
        if t.later == member and t.earlier not in inside and t.steps <= -2:
            forget_after.append(-t.steps)
    for d in form.time_differences:
        other = d.right if d.left == member else d.left
        if member in (d.left, d.right) and other not in inside and d.steps != 0:
            forget_after.append(abs(d.steps) + 1)
    answers, _ = _kept_answers(form)
    for k in answers:
        if k.member == member and k.expire_after is not None:
            expire_after.append(k.expire_after)
    if not expire_after and not forget_after:
        return None
    return KeptTimestamp(
        member,
        expire_after=min(expire_after, default=None),
        forget_after=max(forget_after, default=None),
    )
