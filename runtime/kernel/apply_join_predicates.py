"""The conditions between matches that are joined."""

from fractions import Fraction

import numpy as np

from ontoweir.checker.model.normal_form import Inequality
from ontoweir.checker.model.plan import ServedComparison
from ontoweir.runtime.columnar.add_exact import differs, lies_below
from ontoweir.runtime.columnar.columns import is_past_frontier, value
from ontoweir.runtime.columnar.frame import Array, Frame, Name
from ontoweir.runtime.kernel.plan_view import Members, PlanView, turn


def apply_join_predicates(
    view: PlanView,
    frame: Frame,
    joined: Members | set[int],
    new: Members | set[int],
) -> Frame:
    """Check the conditions between the members in the frame and those that just joined."""
    good = np.ones(frame.rows, dtype=np.bool_)
    classes = view.form.classes
    for q in view.form.inequalities:
        x, y = classes[q.x], classes[q.y]
        if not _crosses(x.members, y.members, joined, new):
            continue
        if _is_whole(view, frame, q.x, q) and _is_whole(view, frame, q.y, q):
            good &= lies_below(frame[value(q.x)], frame[value(q.y)], q.limit, strict=q.strict)
        else:
            good &= _frontier_holds(view, frame, q)
    for d in view.form.disequalities:
        x, y = classes[d.x], classes[d.y]
        if _crosses(x.members, y.members, joined, new):
            good &= differs(frame[value(d.x)], frame[value(d.y)], d.shift)
    return frame if bool(good.all()) else frame.take(good)


def _is_whole(view: PlanView, frame: Frame, index: int, q: Inequality) -> bool:
    """Whether a comparison can use a class's column: it is there, and not merely clipped for
    other comparisons while a frontier value holds what this one needs."""
    if value(index) not in frame.columns:
        return False
    return q.clips or not in_frontier(view, frame, index, q)


def in_frontier(view: PlanView, frame: Frame, index: int, q: Inequality | None = None) -> bool:
    """Whether the frontier of a joined table has a class among its terms (for the sake of a
    comparison, if one is given)."""
    wanted = set() if q is None else _served_by(q)
    parts = (
        view.tables[name[1]].frontier[name[2]] for name in frame.columns if is_past_frontier(name)
    )
    return any(
        term.value == index
        for part in parts
        if q is None or wanted & set(part.serves)
        for term in part.terms
    )


def _served_by(q: Inequality) -> set[ServedComparison]:
    """What a frontier value has to serve for a comparison, from either side of it."""
    return {ServedComparison(q.y, 1, q.strict), ServedComparison(q.x, -1, q.strict)}


def _frontier_holds(view: PlanView, frame: Frame, q: Inequality) -> Array:
    """`x <= y + limit` where a side, or both, is only there as part of a frontier value."""
    parts = [n for n in frame.columns if is_past_frontier(n)]
    above, below = _is_whole(view, frame, q.y, q), _is_whole(view, frame, q.x, q)
    if above or below:
        inside, outside, sign = (q.x, q.y, 1) if above else (q.y, q.x, -1)
        for name in parts:
            best = view.tables[name[1]].frontier[name[2]]
            if ServedComparison(outside, sign, q.strict) not in best.serves:
                continue
            shift = next((t.shift for t in best.terms if t.value == inside), None)
            if shift is None:
                continue
            # term - limit <= outside, for the greatest of the group's terms
            right, beside = turn(frame[value(outside)], sign)
            more = q.limit + shift + beside - view.bias(best)
            return lies_below(frame[name], right, more, strict=q.strict)
        raise AssertionError(f"no frontier value holds class {inside}")
    for first in parts:
        for second in parts:
            constant = _biclique(view, first, second, q)
            if constant is not None:
                other, beside = turn(frame[second], -1)
                return lies_below(frame[first], other, beside - constant, strict=q.strict)
    raise AssertionError(f"no frontier values hold classes {q.x} and {q.y}")


def _biclique(view: PlanView, first: Name, second: Name, q: Inequality) -> int | Fraction | None:
    """The constant c with `f + g + c <= 0` iff every x of f is below every y of g, as the
    query asks of each pair; None where it does not ask that."""
    low = view.tables[first[1]].frontier[first[2]]
    high = view.tables[second[1]].frontier[second[2]]
    asked = {(p.x, p.y): p for p in view.form.inequalities}
    if q.x not in {t.value for t in low.terms} or q.y not in {t.value for t in high.terms}:
        return None
    constants = set()
    for a in low.terms:
        for b in high.terms:
            pair = asked.get((a.value, b.value))
            if pair is None or a.sign != 1 or b.sign != -1 or pair.strict != q.strict:
                return None
            constants.add(-a.shift - b.shift - pair.limit)
    return constants.pop() + view.bias(low) + view.bias(high) if len(constants) == 1 else None


def _crosses(x: Members, y: Members, joined: Members | set[int], new: Members | set[int]) -> bool:
    """Whether a join brings two classes together that neither side already had together."""
    if (x & joined and y & joined) or (x & new and y & new):
        return False
    return bool((x & joined and y & new) or (y & joined and x & new))
