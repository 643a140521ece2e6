"""What relates classes of different members: inequality joins that nothing implies ([S] Def. 8)."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from ontoweir.checker.model.constraint_graph import (
    FIRST_NODE,
    HIGH_NODE,
    LOW_NODE,
    ZERO_NODE,
    ConstraintGraph,
    DifferenceLimit,
    irredundant_limits,
)
from ontoweir.checker.model.difference_bounds import DifferenceBounds, Limit
from ontoweir.checker.model.normal_form import Disequality, Inequality, ValueClass
from ontoweir.checker.model.units import kind_of
from ontoweir.checker.normalise.breakpoints import break_for
from ontoweir.rewriter.model.spj import Attribute, Compare, Op


def relate_inequalities(
    work: ConstraintGraph,
    owner: Mapping[str, int],
    explicit: list[DifferenceLimit],
    declared: list[DifferenceLimit],
    bounds: DifferenceBounds,
    class_of: Mapping[Attribute, int],
    classes: tuple[ValueClass, ...],
) -> tuple[Inequality, ...]:
    """The inequality joins that nothing else implies ([S] Def. 8), between classes."""
    if not bounds.satisfiable:
        return ()
    attribute_of = {node: attribute for attribute, node in work.values.items()}
    cross: list[DifferenceLimit] = []
    base = DifferenceBounds(work.grains)
    for step in declared:
        base.add(step.left, step.right, step.limit)
    for group in classes:
        head = work.values[group.attributes[0][0]]
        for attribute, shift in group.attributes[1:]:
            node = work.values[attribute]
            base.add(node, head, Limit(shift))
            base.add(head, node, Limit(-shift))
    for step in explicit:
        if step.left < FIRST_NODE or step.right < FIRST_NODE:
            base.add(step.left, step.right, step.limit)
            continue
        left, right = attribute_of[step.left], attribute_of[step.right]
        x, y = classes[class_of[left]], classes[class_of[right]]
        if x.index == y.index:
            continue
        if owner[left.alias] == owner[right.alias]:
            base.add(step.left, step.right, step.limit)
        else:
            cross.append(step)
    inequalities = []
    for step in irredundant_limits(base, cross):
        left, right = attribute_of[step.left], attribute_of[step.right]
        x, y = classes[class_of[left]], classes[class_of[right]]
        limit = bounds.tighten(step.left, step.right, step.limit)
        shift_x, shift_y = dict(x.attributes)[left], dict(y.attributes)[right]
        head_x, head_y = work.values[x.attributes[0][0]], work.values[y.attributes[0][0]]
        above = bounds.limit(head_x, ZERO_NODE) or bounds.limit(head_x, HIGH_NODE)
        below = bounds.limit(ZERO_NODE, head_y) or bounds.limit(LOW_NODE, head_y)
        discrete = x.grain > 0 and y.grain > 0
        finite = x.domain.finite and y.domain.finite
        clips = finite or (discrete and above is not None and below is not None)
        q = Inequality(
            x=x.index,
            y=y.index,
            limit=limit.value - shift_x + shift_y,
            strict=limit.strict,
            clips=clips,
            source=step.source,
        )
        if not clips and any(
            break_for(classes, work.units.of(classes[v].kind), v, q) is not None for v in (q.x, q.y)
        ):
            q = replace(q, clips=True)
        inequalities.append(q)
    return tuple(inequalities)


def relate_disequalities(
    work: ConstraintGraph,
    owner: Mapping[str, int],
    bounds: DifferenceBounds,
    class_of: Mapping[Attribute, int],
    classes: tuple[ValueClass, ...],
) -> tuple[Disequality, ...]:
    """The disequalities between members that no limit implies."""
    disequalities = []
    for condition in work.query.conditions:
        if (
            not isinstance(condition, Compare)
            or condition.op is not Op.NE
            or not isinstance(condition.right, Attribute)
            or work.is_time(condition.left)
            or owner[condition.left.alias] == owner[condition.right.alias]
        ):
            continue
        x, y = classes[class_of[condition.left]], classes[class_of[condition.right]]
        if x.index == y.index:
            continue
        offset = Fraction(Decimal(condition.offset)) * work.units.of(x.kind)
        shift = offset - dict(x.attributes)[condition.left] + dict(y.attributes)[condition.right]
        nodes = work.values[condition.left], work.values[condition.right]
        if bounds.implies(*nodes, Limit(offset, True)) or bounds.implies(
            *nodes[::-1], Limit(-offset, True)
        ):
            continue
        disequalities.append(
            Disequality(
                x.index,
                y.index,
                int(shift) if shift.denominator == 1 else shift,
                condition.source,
            )
        )
    return tuple(disequalities)


def contradicts_disequality(work: ConstraintGraph, bounds: DifferenceBounds) -> bool:
    """Whether some `≠` contradicts an implied equality, or an enumeration excludes a constant."""
    for condition in work.query.conditions:
        if not isinstance(condition, Compare) or work.is_time(condition.left):
            continue
        left = work.values[condition.left]
        column = work.columns[condition.left]
        kind = kind_of(column.type)
        if isinstance(condition.right, Attribute):
            right, shift = (
                work.values[condition.right],
                Fraction(condition.offset) * work.units.of(kind),
            )
        else:
            right, shift = ZERO_NODE, Fraction(work.units.value(condition.right.value, kind))
            if (
                condition.op is Op.EQ
                and column.enum is not None
                and condition.right.value not in column.enum
            ):
                return True
        if (
            condition.op is Op.NE
            and bounds.implies(left, right, Limit(shift))
            and bounds.implies(right, left, Limit(-shift))
        ):
            return True
    return False
