"""Split a set query at constants into a union whose parts have plans ([A] Def. 5.1, lazily)."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

from ontoweir.checker.criteria.decide_lag import decide_lag
from ontoweir.checker.model.criterion import Failure
from ontoweir.checker.model.normal_form import Kind, NormalForm
from ontoweir.rewriter.model.spj import Compare, Constant, Op, SpjQuery

MAX_PARTS = 32
"""A query that would need more parts is left as it is."""


def split_ranges(query: SpjQuery, normal: Callable[[SpjQuery], NormalForm]) -> tuple[SpjQuery, ...]:
    """Parts that together are the query under set semantics and each pass the lag criterion, or
    the query itself.

    Of `s.u <= 1 AND s.v >= 1 AND s.u < t.x AND t.x <= s.v` both comparisons are open, which fails
    C3; but where `t.x <= 1` the second is implied, and elsewhere the first.

    Args:
        query: a satisfiable disjunct of a set query.
        normal: brings a part into normal form.
    """
    parts = _split(query, normal, MAX_PARTS)
    return parts or (query,)


def _split(
    query: SpjQuery, normal: Callable[[SpjQuery], NormalForm], most: int
) -> tuple[SpjQuery, ...] | None:
    """The satisfiable parts, at most `most`; None if the lag criterion refuses one."""
    form = normal(query)
    if not form.satisfiable:
        return ()
    failures = decide_lag(form).failures
    if not failures:
        return (query,)
    if most < 2 or any(f.condition != "C3" for f in failures):
        return None
    for low, high in _halves(form, failures[0]):
        first = _split(replace(query, conditions=(*query.conditions, low)), normal, most - 1)
        if first is None:
            return None
        if not first:  # nothing is split
            continue
        second = _split(
            replace(query, conditions=(*query.conditions, high)), normal, most - len(first)
        )
        return None if second is None else (*first, *second)
    return None


def _halves(form: NormalForm, failure: Failure) -> Iterator[tuple[Compare, Compare]]:
    """Conditions, one the opposite of the other, the first of which implies a comparison of the
    failure's, given a limit that one side of it has."""
    for q in form.inequalities:
        if q.clips or not {q.x, q.y} & set(failure.values):
            continue
        above = form.bounds.limit(form.class_nodes[q.x], 0)
        below = form.bounds.limit(0, form.class_nodes[q.y])
        if above is not None:
            op = Op.GT if q.strict and not above.strict else Op.GE
            yield from _at(form, q.y, op, above.value - q.limit)
        if below is not None:
            op = Op.LT if q.strict and not below.strict else Op.LE
            yield from _at(form, q.x, op, q.limit - below.value)


_OPPOSITE = {Op.GT: Op.LE, Op.GE: Op.LT, Op.LT: Op.GE, Op.LE: Op.GT}


def _at(
    form: NormalForm, value: int, op: Op, threshold: int | Fraction
) -> Iterator[tuple[Compare, Compare]]:
    group = form.classes[value]
    attribute, shift = group.attributes[0]
    number = Fraction(threshold) + shift
    match group.kind:
        case Kind.NUMBER | Kind.FLOAT:
            exact = number / form.unit_of(group.kind)
            constant = Constant(
                int(exact)
                if exact.denominator == 1
                else Decimal(exact.numerator) / Decimal(exact.denominator)
            )
        case Kind.DATE:
            constant = Constant((date(1970, 1, 1) + timedelta(days=int(number))).isoformat())
        case _:
            return
    yield Compare(attribute, op, constant), Compare(attribute, _OPPOSITE[op], constant)
