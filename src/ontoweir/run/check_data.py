"""Whether what a catalog declares is true of the data at hand."""

import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Lag, Stream

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from ontoweir.progress.replay_progress import ProgressListener
    from ontoweir.runtime.replay.open_arrivals import Arrivals
    from ontoweir.runtime.violations.find_static_violations import StaticRows
    from ontoweir.runtime.violations.first_times import FirstTimes
    from ontoweir.runtime.violations.violation import TableViolations


@dataclass(frozen=True)
class DataCheck:
    """A look at the data of a project.

    `most`: of each stream so many rows, the first (None: all); `spark`: gives the session where a
    source needs it; `progress`: is called while rows are read.
    """

    catalog: Catalog
    spark: "Callable[[], SparkSession]"
    most: int | None = None
    progress: "ProgressListener | None" = None
    _known: "dict[Stream, TableViolations]" = field(default_factory=dict, repr=False)
    _held: "dict[str, StaticRows | None]" = field(default_factory=dict, repr=False)
    _loaded: "dict[str, pa.Table]" = field(default_factory=dict, repr=False)

    def find(self, names: Collection[str]) -> "Iterator[TableViolations]":
        """What is wrong in tables, in the order of the catalog; views, and relations that only
        Spark reads, are held to what is declared as they are loaded.

        Raises:
            DataError: data is missing, or cannot be read; or a row of what Spark reads is wrong.
        """
        from ontoweir.runtime.violations.find_static_violations import find_static_violations
        from ontoweir.runtime.violations.violation import TableViolations

        for name, relation in self.catalog.relations.items():
            if name not in names:
                continue
            held = self._read(name)
            if held is not None:
                others = {r.relation: self._rows(r.relation) for r in relation.references}
                yield find_static_violations(relation, held, others)
            else:
                yield TableViolations(name, self._rows(name).num_rows, True, ())
        for name, stream in self.catalog.streams.items():
            if name in names and stream.versions is None:
                yield self.find_in(stream)

    def find_in(self, stream: Stream) -> "TableViolations":
        """What is wrong in the rows of a stream, declared in some way."""
        if stream not in self._known:
            self._known[stream] = self._look(stream)
        return self._known[stream]

    def _look(self, stream: Stream) -> "TableViolations":
        from ontoweir.progress.replay_progress import count_prepared
        from ontoweir.runtime.violations.find_violations import find_violations

        rules = [(lag, self._firsts(lag)) for lag in stream.lags]
        with self._open(stream) as came:
            seen = count_prepared(self.progress, stream.name)
            return find_violations(
                came.history, came.checks, came.wide, rules, most=self.most, on_rows=seen
            )

    def _firsts(self, lag: Lag) -> "FirstTimes":
        """When the values that a rule is about came first, in rows that are right but for rules."""
        from ontoweir.runtime.violations.first_times import FirstTimes
        from ontoweir.runtime.violations.scan_stream import StreamScan

        firsts = FirstTimes(lag.to)
        with self._open(self.catalog.streams[lag.behind]) as came:
            scan = StreamScan(came.history, came.checks, came.wide, most=self.most)
            scan.on_admitted = firsts.add
            for _ in scan.find():
                pass
        return firsts

    @contextmanager
    def _open(self, stream: Stream) -> "Iterator[Arrivals]":
        """The history of a stream as it came, and the references to hold it to."""
        from ontoweir.runtime.located.hold_archive import read_archives
        from ontoweir.runtime.replay.open_arrivals import open_declared
        from ontoweir.runtime.replay.open_history import StagingArea

        catalog = replace(self.catalog, streams={**self.catalog.streams, stream.name: stream})
        to = {r.relation: self._rows(r.relation) for r in stream.references}
        with (
            tempfile.TemporaryDirectory(prefix="ontoweir-check-") as folder,
            read_archives([stream.data]),
        ):
            area = StagingArea(self.spark, Path(folder), (None, None), True, self.progress)
            yield open_declared(catalog, stream, to, area)

    def _read(self, name: str) -> "StaticRows | None":
        """The rows of a relation that is read here (None: it is not)."""
        from ontoweir.runtime.violations.find_static_violations import read_static

        if name not in self._held:
            relation = self.catalog.relations[name]
            folder = Path(tempfile.gettempdir())
            self._held[name] = read_static(relation, self.catalog.file, folder)
        return self._held[name]

    def _rows(self, name: str) -> "pa.Table":
        """The rows of a relation, wrong ones too where it is read here."""
        from ontoweir.runtime.statics.load_statics import load_statics

        held = self._read(name)
        if held is not None:
            return held.table
        if name not in self._loaded:
            self._loaded.update(load_statics(self.spark, self.catalog, [name]))
        return self._loaded[name]
