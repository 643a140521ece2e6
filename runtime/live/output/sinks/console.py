"""Answers on stdout."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.runtime.live.output.sinks.sink import MessageSink, SinkKind
from ontoweir.runtime.results.plain_json import plain_json

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class ConsoleSink(MessageSink):
    """A line of JSON on stdout for each answer; after a crash the last may come again."""

    def describe(self, query: str) -> str:
        """The console."""
        return "the console"

    def publish(
        self, query: str, batch: int, answers: "pa.Table", spark: "SparkSession | None"
    ) -> None:
        """Print the answers."""
        for row in answers.to_pylist():
            shown = {"query": query, "batch": batch, **row}
            print(json.dumps(shown, default=plain_json, ensure_ascii=False), flush=True)


CONSOLE = SinkKind(
    "console", "a line of JSON on stdout for each answer", lambda folder, options: ConsoleSink()
)
