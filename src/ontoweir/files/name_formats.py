"""The formats of data that files' names tell."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

FileFormat: TypeAlias = Literal["parquet", "csv", "jsonl"]

FORMATS: Mapping[str, FileFormat] = MappingProxyType(
    {
        ".parquet": "parquet",
        ".parq": "parquet",
        ".pq": "parquet",
        ".csv": "csv",
        ".jsonl": "jsonl",
        ".ndjson": "jsonl",
        ".json": "jsonl",
    }
)
"""By suffix, in lower case."""

AnswerFormat: TypeAlias = Literal["parquet", "csv", "jsonl", "arrow", "avro", "srj", "nq"]

OUTPUTS: Mapping[str, AnswerFormat] = MappingProxyType(
    {
        **FORMATS,
        ".arrow": "arrow",
        ".feather": "arrow",
        ".avro": "avro",
        ".srj": "srj",
        ".nq": "nq",
    }
)
"""Those of answers, which may be written in Arrow's own format (Feather is its second version's
name), Avro, SPARQL's JSON, or N-Quads, too."""

LOGGED = frozenset(("delta", "iceberg"))
"""Formats whose own log says what is there: their rows have no order, their files are not told."""

NESTED = ("parquet", "arrow", "avro", "delta", "iceberg")
"""Formats with types, whose columns may be nested."""
NESTED_PARQUET = "nested parquet"
"""Parquet of which something nested is asked for: it is read as Avro is, by way of other files."""
POSTGRES = "postgresql"
"""Relations that are tables of a server's, which are read when a run begins."""
