"""The relational answer by nested loops, over a few rows: what a witness is confirmed by.

It works on the query as unfolded and shares nothing with normal forms, plans or the run-time.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

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
