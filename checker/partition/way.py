"""How the rows of streams are divided, and how two ways are one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from ontoweir.checker.partition.trace_column import base_streams, trace_column
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import SpjUnion

_MOST = 256
"""Ways to divide rows that are looked at."""


@dataclass(frozen=True, slots=True)
class Whole:
    """All parts see the rows."""


@dataclass(frozen=True, slots=True)
class Free:
    """A row may be in any part."""


Role: TypeAlias = str | Whole | Free
"""How the rows of a stream are divided: by a column, not at all, in any way."""

Way: TypeAlias = Mapping[str, Role]
"""How the rows of streams are divided, by their names."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A query, and its tables, those included that it makes itself."""

    union: SpjUnion
    catalog: Catalog

    def trace(self, stream: str, column: str) -> tuple[tuple[str, str], ...] | None:
        """trace_column, of a table of the query."""
        return trace_column(self.catalog, self.union.views, stream, column)

    def bases(self, stream: str) -> tuple[str, ...]:
        """base_streams, of a table of the query."""
        return base_streams(self.catalog, self.union.views, stream)


def multiply_ways(ones: Sequence[Way], others: Sequence[Way]) -> list[Way]:
    """What any of the ones and any of the others are at once, each once."""
    ways: dict[frozenset[tuple[str, Role]], Way] = {}
    for one, other in product(ones, others):
        way = merge_ways(one, other)
        if way is not None:
            ways.setdefault(frozenset(way.items()), way)
        if len(ways) == _MOST:
            break
    return list(ways.values())


def merge_ways(one: Way, other: Way) -> Way | None:
    """Both ways at once (None: a stream's rows cannot be divided in both). What may be divided in
    any way is divided as it has to be."""
    merged = dict(one)
    for stream, role in other.items():
        known = merged.get(stream, role)
        if isinstance(known, Free) and isinstance(role, str):
            known = role
        if known != role and not (isinstance(role, Free) and isinstance(known, str)):
            return None
        merged[stream] = known
    return merged


def is_free(way: Way) -> bool:
    """Whether no stream is divided by a column."""
    return not any(isinstance(role, str) for role in way.values())
