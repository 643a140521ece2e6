"""The names of a kernel's columns."""

from ontoweir.checker.model.plan import SynopsisTable
from ontoweir.runtime.columnar.frame import Name


def value(index: int) -> Name:
    """The column of a value class."""
    return ("v", index)


def stamp(member: int) -> Name:
    """The column of a member's timestamp."""
    return ("t", member)


def frontier(index: int) -> Name:
    """The column of a frontier value."""
    return ("f", index)


def total(place: int) -> Name:
    """The column of a fold's sum."""
    return ("s", place)


def table_columns(table: SynopsisTable) -> list[Name]:
    """What identifies a row of a table: its key and kept timestamps."""
    return [value(k.value) for k in table.keys] + [stamp(k.member) for k in table.kept]
