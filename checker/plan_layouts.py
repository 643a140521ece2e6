"""How copies of a match can be laid out so that each optional tuple is needed by its own suffix."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from ontoweir.checker.decide_lag import Failure
from ontoweir.checker.normal_form import NormalForm


@dataclass(frozen=True, slots=True)
class Layout:
    """What is laid out: the member whose tuples are optional, the members that come before the
    suffix, and constraints between copies m and m+1 (as functions of m)."""

    optional: int
    before: frozenset[int]
    chains: tuple[tuple[int, int], ...]
    """(class, direction): values of the class rise (1) or fall (-1) from copy to copy."""
    between: tuple[tuple[int, int, int | Fraction, int], ...]
    """(x, y, limit, step): value(x) of copy m + step exceeds value(y) of copy m by > limit."""
    sequence: tuple[int, int] | None
    """(a, b): copies of a and b alternate in time: a1 < b1 < a2 < b2 …"""


def plan_layouts(form: NormalForm, failure: Failure) -> Iterable[Layout]:
    if failure.condition == "C3":
        yield from _lockstep(form, failure)
        return
    if failure.value is None:
        return
    holders = list(failure.members) or sorted(form.classes[failure.value].members)
    for optional in holders:
        before = form.reach({optional})
        if failure.condition == "C1":
            everyone = frozenset(range(len(form.members)))
            for first in (everyone, before):
                for direction in (1, -1):
                    chain = ((failure.value, direction),)
                    yield Layout(optional, first, chain, (), None)
        elif failure.condition == "E3":
            for q in form.inequalities:
                if q.clips or not {q.x, q.y} & {
                    c.index for c in form.classes if optional in c.members
                }:
                    continue
                yield from _staircase(form, optional, before, q.x, q.y, q.limit)
        else:
            for direction in (1, -1):
                yield Layout(optional, before, ((failure.value, direction),), (), None)


def _staircase(
    form: NormalForm,
    optional: int,
    before: frozenset[int],
    x: int,
    y: int,
    limit: int | Fraction,
) -> Iterable[Layout]:
    """x_m <= y_m + limit < x_{m+1}: suffix m (with y_m or x_m) tells copies apart."""
    yield Layout(optional, before, ((x, 1), (y, 1)), ((x, y, limit, 1),), None)


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
                continue
            # the first comparison's limits fall with m, the second's rise
            between = (
                _tight(s1, in1, out1, q1.limit, -1),
                _tight(s2, in2, out2, q2.limit, 1),
            )
            chains = ((in1, -s1), (in2, s2))
            if a == b:
                yield Layout(a, before, chains, between, None)
                continue
            for pair in ((a, b), (b, a)):
                for optional in pair:
                    yield Layout(optional, before, chains, between, pair)


def _tight(
    sign: int, inside: int, outside: int, limit: int | Fraction, step: int
) -> tuple[int, int, int | Fraction, int]:
    """The partner of copy m does not satisfy the comparison with the copy `step` further on."""
    if sign == 1:
        return (inside, outside, limit, step)
    return (outside, inside, limit, -step)
