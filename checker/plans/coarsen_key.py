"""Values of a class that no partner tells apart are one value: clipped, or ranked (theory §8)."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from ontoweir.checker.model.normal_form import Inequality, Kind, NormalForm
from ontoweir.checker.model.plan import Key
from ontoweir.checker.normalise.breakpoints import break_for, break_unequal
from ontoweir.checker.sizes.size_key import size_key


def coarsen_key(
    form: NormalForm,
    value: int,
    pending: Iterable[Inequality],
    unequal: Sequence[tuple[int, int | Fraction]],
) -> Key:
    """The key of a class that only comparisons need.

    Args:
        form: the disjunct.
        value: the class.
        pending: the inequalities it is needed for.
        unequal: what it must differ from, as (class, shift).
    """
    pending = list(pending)
    unit = form.unit_of(form.classes[value].kind)
    breaks = [break_for(form.classes, unit, value, q) for q in pending]
    breaks += [break_unequal(form.classes, unit, value, other, shift) for other, shift in unequal]
    known = [b for b in breaks if b is not None]
    ranked = Key(value)
    if len(known) == len(breaks):
        ranked = Key(value, breaks=tuple(dict.fromkeys(known)))
    if form.classes[value].grain == 0 or form.classes[value].kind is Kind.STRING:
        return ranked
    clipped = _clip(form, value, pending, unequal)
    sizes = [size_key(form, key).size for key in (clipped, ranked)]
    if ranked.whole or (sizes[1] is None and not clipped.whole):
        return clipped
    return clipped if sizes[0] is not None and sizes[0] <= (sizes[1] or 0) else ranked


def _clip(
    form: NormalForm,
    value: int,
    pending: Sequence[Inequality],
    unequal: Sequence[tuple[int, int | Fraction]],
) -> Key:
    """Of discrete values, those beyond either end are one."""
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
    own = form.classes[value].domain
    for other, shift in unequal:
        domain = form.classes[other].domain
        lows.append(own.low if domain.low is None else domain.low + shift - grain)
        highs.append(own.high if domain.high is None else domain.high + shift + grain)
    return Key(value, _common(lows, min), _common(highs, max))


def _common(
    limits: list[int | Fraction | None],
    choose: Callable[[list[int | Fraction]], int | Fraction],
) -> int | Fraction | None:
    known = [limit for limit in limits if limit is not None]
    if not limits or len(known) < len(limits):
        return None
    return choose(known)
