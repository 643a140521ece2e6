"""What is read of a SELECT that says that rows are beside its own, or are not."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ontoweir.mappings.model.catalog import Catalog

if TYPE_CHECKING:
    from sqlglot import exp

TIME, LEFT, RIGHT = "time", "left", "right"
"""How columns are named: times of rows, with a number, and what NOT IN compares."""


class StillSeveral(Exception):
    """An expression is of several rows, which are to be read as one first."""


@dataclass(frozen=True, slots=True)
class PartTrees:
    """The rows beside which something is there, as SELECTs without subqueries; `compared`: their
    last two columns are what NOT IN compares, which they do not say to be equal; `present`: it must
    be there, else it must not."""

    trees: "tuple[exp.Select, ...]"
    compared: bool
    present: bool


@dataclass(frozen=True, slots=True)
class AbsenceTrees:
    """`found`: the SELECTs whose rows may be answers, with `columns`, their names, and times of
    rows, TIME and a number. `parts`: what decides it: they have the columns `keys`, of `columns`,
    the times, and those that are `nulls`. `counted`: equal rows count; `held`: it does not matter
    when an answer comes, but that its times follow from that; `until`: that this one of the times
    does, where that is possible."""

    found: "tuple[exp.Select, ...]"
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    nulls: tuple[str, ...]
    parts: tuple[PartTrees, ...]
    counted: bool
    line: int | None
    held: bool = False
    until: str | None = None


StreamColumns: TypeAlias = tuple[str, tuple[tuple[str, int | None], ...]]
"""A stream of such rows: its name, and what each column is: how long before the stream's timestamp
it is, in µs (None: a column of the stream of the same name)."""

ReadAbsence: TypeAlias = "Callable[[AbsenceTrees, str], StreamColumns]"
"""Makes a stream of such rows, which may be called so."""

Flatten: TypeAlias = "Callable[[exp.Select, bool], list[exp.Select]]"
"""A SELECT as SELECTs over tables; whether duplicates of its rows do not count."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What a SELECT is opened with: its columns all have their tables (qualify_names). `inside`:
    its rows are not yet answers, and may have NULL; `named`: what WITH names, in lower case;
    `buckets`: what it shows by whose buckets of time it is grouped around it; `nullable`: the
    aliases of what LEFT JOINs join, whose columns may be NULL in answers."""

    flatten: Flatten
    read: ReadAbsence
    catalog: Callable[[], Catalog]
    is_set: bool
    inside: bool
    named: frozenset[str] = frozenset()
    buckets: frozenset[str] = frozenset()
    nullable: frozenset[str] = frozenset()
