"""What comparisons of a query say about each other, and of constants: sound, not complete."""

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal, InvalidOperation, localcontext
from typing import TypeAlias

from ontoweir.mappings.model.column_types import datatype_family, epoch_us, parse_instant
from ontoweir.rewriter.model.compare_scalars import compare_scalars
from ontoweir.rewriter.model.query import Filter, Iri, Literal, TimeFilter, ValueFilter, Variable
from ontoweir.rewriter.model.spj import Op

_Key: TypeAlias = tuple[Variable, Variable | str]
_OPPOSITE = {
    Op.LT: Op.GE,
    Op.LE: Op.GT,
    Op.EQ: Op.NE,
    Op.GE: Op.LT,
    Op.GT: Op.LE,
    Op.NE: Op.EQ,
}


def negate_filter(f: Filter) -> Filter:
    """The comparison that holds where `f` does not, of values that compare."""
    return replace(f, op=_OPPOSITE[f.op])


def exclude_each_other(filters: Iterable[Filter]) -> bool:
    """Whether no values satisfy all comparisons, by looking at each pair of variables alone."""
    bounds_of: dict[_Key, list[tuple[Op, Decimal | str]]] = {}
    for f in filters:
        if f.left == f.right and isinstance(f.right, Variable):
            if not compare_scalars(0, f.op, _offset(f)):
                return True
            continue
        said = _limit(f)
        if said is not None:
            bounds_of.setdefault(said[0], []).append(said[1:])
    return any(_is_empty(limits) for limits in bounds_of.values())


def follows_from(f: Filter, facts: Iterable[Filter]) -> bool:
    """Whether `f` holds wherever all `facts` do."""
    return exclude_each_other((*facts, negate_filter(f)))


def fix_values(f: Filter, values: dict[Variable, Iri | Literal]) -> Filter | bool:
    """The comparison where some variables have values; whether it holds if all have.

    A comparison of values that do not compare, as of an IRI by <, is an error and never holds;
    it is false here, whether it was negated or not.
    """
    if isinstance(f, TimeFilter):
        return _fix_time(f, values)
    left = values.get(f.left, f.left)
    right = values.get(f.right, f.right) if isinstance(f.right, Variable) else f.right
    if isinstance(left, Variable) and isinstance(right, Variable):
        return f
    if isinstance(left, Variable):
        assert not isinstance(right, Variable)
        return _against(f, left, f.op, right, _number(f.offset))
    if isinstance(right, Variable):
        return _against(f, right, f.op.flipped(), left, -_number(f.offset))
    return _holds(left, f.op, right, _number(f.offset))


def _fix_time(f: TimeFilter, values: dict[Variable, Iri | Literal]) -> Filter | bool:
    """A comparison of times of which some are constants."""
    left = values.get(f.left, f.left)
    right = values.get(f.right, f.right) if isinstance(f.right, Variable) else f.right
    if left == f.left and right == f.right:
        return f
    points: list[int | None] = []
    for side in (left, right):
        if isinstance(side, Iri):
            return False
        if isinstance(side, Literal):
            try:
                points.append(epoch_us(parse_instant(side.lexical)))
            except ValueError:
                return False
            if datatype_family(side.datatype) != "timestamp":
                return False
        else:
            points.append(None)
    if isinstance(left, Variable):
        assert not isinstance(right, Iri)
        return replace(f, right=right)
    assert not isinstance(left, Iri)
    if isinstance(right, Variable):
        return TimeFilter(right, f.op.flipped(), left, -f.offset, f.source)
    first, second = points
    assert first is not None
    assert second is not None
    return compare_scalars(Decimal(first), f.op, second + _offset(f))


def _against(
    f: ValueFilter, variable: Variable, op: Op, value: Iri | Literal, offset: Decimal
) -> Filter | bool:
    if isinstance(value, Iri):
        return replace(f, left=variable, op=op, right=value, offset="0") if _equates(op) else False
    if offset:
        number = _decimal(value)
        if number is None:
            return False
        value = replace(value, lexical=format(_add(number, offset), "f"))
    return replace(f, left=variable, op=op, right=value, offset="0")


def _equates(op: Op) -> bool:
    return op in (Op.EQ, Op.NE)


def _holds(left: Iri | Literal, op: Op, right: Iri | Literal, offset: Decimal) -> bool:
    a, b = _decimal(left), _decimal(right)
    if a is not None and b is not None:
        return compare_scalars(a, op, _add(b, offset))
    if isinstance(left, Literal) and isinstance(right, Literal) and not offset:
        kinds = [None if x.language else datatype_family(x.datatype) for x in (left, right)]
        if kinds == ["timestamp", "timestamp"]:
            try:
                times = [epoch_us(parse_instant(x.lexical)) for x in (left, right)]
            except ValueError:
                return False
            return compare_scalars(times[0], op, times[1])
        if kinds[0] == kinds[1] and kinds[0] is not None and kinds[0] != "number":
            return compare_scalars(left.lexical, op, right.lexical)
    if offset or not _equates(op):
        return False
    return (left == right) == (op is Op.EQ)


def _decimal(term: Iri | Literal) -> Decimal | None:
    if isinstance(term, Iri) or term.language or datatype_family(term.datatype) != "number":
        return None
    try:
        number = Decimal(term.lexical.strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _add(number: Decimal, offset: Decimal) -> Decimal:
    """The exact sum."""
    with localcontext() as context:
        context.prec = 1_000
        return number + offset


def _number(text: str) -> Decimal:
    return Decimal(text)


def _offset(f: Filter) -> Decimal:
    if isinstance(f, ValueFilter):
        return _number(f.offset)
    return Decimal(f.offset.days * 86_400 + f.offset.seconds) * 1_000_000 + f.offset.microseconds


def _limit(f: Filter) -> tuple[_Key, Op, Decimal | str] | None:
    """`left - right op number` as (the sides, op, number); None if nothing is known of it."""
    if isinstance(f.right, Variable):
        if f.right < f.left:
            return (f.right, f.left), f.op.flipped(), -_offset(f)
        return (f.left, f.right), f.op, _offset(f)
    if isinstance(f, TimeFilter):
        assert isinstance(f.right, Literal)
        try:
            return (f.left, "time"), f.op, epoch_us(parse_instant(f.right.lexical)) + _offset(f)
        except ValueError:
            return None
    number = _decimal(f.right)
    if number is not None:
        return (f.left, "number"), f.op, number
    if isinstance(f.right, Iri):
        return (f.left, "iri"), f.op, f.right.value
    if f.right.language is None and datatype_family(f.right.datatype) == "string":
        return (f.left, "string"), f.op, f.right.lexical
    return None


def _is_empty(limits: list[tuple[Op, Decimal | str]]) -> bool:
    """Whether no value, of a dense domain, satisfies all limits."""
    points = [v for op, v in limits if op is Op.EQ]
    if points:
        return not all(compare_scalars(points[0], op, v) for op, v in limits)
    lows = [(v, op) for op, v in limits if op in (Op.GE, Op.GT)]
    highs = [(v, op) for op, v in limits if op in (Op.LE, Op.LT)]
    return any(
        compare_scalars(high, Op.LT, low)
        or (low == high and (a is Op.GT or b is Op.LT or (Op.NE, low) in limits))
        for low, a in lows
        for high, b in highs
    )
