"""What is said of one row of several that are joined, and what the answers tell of the others."""

from typing import TypeAlias

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.equality_classes import (
    Types,
    condition_attributes,
)
from ontoweir.rewriter.algebra.is_injective import is_injective
from ontoweir.rewriter.buckets.make_column import is_bucket
from ontoweir.rewriter.model.spj import (
    Attribute,
    BlankOutput,
    Compare,
    Condition,
    ConstantOutput,
    IriOutput,
    LiteralOutput,
    NullOutput,
    Occurrence,
    Op,
    Output,
    SpjQuery,
    TemplateLiteralOutput,
)

Said: TypeAlias = tuple[
    tuple[tuple[str, Attribute], ...], tuple[Condition, ...], tuple[tuple[Op, Attribute], ...]
]
"""Columns that equal others', what is said of the row alone, and how its time compares."""


def split_row(hits: SpjQuery, own: Occurrence, catalog: Catalog) -> Said | None:
    """What is said of a row: columns that equal others', what is of it alone, and how its time
    compares with others (None: anything else)."""
    key, only, ends = list[tuple[str, Attribute]](), list[Condition](), list[tuple[Op, Attribute]]()
    types = Types(catalog, hits.occurrences)
    for condition in hits.conditions:
        aliases = {a.alias for a in condition_attributes(condition)}
        if own.alias not in aliases:
            continue
        timed = any(
            is_bucket(a.column) or (a.alias == own.alias and types.step_of(a) is not None)
            for a in condition_attributes(condition)
        )
        if aliases == {own.alias}:
            if timed:
                return None
            only.append(condition)
            continue
        if not isinstance(condition, Compare) or not isinstance(condition.right, Attribute):
            return None
        turned = condition if condition.left.alias == own.alias else _turn(condition)
        if turned is None or not isinstance(turned.right, Attribute) or turned.offset:
            return None
        if timed:
            if types.step_of(turned.right) is None:
                return None
            ends.append((turned.op, turned.right))
        elif turned.op is Op.EQ:
            key.append((turned.left.column, turned.right))
        else:
            return None
    return tuple(key), tuple(only), tuple(ends)


def _turn(condition: Compare) -> Compare | None:
    """A comparison of two columns, from the other side."""
    assert isinstance(condition.right, Attribute)
    turned = {Op.EQ: Op.EQ, Op.LT: Op.GT, Op.GT: Op.LT, Op.LE: Op.GE, Op.GE: Op.LE}
    if condition.op not in turned or condition.offset:
        return None
    return Compare(condition.right, turned[condition.op], condition.left)


def list_determined(
    theirs: dict[str, Output], mine: dict[str, Output], types: Types
) -> dict[Attribute, tuple[Attribute, str]]:
    """The attributes of what matches that the keys tell: those of the solutions that they are, and
    of which key, and where in it."""
    pairs = dict[Attribute, tuple[Attribute, str]]()
    for name, output in theirs.items():
        own = mine[name]
        if type(own) is not type(output) or not is_injective(own, types):
            continue
        parts, others = _parts_of(output), _parts_of(own)
        if len(parts) == len(others) and [p for p in parts if isinstance(p, str)] == [
            p for p in others if isinstance(p, str)
        ]:
            for place, (one, other) in enumerate(zip(parts, others, strict=True)):
                if isinstance(one, Attribute) and isinstance(other, Attribute):
                    pairs[one] = other, f"{name} {place}"
    return pairs


def _parts_of(output: Output) -> tuple[str | Attribute, ...]:
    match output:
        case LiteralOutput(value=value):
            return (value,)
        case IriOutput(parts=parts) | TemplateLiteralOutput(parts=parts) | BlankOutput(parts=parts):
            return parts
        case ConstantOutput() | NullOutput():
            return ()


def stamp_of(output: Output, query: SpjQuery, catalog: Catalog) -> Attribute | None:
    """The timestamp of the row whose time an output is."""
    if not isinstance(output, LiteralOutput) or not is_bucket(output.value.column):
        return None
    table = next(o.table for o in query.occurrences if o.alias == output.value.alias)
    stream = catalog.streams.get(table)
    return None if stream is None else Attribute(output.value.alias, stream.timestamp)
