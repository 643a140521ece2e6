"""What is the same of plans that differ only in the constants that values are compared with.

A row belongs to a member of such a plan where it keeps what all of them ask for, and each of some
numbers and texts keeps limits that are the plan's own.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ontoweir.checker.model.normal_form import (
    Domain,
    Kind,
    Member,
    NormalForm,
    ValueClass,
)
from ontoweir.checker.model.plan import Bound, SynopsisPlan
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import Attribute
from ontoweir.runtime.alike.value_limit import ValueLimit, limit_of, limit_of_domain
from ontoweir.runtime.engine.prepare_plan import PreparedPlan
from ontoweir.runtime.ingest.list_references import compare_within

MemberLimits: TypeAlias = dict[Attribute, ValueLimit]
"""What a plan wants of a member's attributes."""


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

    Of plans over static relations or views, or with breakpoints, or where NULL is a value, more
    than limits may differ: their codes are their own.
    """
    plan, form = prepared.plan, prepared.plan.form
    if prepared.statics or prepared.views or not form.members or not form.satisfiable:
        return None
    if any(group.optional for group in form.classes):
        return None
    if any(key.breaks for table in plan.tables for key in table.keys):
        return None
    if form.open or any(
        table.matched for table in plan.tables
    ):  # by what the plan's own limits let through
        return None
    if any(compare_within(form, catalog).values()):
        return None
    members, limits = [], []
    for member in form.members:
        kept = tuple(_plain(c) for c in member.local if limit_of(c, form) is None)
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
    kept = tuple(_plain(c) for c in query.conditions if limit_of(c, form) is None)
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

    def narrow(attribute: Attribute, limit: ValueLimit) -> None:
        limits[attribute] = limits.get(attribute, ValueLimit()).both(limit)

    for condition in member.local:
        found = limit_of(condition, form)
        if found is not None:
            narrow(*found)
    for group in form.classes:
        if not _has_own_limits(group, form):
            continue
        for attribute, shift in group.attributes:
            limit = limit_of_domain(group.domain, group.kind, shift, form)
            if attribute.alias == member.alias and limit is not None:
                narrow(attribute, limit)
    return {a: limit.fit() for a, limit in limits.items()}


def _has_own_limits(group: ValueClass, form: NormalForm) -> bool:
    """Whether the domain of a class is looked at as limits of texts, or of whole numbers."""
    if group.kind is Kind.STRING:
        return True
    whole = group.kind is Kind.NUMBER and group.grain > 0
    if not whole or not all(form.kinds.get(a) is Kind.NUMBER for a, _ in group.attributes):
        return False
    return limit_of_domain(group.domain, group.kind, 0, form) is not None


def _without_limits(group: ValueClass, form: NormalForm) -> ValueClass:
    domain = group.domain
    if _has_own_limits(group, form):
        kept = Domain(True, None, "", within=domain.within)
    else:
        low, high, values = domain.low, domain.high, domain.values
        kept = Domain(True, None, "", low, high, values, domain.within)
    return replace(group, domain=kept)


def _plain(held: Any) -> Any:
    """Without where it is from."""
    return replace(held, source=None)


def _plain_all(held: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(map(_plain, held))
