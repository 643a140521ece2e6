"""The names of a kernel's columns."""

import json
from functools import lru_cache

from ontoweir.checker.model.plan import SynopsisTable
from ontoweir.runtime.columnar.frame import ColumnKind, Name


def value(index: int) -> Name:
    """The name of the column of a value class."""
    return (ColumnKind.VALUE, index)


def stamp(member: int) -> Name:
    """The name of the column of a member's timestamp."""
    return (ColumnKind.STAMP, member)


def frontier(index: int) -> Name:
    """The name of the column of a frontier value."""
    return (ColumnKind.FRONTIER, index)


def past_frontier(members: frozenset[int], index: int) -> Name:
    """The name of the column of a frontier value of a table that was joined."""
    return (ColumnKind.PAST_FRONTIER, members, index)


def is_value(name: Name) -> bool:
    """Whether a column is of a value class."""
    return bool(name[0] == ColumnKind.VALUE)


def is_frontier(name: Name) -> bool:
    """Whether a column is of a frontier value."""
    return bool(name[0] == ColumnKind.FRONTIER)


def is_past_frontier(name: Name) -> bool:
    """Whether a column is of a frontier value of a table that was joined."""
    return bool(name[0] == ColumnKind.PAST_FRONTIER)


def total(place: int) -> Name:
    """The name of the column of a fold's sum."""
    return (ColumnKind.TOTAL, place)


def table_columns(table: SynopsisTable) -> list[Name]:
    """What identifies a row of a table: its key and kept timestamps."""
    return [value(k.value) for k in table.keys] + [stamp(k.member) for k in table.kept]


@lru_cache(maxsize=1024)
def write_name(name: Name) -> str:
    """A name as text, for files."""
    return json.dumps([sorted(part) if isinstance(part, frozenset) else part for part in name])


def read_name(text: str) -> Name:
    """What `write_name` made of a name.

    Raises:
        ValueError: it is something else.
    """
    return tuple(frozenset(p) if isinstance(p, list) else p for p in json.loads(text))
