"""How the rows of a query's streams can be divided among parts that never meet."""

from dataclasses import dataclass
from typing import TypeAlias, assert_never


@dataclass(frozen=True, slots=True)
class ByKey:
    """Rows of a stream with one value of its column are in one part; equal values of the columns
    of different streams are, too.

    Args:
        columns: (stream, column), the streams in order.
        whole: streams of whose rows nothing is kept: each part sees all of them.
        free: streams whose rows may be in any part, each in one.
    """

    columns: tuple[tuple[str, str], ...]
    whole: tuple[str, ...] = ()
    free: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ByAnything:
    """Nothing is kept from row to row: rows may be in any part, each in one."""


@dataclass(frozen=True, slots=True)
class NotDivided:
    """All rows have to be in one part; `why`: half a sentence."""

    why: str


Partition: TypeAlias = ByKey | ByAnything | NotDivided
"""A closed union."""


def show_partition(partition: Partition) -> str:
    """In words, as in "partitions by sensor"."""
    match partition:
        case ByAnything():
            return "partitions by anything: nothing is kept from row to row"
        case NotDivided(why=why):
            return f"one partition: {why}"
        case ByKey(columns=columns, whole=whole):
            names = list(dict.fromkeys(column for _, column in columns))
            by = names[0] if len(names) == 1 else " = ".join(f"{s}.{c}" for s, c in columns)
            seen = f"; each sees all of {' and '.join(whole)}" if whole else ""
            return f"partitions by {by}{seen}"
        case _:
            assert_never(partition)
