"""A file of Arrow or Avro, or a table of Delta or Iceberg, that is read."""

from collections.abc import Iterator, Mapping
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


def split_fields(
    fields: Mapping[str, pa.DataType], *, deep: bool
) -> tuple[pa.Schema, dict[str, str]]:
    """The columns of a file that may be read, and the nested ones by what they are, which may be
    (`deep`), too."""
    nested = {n: str(kind) for n, kind in fields.items() if pa.types.is_nested(kind) and not deep}
    return pa.schema({n: kind for n, kind in fields.items() if n not in nested}), nested
