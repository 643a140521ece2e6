"""Names in SQL over the catalog: aliases, and the columns they have."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.errors import Source
from ontoweir.mappings.model.assertion import SourceColumn
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    ColumnType,
    Relation,
    Stream,
    TimestampType,
)
from ontoweir.mappings.model.read_table import did_you_mean

if TYPE_CHECKING:
    from sqlglot import exp


class SqlRefusal(Exception):
    """What a piece of SQL does wrong; the caller knows the file and makes the user's error."""

    def __init__(
        self,
        what: str,
        *,
        why: str,
        fix: str,
        line: int | None = None,
        source: Source | None = None,
    ) -> None:
        """`source`: where it is, if not in the text that is read."""
        super().__init__(what)
        self.what, self.why, self.fix, self.line = what, why, fix, line
        self.source = source

    @property
    def texts(self) -> tuple[str, str, str]:
        """What, why, and what to do."""
        return self.what, self.why, self.fix

    def place(self, file: str) -> Source:
        """Where it is, of a text in a file."""
        return self.source or Source(file, self.line or 1)


class SeveralRows(SqlRefusal):
    """An expression is of columns of several rows: who can, reads a stream of their matches."""


class SqlUnitsDiffer(SqlRefusal):
    """Timestamps of streams with different units of time are compared: who knows how reads
    the query again, in steps that both have in common."""

    def __init__(self, one_us: int, other_us: int, line: int | None) -> None:
        super().__init__(
            f"timestamps in units of {one_us} and {other_us} microseconds are compared",
            why="streams are compared on one grid of time",
            fix="declare the same timestamp unit for both streams",
            line=line,
        )
        self.units_us = (one_us, other_us)


def find_name(name: str, known: Iterable[str]) -> str | None:
    """The declared spelling of a name: exactly, else by the only one equal but for case."""
    names = list(known)
    if name in names:
        return name
    folded = [n for n in names if n.lower() == name.lower()]
    return folded[0] if len(folded) == 1 else None


def find_table(name: str, catalog: Catalog, line: int | None = None) -> Stream | Relation:
    """The declared table called `name`.

    Raises:
        SqlRefusal: there is none.
    """
    exact = name in catalog.streams or name in catalog.relations
    known = name if exact else find_name(name, [*catalog.streams, *catalog.relations])
    if known is None and find_name(name, catalog.views) is not None:
        raise SqlRefusal(
            f"{name!r} is a view, which mappings do not read",
            why="views are queries for other queries",
            fix="write its SQL in the mapping",
            line=line,
        )
    if known is None:
        raise SqlRefusal(
            f"unknown table {name!r}",
            why=f"{catalog.file} declares no stream or relation of this name",
            fix=did_you_mean(name, [*catalog.streams, *catalog.relations, *catalog.views]),
            line=line,
        )
    return catalog.table(known)


def column_names(table: Stream | Relation) -> tuple[str, ...]:
    """The columns of a table, a stream's timestamp included."""
    names = tuple(c.name for c in table.columns)
    return (table.timestamp, *names) if isinstance(table, Stream) else names


def is_timestamp(table: Stream | Relation, column: str) -> bool:
    """Whether a column is a stream's application time."""
    return isinstance(table, Stream) and table.timestamp == column


def _is_made(column: Column) -> bool:
    """Whether a column is of a query alone: its name is not one to write."""
    made = column.bucket is not None or column.expression is not None
    return made and not column.name.isidentifier()


@dataclass(slots=True)
class Scope:
    """The aliases of a FROM clause, in order; `known`: columns that are not NULL in any row, to
    which come those that conjuncts of the condition compare (`conjuncts`: not looked through yet);
    `merged`: columns that JOIN … USING makes one with that of the same name before them."""

    catalog: Catalog
    tables: dict[str, Stream | Relation]
    known: frozenset[SourceColumn] = frozenset()
    conjuncts: "tuple[exp.Expr, ...]" = ()
    merged: frozenset[SourceColumn] = frozenset()

    def resolve(self, alias: str | None, name: str, line: int | None = None) -> SourceColumn:
        """The column `alias.name`, or the only column called `name` when alias is None.

        Raises:
            SqlRefusal: unknown or ambiguous.
        """
        if alias is not None:
            table = find_name(alias, self.tables)
            if table is None:
                raise SqlRefusal(
                    f"unknown alias {alias!r}",
                    why=f"FROM has {', '.join(self.tables)}",
                    fix=did_you_mean(alias, self.tables),
                    line=line,
                )
            aliases = [table]
        else:
            aliases = list(self.tables)
        hits = [
            SourceColumn(a, c)
            for a in aliases
            if (c := find_name(name, column_names(self.tables[a]))) is not None
            and (alias is not None or SourceColumn(a, c) not in self.merged)
        ]
        if len(hits) == 1:
            return hits[0]
        if hits:
            raise SqlRefusal(
                f"the column {name!r} is ambiguous",
                why=f"{' and '.join(h.alias for h in hits)} both have it",
                fix=f"write {hits[0].alias}.{name}",
                line=line,
            )
        made = {c.name for a in aliases for c in self.tables[a].columns if _is_made(c)}
        known = [c for a in aliases for c in column_names(self.tables[a]) if c not in made]
        owner = ", ".join(repr(self.tables[a].name) for a in aliases)
        raise SqlRefusal(
            f"unknown column {name!r} of {owner}",
            why=f"{self.catalog.file} declares no such column",
            fix=did_you_mean(name, known),
            line=line,
        )

    def step_of(self, column: SourceColumn) -> int | None:
        """The unit of a stream's timestamp column in microseconds; None for other columns."""
        table = self.tables[column.alias]
        if isinstance(table, Stream) and column.column == table.timestamp:
            return table.step_us
        return None

    def type_of(self, column: SourceColumn) -> ColumnType:
        """The type of a resolved column."""
        column_ = self.tables[column.alias].column(column.column)
        return TimestampType() if column_ is None else column_.type
