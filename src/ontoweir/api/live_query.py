"""A query that runs live, with the interface of Spark's StreamingQuery."""

import contextlib
import json
from collections import deque
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.api.answers import Answers, make_folder
from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.errors import OntoweirError, UsageError
from ontoweir.registry.registry_entry import Entry
from ontoweir.registry.start_entry import RunningEntry, follow_entry, stop_entry

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEPT = 100
"""How many micro-batches `recentProgress` has, as Spark's own by default."""


@dataclass(frozen=True, repr=False)
class LiveQuery:
    """A registered query that runs, or has run, in this process.

    Names of Spark's StreamingQuery have the same meaning as there; the others are ontoweir's.
    """

    running: RunningEntry
    records: "deque[dict[str, Any]]"
    spark: "SparkSession"

    def __repr__(self) -> str:
        return f"LiveQuery({self.name!r}, {self.running.status['state']})"

    def _repr_html_(self) -> str:
        from ontoweir.progress.notebook import html_table

        status = self.status
        names = ["state", "tuples", "results", "rejected", "late", "state_rows", "bound_rows"]
        table = html_table(names, [[status.get(n) for n in names]])
        error = f"<p>{escape(str(status['error']))}</p>" if status.get("error") else ""
        return f"<div><b>{escape(self.name)}</b>{error}{table}</div>"

    @property
    def entry(self) -> Entry:
        """The registered query."""
        return self.running.entry

    @property
    def name(self) -> str:
        """Its registered name."""
        return self.entry.name

    @property
    def id(self) -> str:
        """Its id: unchanged by a restart, new when the name is registered again."""
        return self.entry.id

    @property
    def runId(self) -> str:
        """The id of this run, new after a restart."""
        assert self.running.run is not None
        return str(self.running.run.query.runId)

    @property
    def isActive(self) -> bool:
        """Whether it runs."""
        self._follow()
        return not self.running.ended

    @property
    def status(self) -> dict[str, Any]:
        """The output of `ontoweir status --format json`, and the fields of Spark's status:
        `message`, `isDataAvailable`, `isTriggerActive`."""
        self._follow()
        query: dict[str, Any] = {}
        if self.running.run is not None and not self.running.ended:
            query = dict(self.running.run.query.status)
        stopped = {"message": "Stopped", "isDataAvailable": False, "isTriggerActive": False}
        return {**self.running.status, **(query or stopped)}

    @property
    def lastProgress(self) -> dict[str, Any] | None:
        """The last item of recentProgress (None: no micro-batch yet)."""
        recent = self.recentProgress
        return recent[-1] if recent else None

    @property
    def recentProgress(self) -> list[dict[str, Any]]:
        """The last micro-batches, as Spark's progress has them, `numInputRows`,
        `processedRowsPerSecond` and `stateOperators` counted by ontoweir; and under `ontoweir`, the
        record that metrics.jsonl has: state against bound, rejects, streams."""
        assert self.running.run is not None
        progress = {
            record["batchId"]: record
            for record in map(_plain, self.running.run.query.recentProgress)
        }
        return [_merge(self, progress.get(r["spark_batch"], {}), r) for r in tuple(self.records)]

    @property
    def verdict(self) -> Verdict:
        """The verdict that it rests on, refined by the static data."""
        assert self.running.prepared is not None
        return self.running.prepared.verdicts[0]

    @property
    def bound(self) -> int | None:
        """The bound on its rows of state (None: no number is known)."""
        assert self.running.prepared is not None
        return self.running.prepared.job.queries[0].bound

    @property
    def state(self) -> dict[str, tuple[int, int | None]]:
        """Its state: by synopsis, the rows kept and their bound."""
        return {
            s["synopsis"]: (s["rows"], s["bound_rows"]) for s in self.running.status["synopses"]
        }

    @property
    def rejects(self) -> dict[str, int]:
        """The number of rejected tuples, by reason, since it began."""
        return dict(self.running.status["rejects"])

    def stop(self) -> None:
        """Stop it, when the micro-batch that has begun is done. It goes on from there when it is
        registered again."""
        stop_entry(self.running)

    def awaitTermination(self, timeout: float | None = None) -> bool | None:
        """Wait until it ends; with a timeout (seconds), whether it has.

        Raises:
            OntoweirError: the error that ended it.
        """
        import time

        until = None if timeout is None else time.monotonic() + timeout
        left = 0.5 if timeout is None else max(0.001, min(0.5, timeout))
        while not follow_entry(self.running, left):
            if until is not None:
                left = min(0.5, until - time.monotonic())
                if left <= 0:
                    return False
        if self.running.error is not None:
            raise self.running.error
        return None if timeout is None else True

    def processAllAvailable(self) -> None:
        """Wait until all data present at the call has been read, and its answers are in
        the sink. For tests: while new rows keep arriving, it may wait for ever.

        Raises:
            OntoweirError: the error that ended it.
        """
        from pyspark.errors import StreamingQueryException

        assert self.running.run is not None
        asked = None
        while not self.running.ended and asked is not self.running.run.query:
            asked = self.running.run.query  # another, where it has gone on from new logs
            with contextlib.suppress(StreamingQueryException):  # reported below, as what it is
                asked.processAllAvailable()
            self._follow()
        self._follow()
        if self.running.error is not None:
            raise self.running.error

    def exception(self) -> OntoweirError | None:
        """The error that ended it (None: it runs, or was stopped)."""
        self._follow()
        return self.running.error

    def answers(self) -> Answers:
        """Its answers so far; if the sink is files, those of earlier runs included.

        Raises:
            UsageError: they are neither in Parquet files nor in memory.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        from ontoweir.runtime.live.output.sinks.files import FileSink
        from ontoweir.runtime.live.output.sinks.memory import MemorySink

        assert self.running.prepared is not None
        query = self.running.prepared.job.queries[0]
        schema = query.schema
        match self.running.sink:
            case FileSink(folder=place, format="parquet"):
                if any((place / self.name).glob("part-*.parquet")):
                    return self._answers(place / self.name, None)
                tables = []
            case MemorySink(answers=held):
                tables = list(held.get(self.name, ()))
            case _:
                raise UsageError(
                    f"the answers of {self.name} cannot be read back",
                    why=f"they go to {self.running.status['answers']}",
                    fix="read them there, or register it with sink='parquet' or a MemorySink",
                )
        folder = make_folder()
        file = folder.path / "answers.parquet"
        pq.write_table(pa.concat_tables([schema.empty_table(), *tables]), file)
        return self._answers(file, folder)

    def _answers(self, file: Path, folder: Any) -> Answers:
        return Answers(self.verdict.union, file, dict(self.running.status), self.spark, folder)

    def _follow(self) -> None:
        """Notice its end."""
        follow_entry(self.running, 0.001)


def _plain(progress: Any) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(progress.json)
    return fields


def _merge(query: LiveQuery, spark: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    held = record["queries"][query.name]
    kept = {
        "operatorName": "ontoweir",
        "numRowsTotal": held["state_rows"],
        "memoryUsedBytes": held["state_bytes"],
        "customMetrics": {"boundRows": held["bound_rows"]},
    }
    return {
        **spark,
        "id": query.id,
        "runId": query.runId,
        "name": query.name,
        "batchId": record["batch"],
        "timestamp": spark.get("timestamp", record["time"]),
        "numInputRows": record["tuples"],
        "processedRowsPerSecond": record["tuples_per_second"],
        "stateOperators": [kept],
        "ontoweir": record,
    }
