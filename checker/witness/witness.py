"""Witnesses as data (theory §9)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ontoweir.checker.witness.evaluate_naively import Instance
from ontoweir.mappings.model.catalog import Catalog, Stream


@dataclass(frozen=True, slots=True)
class WitnessRow:
    """A tuple of a table; `step` its timestamp (None: static)."""

    table: str
    step: int | None
    values: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Witness:
    """A fixed part, `size` optional tuples, and one suffix for each: any algorithm must tell all
    subsets of the optional tuples apart. Confirmed by the relational answer."""

    size: int
    fixed: tuple[WitnessRow, ...]
    optional: tuple[WitnessRow, ...]
    suffixes: tuple[tuple[WitnessRow, ...], ...]


def instance_of(catalog: Catalog, rows: Iterable[WitnessRow]) -> Instance:
    """The rows, by table."""
    tables: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        tables.setdefault(row.table, []).append(content_of(catalog, row))
    return tables


def content_of(catalog: Catalog, row: WitnessRow) -> dict[str, Any]:
    """What a row holds, by column, its timestamp too."""
    content = dict(row.values)
    table = catalog.table(row.table)
    if isinstance(table, Stream):
        content[table.timestamp] = row.step
    return content
