"""A file of Arrow or Avro, or a table of Delta or Iceberg, that is read."""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file, or a table of several: as messages name it, its columns, and those of them whose
    values are none that can be declared (nested ones), by what they are; and its rows."""

    shown: str
    schema: pa.Schema
    nested: dict[str, str]
    rows: Iterator[pa.Table]
