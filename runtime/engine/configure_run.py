"""What a run derives from its queries and the catalog, the same for replays and live runs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import pyarrow as pa

from ontoweir.checker.plans.bound_open_groups import wait_for_matches, wait_of_groups
from ontoweir.mappings.model.catalog import Catalog, ClosingRule, Column, Meeting, Stream
from ontoweir.mappings.model.expression import fields_of
from ontoweir.mappings.model.preceding import Preceding
from ontoweir.rewriter.buckets.find_closing import find_closing
from ontoweir.rewriter.groups.group_answers import group_answers
from ontoweir.rewriter.model.add_views import (
    add_statics,
    base_tables,
    extend_catalog,
    tables_of,
    used_views,
)
from ontoweir.rewriter.model.aggregation import Between, is_asked
from ontoweir.rewriter.model.spj import Absence, SpjUnion
from ontoweir.rewriter.windows.choose_emit import CHANGING
from ontoweir.runtime.engine.aggregate_chunk import AggregateWork, plan_aggregates
from ontoweir.runtime.engine.execution import BlockContext, ExecutionContext
from ontoweir.runtime.engine.prepare_plan import plan_step
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.groups.bucket_closing import BucketClosing
from ontoweir.runtime.groups.value_closing import ValueClosing
from ontoweir.runtime.ingest.encode_statics import needed_columns
from ontoweir.runtime.ingest.enforced_columns import enforced_columns
from ontoweir.runtime.ingest.list_references import EnforcedReference, list_references
from ontoweir.runtime.ingest.resolve_breakpoints import list_static_breaks
from ontoweir.runtime.ingest.tested_columns import tested_columns
from ontoweir.runtime.results.render_results import result_schema
from ontoweir.runtime.rules.watched_rule import WatchedRule, list_watched
from ontoweir.runtime.sources.derive_values import derived_columns, read_columns
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.spill.spill_plan import SpillWork
from ontoweir.runtime.views.feed_views import fill_relations
from ontoweir.runtime.views.prepare_view import list_columns


@dataclass(frozen=True, slots=True)
class StreamColumns:
    """The columns of a stream that a run reads.

    `used`: those that plans, references or keys look at; `enforced`: others, which are read only
    to enforce what is declared of them; `tested`: of those used, those of which is asked only that
    they are not NULL.
    """

    stream: Stream
    used: frozenset[str]
    enforced: tuple[Column, ...]
    tested: frozenset[str] = frozenset()

    def spare(self, proven: frozenset[str] = frozenset()) -> frozenset[str]:
        """The columns read only to be checked, without those whose declarations are `proven`."""
        return frozenset(column.name for column in self.enforced) - proven

    def select(
        self, spare: frozenset[str], without: frozenset[str] = frozenset()
    ) -> tuple[str, ...]:
        """The columns in use, `without` some, and `spare` ones, in their declared order."""
        wanted = (self.used | spare) - without
        return tuple(c.name for c in self.stream.columns if c.name in wanted)


@dataclass(frozen=True, slots=True)
class QueryConfig:
    """What a run derives from one query: the columns of its answers, whether equal answers are one,
    and its aggregates (None: it has none)."""

    job: QueryJob
    schema: pa.Schema
    distinct: bool
    aggregates: AggregateWork | None
    blocks: "tuple[BlockConfig, ...]" = ()
    """Of the queries whose answers it reads."""


@dataclass(frozen=True, slots=True)
class BlockConfig:
    """As a BlockJob, of queries with what a run derives from them."""

    stream: Stream
    queries: tuple[QueryConfig, ...]
    absence: Absence | None
    meeting: Meeting | Preceding | None = None
    between: Between[SpjUnion] | None = None


@dataclass(frozen=True, slots=True)
class RunConfig:
    """What a run derives from its queries together.

    `streams`: by name, in order; `relations`: the columns that are needed of each static relation,
    by its name; `references`: those that are enforced on every row.
    """

    catalog: Catalog
    queries: tuple[QueryConfig, ...]
    streams: Mapping[str, StreamColumns]
    relations: Mapping[str, tuple[str, ...]]
    references: tuple[EnforcedReference, ...]

    def list_rules(self, query: QueryConfig, *, whole: bool) -> tuple[WatchedRule, ...]:
        """The rules of the streams that one of the queries reads, of which what breaks them is
        rejected or counted; `whole`: in a history."""
        read = tables_of(query.job.union) & self.streams.keys()
        return list_watched(self.catalog, read, whole=whole)

    def make_context(
        self,
        query: QueryConfig,
        histories: Sequence[History],
        statics: Mapping[str, pa.Table],
        *,
        key: str,
        watch: str = "",
        span: tuple[int | None, int | None] = (None, None),
        rows_per_chunk: int = 0,
    ) -> ExecutionContext:
        """What advances one of the queries.

        Args:
            query: one of `queries`.
            histories: of all `streams`.
            statics: all `relations`; columns that are not needed are left out.
            key: names the run of the query.
            watch: names what runs together (ExecutionContext.watch).
            span: [start, stop) in µs.
            rows_per_chunk: about how many rows a task of a replay holds at once.
        """
        job = query.job
        catalog = extend_catalog(self.catalog, job.union)
        tables = {n: _select(statics[n], columns) for n, columns in self.relations.items()}
        views = used_views(_list_tables(job), job.union.views)
        return ExecutionContext(
            key=key,
            plans=job.plans,
            catalog=catalog,
            histories=tuple(histories),
            statics=tables | fill_relations(views, catalog, tables),
            references=self.references,
            schema=query.schema,
            distinct=query.distinct,
            span=span,
            rows_per_chunk=rows_per_chunk,
            aggregates=query.aggregates,
            name=job.name,
            bound=job.bound,
            watched=job.watched,
            watch=watch,
            spill=SpillWork(job.spill) if job.spill else None,
            views=job.union.views,
            blocks=tuple(
                BlockContext(
                    block.stream,
                    tuple(
                        self.make_context(
                            other,
                            histories,
                            statics,
                            key=f"{key}/{block.stream.name}/{number}",
                            watch=watch or key,
                        )
                        for number, other in enumerate(block.queries)
                    ),
                    block.absence,
                    block.meeting,
                    block.between,
                )
                for block in query.blocks
            ),
        )


def _list_tables(job: QueryJob) -> set[str]:
    """The tables, and views, that the plans of a query read; of an aggregate without GROUP BY that
    has no plans, as nothing can match, those it names: its row over nothing begins with theirs."""
    aggregation = job.union.aggregation
    if not job.plans and aggregation is not None and not aggregation.told.group:
        return tables_of(job.union)
    return {o.table for plan in job.plans for o in plan.form.query.occurrences}


def _select(table: pa.Table, columns: Sequence[str]) -> pa.Table:
    """Some columns of a static relation; of none, one that says how many rows there are, which a
    table without columns does not know any more where it was sent to."""
    return table.select(columns) if columns else pa.table({"": pa.nulls(table.num_rows)})


def configure_query(job: QueryJob) -> QueryConfig:
    """What a run derives from one query.

    Raises:
        QueryError: it reads no stream, or streams with different units of time.
    """
    catalog = extend_catalog(job.catalog, job.union)
    for plan in job.plans:
        plan_step(plan, catalog)
    blocks = tuple(
        BlockConfig(
            block.stream,
            tuple(map(configure_query, block.queries)),
            block.absence,
            block.meeting,
            block.between,
        )
        for block in job.blocks
    )
    aggregation = job.union.aggregation
    if aggregation is None and not job.parts:
        schema = result_schema(job.union, catalog)
        return QueryConfig(job, schema, job.union.distinct, None, blocks)
    if aggregation is None:  # a set whose answers are forgotten when their values are closed
        job = replace(job, union=group_answers(job.union))
    # groups are distinct as they are; SELECT DISTINCT says nothing of the matches they count
    closing = _find_closing(job, catalog, at_once=aggregation is None)
    aggregates = plan_aggregates(job.union, job.parts, catalog, closing)
    if aggregation and job.emit in CHANGING and closing is None and not aggregation.told.group:
        aggregates = replace(aggregates, begins=True)
    return QueryConfig(job, aggregates.answers, False, aggregates, blocks)


def _find_closing(
    job: QueryJob, catalog: Catalog, *, at_once: bool
) -> BucketClosing | ValueClosing | None:
    """When the groups of an aggregate query are final (None: never). `at_once`: they are answers,
    told when they are found. Where nothing can match, there are no groups that end."""
    if job.union.ends or not job.plans or not any(part.closes for part, _ in job.parts):
        return None
    step = plan_step(job.plans[0], catalog)
    forms = [plan.form for plan in job.plans if plan.form.query.closing is not None]
    wait = max(map(wait_for_matches, forms), default=0)
    watched = next((part for part, _ in job.parts if part.watches), None)
    closed = next((form.query.closed for form in forms if form.query.closed is not None), None)
    if watched is not None:
        rule = ClosingRule(()) if closed is None else closed.rule
        return ValueClosing(
            watched.group,
            wait * step,
            rule.gap_us,
            rule.rows,
            rule.span_us,
            at_once,
            rule.slack,
            rule.late_rows,
            "" if closed is None or is_asked(closed) else closed.stream,
            rule.columns,
            timed=rule.width_us is not None,
        )
    found = find_closing(job.union, catalog)
    assert found is not None  # split_by_keys found it
    late = wait_of_groups(forms, step, catalog) - found.bucket.behind_us
    return BucketClosing(found.variable, found.bucket, late, step, found.grid_us)


def _add(needed: dict[str, set[str]], more: Mapping[str, set[str]]) -> None:
    for table, columns in more.items():
        needed.setdefault(table, set()).update(columns)


def _list_jobs(jobs: Iterable[QueryJob]) -> Iterator[QueryJob]:
    """Jobs, and those whose answers they read."""
    for job in jobs:
        yield job
        yield from _list_jobs(other for block in job.blocks for other in block.queries)


def _add_met(
    jobs: Sequence[QueryJob], needed: Mapping[str, set[str]], valued: dict[str, set[str]]
) -> set[str]:
    """What is read of rows that have met a version, as what is read of their streams, of which the
    names are given."""
    names: set[str] = set()
    for block in reversed([b for job in _list_jobs(jobs) for b in job.blocks]):
        if block.meeting is None:
            continue
        wanted = needed.get(block.stream.name, set()) | valued.get(block.stream.name, set())
        if isinstance(block.meeting, Preceding):
            _add(valued, {block.meeting.base: _list_preceding(block.meeting, wanted)})
            names.add(block.meeting.base)
            continue
        met, versions = {n: c for c, n in block.meeting.columns}, block.meeting.versions
        keys = {of for of, _ in block.meeting.key if isinstance(of, str)}
        _add(valued, {block.meeting.base: keys | (wanted - met.keys())})
        held = {met[c] for c in wanted & met.keys()} | {c for _, c in block.meeting.key}
        held |= {c for c in (versions.delete, versions.order) if c is not None}
        held |= set() if versions.only is None else set(fields_of(versions.only))
        held -= {versions.time}
        _add(valued, {versions.stream: held})
        names |= {block.meeting.base, versions.stream}
    return names


def _list_preceding(preceding: Preceding, wanted: Set[str]) -> set[str]:
    """What is read of rows that meet those before them."""
    made = {c.name for c in preceding.columns}
    read = [c.argument for c in preceding.columns if c.argument is not None]
    read += [key.by for c in preceding.columns for key in c.order]
    read += [key.by for key in preceding.ties]
    read += [preceding.only] if preceding.only is not None else []
    fields = {name for expression in read for name in fields_of(expression)}
    return ({*preceding.key} | fields | (wanted - made)) - {preceding.time}


def configure_run(
    jobs: Sequence[QueryJob], catalog: Catalog, verified: Set[str] = frozenset()
) -> RunConfig:
    """What a run derives from its queries together.

    Args:
        jobs: the queries.
        catalog: the tables.
        verified: streams whose rows are known to keep what is declared (VerifiedRows): no column of
            theirs is read only to enforce it.

    Raises:
        QueryError: a query reads no stream, or streams with different units of time.
    """
    for job in _list_jobs(jobs):
        catalog = add_statics(catalog, job.union.statics)
    queries = tuple(map(configure_query, jobs))
    needed: dict[str, set[str]] = {}
    valued: dict[str, set[str]] = {}
    names: set[str] = set()
    for job in _list_jobs(jobs):
        read = _list_tables(job)
        views = used_views(read, job.union.views)
        tables = extend_catalog(catalog, job.union)
        for plan in job.plans:
            columns, tested = needed_columns(plan.form, tables), tested_columns(plan.form, tables)
            _add(needed, read_columns(tables, columns))
            tested -= derived_columns(tables, columns)
            looked = {t: {c for c in cs if (t, c) not in tested} for t, cs in columns.items()}
            _add(valued, read_columns(tables, looked))
            for one in plan.form.open:
                _add(valued, read_columns(tables, {one.stream: one.read}))
            for table, column in list_static_breaks(plan):
                _add(valued, read_columns(tables, {table: {column}}))
        for view in views:
            _add(valued, read_columns(tables, list_columns(view, tables)))
        for key in job.watched:
            _add(valued, {key.stream: set(key.columns)})
        names |= base_tables(read, views) & catalog.streams.keys()
    names |= _add_met(jobs, needed, valued) & catalog.streams.keys()
    for rule in list_watched(catalog, names, whole=True):
        for table, read_of in rule.read:
            _add(valued, {table: set(read_of)})
    references = list_references(catalog, sorted(names - verified))
    for reference in references:
        valued.setdefault(reference.stream, set()).add(reference.column)
        valued.setdefault(reference.relation, set()).add(reference.to)
    for name in names - verified:
        _add(valued, {name: {c for columns in catalog.streams[name].keys for c in columns}})
    _add(needed, valued)
    streams = {}
    for name in sorted(names):
        stream = catalog.streams[name]
        used = needed.get(name, set())
        enforced = () if name in verified else enforced_columns(stream)
        streams[name] = StreamColumns(
            stream,
            frozenset(used),
            tuple(c for c in enforced if c.name not in used),
            frozenset(used - valued.get(name, set())),
        )
    relations = {n: tuple(sorted(needed[n])) for n in sorted(needed) if n in catalog.relations}
    return RunConfig(catalog, queries, streams, relations, references)
