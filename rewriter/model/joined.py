"""Rows that come and go by themselves, joined at each time; and what is made of the joined rows."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from ontoweir.mappings.model.catalog import ColumnType
from ontoweir.mappings.model.expression import Expression
from ontoweir.rewriter.model.aggregation import Aggregation, NumberedGroups

_Query = TypeVar("_Query")


class JoinKind(StrEnum):
    """What rows of a part say of those before it: they are beside them; where there is none, there
    is NULL; there must be one, which is not shown; there must be none. UNION: they
    are not joined, but are there as those are, whose columns they have (`equal`). BEGUN: they are
    not joined, but say since when what is not grouped has a row, whatever there is."""

    INNER = "inner"
    LEFT = "left"
    PRESENT = "present"
    ABSENT = "absent"
    UNION = "union"
    BEGUN = "begun"


@dataclass(frozen=True, slots=True)
class JoinedPart(Generic[_Query]):
    """A part of a join: the rows that hold of a `query`, which are joined with those of the parts
    before it where `equal` variables, of those and of its own, have one value, and what is `said`
    holds, of two variables each, with an operator; and a condition on both (`on`; None: there is
    no more). `kind`: how they are joined. `until`: variables
    of the rows that say when these leave their windows; `since`: when they are shown, if that is
    later than they come. `groups`: what is joined are groups of the
    rows, called as they are told (None: the rows). Variables of a part have its number, and a
    space, before their names in the query.
    """

    query: _Query
    equal: tuple[tuple[str, str], ...] = ()
    said: tuple[tuple[str, str, str], ...] = ()
    kind: JoinKind = JoinKind.INNER
    until: tuple[str, ...] = ()
    groups: Aggregation | None = None
    on: Expression | None = None
    since: tuple[str, ...] = ()
    ever: str | None = None
    """Its rows are those of static relations ("static"), or it is one (""), and hold for ever."""
    nulls: bool = False
    """NULL equals NULL, as in EXCEPT and INTERSECT."""


@dataclass(frozen=True, slots=True)
class JoinedRow(Generic[_Query]):
    """What is made of joined rows. `shape`: of each, what is computed, and whether it is there
    (without aggregates; its `group` are the columns that are read); `columns`: what it has then, in
    the order of `shape.columns`, with their types; `groups`: what is told are groups of these rows
    (None: the rows). `terms`: in SPARQL, a query of what
    terms the columns are, or its groups'; it is never run (None: of SQL)."""

    shape: Aggregation
    columns: tuple[tuple[str, ColumnType], ...]
    groups: Aggregation | None = None
    terms: _Query | None = None

    @property
    def told(self) -> tuple[str, ...]:
        """The columns that are told, in order."""
        return self.shape.columns if self.groups is None else self.groups.columns


@dataclass(frozen=True, slots=True)
class Joined(Generic[_Query]):
    """The rows that hold of several queries, joined at each time. `part`: the variable that says of
    which a row is; `shown`: the columns, each with its variable; `distinct`: each row once; `row`:
    what is made of the columns (None: they are told); `numbered`: which of all that is found by
    this is told (None: all)."""

    part: str
    parts: tuple[JoinedPart[_Query], ...]
    shown: tuple[tuple[str, str], ...]
    distinct: bool = False
    row: JoinedRow[_Query] | None = None
    numbered: NumberedGroups | None = None

    @property
    def found(self) -> tuple[str, ...]:
        """The columns of what is found, in order."""
        return tuple(name for name, _ in self.shown) if self.row is None else self.row.told

    @property
    def told(self) -> tuple[str, ...]:
        """The columns that are told, in order."""
        return self.found if self.numbered is None else self.numbered.columns

    @property
    def is_set(self) -> bool:
        """Whether each answer is told once."""
        return self.distinct or (self.row is not None and self.row.groups is not None)
