"""How copies of a match can be laid out so that each optional tuple is needed by its own suffix."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from ontoweir.checker.model.criterion import Failure
from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.rewriter.model.spj import FoldFunction


class CopyChain(NamedTuple):
    """Values of a class rise (direction 1) or fall (-1) from copy to copy."""

    value: int
    direction: int


class CopyRelation(NamedTuple):
    """What relates class `left` of copy m + `step` (1 or -1) with class `right` of copy m."""

    left: int
    right: int
    shift: int | Fraction
    step: int


@dataclass(frozen=True, slots=True)
class Layout:
    """What is laid out: the member whose tuples are optional, the members that come before the
    suffix, and constraints between copies m and m+1 (as functions of m)."""

    optional: int
    before: frozenset[int]
    chains: tuple[CopyChain, ...]
    between: tuple[CopyRelation, ...]
    """`left` exceeds `right` by more than the shift."""
    sequence: tuple[int, int] | None
    """(a, b): copies of a and b alternate in time: a1 < b1 < a2 < b2 …"""
    equal: tuple[CopyRelation, ...] = ()
    """`left` is `right` plus the shift."""
    ranked: bool = False
    """Later tuples move the median of a group from one optional tuple to the next."""
    anchored: bool = False
    """One more copy comes first: its tuples are always there, of the suffix too, and what is
    summed of it differs. An average then tells how many others there are."""
    again: bool = False
    """Suffix m is copy m once more, later: the same result, which only who remembers copy m knows
    to have been given (or counted) before. All members of the first copies come before."""
    above: bool = False
    """Of two classes that must differ, the first has the greater values, not the less."""


def is_single(form: NormalForm, layout: Layout, member: int) -> bool:
    """Whether one tuple of a member, always there, serves all copies: a finite stream's. One whose
    rows a key limits can come with the suffix instead, as only one suffix comes."""
    one = form.members[member]
    return one.last is not None or (one.finite and (member in layout.before or layout.again))


def plan_layouts(form: NormalForm, failure: Failure) -> Iterable[Layout]:
    """Layouts that might become a witness for a failed condition, most promising first."""
    if failure.condition == "C3":
        yield from _best_in_step(form, failure)
        yield from _lockstep(form, failure)
        return
    counted = failure.condition == "G1" and form.folds == () and not form.distinct
    if counted and len(form.members) == 1 and failure.value is not None:
        yield Layout(0, frozenset({0}), (CopyChain(failure.value, -1),), (), None, ranked=True)
    for layout in _by_value(form, failure):
        # sums and averages: each optional tuple adds another amount
        chained = {value for value, _ in layout.chains}
        amounts = {f.value for f in form.folds or () if f.value not in chained}
        amounts = {v for v in amounts if not form.classes[v].domain.finite}
        layout = replace(
            layout, chains=(*layout.chains, *(CopyChain(v, 1) for v in sorted(amounts)))
        )
        yield layout
        if form.folds and not layout.again:
            yield replace(layout, anchored=True)


def _by_value(form: NormalForm, failure: Failure) -> Iterable[Layout]:
    if failure.value is None:
        return
    holders = list(failure.members) or sorted(form.classes[failure.value].members)
    for optional in holders:
        before = form.reach({optional})
        if failure.condition in ("C1", "G1"):
            for direction in (1, -1):
                chain = (CopyChain(failure.value, direction),)
                yield from _again(form, optional, chain)
                yield Layout(optional, before, chain, (), None)
        elif failure.condition == "E3":
            for q in form.inequalities:
                if q.clips or not {q.x, q.y} & {
                    c.index for c in form.classes if optional in c.members
                }:
                    continue
                yield from _staircase(form, optional, before, q.x, q.y, q.limit)
        else:
            for d in form.disequalities:
                # suffix m meets every optional tuple but that of the next copy
                if {d.x, d.y} == set(failure.values):
                    for step in (1, -1):
                        equal = (CopyRelation(d.x, d.y, d.shift, step),)
                        yield Layout(optional, before, (), (), None, equal)
            for direction in (1, -1):
                yield Layout(optional, before, (CopyChain(failure.value, direction),), (), None)


def _again(form: NormalForm, optional: int, chain: tuple[CopyChain, ...]) -> Iterable[Layout]:
    """Each match comes before; once more after it, its result is not a new one."""
    everyone = frozenset(range(len(form.members)))
    yield Layout(optional, everyone, chain, (), None, again=True)


def _staircase(
    form: NormalForm,
    optional: int,
    before: frozenset[int],
    x: int,
    y: int,
    limit: int | Fraction,
) -> Iterable[Layout]:
    """x_m <= y_m + limit < x_{m+1}: suffix m (with y_m or x_m) tells copies apart."""
    yield Layout(
        optional, before, (CopyChain(x, 1), CopyChain(y, 1)), (CopyRelation(x, y, limit, 1),), None
    )


def _lockstep(form: NormalForm, failure: Failure) -> Iterable[Layout]:
    """Two independent comparisons of a comparable pair, one improving while the other worsens."""
    a, b = failure.members
    before = form.reach({a, b})
    open_ = [
        (q, sign, inside, outside)
        for q in form.inequalities
        if not q.clips
        for sign, inside, outside in ((1, q.x, q.y), (-1, q.y, q.x))
        if form.classes[inside].members & {a, b} and form.classes[outside].members - before
    ]
    for q1, s1, in1, out1 in open_:
        for q2, s2, in2, out2 in open_:
            if (in1, out1) == (in2, out2):
                if s1 < s2:  # both sides of one class: copies one after the other, out of reach
                    between = (
                        _tight(s1, in1, out1, q1.limit, -1),
                        _tight(s2, in2, out2, q2.limit, 1),
                    )
                    yield Layout(a, before, (CopyChain(in1, 1), CopyChain(out1, 1)), between, None)
                continue
            # the first comparison's limits fall with m, the second's rise
            between = (
                _tight(s1, in1, out1, q1.limit, -1),
                _tight(s2, in2, out2, q2.limit, 1),
            )
            chains = (CopyChain(in1, -s1), CopyChain(in2, s2))
            if a == b:
                yield Layout(a, before, chains, between, None)
                continue
            for pair in ((a, b), (b, a), None):  # None: they come at one time
                for optional in (a, b):
                    yield Layout(optional, before, chains, between, pair)


def _best_in_step(form: NormalForm, failure: Failure) -> Iterable[Layout]:
    """A minimum or maximum over what a comparison lets pass: suffix m lets pass copy m, and on
    one side of it those with worse values."""
    a, b = failure.members
    before = form.reach({a, b})
    for fold in form.folds or ():
        if fold.function is FoldFunction.SUM or not form.classes[fold.value].members & {a, b}:
            continue
        worse = 1 if fold.function is FoldFunction.MIN else -1
        for q in form.inequalities:
            for sign, inside, outside in ((1, q.x, q.y), (-1, q.y, q.x)):
                near, far = form.classes[inside], form.classes[outside]
                if q.clips or not near.members & {a, b} or not far.members - before:
                    continue
                for step in (-1, 1):
                    # copies `step` further on are blocked, the others fold to less
                    between = (_tight(sign, inside, outside, q.limit, step),)
                    chains = {CopyChain(inside, sign * step), CopyChain(fold.value, worse * -step)}
                    if len({value for value, _ in chains}) < len(chains):
                        continue
                    for pair in ((a, b), (b, a), None) if a != b else (None,):
                        for optional in dict.fromkeys((a, b)):
                            yield Layout(optional, before, tuple(sorted(chains)), between, pair)


def _tight(sign: int, inside: int, outside: int, limit: int | Fraction, step: int) -> CopyRelation:
    """The partner of copy m does not satisfy the comparison with the copy `step` further on."""
    if sign == 1:
        return CopyRelation(inside, outside, limit, step)
    return CopyRelation(outside, inside, limit, -step)
