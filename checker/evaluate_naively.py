"""The relational answer by nested loops, over a few rows: what a witness is confirmed by.

It works on the query as unfolded and shares nothing with normal forms, plans or the run-time.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias, assert_never

from ontoweir.rewriter.aggregation import Aggregate, AggregateFunction
from ontoweir.rewriter.spj import (
    Attribute,
    BlankOutput,
    Compare,
    Constant,
    ConstantOutput,
    IriOutput,
    LiteralOutput,
    NotNull,
    Op,
    SpjQuery,
    SpjUnion,
    TemplateLiteralOutput,
)

Tuple: TypeAlias = Mapping[str, Any]
Instance: TypeAlias = Mapping[str, Sequence[Tuple]]
"""Rows of every table, by name; a row maps column names (timestamps too) to values."""


def evaluate_naively(union: SpjUnion, instance: Instance) -> Counter[tuple[Any, ...]]:
    """All answers with their multiplicities (all one under DISTINCT)."""
    found: Counter[tuple[Any, ...]] = Counter()
    for query in union.disjuncts:
        for answer, count in _answers(query, instance).items():
            found[answer] += count
    return Counter(dict.fromkeys(found, 1)) if union.distinct else found


def aggregate_naively(
    union: SpjUnion, instance: Instance
) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """The groups of an aggregate query, each with the values of its aggregates."""
    assert union.aggregation is not None
    place = {name: n for n, name in enumerate(union.variables)}
    matches = evaluate_naively(replace(union, distinct=False), instance)
    groups: dict[tuple[Any, ...], Counter[tuple[Any, ...]]] = {}
    for row, count in matches.items():
        key = tuple(row[place[v]] for v in union.aggregation.group)
        groups.setdefault(key, Counter())[row] += count
    return {
        key: tuple(_aggregate(a, place, rows) for a in union.aggregation.aggregates)
        for key, rows in groups.items()
    }


def _aggregate(
    aggregate: Aggregate, place: Mapping[str, int], rows: Counter[tuple[Any, ...]]
) -> Any:
    if aggregate.argument is None:
        return rows.total()
    values: Counter[Any] = Counter()
    for row, count in rows.items():
        values[row[place[aggregate.argument]]] += count
    match aggregate.function:
        case AggregateFunction.COUNT:
            return values.total()
        case AggregateFunction.COUNT_DISTINCT:
            return len(values)
        case AggregateFunction.MIN:
            return min(values)
        case AggregateFunction.MAX:
            return max(values)
        case AggregateFunction.SUM:
            return sum(Fraction(v) * count for v, count in values.items())
        case AggregateFunction.AVG:
            return sum(Fraction(v) * count for v, count in values.items()) / values.total()
        case AggregateFunction.MEDIAN:
            ordered = sorted(Fraction(v) for v in values.elements())
            return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
        case _:
            assert_never(aggregate.function)


def _answers(query: SpjQuery, instance: Instance) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    order = [o.alias for o in query.occurrences]
    ready: list[list[Compare | NotNull]] = [[] for _ in order]
    for c in query.conditions:
        match c:
            case NotNull(attribute=a):
                ready[order.index(a.alias)].append(c)
            case Compare(left=a, right=b):
                places = [order.index(a.alias)]
                if isinstance(b, Attribute):
                    places.append(order.index(b.alias))
                ready[max(places)].append(c)
    row: dict[str, Tuple] = {}

    def extend(depth: int) -> None:
        if depth == len(order):
            found[tuple(_render(o, row) for _, o in query.outputs)] += 1
            return
        occurrence = query.occurrences[depth]
        for candidate in instance.get(occurrence.table, ()):
            row[occurrence.alias] = candidate
            if all(_holds(c, row) for c in ready[depth]):
                extend(depth + 1)

    extend(0)
    return found


def _holds(c: Compare | NotNull, row: Mapping[str, Tuple]) -> bool:
    if isinstance(c, NotNull):
        return row[c.attribute.alias].get(c.attribute.column) is not None
    left = row[c.left.alias].get(c.left.column)
    right: Any
    if isinstance(c.right, Constant):
        right = c.right.value
    else:
        right = row[c.right.alias].get(c.right.column)
        if c.offset and right is not None:
            right = right + (float(c.offset) if isinstance(right, float) else c.offset)
    if left is None or right is None:
        return False
    match c.op:
        case Op.LT:
            return bool(left < right)
        case Op.LE:
            return bool(left <= right)
        case Op.EQ:
            return bool(left == right)
        case Op.GE:
            return bool(left >= right)
        case Op.GT:
            return bool(left > right)
        case Op.NE:
            return bool(left != right)


def _render(
    output: IriOutput | LiteralOutput | TemplateLiteralOutput | BlankOutput | ConstantOutput,
    row: Mapping[str, Tuple],
) -> Any:
    match output:
        case LiteralOutput(value=a):
            return row[a.alias].get(a.column)
        case ConstantOutput(value=value):
            return value
        case IriOutput(parts=parts) | TemplateLiteralOutput(parts=parts) | BlankOutput(parts=parts):
            return "".join(
                p if isinstance(p, str) else str(row[p.alias].get(p.column)) for p in parts
            )
