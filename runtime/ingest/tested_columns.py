"""Columns of which a disjunct asks only that they are not NULL."""

from ontoweir.checker.model.normal_form import Domain, NormalForm
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.equality_classes import condition_attributes
from ontoweir.rewriter.model.spj import Attribute, NotNull
from ontoweir.runtime.ingest.list_references import compare_within


def tested_columns(form: NormalForm, catalog: Catalog) -> set[tuple[str, str]]:
    """The (table, column) pairs whose values are not looked at in any occurrence of the table."""
    within = compare_within(form, catalog)
    tables = {o.alias: o.table for o in form.query.occurrences}
    valued: set[Attribute] = set()
    for condition in form.query.conditions:
        if not isinstance(condition, NotNull):
            valued.update(condition_attributes(condition))
    compared = {fold.value for fold in form.folds or ()}
    compared.update(c for q in form.inequalities for c in (q.x, q.y))
    compared.update(c for d in form.disequalities for c in (d.x, d.y))
    for group in form.classes:
        alone = len(group.attributes) == 1 and not group.projected
        held = _is_limited(group.domain) or any(within[a] for a, _ in group.attributes)
        if not alone or group.index in compared or held:
            valued.update(a for a, _ in group.attributes)
    looked_at = {(tables[a.alias], a.column) for a in valued}
    looked_at.update(place for places in within.values() for place in places)
    return {(tables[a.alias], a.column) for a in form.class_of} - looked_at


def _is_limited(domain: Domain) -> bool:
    """Whether every tuple's value is held against limits or a list."""
    return any(limit is not None for limit in (domain.low, domain.high, domain.values))
