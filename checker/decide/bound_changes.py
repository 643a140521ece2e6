"""The bound of a query whose answers are written as changes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ontoweir.checker.model.normal_form import Statistics
from ontoweir.checker.model.plan import Bound, share_tuples, total_bound
from ontoweir.checker.plans.bound_standing import bound_standing
from ontoweir.checker.plans.bound_table import bound_groups
from ontoweir.checker.plans.bound_versions import KeptVersions, bound_by_domains
from ontoweir.checker.verdict.refuse_keys import refuse_keys
from ontoweir.checker.verdict.verdict import Tier, Verdict
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_scope import column_names
from ontoweir.rewriter.algebra.equality_classes import EqualityClasses
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.joined import JoinedPart
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Constant,
    Occurrence,
    Op,
    SpjQuery,
    SpjUnion,
    output_attributes,
)


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
    if union.standing is not None or union.joined is not None:
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


def bound_joined(
    verdict: Verdict,
    catalog: Catalog,
    decide: Callable[[SpjUnion, Catalog], Verdict],
    known: Statistics,
) -> Verdict:
    """The verdict with what is kept of each part: the rows of it that hold. Of what is joined of
    them nothing more is kept.

    What holds for ever is a static relation, or one row that says since when there is one. A part
    that keeps rows without a bound leaves the query undecided: whether the others tell what it
    keeps is not looked at.

    Args:
        verdict: on the rows of all parts, told one by one.
        catalog: the tables.
        decide: a part, by itself.
        known: how many rows static relations have.
    """
    joined = verdict.union.joined
    if joined is None or verdict.bound is None:
        return verdict
    wide = extend_catalog(catalog, verdict.union)
    parts = [decide(part.query, catalog) for part in joined.parts]
    for part in parts:
        if part.bound is None and part.tier is not Tier.UNSATISFIABLE:
            return replace(verdict, disjuncts=part.disjuncts, tier=Tier.UNDECIDED, bound=None)
    kept = [
        one
        for of in joined.parts
        if of.ever is None
        for one in _list_staying(of.query, extend_catalog(catalog, of.query), known)
    ]
    verdict = refuse_keys(verdict, kept, kept="groups of all rows so far are told apart")
    if verdict.bound is None:
        return verdict
    bounds = [
        bound_changes(part, catalog) if of.ever is None else _bound_static(of, wide, known)
        for part, of in zip(parts, joined.parts, strict=True)
        if part.bound is not None
    ]
    rests = [
        *(c for p in parts for c in p.conditions),
        *(c for one in kept for c in one.conditions),
    ]
    conditions = dict.fromkeys((*verdict.conditions, *rests))
    tiers = [p.tier for p in parts if p.bound is not None]
    tier = max((verdict.tier, *tiers), key=lambda t: t.rank)
    if conditions and tier.rank < Tier.CONDITIONALLY_BOUNDED.rank:
        tier = Tier.CONDITIONALLY_BOUNDED
    windows = all(part.query.standing is None for part in joined.parts)
    if windows and tier.rank < Tier.WINDOW_BOUNDED.rank:
        tier = Tier.WINDOW_BOUNDED
    bound = total_bound([verdict.bound, *bounds])
    return replace(verdict, tier=tier, bound=bound, conditions=tuple(conditions))


def _list_staying(union: SpjUnion, catalog: Catalog, known: Statistics) -> Iterator[KeptVersions]:
    """By what rows of a part are told apart that never leave: by all that they show."""
    if union.standing is not None or union.joined is not None:
        return  # which are decided as such
    for query in union.disjuncts:
        outputs, tables = dict(query.outputs), {o.alias: o.table for o in query.occurrences}
        ends = [a for n in union.ends for a in output_attributes(outputs[n])]
        columns = [catalog.streams[tables[a.alias]].column(a.column) for a in ends]
        if not all(c is not None and c.bucket is not None and c.bucket.is_never for c in columns):
            continue
        shown = [a for n, o in query.outputs if n not in union.ends for a in output_attributes(o)]
        yield bound_by_domains(query, list(dict.fromkeys(shown)), catalog, known)


def _bound_static(part: JoinedPart[SpjUnion], catalog: Catalog, known: Statistics) -> Bound:
    """The rows of static relations, those that their joins could have; or one row."""
    if not part.ever:
        return Bound(1, "1")
    every: list[Bound] = []
    for query in part.query.disjuncts:
        names = _list_apart(query, catalog)
        counts = [known.rows.get(n, catalog.relations[n].max_rows) for n in names]
        rows: int | None = 1
        for count in counts:
            rows = None if rows is None or count is None else rows * count
        shown = " × ".join(f"|{n}|" for n in names) or "1"
        every.append(Bound(rows, shown if rows is None or not names else f"{shown} = {rows}"))
    return total_bound(every)


def _list_apart(query: SpjQuery, catalog: Catalog) -> list[str]:
    """The static relations of which any row may be beside any of the others: not those of which a
    key is given by the others."""
    classes = EqualityClasses(query.occurrences, query.conditions)
    waiting = [o for o in query.occurrences if o.table in catalog.relations]
    known = {
        classes.find(c.left)
        for c in query.conditions
        if isinstance(c, Compare) and c.op is Op.EQ and isinstance(c.right, Constant)
    }
    made: list[str] = []

    def take(one: Occurrence) -> None:
        waiting.remove(one)
        columns = column_names(catalog.table(one.table))
        known.update(classes.find(Attribute(one.alias, c)) for c in columns)

    def is_given(one: Occurrence) -> bool:
        keys = catalog.relations[one.table].keys
        return any(all(classes.find(Attribute(one.alias, c)) in known for c in k) for k in keys)

    while waiting:
        given = next((o for o in waiting if is_given(o)), None)
        if given is not None:
            take(given)
            continue
        referring = [o for o in waiting if not _is_referred(o, waiting, classes, catalog)]
        made.append((referring or waiting)[0].table)
        take((referring or waiting)[0])
    return made


def _is_referred(
    one: Occurrence, others: Sequence[Occurrence], classes: EqualityClasses, catalog: Catalog
) -> bool:
    """Whether another occurrence gives a key of one."""
    for other in others:
        columns = column_names(catalog.table(other.table)) if other is not one else []
        known = {classes.find(Attribute(other.alias, c)) for c in columns}
        for key in catalog.relations[one.table].keys:
            if all(classes.find(Attribute(one.alias, c)) in known for c in key):
                return True
    return False
