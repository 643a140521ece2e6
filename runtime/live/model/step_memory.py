"""What lanes of a step make of the same rows is made once, and handed to each of them."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import pyarrow as pa

_T = TypeVar("_T")


class StepMemory:
    """What has been made in one step. Nothing that it gives is changed by anyone."""

    def __init__(self) -> None:
        self._made: dict[tuple[Any, ...], list[tuple[tuple[object, ...], object, Any]]] = {}
        self._tables: dict[str, list[pa.Table]] = {}

    def once(
        self, kind: Hashable, rows: tuple[object, ...], facts: object, make: Callable[[], _T]
    ) -> _T:
        """What is made of rows, by whoever is the first to want it.

        Args:
            kind: what it is.
            rows: what it is made of: the same objects, not equal ones.
            facts: all else that it depends on, compared by equality.
            make: makes it.
        """
        held = self._made.setdefault((kind, *map(id, rows)), [])
        for _, known, made in held:
            if known == facts:
                found: _T = made
                return found
        made = make()
        held.append((rows, facts, made))  # with the rows, so that no other object gets their ids
        return made

    def same(self, stream: str, table: "pa.Table | None") -> "pa.Table | None":
        """Waiting rows of a stream, or those of another lane that are equal: lanes that were read
        from a commit, or have caught up, have copies of them."""
        if table is None:
            return None
        held = self._tables.setdefault(stream, [])
        for other in held:
            if other is table or (
                other.num_rows == table.num_rows
                and other.schema.equals(table.schema, check_metadata=True)
                and other.equals(table)
            ):
                return other
        held.append(table)
        return table
