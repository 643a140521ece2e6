"""Answers in files of a folder; `write_parts` writes them, and `check_parts` finds them again."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

from ontoweir.runtime.live.output.sinks.sink import AnswerSink, SinkKind
from ontoweir.runtime.packed.write_avro import require_avro
from ontoweir.runtime.rdf.find_terms import RdfFormat

FileFormat: TypeAlias = Literal["parquet", "jsonl", "csv", "arrow", "avro"] | RdfFormat


@dataclass(frozen=True)
class FileSink(AnswerSink):
    """A file for each micro-batch that has answers: `folder/<query>/part-<number>.<format>`. Files
    have its number in their names, so they are there once."""

    folder: Path
    format: FileFormat = "parquet"

    def describe(self, query: str) -> str:
        """The folder."""
        return str(self.folder.absolute() / query)


def _make(format: FileFormat, folder: Path, options: Mapping[str, str]) -> FileSink:
    if format == "avro":
        require_avro("--sink")
    return FileSink(folder, format)


PARQUET = SinkKind("parquet", "Parquet files in the output folder", partial(_make, "parquet"))
JSONL = SinkKind("jsonl", "files with a line of JSON for each answer", partial(_make, "jsonl"))
CSV = SinkKind("csv", "files of CSV in the output folder", partial(_make, "csv"))
ARROW = SinkKind(
    "arrow", "files of Arrow's own format, in the output folder", partial(_make, "arrow")
)
AVRO = SinkKind("avro", "files of Avro in the output folder", partial(_make, "avro"))
SRJ = SinkKind("srj", "files of SPARQL's JSON in the output folder", partial(_make, "srj"))
NQ = SinkKind("nq", "files of N-Quads in the output folder", partial(_make, "nq"))
