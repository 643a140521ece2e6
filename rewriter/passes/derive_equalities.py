"""Derives equalities that comparisons entail: x <= y and y <= x, or 4 < x and x < 6."""

from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog, DecimalType, IntType
from ontoweir.mappings.sql.read_literal import plain_number
from ontoweir.rewriter.algebra.bound_differences import bound_differences
from ontoweir.rewriter.algebra.equality_classes import EqualityClasses, Types
from ontoweir.rewriter.model.compare_scalars import compare_scalars
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Constant,
    Op,
    SpjQuery,
)
from ontoweir.rewriter.passes.propagate_equalities import propagate_equalities


def derive_equalities(query: SpjQuery, catalog: Catalog) -> SpjQuery:
    """Adds `x = y` and `x = c` where the differences allow nothing else.

    Keys then join rows that were only known to be at the same time or to have the same value:
    functional dependencies apply to what is equal, however it came to be. Keeps multiplicities:
    the selection stays equivalent. Declared ranges are not used, so nothing new rests on them.
    """
    if not any(isinstance(c, Compare) and c.op not in (Op.EQ, Op.NE) for c in query.conditions):
        return query
    bounds = bound_differences(query, catalog, domains=False)
    if bounds is None:
        return query
    classes = EqualityClasses(query.occurrences, query.conditions)
    types = Types(catalog, query.occurrences)
    derived: list[Condition] = []
    fixed: dict[Attribute, Constant] = {}
    for (left, right), (limit, strict) in bounds.items():
        if left is None or strict or bounds.get((right, left)) != (-limit, False):
            continue
        if right is None:
            kind = types.type_of(left)
            whole = types.step_of(left) is not None or isinstance(kind, IntType)
            if classes.find(left) not in classes.constants and (
                whole or isinstance(kind, DecimalType)
            ):
                fixed[left] = Constant(int(limit) if whole else plain_number(limit))
        elif (
            limit == 0
            and left < right
            and not classes.same(left, right)
            and types.type_of(left) == types.type_of(right)
        ):
            derived.append(Compare(left, Op.EQ, right))
    if not derived and not fixed:
        return query
    derived.extend(Compare(a, Op.EQ, c) for a, c in fixed.items())
    kept = (c for c in query.conditions if not _is_said(c, fixed))
    return propagate_equalities(replace(query, conditions=(*kept, *derived)), catalog)


def _is_said(condition: Condition, fixed: dict[Attribute, Constant]) -> bool:
    return (
        isinstance(condition, Compare)
        and condition.left in fixed
        and isinstance(condition.right, Constant)
        and compare_scalars(fixed[condition.left].value, condition.op, condition.right.value)
    )
