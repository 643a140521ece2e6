"""The verdict on a query whose answers hold until later rows end them."""

from collections.abc import Sequence
from dataclasses import replace

from ontoweir.checker.decide.bound_first import bound_first, list_keys, list_said
from ontoweir.checker.model.declarations import Declaration
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.checker.model.plan import Bound, share_tuples, total_bound
from ontoweir.checker.plans.bound_standing import bound_standing
from ontoweir.checker.plans.bound_versions import KeptVersions, bound_by_domains
from ontoweir.checker.verdict.count_at_once import count_at_once
from ontoweir.checker.verdict.refuse_keys import refuse_keys
from ontoweir.checker.verdict.verdict import Bounded, Tier, Verdict
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.equality_classes import optional_attributes
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.aggregation import FirstRows, Standing
from ontoweir.rewriter.model.spj import (
    Attribute,
    NotNull,
    NullOutput,
    SpjQuery,
    output_attributes,
)
from ontoweir.rewriter.standing.answers_of import answers_of


def bound_latest(verdict: Verdict, catalog: Catalog, known: Statistics) -> Verdict:
    """The verdict with what is kept to say what ends: for each key the answers of its latest time,
    or those with the first numbers;
    where only other rows end answers, all that are told apart by what they show, or by their key.

    Args:
        verdict: on the answers; their disjuncts are those of one SELECT.
        catalog: the tables.
        known: what is known of the static data.
    """
    union = verdict.union
    wide = extend_catalog(catalog, union)
    queries = [d.query for d in verdict.disjuncts if isinstance(d, Bounded)]
    standing = union.standing
    if standing is None or verdict.bound is None or not queries:
        return verdict
    if standing.first is not None and union.ends:
        return _bound_windows(verdict, standing.first, wide, known)
    if standing.first is not None:
        found = bound_first(queries, union, wide, known)
        verdict = refuse_keys(verdict, found.keys, kept="the first rows are kept")
        if verdict.bound is not None:
            verdict = refuse_keys(verdict, found.equal, kept=_EQUAL)
        if verdict.bound is None or found.bound is None:
            return verdict
        tier = max(verdict.tier, Tier.TREE_BOUNDED, key=lambda tier: tier.rank)
        rests = [c for k in (*found.keys, *found.equal) for c in k.conditions]
        return _rest_on(replace(verdict, tier=tier), [*rests, *found.conditions], found.bound)
    kept: list[KeptVersions] = []
    apart_by: dict[object, dict[object, list[Bound]]] = {}
    for query in answers_of(queries, standing):
        outputs = dict(query.outputs)
        replaced = standing.replaced and not _is_of_none(standing, query)
        apart = standing.key if replaced else union.variables
        keys = list(dict.fromkeys(a for n in apart for a in output_attributes(outputs[n])))
        mine = _bound_keys(query, keys, wide, known) if replaced else []
        mine = mine or [bound_by_domains(query, keys, wide, known)]
        kept += mine
        bounds = [one.bound for one in mine if one.bound is not None]
        if bounds:
            null = tuple(isinstance(outputs[n], NullOutput) for n in standing.key)
            group = (replaced, null, list_said(query)) if replaced else query
            mine_by = apart_by.setdefault(group, {})
            mine_by.setdefault(_nulls(query), []).append(total_bound(bounds))
    for query in _list_enders(queries, standing) if standing.ever else ():
        outputs = dict(query.outputs)
        keys = list(dict.fromkeys(a for n in standing.key for a in output_attributes(outputs[n])))
        one = bound_by_domains(query, keys, wide, known)
        kept.append(one)
        if one.bound is not None:
            apart_by.setdefault(query, {}).setdefault((), []).append(one.bound)
    ended = standing.ender is not None and not standing.replaced
    how = "rows that hold are told apart" if ended else "the latest rows are kept"
    verdict = refuse_keys(verdict, kept, kept=how, ended=ended)
    if verdict.bound is None:
        return verdict
    # rows of one key are of one time: where they differ only in what is NULL, each is in one place
    several = [max(map(total_bound, by.values()), key=_size) for by in apart_by.values()]
    if standing.groups is not None and not standing.groups.group:
        several.append(Bound(1, "1"))  # that there is a row
    largest = total_bound(several)
    return _rest_on(verdict, [c for k in kept for c in k.conditions], largest)


def _bound_windows(
    verdict: Verdict, first: FirstRows, catalog: Catalog, known: Statistics
) -> Verdict:
    """The verdict with the rows that windows show: any of them may be among the first, once others
    have left. Of rows that never leave, those with the first numbers are kept."""
    assert verdict.plans is not None
    ends = verdict.union.ends
    tier = max(verdict.tier, Tier.WINDOW_BOUNDED, key=lambda tier: tier.rank)
    queries = [plan.form.query for plan in verdict.plans]
    keys = list_keys(first, queries, verdict.union.blocks, catalog)
    shown: list[Bound] = []
    rests: list[Declaration] = []
    for plan in verdict.plans:
        rows = bound_standing(plan.form, ends, catalog, distinct=False)
        query = plan.form.query
        stays = bound_first([query], verdict.union, catalog, known)
        if _never_leaves(query, ends, catalog) and stays.bound is not None:
            rests += [c for k in (*stays.keys, *stays.equal) for c in k.conditions]
            rows = stays.bound
        shown.append(rows)
    held = total_bound(share_tuples(shown))
    groups = None if verdict.union.standing is None else verdict.union.standing.groups
    if groups is not None and not groups.group:
        held = total_bound([held, Bound(1, "1")])  # that there was a row
    return _rest_on(replace(verdict, tier=tier), [*rests, *keys], held)


def _never_leaves(query: SpjQuery, ends: Sequence[str], catalog: Catalog) -> bool:
    """Whether no row of a disjunct leaves a window."""
    tables = {o.alias: o.table for o in query.occurrences}
    outputs = dict(query.outputs)
    columns = [
        catalog.streams[tables[a.alias]].column(a.column)
        for name in ends
        for a in output_attributes(outputs[name])
    ]
    buckets = [c.bucket for c in columns if c is not None]
    return all(bucket is not None and bucket.is_never for bucket in buckets)


def _list_enders(queries: Sequence[SpjQuery], standing: Standing) -> list[SpjQuery]:
    """The disjuncts whose rows end others."""
    answers = answers_of(queries, standing)
    return [query for query in queries if query not in answers]


_EQUAL = (
    "rows with one number are told apart (no key of the stream is among what they are numbered by)"
)


def _rest_on(verdict: Verdict, declared: Sequence[Declaration], held: Bound) -> Verdict:
    """The verdict with what is held, and what that rests on."""
    assert verdict.bound is not None
    conditions = dict.fromkeys((*verdict.conditions, *declared))
    tier = verdict.tier
    if conditions and tier.rank < Tier.CONDITIONALLY_BOUNDED.rank:
        tier = Tier.CONDITIONALLY_BOUNDED
    bound = total_bound([verdict.bound, held])
    return replace(verdict, tier=tier, bound=bound, conditions=tuple(conditions))


def _bound_keys(
    query: SpjQuery, keys: list[Attribute], catalog: Catalog, known: Statistics
) -> list[KeptVersions]:
    """The rows of one time of each key: of those that have a value everywhere, one where they are
    a key of the stream; of those with NULL somewhere, all."""
    optional = [a for a in keys if a in optional_attributes(query)]
    full = replace(query, conditions=(*query.conditions, *map(NotNull, optional)))
    whole = bound_by_domains(full, keys, catalog, known)
    columns = {a.column for a in keys}
    found = [whole if whole.bound is None else count_at_once(whole, full, columns, catalog, known)]
    for one in optional:
        rest = [a for a in keys if a != one]
        null = bound_by_domains(query, rest, catalog, known)
        found.append(
            null if null.bound is None else count_at_once(null, query, set(), catalog, known)
        )
    return found


def _nulls(query: SpjQuery) -> tuple[bool, ...]:
    """Which of the outputs are NULL."""
    return tuple(isinstance(output, NullOutput) for _, output in query.outputs)


def _is_of_none(standing: Standing, query: SpjQuery) -> bool:
    """Whether rows may be of no key, so that none takes their place."""
    if standing.ender is None or standing.nulls:
        return False
    optional, outputs = optional_attributes(query), dict(query.outputs)
    of = [outputs[name] for name in standing.key]
    null = any(isinstance(o, NullOutput) for o in of)
    return null or any(a in optional for o in of for a in output_attributes(o))


def _size(bound: Bound) -> tuple[bool, int]:
    return bound.rows is None, bound.rows or 0
