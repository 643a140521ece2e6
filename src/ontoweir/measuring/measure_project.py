"""Measure the streams of a project, and say what declaring what they keep would change."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier, Verdict
from ontoweir.errors import OntoweirError, UsageError
from ontoweir.mappings.model.catalog import Catalog, DateType, Stream, TimestampType
from ontoweir.measuring.declared import Declared, SetLateness, declare_in
from ontoweir.measuring.propose_declarations import Proposed, propose_declarations
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.pipeline.read_text import read_text
from ontoweir.rewriter.model.add_views import tables_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from ontoweir.progress.replay_progress import ProgressListener
    from ontoweir.runtime.engine.configure_run import StreamColumns
    from ontoweir.runtime.measure.measured import MeasuredStream


@dataclass(frozen=True, slots=True)
class Changed:
    """A query whose verdict a declaration changes."""

    query: str
    before: Verdict
    after: Verdict


@dataclass(frozen=True, slots=True)
class Judged:
    """A declaration, and the queries whose verdicts it alone changes."""

    proposed: Proposed
    changes: tuple[Changed, ...]


@dataclass(frozen=True, slots=True)
class Remedy:
    """Declarations that together make a query bounded, and of which none can be left out (none:
    they do not suffice, or the query is bounded as it is)."""

    query: str
    before: Verdict
    needed: tuple[Proposed, ...]
    after: Verdict


@dataclass(frozen=True, slots=True)
class Measurement:
    """What was measured of streams, what could be declared of them, and of each query what of that
    it needs to be bounded."""

    streams: "Mapping[str, MeasuredStream]"
    judged: tuple[Judged, ...]
    remedies: tuple[Remedy, ...]


def measure_project(
    workspace: Workspace,
    compiled: Sequence[CompiledQuery],
    spark: "Callable[[], SparkSession]",
    progress: "ProgressListener | None" = None,
) -> Measurement:
    """Measure the streams that queries read.

    Args:
        workspace: the project.
        compiled: the queries; none: all streams are measured.
        spark: gives the session where a source needs it.
        progress: is called while rows are read.

    Raises:
        UsageError: the project has no stream.
        DataError: data is missing, or cannot be read.
    """
    catalog = workspace.project.catalog
    streams = _list_streams(compiled, catalog)
    measured = _measure(catalog, streams, spark, progress)
    proposed = [p for s in streams for p in propose_declarations(s, measured[s.name])]
    judge = _Judge(workspace, compiled)
    judged = [Judged(p, tuple(judge.changes(p))) for p in proposed]
    judged.sort(key=lambda j: -len(j.changes))
    lossless = [p for p in proposed if not p.loses]
    remedies = tuple(judge.remedy(query, lossless) for query in compiled)
    return Measurement(measured, tuple(judged), remedies)


def _list_streams(compiled: Sequence[CompiledQuery], catalog: Catalog) -> list[Stream]:
    read = {name for query in compiled for name in tables_of(query.union)}
    wanted = [s for n, s in catalog.streams.items() if n in read or not compiled]
    if not wanted:
        raise UsageError(
            "there is no stream to measure",
            why="the project declares none, or its queries read none",
            fix="declare [streams.NAME] in the project file",
        )
    return wanted


def _measure(
    catalog: Catalog,
    streams: Sequence[Stream],
    spark: "Callable[[], SparkSession]",
    progress: "ProgressListener | None",
) -> "dict[str, MeasuredStream]":
    from ontoweir.runtime.measure.measure_stream import measure_stream
    from ontoweir.runtime.replay.open_history import StagingArea, open_history

    statics = _load_keys(catalog, spark)
    raw = [_undeclared(s) for s in streams]
    catalog = replace(catalog, streams={s.name: s for s in raw})
    measured = {}
    with tempfile.TemporaryDirectory(prefix="ontoweir-measure-") as folder:
        area = StagingArea(spark, Path(folder), (None, None), True, progress)
        for stream in raw:
            history = open_history(catalog, _all_columns(stream), area)
            measured[stream.name] = measure_stream(history, statics)
    return measured


def _undeclared(stream: Stream) -> Stream:
    """A stream as its rows came, not sorted, and none of them late; nothing is said of values."""
    columns = tuple(replace(c, minimum=None, maximum=None, enum=None) for c in stream.columns)
    return replace(
        stream, lateness_us=0, data=replace(stream.data, sort=False), columns=columns, start_us=None
    )


def _all_columns(stream: Stream) -> "StreamColumns":
    """All columns; those that the data lacks are NULL, but for dates and times, which it has."""
    from ontoweir.runtime.engine.configure_run import StreamColumns

    dated = {c.name for c in stream.columns if isinstance(c.type, DateType | TimestampType)}
    others = tuple(c for c in stream.columns if c.name not in dated)
    return StreamColumns(stream, frozenset(dated), others)


def _load_keys(
    catalog: Catalog, spark: "Callable[[], SparkSession]"
) -> "dict[tuple[str, str], pa.Array]":
    """The values of the keys of one column that static relations have."""
    from ontoweir.runtime.statics.load_statics import load_statics

    keyed = {
        (r.name, key[0]) for r in catalog.relations.values() for key in r.keys if len(key) == 1
    }
    loaded = load_statics(spark, catalog, {name for name, _ in keyed})
    return {(n, c): loaded[n].column(c).combine_chunks() for n, c in sorted(keyed)}


class _Judge:
    """Decides queries with more declared."""

    def __init__(self, workspace: Workspace, compiled: Sequence[CompiledQuery]) -> None:
        self.workspace, self.catalog = workspace, workspace.project.catalog
        self.before = {q.name: (q, workspace.check(q)) for q in compiled}

    def changes(self, proposed: Proposed) -> Iterator[Changed]:
        """The queries whose verdict a declaration alone changes."""
        for name, (query, before) in self.before.items():
            if isinstance(proposed.declared, SetLateness):
                return  # it is what the data needs to be read, and bounds no value
            if proposed.declared.stream not in tables_of(query.union):
                continue
            after = self._decide(query, [proposed.declared])
            if after is not None and _differs(before, after):
                yield Changed(name, before, after)

    def remedy(self, query: CompiledQuery, proposed: Sequence[Proposed]) -> Remedy:
        """What of some declarations a query needs to be bounded."""
        _, before = self.before[query.name]
        read = tables_of(query.union)
        chosen = [
            p
            for p in proposed
            if p.declared.stream in read and not isinstance(p.declared, SetLateness)
        ]
        after = None if before.plans is not None else self._bounded(query, chosen)
        if after is None:
            return Remedy(query.name, before, (), before)
        for one in reversed(list(chosen)):  # what is only a range is left out first
            rest = [p for p in chosen if p is not one]
            without = self._bounded(query, rest)
            if without is not None:
                chosen, after = rest, without
        return Remedy(query.name, before, tuple(chosen), after)

    def _bounded(self, query: CompiledQuery, proposed: Sequence[Proposed]) -> Verdict | None:
        if not proposed:
            return None
        found = self._decide(query, [p.declared for p in proposed])
        if found is None or found.tier is Tier.UNSATISFIABLE:  # it asks for nothing then
            return None
        return found if found.plans is not None else None

    def _read(self, query: CompiledQuery) -> str:
        """The text of a query."""
        source = query.union.source
        return "" if source is None else read_text(Path(source.file))

    def _decide(self, query: CompiledQuery, declared: Sequence[Declared]) -> Verdict | None:
        """The verdict with more declared (None: the query is refused so)."""
        catalog = declare_in(self.catalog, declared)
        try:
            text = self._read(query)
            union = self.workspace.recompile(query, text, text, catalog)
            return check_query(union, catalog, disprove=False)
        except OntoweirError:
            return None


def _differs(before: Verdict, after: Verdict) -> bool:
    """Whether a verdict is another one: bounded where it was not; or a number where it had none."""
    if (before.plans is None) != (after.plans is None):
        return after.plans is not None
    known = before.bound is not None and before.bound.rows is not None
    return after.bound is not None and after.bound.rows is not None and not known
