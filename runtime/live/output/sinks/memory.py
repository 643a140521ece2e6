"""Answers in memory."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ontoweir.runtime.live.output.sinks.sink import MessageSink

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class MemorySink(MessageSink):
    """Answers by query, for tests and notebooks; they grow until the caller takes them out. It has
    no name: whoever wants it makes it."""

    answers: "dict[str, list[pa.Table]]" = field(default_factory=dict)

    def describe(self, query: str) -> str:
        """Memory."""
        return "memory"

    def publish(
        self, query: str, batch: int, answers: "pa.Table", spark: "SparkSession | None"
    ) -> None:
        """Keep the answers."""
        self.answers.setdefault(query, []).append(answers)
