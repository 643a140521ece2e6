"""What is made of a row and the rows before it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from ontoweir.mappings.model.catalog import ColumnType
    from ontoweir.mappings.model.expression import Expression
    from ontoweir.mappings.model.time_bucket import TimeBucket

CountedFunction: TypeAlias = Literal[
    "first",
    "known",
    "count",
    "sum",
    "avg",
    "min",
    "max",
    "var_pop",
    "var_samp",
    "rank",
    "dense",
    "number",
    "percent",
    "share",
    "part",
]
"""What is shown of the rows before one: the value of the first of them; that of the last one that
is not NULL; or an aggregate. Of the rows of one time: a row's place in an order, where equal ones
have one place, with gaps or without ("dense"), or each its own; which share of the others are
before it ("percent", PERCENT_RANK), and of all not after it ("share", CUME_DIST); in which of so
many parts, as even as can be, it lies ("part", NTILE); or the value of the first in the order."""


@dataclass(frozen=True, slots=True)
class OrderBy:
    """A key of an order."""

    by: "Expression"
    down: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class Counted:
    """A column that is made of the rows before a row: a function of `argument` (None: of the rows
    themselves), of those from so many rows before it (`first`), or so long (`span_us`; neither:
    from the first of all), to so many (`last`; below 0: after it); `peers`: to all of its time, or
    to those that are so long before it, or longer (`until_us`).
    `order`: the order in which a row has its place, of the rows of its time; `parts`: into how many
    these are divided ("part")."""

    name: str
    function: CountedFunction
    argument: "Expression | None"
    first: int | None
    last: int
    type: "ColumnType"
    span_us: int | None = None
    peers: bool = False
    order: tuple[OrderBy, ...] = ()
    until_us: int = 0
    parts: int = 0

    @property
    def runs(self) -> bool:
        """Whether it is of all rows from the first on."""
        return self.first is None and self.span_us is None and not self.order


@dataclass(frozen=True, slots=True)
class Preceding:
    """How rows of the stream `base` meet the rows before them, of the same `key`, of the same
    buckets of time, `within`, and of the same `run`, values of which equal ones are next to each
    other among the rows of a key; of those alone of which `only` is true (None: all).

    `after`: a row is given when so many rows after it have come, with the timestamp of the last of
    them; then its own timestamp, `time`, is a column. `columns` count from the row itself. `ties`:
    the order of rows of one time (none: there is one of each key at a time, or it says nothing).
    """

    base: str
    time: str
    key: tuple[str, ...]
    only: "Expression | None"
    columns: tuple[Counted, ...]
    after: int = 0
    ties: tuple[OrderBy, ...] = ()
    within: "tuple[TimeBucket, ...]" = ()
    run: "tuple[Expression, ...]" = ()

    @property
    def kept(self) -> int:
        """How many rows of a key are kept, however old they are."""
        back = (c.last if c.first is None else c.first for c in self.columns)
        return max(self.after + max(0, *back), int(any(c.runs for c in self.columns)))

    @property
    def span_us(self) -> int:
        """For how long rows are kept, however many they are."""
        return max((c.span_us or 0 for c in self.columns), default=0)
