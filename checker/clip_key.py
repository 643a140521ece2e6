"""Clipping: values of a class beyond what its partners reach are one value (theory §8)."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from ontoweir.checker.normal_form import Inequality, Kind, NormalForm
from ontoweir.checker.plan import Key


def clip_key(
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


def _common(
    limits: list[int | Fraction | None],
    choose: Callable[[list[int | Fraction]], int | Fraction],
) -> int | Fraction | None:
    known = [limit for limit in limits if limit is not None]
    if not limits or len(known) < len(limits):
        return None
    return choose(known)
