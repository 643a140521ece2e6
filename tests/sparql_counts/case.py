"""A case: tables, mappings, axioms, data, and a query, small enough to be printed."""

from dataclasses import dataclass, field
from typing import TypeAlias

Cell: TypeAlias = int | str | None
Row: TypeAlias = tuple[Cell, ...]
"""The cells of a row in the order of the columns; of a stream, the number of its step comes
first."""


@dataclass(frozen=True, slots=True)
class Table:
    """A stream or a static relation with what the catalog declares of it.

    `columns`: name and type of the catalog; cells of other types than int are texts, as files have
    them. `keys`: without the timestamp, which is part of every key of a stream that is not
    `lasting`. `references`: column, relation, column there.
    """

    name: str
    columns: tuple[tuple[str, str], ...]
    stream: bool
    keys: tuple[tuple[str, ...], ...] = ()
    references: tuple[tuple[str, str, str], ...] = ()
    ranges: tuple[tuple[str, int, int], ...] = ()
    lasting: bool = False
    """The keys of the stream hold over all times: none of their columns is NULL."""
    lags: tuple[tuple[str, str, str, int], ...] = ()
    """Column, stream behind which its rows come, column there, steps."""
    most: int | None = 20
    """Rows of a timestamp, or of the relation."""
    unit: str = "5 minutes"
    """Of a stream's timestamps, all of which are multiples of five minutes."""


@dataclass(frozen=True, slots=True)
class Map:
    """A triples map. Terms are R2RML: `rr:template "…"`, `rr:column "…"`, `rr:constant …`."""

    source: str
    """The name of a table, or SQL."""
    subject: str
    classes: tuple[str, ...] = ()
    objects: tuple[tuple[str, str], ...] = ()
    """A property, and a term or `rr:parentTriplesMap …`."""
    graph: str = ""
    """The local name of a graph, "" for the default graph."""


@dataclass(frozen=True, slots=True)
class Atom:
    """A triple pattern; several predicates are alternatives."""

    time: str
    """The variable of its GRAPH, "" outside."""
    subject: str
    predicates: tuple[str, ...]
    """Local names; of a class, `a` and its name: "a A"."""
    object: str = ""
    """"" for a class."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A side of UNION: patterns, and further lines, of FILTER or VALUES."""

    atoms: tuple[Atom, ...]
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """A query: `head` is what SELECT names, `group` what GROUP BY names."""

    head: tuple[str, ...]
    branches: tuple[Branch, ...]
    distinct: bool = False
    group: tuple[str, ...] = ()
    graphs: tuple[str, ...] = ()
    """Of FROM."""


@dataclass(frozen=True, slots=True)
class Case:
    """A project with its data; `axioms` and `facts` are Turtle, a statement each."""

    tables: tuple[Table, ...]
    maps: tuple[Map, ...]
    query: Query
    rows: dict[str, tuple[Row, ...]]
    axioms: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    note: str = field(default="", compare=False)

    def table(self, name: str) -> Table:
        """The table of a name."""
        return next(t for t in self.tables if t.name == name)
