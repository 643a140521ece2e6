"""Measure the streams of a project, and say what declaring what they keep would change."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier, Verdict
from ontoweir.errors import OntoweirError, UsageError
from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.measuring.count_nulls import count_nulls
from ontoweir.measuring.declared import (
    Declared,
    SetDomain,
    SetLateness,
    SetNullable,
    SetRate,
    declare_in,
)
from ontoweir.measuring.find_joins import Join, find_joins, measure_lags
from ontoweir.measuring.measure_streams import compare_streams, measure_streams
from ontoweir.measuring.propose_declarations import (
    Proposed,
    propose_declarations,
    propose_nullable,
)
from ontoweir.measuring.propose_lags import propose_lags
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.pipeline.read_text import read_text
from ontoweir.rewriter.model.add_views import tables_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ontoweir.progress.replay_progress import ProgressListener
    from ontoweir.runtime.measure.measured import MeasuredLag, MeasuredRatio, MeasuredStream


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
    """What was measured of streams, what could be declared of them, of each query what of that it
    needs to be bounded, and how long rows come after those that the queries join (None: there are
    too many values to tell). `ratios`: of two streams, how many rows of the first there are for
    each of the second."""

    streams: "Mapping[str, MeasuredStream]"
    judged: tuple[Judged, ...]
    remedies: tuple[Remedy, ...]
    lags: "Mapping[Join, MeasuredLag | None]"
    ratios: "Mapping[tuple[str, str], MeasuredRatio]"


def measure_project(
    workspace: Workspace,
    compiled: Sequence[CompiledQuery],
    spark: "Callable[[], SparkSession]",
    progress: "ProgressListener | None" = None,
    most: int | None = None,
) -> Measurement:
    """Measure the streams that queries read.

    Args:
        workspace: the project.
        compiled: the queries; none: all streams are measured.
        spark: gives the session where a source needs it.
        progress: is called while rows are read.
        most: of each stream the first so many rows are enough (None: all are read).

    Raises:
        UsageError: the project has no stream.
        DataError: data is missing, or cannot be read.
    """
    catalog = workspace.project.catalog
    streams = _list_streams(compiled, catalog)
    known = {s.name for s in streams}
    joins = [
        join
        for join in find_joins([query.union for query in compiled], catalog)
        if {join.stream, join.behind} <= known
    ]
    ends = {(j.stream, j.column) for j in joins} | {(j.behind, j.to) for j in joins}
    measured = measure_streams(catalog, streams, spark, progress, ends, most)
    lags = measure_lags(joins, measured)
    proposed = [p for s in streams for p in propose_declarations(s, measured[s.name])]
    proposed += [p for s in streams for p in propose_lags(s, measured, lags)]
    read = {name for query in compiled for name in tables_of(query.union)}
    static = [r for n, r in catalog.relations.items() if n in read or not compiled]
    for relation in static:
        rows, nulls = count_nulls(relation, catalog.file)
        proposed += propose_nullable(relation, nulls, rows)
    judge = _Judge(workspace, compiled)
    judged = [Judged(p, tuple(judge.changes(p))) for p in proposed]
    lossless = [p for p in proposed if not p.loses]
    remedies = tuple(judge.remedy(query, lossless) for query in compiled)
    less = {c.query for j in judged if not j.proposed.asked for c in j.changes}
    needed = {p.declared for remedy in remedies for p in remedy.needed}
    judged = [
        j
        for j in judged
        if not j.proposed.asked
        or j.proposed.declared in needed
        or {c.query for c in j.changes} - less
    ]
    judged.sort(key=lambda j: -len(j.changes))
    return Measurement(measured, tuple(judged), remedies, lags, compare_streams(measured))


def _list_streams(compiled: Sequence[CompiledQuery], catalog: Catalog) -> list[Stream]:
    read = {name for query in compiled for name in tables_of(query.union)}
    known = {n: s for n, s in catalog.streams.items() if s.versions is None}
    wanted = [s for n, s in known.items() if n in read or not compiled]
    if not wanted:
        raise UsageError(
            "there is no stream to measure",
            why="the project declares none, or its queries read none",
            fix="declare [streams.NAME] in the project file",
        )
    return wanted


class _Judge:
    """Decides queries with more declared."""

    def __init__(self, workspace: Workspace, compiled: Sequence[CompiledQuery]) -> None:
        self.workspace, self.catalog = workspace, workspace.project.catalog
        self.before = {q.name: (q, workspace.check(q)) for q in compiled}

    def changes(self, proposed: Proposed) -> Iterator[Changed]:
        """The queries whose verdict a declaration alone changes."""
        for name, (query, before) in self.before.items():
            if isinstance(proposed.declared, SetLateness | SetNullable):
                return  # it is what the data needs to be read, or shown, and bounds no value
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
            if p.declared.stream in read and not isinstance(p.declared, SetLateness | SetNullable)
        ]
        after = None if before.plans is not None else self._bounded(query, chosen)
        if after is None:
            return Remedy(query.name, before, (), before)
        chosen.sort(key=lambda p: isinstance(p.declared, SetDomain))
        chosen, after = self._leave_out(query, chosen, after)
        chosen, after = self._tighten(query, chosen, proposed, after)
        chosen, after = self._leave_out(query, chosen, after)
        return Remedy(query.name, before, tuple(chosen), after)

    def _leave_out(
        self, query: CompiledQuery, chosen: list[Proposed], after: Verdict
    ) -> tuple[list[Proposed], Verdict]:
        """Those of some declarations without which the query is not bounded; what is only a range,
        at their end, is left out first."""
        for one in reversed(list(chosen)):
            rest = [p for p in chosen if p is not one]
            without = self._bounded(query, rest)
            if without is not None:
                chosen, after = rest, without
        return chosen, after

    def _tighten(
        self,
        query: CompiledQuery,
        chosen: list[Proposed],
        proposed: Sequence[Proposed],
        after: Verdict,
    ) -> tuple[list[Proposed], Verdict]:
        """As many declarations, in the place of each that one by which the bound is the least; none
        that is only a range."""
        read = tables_of(query.union)
        others = [
            p
            for p in proposed
            if p.declared.stream in read
            and not isinstance(p.declared, SetLateness | SetNullable | SetDomain)
        ]
        rates = [
            p for p in others if isinstance(p.declared, SetRate)
        ]  # by which bounds have numbers
        least = _rows(self._bounded(query, [*chosen, *rates]))
        for place in range(len(chosen)):
            for one in others:
                swapped = [*chosen[:place], one, *chosen[place + 1 :]]
                if one in chosen or (found := self._bounded(query, swapped)) is None:
                    continue
                rows = _rows(self._bounded(query, [*swapped, *rates]))
                if rows < least:
                    chosen, after, least = swapped, found, rows
        return chosen, after

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


def _rows(verdict: Verdict | None) -> float:
    """The rows of a bound; without a number it is greater than any."""
    rows = None if verdict is None or verdict.bound is None else verdict.bound.rows
    return float("inf") if rows is None else rows


def _differs(before: Verdict, after: Verdict) -> bool:
    """Whether a verdict is another one: bounded where it was not; or a number where it had none."""
    if (before.plans is None) != (after.plans is None):
        return after.plans is not None
    known = before.bound is not None and before.bound.rows is not None
    return after.bound is not None and after.bound.rows is not None and not known
