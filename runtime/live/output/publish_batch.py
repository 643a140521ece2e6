"""Publish a committed micro-batch: to files, the console, memory or Kafka, under its number.

A micro-batch may be published again after a crash. Files have its number in their names, so they
are there once. Kafka's messages have query, number and row as their key and headers: of messages
with one key, a reader takes the first.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, assert_never

import pyarrow as pa

from ontoweir.errors import RunError, Source, UsageError
from ontoweir.runtime.results.write_results import plain_json
from ontoweir.runtime.spark.redact_secrets import redact_secrets

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FileFormat: TypeAlias = Literal["parquet", "jsonl"]


@dataclass(frozen=True, slots=True)
class FileSink:
    """A file for each micro-batch that has answers: `folder/<query>/part-<number>.<format>`."""

    folder: Path
    format: FileFormat = "parquet"


@dataclass(frozen=True, slots=True)
class ConsoleSink:
    """A line of JSON on stdout for each answer; after a crash the last may come again."""


@dataclass(frozen=True, slots=True)
class MemorySink:
    """Answers by query, for tests and notebooks; they grow until the caller takes them out."""

    answers: dict[str, list[pa.Table]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KafkaSink:
    """A JSON message for each answer, to `topic`, in which {query} is the query's name."""

    topic: str
    options: Mapping[str, str]


Sink: TypeAlias = FileSink | ConsoleSink | MemorySink | KafkaSink
"""Where answers go, a closed union."""


def make_sink(form: str, folder: Path, options: Mapping[str, str]) -> Sink:
    """The sink of a name (parquet, jsonl, console, kafka) with its options.

    Raises:
        UsageError: an option is missing, or not known.
    """
    if form != "kafka" and options:
        raise UsageError(
            f"the sink {form} has no option {next(iter(options))}",
            why="only the sink kafka has options",
            fix="leave it out, or add --sink kafka",
            source=Source("--sink-option"),
        )
    match form:
        case "parquet" | "jsonl":
            return FileSink(folder, "parquet" if form == "parquet" else "jsonl")
        case "console":
            return ConsoleSink()
        case "kafka":
            given = dict(options)
            for name in ("topic", "kafka.bootstrap.servers"):
                if not given.get(name):
                    raise UsageError(
                        f"the sink kafka needs the option {name}",
                        why="it says where the answers go",
                        fix=f"add --sink-option {name}=…",
                        source=Source("--sink-option"),
                    )
            return KafkaSink(given.pop("topic"), given)
        case _:
            raise UsageError(
                f"unknown sink {form!r}",
                why="known sinks are parquet, jsonl, console and kafka",
                fix="name one of them",
                source=Source("--sink"),
            )


def publish_batch(
    sink: ConsoleSink | MemorySink | KafkaSink,
    query: str,
    batch: int,
    file: Path,
    spark: "SparkSession | None",
) -> None:
    """Publish a query's answers in a micro-batch, from their Arrow file, to what is no folder.

    Raises:
        RunError: the sink does not take them; they are committed, and published at the next start.
    """
    match sink:
        case ConsoleSink():
            for row in read_arrow(file).to_pylist():
                shown = {"query": query, "batch": batch, **row}
                print(json.dumps(shown, default=plain_json, ensure_ascii=False), flush=True)
        case MemorySink(answers=answers):
            answers.setdefault(query, []).append(read_arrow(file))
        case KafkaSink():
            assert spark is not None
            _send(sink, query, batch, read_arrow(file), spark)
        case _:
            assert_never(sink)


def read_arrow(file: Path) -> pa.Table:
    """The rows of an Arrow file of a commit."""
    return pa.ipc.open_file(pa.memory_map(str(file))).read_all()


def _send(sink: KafkaSink, query: str, batch: int, table: pa.Table, spark: "SparkSession") -> None:
    """Messages with key `query/batch/row`, and the three as headers."""
    from pyspark.errors import PySparkException

    rows = [
        (
            f"{query}/{batch}/{number}",
            json.dumps(row, default=plain_json, ensure_ascii=False),
            [
                ("query", query.encode()),
                ("batch", str(batch).encode()),
                ("row", str(number).encode()),
            ],
        )
        for number, row in enumerate(table.to_pylist())
    ]
    schema = "key STRING, value STRING, headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
    options = {"kafka.enable.idempotence": "true", "kafka.acks": "all", **sink.options}
    topic = sink.topic.replace("{query}", query)
    try:
        frame = spark.createDataFrame(rows, schema).coalesce(1)
        writer = frame.write.format("kafka").options(**options)
        writer.option("topic", topic).option("includeHeaders", "true").save()
    except PySparkException as error:
        first = next((x.strip() for x in str(error).splitlines() if x.strip()), "")[:300]
        raise RunError(
            redact_secrets(f"answers cannot be sent to the topic {topic}: {first}", options),
            why="they are committed, but not where they belong yet",
            fix="check the broker and the options of the sink, and start again: they are sent then",
        ) from error
