"""What static relations say of themselves, kept with what was verified: a replay that asks nothing
else of them does not read them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ontoweir.cache.encode_values import decode_values, encode_values
from ontoweir.cache.open_cache import Cache
from ontoweir.checker.model.normal_form import ColumnStatistics, Statistics
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.runtime.verified.identify_streams import Identity, identify_relations

_WHAT = "statistics"
"""How entries of the cache are called."""


@dataclass(frozen=True, slots=True)
class RecalledStatistics:
    """Statistics of relations by name, and the identities of the others, whose are not known, from
    before anything of them was read."""

    known: Mapping[str, Statistics]
    unknown: Mapping[str, Identity]


def recall_statistics(cache: Cache, catalog: Catalog, names: Iterable[str]) -> RecalledStatistics:
    """The statistics of relations whose rows were held to what is declared of them before, and
    whose files and declarations are as they were.

    Args:
        cache: where they are kept.
        catalog: the declarations.
        names: the relations wanted; those that are no local files are never known.
    """
    known, unknown = {}, {}
    for name, identity in identify_relations(catalog, names).items():
        found = cache.read(_WHAT, identity, _decode)
        if found is None:
            unknown[name] = identity
        else:
            rows, columns = found
            known[name] = Statistics({name: rows}, {(name, c): held for c, held in columns})
    return RecalledStatistics(known, unknown)


def keep_statistics(
    cache: Cache, catalog: Catalog, recalled: RecalledStatistics, found: Statistics
) -> None:
    """Keep what was found of relations that are as they were before they were read."""
    now = identify_relations(catalog, recalled.unknown)
    for name, identity in recalled.unknown.items():
        if name in found.rows and now.get(name) == identity:
            columns = tuple(
                (c, held) for (table, c), held in found.columns.items() if table == name
            )
            cache.write(_WHAT, identity, encode_values((found.rows[name], columns)))


def _decode(held: Any) -> tuple[int, tuple[tuple[str, ColumnStatistics], ...]]:
    rows, columns = decode_values(held, (ColumnStatistics,))
    return int(rows), tuple(columns)
