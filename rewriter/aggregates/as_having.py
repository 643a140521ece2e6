"""Groups of which each is numbered by itself, as groups with HAVING."""

from dataclasses import replace

from ontoweir.mappings.model.catalog import BooleanType, IntType
from ontoweir.mappings.model.expression import Call, Function, Value
from ontoweir.rewriter.model.spj import SpjUnion


def as_having(union: SpjUnion) -> SpjUnion | None:
    """A query of groups that are told where a condition holds of them (FirstRows.told), and are the
    first of a key that tells them apart, with that condition as HAVING (None: it is another one).

    Args:
        union: the query.
    """
    groups = union.aggregation
    numbered = None if groups is None else groups.numbered
    if groups is None or numbered is None or groups.having is not None:
        return None
    first = numbered.first
    told = None if first.told is None else dict(groups.computed).get(first.told)
    if not {*groups.group} <= {*numbered.key} or first.least != 1 or first.number is not None:
        return None
    if told is None:
        return None
    one = Value(1, IntType())
    having = Call(Function.EQUAL, (told, one), BooleanType())
    computed = tuple(c for c in groups.computed if c[0] != first.told)
    made = replace(
        groups, columns=numbered.columns, computed=computed, having=having, numbered=None
    )
    return replace(union, aggregation=made)
