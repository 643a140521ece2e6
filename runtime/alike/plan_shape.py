"""What is the same of plans that differ only in the constants that numbers are compared with.

A row belongs to a member of such a plan where it keeps what all of them ask for, and each of some
numbers lies within limits that are the plan's own.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from typing import Any, TypeAlias

from ontoweir.checker.model.normal_form import (
    Domain,
    Kind,
    Member,
    NormalForm,
    ValueClass,
)
from ontoweir.checker.model.plan import Bound, SynopsisPlan
from ontoweir.checker.model.units import Units
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import Attribute, Compare, Condition, Constant, Op
from ontoweir.runtime.engine.prepare_plan import PreparedPlan
from ontoweir.runtime.ingest.list_references import compare_within

LEAST, GREATEST = -(1 << 63), (1 << 63) - 1
"""The numbers of 64 bits."""

MemberLimits: TypeAlias = dict[Attribute, tuple[int, int]]
"""The least and the greatest value (units) that a plan wants of a member's attributes; where it
wants none, the least is greater than the greatest."""


@dataclass(frozen=True, slots=True)
class PlanShape:
    """A plan without its own limits.

    `same`: what is equal of all plans of the shape; `plan`: it, with members and domains that have
    no limits; `limits`: the plan's own, by member.
    """

    same: tuple[Any, ...]
    plan: SynopsisPlan
    limits: tuple[MemberLimits, ...]


def find_shape(prepared: PreparedPlan, catalog: Catalog) -> PlanShape | None:
    """The shape of a plan (None: it is to be advanced by itself).

    Of plans over static relations, views or strings, or with breakpoints, or where NULL is a value,
    more than limits may differ: their codes are their own.
    """
    plan, form = prepared.plan, prepared.plan.form
    if prepared.statics or prepared.views or not form.members or not form.satisfiable:
        return None
    if any(kind is Kind.STRING for kind in form.kinds.values()):
        return None
    if any(group.optional for group in form.classes):
        return None
    if any(key.breaks for table in plan.tables for key in table.keys):
        return None
    if any(table.matched for table in plan.tables):  # by what the plan's own limits let through
        return None
    if any(compare_within(form, catalog).values()):
        return None
    members, limits = [], []
    for member in form.members:
        kept = tuple(_plain(c) for c in member.local if _limit(c, form) is None)
        members.append(replace(member, local=kept, total=None))
        limits.append(_find_limits(member, form))
    classes = tuple(_without_limits(group, form) for group in form.classes)
    tables = tuple(replace(table, bound=Bound(None, "")) for table in plan.tables)
    general = replace(form, members=tuple(members), classes=classes)
    return PlanShape(
        (*_same_of_form(general, catalog), tables, prepared.step_us),
        SynopsisPlan(general, tables),
        tuple(limits),
    )


def _same_of_form(form: NormalForm, catalog: Catalog) -> tuple[Any, ...]:
    """What of a form without limits the run looks at."""
    query = form.query
    kept = tuple(_plain(c) for c in query.conditions if _limit(c, form) is None)
    return (
        query.occurrences,
        kept,
        query.folds,
        (query.merged, query.closing, query.closed, query.added),
        tuple(catalog.table(o.table) for o in query.occurrences),
        (form.distinct, form.unit, form.floats),
        form.members,
        form.classes,
        dict(form.class_of),
        dict(form.kinds),
        _plain_all(form.inequalities),
        _plain_all(form.disequalities),
        _plain_all(form.times),
        _plain_all(form.time_differences),
        form.lag,
        form.folds,
    )


def _find_limits(member: Member, form: NormalForm) -> MemberLimits:
    """A plan's own limits of a member: by its conditions, and by the domains of its values."""
    limits: MemberLimits = {}

    def narrow(attribute: Attribute, low: int, high: int) -> None:
        least, most = limits.get(attribute, (LEAST, GREATEST))
        limits[attribute] = max(least, low), min(most, high)

    for condition in member.local:
        limit = _limit(condition, form)
        if limit is not None:
            narrow(*limit)
    for group in form.classes:
        if not _has_own_limits(group, form):
            continue
        low, high = group.domain.low, group.domain.high
        for attribute, shift in group.attributes:
            if attribute.alias == member.alias:
                least = LEAST if low is None else ceil(low + shift)
                most = GREATEST if high is None else floor(high + shift)
                narrow(attribute, least, most)
    return {a: _fit(low, high) for a, (low, high) in limits.items()}


def _fit(low: int, high: int) -> tuple[int, int]:
    """Limits as numbers of 64 bits."""
    if low > min(high, GREATEST) or high < LEAST:
        return 1, 0
    return max(low, LEAST), min(high, GREATEST)


def _limit(condition: Condition, form: NormalForm) -> tuple[Attribute, int, int] | None:
    """The numbers that a condition lets through, where it compares one with a constant."""
    if not isinstance(condition, Compare) or not isinstance(condition.right, Constant):
        return None
    if form.kinds.get(condition.left) is not Kind.NUMBER:
        return None
    try:
        number = Units(form.unit, {}, form.floats).value(condition.right.value, Kind.NUMBER)
    except (ValueError, OverflowError):  # no finite number
        return None
    low, high = _between(condition.op, number)
    return None if low is None or high is None else (condition.left, low, high)


def _between(op: Op, number: int | Fraction) -> tuple[int | None, int | None]:
    """The whole numbers that are in an order with a number (None: they have a gap)."""
    match op:
        case Op.LT:
            return LEAST, ceil(number) - 1
        case Op.LE:
            return LEAST, floor(number)
        case Op.GT:
            return floor(number) + 1, GREATEST
        case Op.GE:
            return ceil(number), GREATEST
        case Op.EQ:
            return ceil(number), floor(number)
        case Op.NE:
            return None, None


def _has_own_limits(group: ValueClass, form: NormalForm) -> bool:
    """Whether the domain of a class is looked at as limits of whole numbers."""
    whole = group.kind is Kind.NUMBER and group.grain > 0
    return whole and all(form.kinds.get(a) is Kind.NUMBER for a, _ in group.attributes)


def _without_limits(group: ValueClass, form: NormalForm) -> ValueClass:
    domain = group.domain
    low, high = (None, None) if _has_own_limits(group, form) else (domain.low, domain.high)
    kept = Domain(True, None, "", low, high, domain.values, domain.within)
    return replace(group, domain=kept)


def _plain(held: Any) -> Any:
    """Without where it is from."""
    return replace(held, source=None)


def _plain_all(held: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(map(_plain, held))
