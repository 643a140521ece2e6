"""When it is final that rows are beside an answer, or are not; and the stream of such answers."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, starmap
from math import gcd

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import (
    ANSWERS,
    Catalog,
    FloatType,
    Reference,
    Stream,
)
from ontoweir.rewriter.algebra.bound_differences import bound_differences
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.algebra.list_lags import apply_lags
from ontoweir.rewriter.blocks.declare_columns import declare_columns, is_single, time_behind
from ontoweir.rewriter.blocks.limit_matches import limit_matches
from ontoweir.rewriter.delays.find_deadlines import find_deadlines
from ontoweir.rewriter.delays.hold_answers import hold_answers
from ontoweir.rewriter.delays.list_narrowed import list_narrowed
from ontoweir.rewriter.delays.span_times import span_times
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.share_steps import UnitsDiffer
from ontoweir.rewriter.model.spj import (
    Absence,
    AbsencePart,
    Attribute,
    Block,
    Compare,
    Deadline,
    LiteralOutput,
    NullOutput,
    SpjQuery,
    SpjUnion,
    output_attributes,
)
from ontoweir.rewriter.nulls.exclude_nulls import exclude_nulls

AT = "at"
"""The timestamp of the stream of answers."""


def declare_absence(
    found: SpjUnion,
    parts: Sequence[AbsencePart],
    keys: Sequence[str],
    times: Sequence[str],
    catalog: Catalog,
    *,
    shown: Collection[str] | None = None,
    held: bool | str = False,
) -> tuple[Block, Mapping[str, int]]:
    """The answers of a query beside which rows are there, or are not, as a stream; and which of
    its columns are times so long before the stream's timestamp, in µs.

    An answer is final when it is complete and nothing of a part can come any more (change.md
    section 4): for every stream of a part, the earliest of the times by which the part's own
    comparisons, those of the answer with them, say that its rows have come.

    Args:
        found: the query; it may show NULL.
        parts: for each condition, the query of `keys` beside which rows are there, without
            deadlines.
        keys: variables of `found`, on which it depends; `times` are among them.
        times: those that are the timestamps of all streams of `found`.
        catalog: the tables.
        shown: the variables that answers show, which are columns of the stream, times too (None:
            all, and a time so long before the stream's timestamp is none).
        held: answers may come later, so that their times follow from when they do; a variable:
            the time that is to, where all the others, and what is beside them, are limited by it.

    Raises:
        QueryError: it is never final.
    """
    wide = extend_catalog(catalog, found)
    stamps = [_stamps(q, times, wide) for q in found.disjuncts]
    answers = list(zip(found.disjuncts, stamps, strict=True))
    read = {name for part in parts for name in _list_narrowed(part, answers, keys, times, catalog)}
    limited = []
    for part in parts:
        dated, named = _date_part(part, keys, times, catalog)
        limited.append(dated)
        read |= named
    needed = _needed_times(found, times, stamps, wide)
    kept = needed | read
    until = None
    if isinstance(held, str):
        keys = keys if parts or held in keys else (*keys, held)
        until = hold_answers(found, held, keys, limited, stamps, wide)
    if isinstance(held, str) and until is not None:
        # what is found beside answers is told once: when all that it is beside are there
        limited, kept = list(until.parts), {held} | (kept if parts else set())
        needed = {held}
    every = [d for part in limited for d in part.deadlines]
    if not all(d.fixed_us is not None or kept & {n for n, _ in d.after} for d in every):
        kept = set(times)
    dropped = set(times) - kept
    absence = Absence(
        tuple(n for n in keys if n not in dropped),
        tuple(
            replace(
                part,
                hits=_drop(part.hits, dropped),
                deadlines=tuple(dict.fromkeys(_without(d, dropped) for d in part.deadlines)),
            )
            for part in limited
        ),
        held is True or bool(parts and held),
    )
    left = [n for n in times if n in kept]
    left.sort(key=lambda n: {n} != needed)  # a time that no other one is after comes first
    known = catalog.relations.keys()
    found = _drop(found, dropped - set(shown or ()))
    wait = None if until is None else until.wait_us
    if wait is None:
        wait = _constant_wait(absence, left, latest=len(needed) == 1)
    block, behind = _declare(found, absence, left, wide, wait, plain=shown is not None)
    # what is a view of the query's is no relation for those that read its answers
    every_one = (*block.stream.references, *_refer_beside(block, parts, keys, times, catalog))
    references = tuple(dict.fromkeys(r for r in every_one if r.relation in known))
    return replace(block, stream=replace(block.stream, references=references)), behind


def _date_part(
    part: AbsencePart, keys: Sequence[str], times: Sequence[str], catalog: Catalog
) -> tuple[AbsencePart, set[str]]:
    """A part with its deadlines, and the times of answers that it reads."""
    inner = extend_catalog(catalog, part.hits)
    deadlines: dict[Deadline, None] = {}
    read: set[str] = set()
    for query in apply_lags(part.hits, inner).disjuncts:
        mine = _stamps(query, times, inner)
        deadlines |= dict.fromkeys(find_deadlines(query, mine, inner, part))
        read |= _compared_times(query, mine) | _times_of_versions(query, mine, part.hits)
        _refuse_rounded(query, keys, inner)
    return replace(part, deadlines=tuple(deadlines)), read


def _list_narrowed(
    part: AbsencePart,
    answers: Sequence[tuple[SpjQuery, Mapping[str, Attribute]]],
    keys: Sequence[str],
    times: Sequence[str],
    catalog: Catalog,
) -> set[str]:
    """The times of answers whose rows a part narrows (list_narrowed)."""
    if len(times) < 2:
        return set()
    inner, plain = extend_catalog(catalog, part.hits), [k for k in keys if k not in times]
    hits = ((query, _stamps(query, times, inner)) for query in part.hits.disjuncts)
    return {name for hit in hits for name in list_narrowed(hit, answers, plain)}


def _refer_beside(
    block: Block,
    parts: Sequence[AbsencePart],
    keys: Sequence[str],
    times: Sequence[str],
    catalog: Catalog,
) -> Iterator[Reference]:
    """What follows for columns of answers from what is there beside them: that static relations
    have their values."""
    shown = [c.name for c in block.stream.columns]
    outputs = [dict(query.outputs) for query in block.union.disjuncts]
    plain = [k for k in keys if k not in times and all(k in o for o in outputs)]
    for part in parts:
        if not part.present or not part.hits.disjuncts:
            continue
        inner = extend_catalog(catalog, part.hits)
        own = [_stamps(query, times[:1], inner)[times[0]] for query in part.hits.disjuncts]
        told = declare_columns(part.hits, plain, own, inner).references
        for name in shown:
            same = [k for k in plain if all(o.get(name) == o[k] for o in outputs)]
            yield from (replace(r, columns=(name,)) for r in told if r.columns[0] in same)


def _stamps(query: SpjQuery, times: Sequence[str], catalog: Catalog) -> dict[str, Attribute]:
    """The timestamps that variables are."""
    outputs, of = dict(query.outputs), {o.alias: o.table for o in query.occurrences}
    stamps = {}
    for name in times:
        output = outputs[name]
        assert isinstance(output, LiteralOutput)
        alias = output.value.alias
        stamps[name] = Attribute(alias, catalog.streams[of[alias]].timestamp)
    return stamps


def _compared_times(query: SpjQuery, stamps: Mapping[str, Attribute]) -> set[str]:
    """The times of answers that a part compares with its own rows."""
    own = {a.alias for a in stamps.values()}
    names: set[str] = set()
    for c in query.conditions:
        if not isinstance(c, Compare) or not isinstance(c.right, Attribute):
            continue
        if {c.left.alias, c.right.alias} <= own:
            continue
        names |= {n for n, a in stamps.items() if a in (c.left, c.right)}
    return names


def _times_of_versions(
    query: SpjQuery, stamps: Mapping[str, Attribute], hits: SpjUnion
) -> set[str]:
    """The times of answers at which a part reads relations that change."""
    met = {block.stream.name for block in hits.blocks if block.meeting is not None}
    of = {o.alias: o.table for o in query.occurrences}
    return {n for n, a in stamps.items() if of[a.alias] in met}


def _refuse_rounded(query: SpjQuery, keys: Sequence[str], catalog: Catalog) -> None:
    """Raise QueryError where a double of the keys is not compared as the number it is: in a query
    that compares doubles with decimals, both are counted in units of these."""
    types, outputs = Types(catalog, query.occurrences), dict(query.outputs)
    doubles = [o.value for n in keys if isinstance(o := outputs[n], LiteralOutput)]
    if not any(isinstance(types.type_of(a), FloatType) for a in doubles):
        return
    for c in query.conditions:
        if not isinstance(c, Compare) or not isinstance(c.right, Attribute):
            continue
        kinds = [isinstance(types.type_of(a), FloatType) for a in (c.left, c.right)]
        if kinds[0] != kinds[1]:
            raise QueryError(
                f"{c.left} and {c.right}, a double and another number, are compared in EXISTS, IN "
                "or an outer join",
                why="doubles that differ by very little are one number there, and two in the rows",
                fix="declare both columns with one type",
                source=c.source,
            )


def _needed_times(
    found: SpjUnion, times: Sequence[str], stamps: Sequence[Mapping[str, Attribute]], wide: Catalog
) -> set[str]:
    """Times that determine when an answer is complete: those that no other one is never before."""
    limits = [bound_differences(q, wide, domains=False) for q in found.disjuncts]
    kept = list(times)
    for name in times:
        others = [n for n in kept if n != name]

        def is_before(other: str, name: str = name) -> bool:
            return all(
                known is None
                or ((limit := known.get((of[name], of[other]))) is not None and limit[0] <= 0)
                for known, of in zip(limits, stamps, strict=True)
            )

        if any(is_before(other) for other in others):
            kept.remove(name)
    return set(kept)


def _without(deadline: Deadline, dropped: set[str]) -> Deadline:
    after = tuple((n, us) for n, us in deadline.after if n not in dropped)
    return replace(deadline, after=after)


def _drop(union: SpjUnion, dropped: set[str]) -> SpjUnion:
    """The query without some of its variables."""
    disjuncts = tuple(
        replace(q, outputs=tuple((n, o) for n, o in q.outputs if n not in dropped))
        for q in union.disjuncts
    )
    variables = tuple(n for n in union.variables if n not in dropped)
    return replace(union, variables=variables, disjuncts=disjuncts)


def _declare(
    found: SpjUnion,
    absence: Absence,
    times: Sequence[str],
    catalog: Catalog,
    wait: int | None,
    *,
    plain: bool,
) -> tuple[Block, Mapping[str, int]]:
    """The stream of the answers: the types and domains of its columns are those of the query's.
    `wait`: how long after the first of their times answers are final, in µs (None: it differs)."""
    first = found.disjuncts[0]
    time = dict(first.outputs)[times[0]]
    assert isinstance(time, LiteralOutput)
    base = catalog.streams[{o.alias: o.table for o in first.occurrences}[time.value.alias]]
    _share_steps(absence, base.step_us, found, catalog)
    single = is_single(found, catalog)
    behind: dict[str, int] = {}
    for name in found.variables:
        late = {time_behind(q, name, catalog) for q in found.disjuncts}
        if not single and not all(_is_beside(q, name, times[0], catalog) for q in found.disjuncts):
            continue  # of another row than the last one
        if wait is not None and not plain and len(late) == 1 and (us := late.pop()) is not None:
            behind[name] = wait + us
    absence = replace(absence, held=absence.held and bool(wait))  # else they wait for nothing
    shown = [n for n in found.variables if n not in behind]
    own = [_stamps(q, times, catalog) for q in found.disjuncts]
    made = declare_columns(found, shown, [stamps[times[0]] for stamps in own], catalog)
    deadlines = [d for part in absence.parts for d in part.deadlines]
    lags = span_times(found, shown, own, deadlines, catalog)
    stream = Stream(
        found.name,
        ANSWERS,
        AT,
        base.step_us,
        None
        if wait is None and absence.parts
        else _limit(found, made if single else None, catalog),
        made.columns,
        keys=() if wait is None else tuple(_keep_keys(found, shown, catalog)),
        references=made.references,
        source=base.source,
        lags=lags,
        present=tuple(lag.columns[0] for lag in lags),
    )
    known = None if wait is None else (times[0], wait)
    return Block(stream, found, known, absence), behind


def _share_steps(absence: Absence, step_us: int, found: SpjUnion, catalog: Catalog) -> None:
    """Raise UnitsDiffer where an answer may be final between two steps of its stream: with a row
    that is beside it, or so long after its own that no row of another one is."""
    finer = [step_us]
    for part in absence.parts:
        waits = [us for d in part.deadlines for _, us in d.after if us > 0]
        finer += [*waits, *(d.fixed_us for d in part.deadlines if d.fixed_us is not None)]
        if waits and part.present:
            inner = extend_catalog(catalog, part.hits)
            read = {o.table for query in part.hits.disjuncts for o in query.occurrences}
            finer += [inner.streams[name].step_us for name in read if name in inner.streams]
    if (common := gcd(*finer)) != step_us:
        raise UnitsDiffer.of(step_us, common, found.source)


def _keep_keys(
    found: SpjUnion, shown: Sequence[str], catalog: Catalog
) -> Iterator[tuple[str, ...]]:
    """The keys of a stream of which each answer is one row, so long after it."""
    queries = found.disjuncts
    tables = {o.table for q in queries for o in q.occurrences}
    alone = len(tables) == 1 and all(len(q.occurrences) == 1 for q in queries)
    if not alone or not all(starmap(exclude_nulls, combinations(queries, 2))):
        return
    stream = catalog.streams[tables.pop()]
    names: dict[str, str] = {}
    for name in shown:
        outputs = (dict(q.outputs)[name] for q in queries)
        some = [o for o in outputs if not isinstance(o, NullOutput)]
        read = {o.value.column if isinstance(o, LiteralOutput) else None for o in some}
        if len(read) == 1 and (column := read.pop()) is not None:
            names.setdefault(column, name)
    for key in stream.keys:
        others = [c for c in key if c != stream.timestamp]
        if len(others) < len(key) and names.keys() >= {*others}:
            yield (*(names[c] for c in others), AT)


def _limit(found: SpjUnion, single: Stream | None, catalog: Catalog) -> int | None:
    """How many answers are final at one time, so long after the last of their rows (None: any
    number); `single`: the stream of the one row that each is of."""
    counts = [limit_matches(found, catalog)]
    counts += [] if single is None else [single.max_per_timestamp]
    return min((n for n in counts if n is not None), default=None)


def _is_beside(query: SpjQuery, name: str, time: str, catalog: Catalog) -> bool:
    """Whether a variable is of the row that has a time, or of one at the same time."""
    outputs = dict(query.outputs)
    mine, its = ({a.alias for a in output_attributes(outputs[n])} for n in (name, time))
    if mine == its:
        return True
    of = {o.alias: catalog.streams.get(o.table) for o in query.occurrences}
    stamps = [Attribute(a, stream.timestamp) for a in (*mine, *its) if (stream := of[a])]
    limits = bound_differences(query, catalog, domains=False)
    if limits is None or len(stamps) != 2:
        return limits is None
    both = [limits.get((stamps[0], stamps[1])), limits.get((stamps[1], stamps[0]))]
    return all(limit is not None and limit[0] <= 0 for limit in both)


def _constant_wait(absence: Absence, times: Sequence[str], *, latest: bool) -> int | None:
    """How long after its one time, or the latest, the first one, an answer is final, in µs (None:
    that is not always the same). `latest`: no other time is after the first one."""
    every = [(p.present, d) for p in absence.parts for d in p.deadlines]
    if latest and all(any(n == times[0] and us <= 0 for n, us in d.after) for _, d in every):
        return 0
    if len(times) != 1 or any(d.fixed_us is not None for _, d in every):
        return None
    late = [us for present, d in every for _, us in d.after if present]
    if max(late, default=0) > 0 and not absence.held:
        return None  # what must be there may come sooner
    return max((0, *(us for _, d in every for _, us in d.after)))
