"""Compile the solutions of a SPARQL query, and what is beside them: patterns with such in turn."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.time_bucket import Moments, TimeBucket
from ontoweir.pipeline.compiled_query import CompiledQuery
from ontoweir.rewriter.absence.compute_solutions import (
    compute_solutions,
    find_bucketed,
    has_windows,
    list_needed,
)
from ontoweir.rewriter.absence.find_greatest import find_greatest
from ontoweir.rewriter.absence.find_latest import find_latest
from ontoweir.rewriter.absence.split_text import PartText, SolutionTexts, SplitText, split_text
from ontoweir.rewriter.absence.unite_solutions import Solutions, Uniting, unite_solutions
from ontoweir.rewriter.before.meet_before import meet_before
from ontoweir.rewriter.buckets.make_column import make_column
from ontoweir.rewriter.clauses.list_items import ItemKind
from ontoweir.rewriter.differences.since_first import FIRST, first_moment
from ontoweir.rewriter.expressions.attach_computation import SeveralRowsError
from ontoweir.rewriter.lasting.find_open import find_open
from ontoweir.rewriter.lasting.split_open import OpenText, split_open
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.query import ConjunctiveQuery, GroupTerms, Variable
from ontoweir.rewriter.model.share_steps import UnitsDiffer
from ontoweir.rewriter.model.spj import Attribute, LiteralOutput, SpjQuery, SpjUnion
from ontoweir.rewriter.recent.last_matches import last_matches
from ontoweir.rewriter.sparql.parse_query import parse_query
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.standing.compute_standing import compute_standing
from ontoweir.rewriter.standing.find_registers import find_registers
from ontoweir.rewriter.standing.find_standing import find_standing
from ontoweir.rewriter.windows.window import BEGINS, ENDS


class SolutionCompiler(NamedTuple):
    """`plain`: compiles a text without such clauses, `branches` what one was parsed to; `name`: of
    the query, of which what is inside has names of its own."""

    plain: Callable[[str], CompiledQuery]
    name: str
    file: str
    catalog: Catalog
    branches: Callable[[tuple[ConjunctiveQuery, ...]], CompiledQuery]

    def first_moment(self, streams: Sequence[str]) -> SpjUnion:
        """The query of the first timestamp of any row of some streams."""
        return compile_moment(streams, self.catalog, self.file)


def compile_moment(streams: Sequence[str], catalog: Catalog, file: str) -> SpjUnion:
    """The query of the first timestamp of any row of some streams, or of those of the whole query
    where they are known (Catalog.begins)."""
    known = [catalog.streams[name] for name in catalog.begins or streams]
    return parse_sql(first_moment(known).sql("spark"), catalog, name=FIRST, file=file)


def compile_solutions(one: SolutionTexts, work: SolutionCompiler) -> Solutions:
    """The solutions of texts.

    Raises:
        QueryError: what is inside of another clause is not final at the time of the solution.
    """
    found = work.plain(one.text).union
    times = tuple(n for n in one.times if n in found.variables)
    parts = []
    for number, part in enumerate(one.parts):
        inside = work._replace(name=f"{work.name}_inside{number}")
        hits = _compile_part(part, times, inside)
        parts.append((replace(hits, distinct=True), part.keys, part.present))
    return Solutions(found, times, tuple(parts), one.missing)


def compile_open(text: str, work: SolutionCompiler) -> SpjUnion | None:
    """The query of solutions that came some time before NOW(), and that no later row has ended
    (None: it is something else).

    Raises:
        QueryError: the query is refused anywhere.
    """
    asked = split_open(text, work.file)
    wait = None if asked is None else _read_wait(asked, work)
    if asked is None or wait is None or (split := split_text(asked.every, work.file)) is None:
        return None
    if split.around is None:
        head, distinct, around = split.head, split.distinct, None
    else:
        around = parse_query(split.around, name=work.name, file=work.file, late=split.late)[0]
        head, distinct = list_needed(around), around.distinct
    every = split.write_solutions(head, distinct=distinct)
    if len(every) != 1:
        return None
    solutions = compile_solutions(every[0], work)
    unions = [solutions.found, *(hits for hits, _, _ in solutions.parts)]
    steps = {s for union in unions for s in _list_steps(union, work)}
    if len(steps) > 1:
        raise UnitsDiffer.of(min(steps), max(steps), split.source)
    step = min(steps, default=1)
    wait = -(-wait // step) * step
    inside = split_text(asked.write_within(wait), work.file)
    assert inside is not None
    (within,) = inside.write_solutions(head, distinct=distinct)
    late = compile_solutions(within, work)
    alone = distinct and around is None
    made = find_open(solutions, late, head, work.catalog, distinct=alone)
    if made is None or around is None:
        return made
    return compute_standing(made, around, work.catalog)


def tell_nothing(
    branches: Sequence[ConjunctiveQuery],
    head: Sequence[str],
    around: ConjunctiveQuery | None,
    read: Callable[[tuple[ConjunctiveQuery, ...]], CompiledQuery],
) -> SpjUnion:
    """The query of solutions of which there are none, whatever is beside them; what is not grouped
    has its row, if they are of streams.

    Args:
        branches: of the solutions.
        head: what is shown of them.
        around: what is computed of them (None: nothing).
        read: compiles branches.
    """
    names, groups = tuple(head), None
    if around is not None:
        groups = around.aggregation
        names = groups.variables if groups is not None else names
    made = (
        replace(
            branch,
            head=tuple(map(Variable, names)),
            distinct=branch.distinct if around is None else around.distinct,
            constants=(),
            aggregation=groups,
            buckets=branch.buckets if around is None else around.buckets or branch.buckets,
            computation=None,
            group_terms=GroupTerms() if around is None else around.group_terms,
        )
        for branch in branches
    )
    return read(tuple(made)).union


def refuse_windows(solutions: Sequence[Solutions], source: Source) -> None:
    """Raise QueryError for windows of what is beside solutions, or of these where others are."""
    unions = [u for one in solutions for u in (one.found, *(hits for hits, _, _ in one.parts))]
    if any(union.ends or union.begins for union in unions):
        raise QueryError(
            "NOW() inside of NOT EXISTS, EXISTS, MINUS or OPTIONAL, or of a group beside them",
            why="what is found beside a solution may leave its window, so the answer would "
            "change back; that is read beside patterns of static data, and of what comes and "
            "goes by itself: of one GRAPH with a time of its own and FILTERs behind its braces",
            fix='compare the times: FILTER(?t2 > ?t - "PT10M"^^xsd:dayTimeDuration); NOW() of '
            "the solutions themselves is written in the outermost group",
            source=source,
        )


def _compile_part(part: PartText, times: Sequence[str], work: SolutionCompiler) -> SpjUnion:
    """What is beside solutions, which have `times`."""
    split = split_text(part.text, work.file)
    if split is None:
        return work.plain(part.text).union
    if split.around is not None or not _is_read(split):
        raise QueryError(
            "OPTIONAL, MINUS, or what may have no value, inside of NOT EXISTS, EXISTS, MINUS or "
            "OPTIONAL",
            why="NOT EXISTS and EXISTS of patterns are read there, inside of each other",
            fix="write FILTER NOT EXISTS { … } in FILTER NOT EXISTS { … }; what is inside may be a "
            "view of static relations that is mapped to a property",
            source=split.source,
        )
    texts = split.write_solutions(part.keys, distinct=True)
    solutions = [
        compile_solutions(text, work._replace(name=f"{work.name}_{number}"))
        for number, text in enumerate(texts)
    ]
    refuse_windows(solutions, split.source)
    union = unite_solutions(
        work.name,
        part.keys,
        solutions,
        work.catalog,
        distinct=True,
        source=split.source,
        how=Uniting(plain=True),
    )
    return _place_times(union, times, split)


def _is_read(split: SplitText) -> bool:
    kinds = (ItemKind.ABSENT, ItemKind.PRESENT)
    return all(clause.item.kind in kinds for text in split.texts for clause in text.clauses)


def _place_times(union: SpjUnion, times: Sequence[str], split: SplitText) -> SpjUnion:
    """The query with the timestamps of its streams of solutions as the one time around, which these
    are: what is inside is final then.

    Raises:
        QueryError: it need not be.
    """
    blocks = {block.stream.name: block for block in union.blocks}
    moment = make_column(TimeBucket(Moments()))

    def place(query: SpjQuery) -> SpjQuery:
        block = blocks.get(query.occurrences[0].table)
        if block is None:
            return query
        if len(times) != 1 or block.time != (times[0], 0):
            raise QueryError(
                "NOT EXISTS or EXISTS inside of NOT EXISTS, EXISTS, MINUS or OPTIONAL",
                why="it must be final at the one time around both: it looks at later times, or "
                "there are several around it",
                fix=f"let its times be none after ?{times[0]}, as in FILTER(?u <= ?{times[0]})"
                if times
                else "write the patterns in GRAPH ?t { … }",
                source=split.source,
            )
        (time,) = times
        before = dict(query.outputs)[time]
        assert isinstance(before, LiteralOutput)
        at = Attribute(query.occurrences[0].alias, moment.name)
        made = ((n, replace(before, value=at) if n == time else o) for n, o in query.outputs)
        return replace(query, outputs=tuple(made))

    shown = tuple((name, moment) for name in blocks)
    return replace(
        union,
        disjuncts=tuple(map(place, union.disjuncts)),
        buckets=tuple(dict.fromkeys((*union.buckets, *shown))),
    )


def _list_steps(union: SpjUnion, work: SolutionCompiler) -> set[int]:
    """The steps of the streams of a query, in µs."""
    known = extend_catalog(work.catalog, union).streams
    tables = {o.table for q in union.disjuncts for o in q.occurrences}
    return {known[name].step_us for name in tables if name in known}


def _read_wait(asked: OpenText, work: SolutionCompiler) -> int | None:
    """How long before NOW() solutions come, in µs (None: something else is said)."""
    branches = parse_query(asked.window, name=work.name, file=work.file)
    if len({branch.buckets for branch in branches}) != 1:
        return None
    windows = [b for b in branches[0].buckets if b.name.startswith((BEGINS, ENDS))]
    if len(windows) != 1 or not windows[0].name.startswith(BEGINS):
        return None
    edge = windows[0].bucket.buckets
    return edge.after_us if isinstance(edge, Moments) else None


class Asked(NamedTuple):
    """The solutions of a query, `split`: what is needed of them (`head`), whether equal ones are
    one (`distinct`), and what is computed of them (`around`)."""

    split: SplitText
    solutions: Sequence[Solutions]
    head: tuple[str, ...]
    distinct: bool
    around: ConjunctiveQuery | None


def meet_solutions(asked: Asked, known: Catalog) -> SpjUnion | None:
    """Solutions with the latest rows before them (None: they are others)."""
    if len(asked.solutions) != 1:
        return None
    made = meet_before(asked.solutions[0], asked.head, known, distinct=asked.distinct)
    if made is None or asked.around is None:
        return made
    compute = compute_solutions if made.standing is None else compute_standing
    return compute(made, asked.around, known)


def unite_asked(text: str, asked: Asked, work: SolutionCompiler) -> SpjUnion:
    """The query that solutions are made into, whatever is beside them."""
    _, solutions, head, distinct, around = asked
    name, known = work.name, work.catalog
    static = find_registers(
        solutions if around is None else (), head, known, work.first_moment, distinct=distinct
    )
    if static is not None:
        return static
    refuse_windows(solutions, asked.split.source)

    def last(once: bool) -> SpjUnion | None:
        return last_matches(text, solutions, head, known, asked.split.source, distinct=once)

    nested = any(hits.blocks for s in solutions for hits, _, _ in s.parts)

    def unite(plain: bool) -> SpjUnion:
        held = False if around is None else find_bucketed(around)
        return unite_solutions(
            name,
            head,
            solutions,
            known,
            distinct=distinct,
            source=asked.split.source,
            how=Uniting(plain, held),
        )

    if around is None:
        union = None
        if not nested:
            union = find_latest(solutions, head, known) or find_greatest(solutions, head, known)
            union = union or find_standing(solutions, head, known, distinct=distinct)
            union = union or last(distinct)
        return union or unite(plain=True)
    windows = has_windows(around)
    if not nested and not windows:
        stands = find_standing(solutions, head, known, distinct=False)
        stands = stands or last(False)
        if stands is not None:
            return compute_standing(stands, around, known)
    try:
        return compute_solutions(unite(plain=not windows), around, known)
    except SeveralRowsError:  # streams of solutions are rows
        return compute_solutions(unite(plain=False), around, known)
