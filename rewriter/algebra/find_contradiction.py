"""Finds the contradiction in a selection that excludes every row."""

from ontoweir.mappings.model.catalog import BooleanType, Catalog, Column, IntType, Scalar
from ontoweir.mappings.model.never_null import never_null
from ontoweir.rewriter.algebra.bound_differences import bound_differences
from ontoweir.rewriter.algebra.equality_classes import (
    EqualityClasses,
    Types,
    map_condition,
    valued_attributes,
)
from ontoweir.rewriter.model.compare_scalars import compare_scalars
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Constant,
    IsNull,
    OneOf,
    Op,
    SpjQuery,
)

_LISTED = 1000
"""So many whole numbers between two limits are tried one by one."""


def find_contradiction(query: SpjQuery, catalog: Catalog) -> str | None:
    """Why no row satisfies a selection: constants, declared domains, `x < x`, or comparisons that
    form a circle. Sound, not complete: None says nothing.
    """
    classes = EqualityClasses(query.occurrences, query.conditions)
    tables = {o.alias: catalog.table(o.table) for o in query.occurrences}
    limits: dict[Attribute, list[tuple[Op, Scalar]]] = {}
    enums: dict[Attribute, list[tuple[Scalar, ...]]] = {}
    seen: set[Attribute] = set()
    for condition in query.conditions:
        mapped = map_condition(condition, classes.find)
        if isinstance(mapped, OneOf):
            enums.setdefault(mapped.attribute, []).append(mapped.values)
        if isinstance(mapped, Compare):
            if isinstance(mapped.right, Constant):
                limits.setdefault(mapped.left, []).append((mapped.op, mapped.right.value))
            elif mapped.left == mapped.right and not compare_scalars(0, mapped.op, mapped.offset):
                return f"{mapped.left} {mapped.op.value} itself"
        for attribute in valued_attributes(condition):
            column = tables[attribute.alias].column(attribute.column)
            if column is not None and attribute not in seen:
                seen.add(attribute)
                _add_domain(column, classes.find(attribute), limits, enums)
    types = Types(catalog, query.occurrences)
    for condition in query.conditions:
        if isinstance(condition, IsNull):
            attribute = condition.attribute
            if attribute in seen or types.step_of(attribute) is not None:
                return f"{attribute} is NULL, and has a value"
            if attribute.column in never_null(tables[attribute.alias]):
                return f"{attribute} is NULL, and in a key of the whole stream"
    for attribute in {*limits, *enums}:
        mine = limits.get(attribute, [])
        column = tables[attribute.alias].column(attribute.column)
        few = None if column is None else _few_values(column, mine)
        if types.step_of(attribute) is None and few is not None:
            enums.setdefault(attribute, []).append(few)
        if not _satisfiable(mine, enums.get(attribute, [])):
            return f"{attribute} has no value that satisfies all its comparisons"
    ordered = any(
        isinstance(c, Compare) and isinstance(c.right, Attribute) and c.op not in (Op.EQ, Op.NE)
        for c in query.conditions
    )
    if ordered and bound_differences(query, catalog, domains=True) is None:
        return "its comparisons form a circle"
    return None


def _few_values(column: Column, limits: list[tuple[Op, Scalar]]) -> tuple[Scalar, ...] | None:
    """All values between the limits, where they can be listed: whole numbers, and truth values."""
    if isinstance(column.type, BooleanType):
        return (True, False)
    if not isinstance(column.type, IntType):
        return None
    lows = [v + (op is Op.GT) for op, v in limits if op in (Op.GE, Op.GT) and isinstance(v, int)]
    highs = [v - (op is Op.LT) for op, v in limits if op in (Op.LE, Op.LT) and isinstance(v, int)]
    if not lows or not highs or min(highs) - max(lows) > _LISTED:
        return None
    return tuple(range(max(lows), min(highs) + 1))


def _add_domain(
    column: Column,
    attribute: Attribute,
    limits: dict[Attribute, list[tuple[Op, Scalar]]],
    enums: dict[Attribute, list[tuple[Scalar, ...]]],
) -> None:
    if column.minimum is not None:
        limits.setdefault(attribute, []).append((Op.GE, column.minimum))
    if column.maximum is not None:
        limits.setdefault(attribute, []).append((Op.LE, column.maximum))
    if column.enum is not None:
        enums.setdefault(attribute, []).append(column.enum)


def _satisfiable(limits: list[tuple[Op, Scalar]], enums: list[tuple[Scalar, ...]]) -> bool:
    """Whether some value satisfies all limits (over a dense domain) and is in all enums."""
    points = [v for op, v in limits if op is Op.EQ]
    choices = [points[:1]] if points else [list(e) for e in enums[:1]]
    for values in choices:
        return any(
            all(compare_scalars(v, op, w) for op, w in limits) and all(v in e for e in enums)
            for v in values
        )
    lows = [(v, op) for op, v in limits if op in (Op.GE, Op.GT)]
    highs = [(v, op) for op, v in limits if op in (Op.LE, Op.LT)]
    return all(
        compare_scalars(low, Op.LT, high)
        or (low == high and a is Op.GE and b is Op.LE and (Op.NE, low) not in limits)
        for low, a in lows
        for high, b in highs
    )
