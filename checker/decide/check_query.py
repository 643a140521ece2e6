"""Decide a query before anything runs: verdict, tier, bound, plan, or witness."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ontoweir.checker.decide.bound_latest import bound_latest
from ontoweir.checker.decide.bound_leaving import bound_leaving
from ontoweir.checker.decide.check_disjuncts import DisjunctChecker
from ontoweir.checker.decide.join_blocks import join_blocks
from ontoweir.checker.decide.list_disjoint import list_disjoint
from ontoweir.checker.decide.needs_fewer_declarations import needs_fewer_declarations
from ontoweir.checker.decide.relax_versions import relax_versions
from ontoweir.checker.decide.share_waits import share_waits
from ontoweir.checker.model.declarations import Declaration, list_declarations
from ontoweir.checker.model.normal_form import NormalForm, Statistics
from ontoweir.checker.model.plan import Bound, total_bound
from ontoweir.checker.normalise.relax_chains import relax_chains
from ontoweir.checker.normalise.simplify_union import simplify_union
from ontoweir.checker.plans.bound_open_groups import bound_open_groups
from ontoweir.checker.plans.bound_standing import bound_standing
from ontoweir.checker.plans.bound_table import bound_groups
from ontoweir.checker.sizes.bound_open_steps import bound_open_steps
from ontoweir.checker.split.split_aggregates import AggregatePart
from ontoweir.checker.split.split_by_keys import split_by_keys
from ontoweir.checker.verdict.add_partition import add_partition
from ontoweir.checker.verdict.verdict import (
    Bounded,
    DisjunctVerdict,
    Failing,
    PartVerdict,
    Tier,
    Verdict,
)
from ontoweir.checker.witness.witness import Witness
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.contain_spj import is_contained
from ontoweir.rewriter.buckets.find_closing import Closing, close_by_time, find_closing
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.aggregation import Aggregation
from ontoweir.rewriter.model.spj import SpjQuery, SpjUnion, output_attributes
from ontoweir.rewriter.model.watch_time import OutOfTimeError, Watch, phase, watching
from ontoweir.rewriter.passes.remove_redundant_occurrences import remove_redundant_occurrences
from ontoweir.rewriter.views.expand_views import expand_unions

MAX_EXPANDED = 400
"""A query that is not bounded over views is decided as so many disjuncts over their branches."""

MAX_STEPS = 20_000
"""How long redundant occurrences are looked for: a query with all of them is decided, too."""


def check_query(
    union: SpjUnion,
    catalog: Catalog,
    *,
    statistics: Statistics | None = None,
    timed: bool = True,
    disprove: bool = True,
    size: int = 4,
    watch: Watch | None = None,
) -> Verdict:
    """Decide an unfolded query.

    Args:
        union: the query.
        catalog: streams, relations, and what is declared of them.
        statistics: what is known of the static data; without it the schema alone decides.
        timed: False for the arrival model ([A]): timestamps are ignored.
        disprove: look for a witness where there is no plan.
        size: how many optional tuples the witness has.
        watch: how long that may take, and who hears how far it is (watch_time.py in
            rewriter/model). A query whose time is over is undecided; its reasons name the limit.

    Raises:
        QueryError: a comparison mixes types.
    """
    with watching(watch):
        known = statistics or Statistics()
        verdict = _check_blocks(union, catalog, known, timed, disprove, size)
        verdict = add_partition(verdict, catalog)
    if union.latest:
        verdict = bound_latest(verdict, catalog, known)
    waiting = bound_open_steps(union, catalog) if timed else ()
    if verdict.bound is None or not waiting:
        return verdict
    return replace(verdict, bound=total_bound([verdict.bound, *waiting]), waiting=waiting)


def _check_blocks(
    union: SpjUnion,
    catalog: Catalog,
    known: Statistics,
    timed: bool,
    disprove: bool,
    size: int,
) -> Verdict:
    """The verdict, without the rows that wait for earlier ones."""
    inner = [
        _check_blocks(query, catalog, known, timed, False, size)
        for block in union.blocks
        for query in block.queries
    ]
    base, catalog = catalog, extend_catalog(catalog, union)
    alone = disprove and not union.blocks  # else a witness would be made of answers, not of rows
    apart = expand_unions(union, MAX_EXPANDED)
    verdict = _decide(union, catalog, known, timed, alone and apart is None, size)
    if apart is not None and not verdict.plans:
        verdict = _decide(apart, catalog, known, timed, alone, size)
    if not union.blocks:
        return verdict
    whole = join_blocks(verdict, inner, base, known)
    if not disprove or whole.tier is not Tier.UNDECIDED:
        return whole
    refuted = [(part, catalog) for part in list_disjoint(union)]
    refuted += [one for one in (relax_versions(union, base),) if one is not None]
    for part, tables in refuted:
        witness = _decide(part, tables, known, timed, True, size).witness
        if witness is not None:
            return replace(whole, tier=Tier.UNBOUNDED, witness=witness, conditions=())
    return whole


def _decide(
    union: SpjUnion,
    catalog: Catalog,
    known: Statistics,
    timed: bool,
    disprove: bool,
    size: int,
) -> Verdict:
    simple = _simplify(union, catalog)
    verdict = _check(simple, catalog, known, timed, disprove, size)
    if all(d.kind != "key" for d in verdict.conditions):
        return verdict
    # occurrences that are one row by a key that no run can enforce are so only where it helps
    apart = _simplify(union, catalog, whole=False)
    if apart == simple:
        return verdict
    other = _check(apart, catalog, known, timed, False, size)
    return other if needs_fewer_declarations(other, verdict) else verdict


def _check(
    union: SpjUnion,
    catalog: Catalog,
    known: Statistics,
    timed: bool,
    disprove: bool,
    size: int,
) -> Verdict:
    decide = _check_plain if union.aggregation is None else _check_aggregates
    return decide(union, catalog, known, timed, disprove, size)


def _simplify(union: SpjUnion, catalog: Catalog, *, whole: bool = True) -> SpjUnion:
    """The query in fewer pieces, where that does not take all the time."""
    try:
        union = simplify_union(union, catalog, whole=whole)
    except OutOfTimeError:
        return union
    return _reduce(union, catalog) if union.distinct else union


def _reduce(union: SpjUnion, catalog: Catalog) -> SpjUnion:
    try:
        return reduce_union(union, catalog)
    except OutOfTimeError:
        return union


def _check_plain(
    union: SpjUnion,
    catalog: Catalog,
    known: Statistics,
    timed: bool,
    disprove: bool,
    size: int,
) -> Verdict:
    union = close_by_time(union, catalog)
    checker = DisjunctChecker(union, catalog, known, timed, size=size)
    decided: list[DisjunctVerdict] = []
    with phase("deciding", len(union.disjuncts)) as done:
        for number, query in enumerate(union.disjuncts, 1):
            decided += checker.decide_parts(query)
            done(number)
    disjuncts = share_waits(decided, catalog)
    union = replace(union, disjuncts=tuple(d.query for d in disjuncts))
    witness = None
    if disprove and not checker.is_special:
        witness, disjuncts = checker.disprove(disjuncts)
    return _verdict(union, catalog, disjuncts, (), bound_union(union, disjuncts, catalog), witness)


def _check_aggregates(
    union: SpjUnion,
    catalog: Catalog,
    known: Statistics,
    timed: bool,
    disprove: bool,
    size: int,
) -> Verdict:
    assert union.aggregation is not None
    parts: list[PartVerdict] = []
    witness: Witness | None = None
    best: list[tuple[DisjunctChecker, PartVerdict]] = []
    for split in split_by_keys(union, catalog):
        decided = [_decide_part(part, catalog, known, timed, size, union) for part in split]
        if not best or _count_failing(decided) < _count_failing(best):
            best = decided
        if not _count_failing(best):
            break
    for checker, verdict in best:
        # no witness is looked for where floats are added, of which a partial match could have a
        # sum, nor where HAVING and expressions may hide what the tuples of a witness change
        if union.aggregation.shows_rows and disprove and witness is None and not checker.is_special:
            witness, disjuncts = checker.disprove(verdict.disjuncts)
            verdict = replace(verdict, disjuncts=disjuncts)
        parts.append(verdict)
    across = zip(*(p.disjuncts for p in parts), strict=True)
    worst = tuple(max(of, key=lambda d: d.tier.rank) for of in across)
    bound = _aggregate_bound(union, parts, find_closing(union, catalog), catalog)
    return _verdict(union, catalog, worst, tuple(parts), bound, witness)


def _decide_part(
    part: AggregatePart,
    catalog: Catalog,
    known: Statistics,
    timed: bool,
    size: int,
    whole: SpjUnion,
) -> tuple[DisjunctChecker, PartVerdict]:
    if part.union.distinct:
        part = replace(part, union=_reduce(part.union, catalog))
    aggregates = () if part.once else part.aggregates
    checker = DisjunctChecker(part.union, catalog, known, timed, aggregates, size, whole)
    decided: list[DisjunctVerdict] = []
    with phase("deciding", len(part.union.disjuncts)) as done:
        for number, query in enumerate(part.union.disjuncts, 1):
            decided.append(checker.decide(query))
            done(number)
    return checker, PartVerdict(part, tuple(decided))


def _count_failing(decided: list[tuple[DisjunctChecker, PartVerdict]]) -> int:
    return sum(any(isinstance(d, Failing) for d in verdict.disjuncts) for _, verdict in decided)


def _verdict(
    union: SpjUnion,
    catalog: Catalog,
    disjuncts: tuple[DisjunctVerdict, ...],
    parts: tuple[PartVerdict, ...],
    bound: Bound | None,
    witness: Witness | None,
) -> Verdict:
    declarations: dict[Declaration, None] = {}
    for query in union.disjuncts:
        declarations.update(dict.fromkeys(list_declarations(query, catalog)))
    conditions: dict[Declaration, None] = {}
    for d in (d for p in parts for d in p.disjuncts) if parts else disjuncts:
        if isinstance(d, Bounded):
            conditions.update(dict.fromkeys(d.conditions))
    tier = max((d.tier for d in disjuncts), key=lambda t: t.rank, default=Tier.UNSATISFIABLE)
    if witness is not None:
        tier = Tier.UNBOUNDED
    return Verdict(
        union=union,
        disjuncts=disjuncts,
        tier=tier,
        bound=bound,
        conditions=tuple(conditions),
        declarations=tuple(declarations),
        witness=witness,
        parts=parts,
    )


def reduce_union(union: SpjUnion, catalog: Catalog) -> SpjUnion:
    """A set query without redundant occurrences, then without contained disjuncts ([A] 8.1).

    Parts of aggregates keep their disjuncts: another one may give a group, but not its minimum.
    """
    reduced = [_without_redundant(q, catalog) for q in union.disjuncts]
    reduced = [relax_chains(q, catalog) for q in reduced]
    if any(query.folds is not None for query in reduced):
        return replace(union, disjuncts=tuple(reduced))
    kept: list[SpjQuery] = []
    for query in reduced:
        try:
            if any(is_contained(query, other, catalog) for other in kept):
                continue
            kept = [other for other in kept if not is_contained(other, query, catalog)]
        except QueryError:  # too long a search: it stays
            pass
        kept.append(query)
    return replace(union, disjuncts=tuple(kept))


def _without_redundant(query: SpjQuery, catalog: Catalog) -> SpjQuery:
    """Without redundant occurrences, where they are found in good time."""
    try:
        return remove_redundant_occurrences(query, catalog, limit=MAX_STEPS)
    except QueryError:
        return query


def bound_union(
    union: SpjUnion, disjuncts: tuple[DisjunctVerdict, ...], catalog: Catalog
) -> Bound | None:
    """The bound of a union: the sum, and once more the results of DISTINCT across disjuncts, and of
    DISTINCT over windows, whose ends are told."""
    if any(isinstance(d, Failing) for d in disjuncts):
        return None
    plans = [d.plan for d in disjuncts if isinstance(d, Bounded)]
    bounds = [t.bound for p in plans for t in p.tables if t.stored]
    if union.distinct and len(plans) > 1 and not union.ends:
        bounds += [p.tables[-1].bound for p in plans]
    if union.distinct and union.ends:
        once = not union.begins  # else every end, and what is still to begin, is kept
        bounds += [bound_standing(p.form, union.ends, catalog, distinct=once) for p in plans]
    return total_bound(bounds)


def _aggregate_bound(
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
    whole = next(p for p in parts if p.part.over is None)
    if union.ends and not aggregation.group:
        bounds.append(Bound(1, "1"))  # a row that there always is
    for decided in parts:
        bound = bound_union(decided.part.union, decided.disjuncts, catalog)
        if bound is None:
            return None
        bounds.append(bound)
        for plan in () if decided.part.once else decided.plans:
            if union.ends:
                late, part = bool(union.begins), decided.part
                bounds.append(bound_leaving(part, plan.form, union.ends, catalog, late=late))
                continue
            if closing is not None:
                group = aggregation.group if decided is whole else None
                bounds += _bound_open(plan.form, decided, closing, catalog, group)
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
) -> Iterator[Bound]:
    """Of a query whose groups a bucket closes: its groups (None: counted before), and the values
    that medians and distinct counts keep of them."""
    stream = catalog.streams[next(m.stream for m in form.members)]
    outputs = dict(form.query.outputs)

    def classes(names: Sequence[str]) -> list[int]:
        return [form.class_of[a] for n in names for a in output_attributes(outputs[n])]

    if group is not None:
        yield bound_open_groups(form, classes(group), closing.bucket, stream.step_us)
    if decided.part.aggregates[0].function.holistic:
        names = decided.part.union.variables
        yield bound_open_groups(form, classes(names), closing.bucket, stream.step_us)


def _bound_whole_groups(form: NormalForm, aggregation: Aggregation) -> Bound:
    """A bound on the groups of a disjunct; those of static data are finitely many."""
    if aggregation.group and not form.members:
        return Bound(None, "groups of static data")
    outputs = dict(form.query.outputs)
    group = [a for v in aggregation.group for a in output_attributes(outputs[v])]
    return bound_groups(form, (form.class_of[a] for a in group))
