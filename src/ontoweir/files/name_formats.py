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

OUTPUTS: Mapping[str, Literal["parquet", "csv", "jsonl", "srj", "nq"]] = MappingProxyType(
    {**FORMATS, ".srj": "srj", ".nq": "nq"}
)
"""Those of answers, which may be written as SPARQL's JSON, or N-Quads, too."""

LOGGED = frozenset(("delta", "iceberg"))
"""Formats whose own log says what is there: their rows have no order, their files are not told."""
