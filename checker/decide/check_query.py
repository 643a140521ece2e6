"""Decide a query before anything runs: verdict, tier, bound, plan, or witness."""

from dataclasses import replace
from functools import partial

from ontoweir.checker.between.align_hits import align_hits
from ontoweir.checker.between.count_between import count_between
from ontoweir.checker.between.reads_directly import reads_directly
from ontoweir.checker.decide.bound_changes import bound_joined
from ontoweir.checker.decide.bound_latest import bound_latest
from ontoweir.checker.decide.check_disjuncts import DisjunctChecker
from ontoweir.checker.decide.join_blocks import join_blocks
from ontoweir.checker.decide.list_disjoint import list_disjoint
from ontoweir.checker.decide.needs_fewer_declarations import needs_fewer_declarations
from ontoweir.checker.decide.relax_versions import relax_versions
from ontoweir.checker.decide.share_waits import share_waits
from ontoweir.checker.explain.explain_nulls import explain_nulls
from ontoweir.checker.model.declarations import Declaration, list_declarations
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.checker.model.plan import Bound, total_bound
from ontoweir.checker.normalise.reduce_union import reduce_union
from ontoweir.checker.normalise.simplify_union import simplify_union
from ontoweir.checker.sizes.bound_open_steps import bound_open_steps
from ontoweir.checker.sizes.bound_remembered import bound_remembered
from ontoweir.checker.split.split_aggregates import AggregatePart
from ontoweir.checker.split.split_by_keys import split_by_keys, split_closed
from ontoweir.checker.verdict.add_partition import add_partition
from ontoweir.checker.verdict.bound_aggregates import bound_aggregates
from ontoweir.checker.verdict.bound_union import bound_union
from ontoweir.checker.verdict.verdict import (
    Bounded,
    DisjunctVerdict,
    Failing,
    PartVerdict,
    Tier,
    Verdict,
)
from ontoweir.checker.witness.confirm.confirm_shown import can_show
from ontoweir.checker.witness.refute.refute_beside import refute_beside
from ontoweir.checker.witness.refute.refute_keyed import refute_keyed
from ontoweir.checker.witness.refute.refute_preceding import refute_preceding
from ontoweir.checker.witness.refute.refute_standing import refute_standing
from ontoweir.checker.witness.show_rows import show_rows
from ontoweir.checker.witness.witness import Witness
from ontoweir.diagnostics import Diagnostic
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.aggregates.as_having import as_having
from ontoweir.rewriter.aggregates.as_part import as_part
from ontoweir.rewriter.buckets.find_closing import close_by_time, find_closing
from ontoweir.rewriter.dated.close_by_names import close_by_names
from ontoweir.rewriter.groups.group_answers import group_answers
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.model.watch_time import OutOfTimeError, Watch, phase, watching
from ontoweir.rewriter.views.expand_views import expand_unions

MAX_EXPANDED = 400
"""A query that is not bounded over views is decided as so many disjuncts over their branches."""


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
    numbered = union.aggregation is not None and union.aggregation.numbered is not None
    asked = as_having(union) if disprove and numbered else None
    alone = as_part(union) if disprove else None
    keyed = disprove and timed
    if union.joined is not None or numbered:
        disprove = False  # rows may be hidden by others, or by what is said of them
    with watching(watch):
        known = statistics or Statistics()
        verdict = _check_blocks(union, catalog, known, timed, disprove, size)
        verdict = add_partition(verdict, catalog)
        if asked is not None and verdict.tier is Tier.UNDECIDED:
            wide = extend_catalog(catalog, asked)
            witness = _disprove_shown(_simplify(asked, wide), wide, known, size) if timed else None
            if witness is not None:
                verdict = replace(verdict, tier=Tier.UNBOUNDED, witness=witness, conditions=())
        elif alone is not None and verdict.tier is Tier.UNDECIDED:
            witness = _check_blocks(alone, catalog, known, timed, True, size).witness
            if witness is not None:
                verdict = replace(verdict, tier=Tier.UNBOUNDED, witness=witness, conditions=())
    if union.joined is not None:
        decide = partial(check_query, statistics=statistics, timed=timed, disprove=False)
        verdict = bound_joined(verdict, catalog, decide, known)
    if union.standing is not None:
        verdict = bound_latest(verdict, catalog, known)
    searches = [refute_keyed] if keyed else []
    if keyed and disprove and union.standing is not None:
        # of groups each pair of disjuncts is tried in vain, if only the latest row of a key counts
        searches.insert(0 if union.standing.groups is None else 1, refute_standing)
    for search in searches:
        if verdict.tier is Tier.UNDECIDED:
            with watching(watch):
                witness = search(union, catalog, known, size=size)
            if witness is not None:
                verdict = replace(verdict, tier=Tier.UNBOUNDED, witness=witness, conditions=())
    waiting = bound_open_steps(union, catalog) if timed else ()
    remembered = bound_remembered(union, catalog) if timed else ()
    if verdict.bound is None or not (waiting or remembered):
        return verdict
    bound = total_bound([verdict.bound, *waiting, *remembered])
    return replace(verdict, bound=bound, waiting=waiting, remembered=remembered)


def _is_around(union: SpjUnion) -> bool:
    """Whether groups are told of the rows of others: these may hold more than is told."""
    return union.aggregation is not None and union.aggregation.around is not None


def _check_blocks(
    union: SpjUnion,
    catalog: Catalog,
    known: Statistics,
    timed: bool,
    disprove: bool,
    size: int,
    direct: bool = True,
) -> Verdict:
    """The verdict, without the rows that wait for earlier ones; `direct`: of a query whose answers
    are counted by who reads them, or written."""
    meetings = [block.meeting for block in union.blocks]
    names = [block.stream.name for block in union.blocks]
    alone = {n for n in names if direct and reads_directly(n, meetings, union.views)}
    written = align_hits(union)
    union = count_between(written, catalog, known, alone)
    inner = [
        _check_blocks(query, catalog, known, timed, False, size, block.stream.name in alone)
        for block in union.blocks
        for query in block.queries
    ]
    base, catalog = catalog, extend_catalog(catalog, union)
    # else a witness would be made of answers, or of what is computed of rows, and not of rows
    plain = disprove and not union.blocks and not union.statics and not _is_around(union)
    apart = expand_unions(union, MAX_EXPANDED)
    verdict = _decide(union, catalog, known, timed, plain and apart is None, size)
    if apart is not None and not verdict.plans:
        verdict = _decide(apart, catalog, known, timed, plain, size)
    if not union.blocks:
        return verdict
    whole = join_blocks(verdict, inner, base, known)
    if not disprove or whole.tier is not Tier.UNDECIDED:
        return whole
    refuted = [(part, catalog) for part in list_disjoint(written)]
    refuted += [one for one in (relax_versions(written, base),) if one is not None]
    for part, tables in refuted:
        witness = _decide(part, tables, known, timed, True, size).witness
        if witness is not None:
            return replace(whole, tier=Tier.UNBOUNDED, witness=witness, conditions=())
    witness = refute_beside(written, base, known, size=size) if timed else None
    if witness is None and timed:
        witness = refute_preceding(written, base, known, size=size)
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
    union = close_by_names(close_by_time(union, catalog), catalog)
    checker = DisjunctChecker(union, catalog, known, timed, size=size)
    decided: list[DisjunctVerdict] = []
    with phase("deciding", len(union.disjuncts)) as done:
        for number, query in enumerate(union.disjuncts, 1):
            decided += checker.decide_parts(query)
            done(number)
    if union.distinct and any(isinstance(d, Failing) for d in decided):
        closed = _check_closed_set(union, catalog, known, timed, size)
        if closed is not None:
            return closed
    disjuncts = share_waits(decided, catalog)
    union = replace(union, disjuncts=tuple(d.query for d in disjuncts))
    witness = None
    if disprove and not checker.is_special:
        witness, disjuncts = checker.disprove(disjuncts)
    return _verdict(union, catalog, disjuncts, (), bound_union(union, disjuncts, catalog), witness)


def _check_closed_set(
    union: SpjUnion, catalog: Catalog, known: Statistics, timed: bool, size: int
) -> Verdict | None:
    """The verdict on a set query of which an answer is forgotten when the values that it shows are
    closed by a rule (None: that is not enough). Spans are conditions of its joins: matches beyond
    them are no answers, and one that is told is not told again."""
    grouped = group_answers(union)
    for split in split_closed(grouped, catalog, spans=False):
        decided = [_decide_part(part, catalog, known, timed, size, grouped) for part in split]
        if not _count_failing(decided):
            parts = tuple(verdict for _, verdict in decided)
            bound = bound_aggregates(grouped, parts, None, catalog)
            return _verdict(union, catalog, parts[0].disjuncts, parts, bound, None)
    return None


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
    open_for: tuple[Diagnostic, ...] = ()
    ends = union.aggregation.session_us is not None
    shows_rows = union.aggregation.shows_rows and not ends
    for split in split_by_keys(union, catalog):
        decided = [_decide_part(part, catalog, known, timed, size, union) for part in split]
        # rows that are final when values are closed are so only where that suffices
        if _is_closed(decided):
            open_for = open_for or _why_open(decided)
        fewer = not best or _is_closed(best) or _count_failing(decided) < _count_failing(best)
        if fewer and not (best and _is_closed(decided) and _count_failing(decided)):
            best = decided
        if not _count_failing(best):
            break
    for checker, verdict in best:
        # no witness is looked for where floats are added, of which a partial match could have a
        # sum, nor where HAVING and expressions may hide what the tuples of a witness change, nor of
        # sessions, which end
        if shows_rows and disprove and witness is None and not checker.is_special:
            witness, disjuncts = checker.disprove(verdict.disjuncts)
            verdict = replace(verdict, disjuncts=disjuncts)
        # why a rule does not help says more than that something is needed
        disjuncts = tuple(
            replace(d, because=open_for or explain_nulls(union, d.because, catalog))
            if isinstance(d, Failing)
            else d
            for d in verdict.disjuncts
        )
        verdict = replace(verdict, disjuncts=disjuncts)
        parts.append(verdict)
    if disprove and witness is None and timed and not (shows_rows or ends):
        witness = _disprove_shown(union, catalog, known, size)
    across = zip(*(p.disjuncts for p in parts if not p.part.watches), strict=True)
    worst = tuple(max(of, key=lambda d: d.tier.rank) for of in across)
    bound = bound_aggregates(union, parts, find_closing(union, catalog), catalog)
    return _verdict(union, catalog, worst, tuple(parts), bound, witness)


def _disprove_shown(
    union: SpjUnion, catalog: Catalog, known: Statistics, size: int
) -> Witness | None:
    """A witness against groups of which HAVING, or expressions, make what is shown: one against
    the groups themselves is what it may be made of."""
    assert union.aggregation is not None
    if not can_show(union):
        return None
    columns = (*union.aggregation.group, *(a.name for a in union.aggregation.aggregates))
    bare = replace(union.aggregation, columns=columns, computed=(), having=None)
    groups = _check_aggregates(
        replace(union, aggregation=bare), catalog, known, True, True, size
    ).witness
    return None if groups is None else show_rows(union, catalog, groups)


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


def _why_open(decided: list[tuple[DisjunctChecker, PartVerdict]]) -> tuple[Diagnostic, ...]:
    """Why closed values are not enough, of the first part where they are not."""
    failing = (d for _, v in decided for d in v.disjuncts if isinstance(d, Failing))
    return next((d.because for d in failing), ())


def _is_closed(decided: list[tuple[DisjunctChecker, PartVerdict]]) -> bool:
    """Whether a rule closes the groups."""
    return any(verdict.part.watches for _, verdict in decided)


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
