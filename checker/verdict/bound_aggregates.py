"""The bound of an aggregate query whose parts have plans."""

from collections.abc import Iterator, Sequence

from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.model.plan import Bound, share_tuples, total_bound
from ontoweir.checker.plans.bound_closed_groups import bound_closed_groups, bound_open_values
from ontoweir.checker.plans.bound_open_groups import (
    behind_bucket,
    bound_open_groups,
    wait_for_matches,
    wait_of_groups,
)
from ontoweir.checker.plans.bound_table import bound_groups
from ontoweir.checker.verdict.bound_leaving import bound_leaving, bound_one_each
from ontoweir.checker.verdict.bound_union import bound_union
from ontoweir.checker.verdict.verdict import PartVerdict
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.buckets.find_closing import Closing
from ontoweir.rewriter.model.aggregation import Aggregation
from ontoweir.rewriter.model.spj import SpjUnion, output_attributes


def bound_aggregates(
    union: SpjUnion,
    parts: Sequence[PartVerdict],
    closing: Closing | None,
    catalog: Catalog,
) -> Bound | None:
    """What the parts keep, the current answer (one row a group), and what medians are made of; of
    sliding windows, what is to leave the groups again."""
    aggregation = union.aggregation
    assert aggregation is not None
    bounds: list[Bound] = []
    whole = next(p for p in parts if not p.part.over)
    forms = [plan.form for decided in parts for plan in decided.plans]
    wait = max((wait_for_matches(f) for f in forms if f.query.closing is not None), default=0)
    if not aggregation.told.group and (union.ends or not forms):
        bounds.append(Bound(1, "1"))  # a row that there always is
    for decided in parts:
        bound = bound_union(decided.part.union, decided.disjuncts, catalog)
        if bound is None:
            return None
        bounds.append(bound)
        if decided.part.watches:
            bounds.append(_bound_watched(whole, forms, wait, catalog))
            continue
        each = bound_one_each(decided, union.ends, catalog) if aggregation.one_each else None
        if each is not None and decided.part.cancels:
            bounds.append(each)
            continue
        if union.ends and not decided.part.once:
            late, part = bool(union.begins), decided.part
            leaving = (
                bound_leaving(part, plan.form, union.ends, catalog, late=late)
                for plan in decided.plans
            )
            bounds += share_tuples(list(leaving))
            continue
        for plan in () if decided.part.once else decided.plans:
            if closing is not None:
                group = aggregation.group if decided is whole else None
                bounds += _bound_open(plan.form, decided, closing, catalog, group, forms)
                continue
            if plan.form.query.closed is not None:
                is_whole = decided is whole
                bounds += _bound_closed(plan.form, decided, catalog, wait, is_whole=is_whole)
                continue
            if decided is whole:
                bounds.append(_bound_whole_groups(plan.form, aggregation))
            if decided.part.aggregates[0].function.ranks:
                bounds.append(plan.tables[-1].bound)
    return total_bound(bounds)


def _bound_open(
    form: NormalForm,
    decided: PartVerdict,
    closing: Closing,
    catalog: Catalog,
    group: Sequence[str] | None,
    forms: Sequence[NormalForm],
) -> Iterator[Bound]:
    """Of a query whose groups a bucket closes: its groups (None: counted before), and the values
    that medians and distinct counts keep of them, for as long as any of the `forms` may have
    matches."""
    stream = catalog.streams[next(m.stream for m in form.members)]
    outputs, step_us = dict(form.query.outputs), stream.step_us
    wait_us = wait_of_groups(forms, step_us, catalog) - behind_bucket(form, catalog)

    def classes(names: Sequence[str]) -> list[int]:
        return [form.class_of[a] for n in names for a in output_attributes(outputs[n])]

    if group is not None:
        yield bound_open_groups(form, classes(group), closing.bucket, step_us, wait_us)
    if decided.part.aggregates[0].function.holistic:
        names = decided.part.union.variables
        yield bound_open_groups(form, classes(names), closing.bucket, step_us, wait_us)


def _bound_closed(
    form: NormalForm, decided: PartVerdict, catalog: Catalog, wait: int, *, is_whole: bool
) -> Iterator[Bound]:
    """Of a query whose groups a rule closes: its groups (`is_whole`; else counted before), and the
    values that medians and distinct counts keep of them."""
    outputs = dict(form.query.outputs)

    def classes(names: Sequence[str]) -> list[int]:
        return [form.class_of[a] for n in names for a in output_attributes(outputs[n])]

    if is_whole:
        yield bound_closed_groups(form, classes(decided.part.group), wait, catalog)
    first = decided.part.aggregates[0]
    if first.function.holistic and first.argument is not None:
        yield bound_closed_groups(form, classes(decided.part.union.variables), wait, catalog)


def _bound_watched(
    whole: PartVerdict, forms: Sequence[NormalForm], wait: int, catalog: Catalog
) -> Bound:
    """The values that are open, of a query whose groups a rule closes, as long as matches of any
    of its disjuncts may come; of sessions, those of each disjunct (`whole`: the part that has all
    matches)."""
    sessions = []
    for form in (plan.form for plan in whole.plans):
        if form.query.closed is not None and form.query.closed.rule.session:
            outputs, keys = dict(form.query.outputs), form.query.closed.keys
            classes = [form.class_of[a] for n in keys for a in output_attributes(outputs[n])]
            sessions.append(bound_closed_groups(form, classes, wait, catalog))
    if sessions:
        return total_bound(sessions)
    closed = next((form.query.closed for form in forms if form.query.closed is not None), None)
    return Bound(0, "0") if closed is None else bound_open_values(closed, wait, catalog)


def _bound_whole_groups(form: NormalForm, aggregation: Aggregation) -> Bound:
    """A bound on the groups of a disjunct; those of static data are finitely many."""
    if aggregation.group and not form.members:
        return Bound(None, "groups of static data")
    outputs = dict(form.query.outputs)
    group = [a for v in aggregation.group for a in output_attributes(outputs[v])]
    return bound_groups(form, (form.class_of[a] for a in group))
