"""The bound of a query whose answers are written as changes."""

from ontoweir.checker.model.plan import Bound, share_tuples, total_bound
from ontoweir.checker.plans.bound_standing import bound_standing
from ontoweir.checker.plans.bound_table import bound_groups
from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import output_attributes


def bound_changes(verdict: Verdict, catalog: Catalog) -> Bound:
    """The bound of a bounded verdict, and of what is kept to say what ends: the answers of windows
    that hold, and the rows of groups.

    Args:
        verdict: bounded.
        catalog: as it was decided.
    """
    assert verdict.bound is not None
    union = verdict.union
    catalog = extend_catalog(catalog, union)
    bounds = [verdict.bound]
    if union.standing is not None:
        return verdict.bound  # which counts what is held
    if union.ends and union.aggregation is not None:
        return verdict.bound  # which counts what is still to leave the groups
    if union.ends and not union.distinct:  # of a set, the verdict counts them
        assert verdict.plans is not None
        ends = [bound_standing(p.form, union.ends, catalog, distinct=False) for p in verdict.plans]
        bounds += share_tuples(ends)
    if union.begins:  # what is still to begin is kept beside what is still to end
        assert verdict.plans is not None
        edges = union.ends or union.begins
        coming = [bound_standing(p.form, edges, catalog, distinct=False) for p in verdict.plans]
        bounds += share_tuples(coming)
    if union.aggregation is not None and not union.aggregation.group and not verdict.plans:
        bounds.append(Bound(1, "1"))  # the row over nothing
    elif union.aggregation is not None:
        whole = next((p for p in verdict.parts if not p.part.over), None)
        for plan in () if whole is None or whole.part.once or whole.part.closes else whole.plans:
            if not plan.form.members:
                continue  # of static relations alone: it has no time, and no changes
            outputs = dict(plan.form.query.outputs)
            group = [a for v in union.aggregation.group for a in output_attributes(outputs[v])]
            bounds.append(bound_groups(plan.form, (plan.form.class_of[a] for a in group)))
    return total_bound(bounds)
