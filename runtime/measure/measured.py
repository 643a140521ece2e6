"""What was measured of a stream."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Scalar

if TYPE_CHECKING:
    import pyarrow as pa

    from ontoweir.runtime.columnar.frame import Array


@dataclass(frozen=True, slots=True)
class MeasuredLateness:
    """How long after a later timestamp rows came.

    `delays`: in µs, ascending, the first is 0; `rows`: how many rows have each; `exact`: whether
    they are the delays themselves; else each is at most 1 % greater, but for the last.
    """

    delays: tuple[int, ...]
    rows: tuple[int, ...]
    exact: bool = True

    @property
    def greatest_us(self) -> int:
        """The lateness with which no row is late."""
        return self.delays[-1]

    @property
    def total(self) -> int:
        """All rows with a timestamp."""
        return sum(self.rows)

    def count_late(self, lateness_us: int) -> int:
        """How many rows are late with a lateness; where not exact, at most so many."""
        pairs = zip(self.delays, self.rows, strict=True)
        return sum(rows for delay, rows in pairs if delay > lateness_us)

    def quantile(self, share: float) -> int:
        """The least delay (µs) that a share of the rows does not exceed."""
        wanted, seen = ceil(share * self.total), 0
        for delay, rows in zip(self.delays, self.rows, strict=True):
            seen += rows
            if seen >= wanted:
                return delay
        return self.greatest_us


@dataclass(frozen=True, slots=True)
class MeasuredColumn:
    """The values of a column.

    `nulls`: rows without one; `minimum`, `maximum`: of numbers and days (None: of other types, or
    there is no value); `distinct`: how many there are (None: more than were counted); `values`: all
    of them, in order, where they are few.
    `gap_us`, `span_us`: two rows of one value that follow each other are at most so far apart, and
    the first and the last (None: there are too many values); `between`: so many rows with values
    come at most in the steps between two that follow each other; `most_rows`: so many rows have one
    value at most.
    `order`: of whole numbers and days, by how much a value is less than the greatest before, at
    most, and how many rows of later timestamps come between a greater value and it (None: it was
    not measured).
    """

    nulls: int
    minimum: Scalar | None
    maximum: Scalar | None
    distinct: int | None
    values: tuple[Scalar, ...] | None
    gap_us: int | None = None
    span_us: int | None = None
    order: tuple[int, int] | None = None
    between: int | None = None
    most_rows: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ValueSpans:
    """The distinct values of a column, and the times (µs) of the first and last row with each."""

    values: "pa.Array"
    first: "Array"
    last: "Array"


@dataclass(frozen=True, slots=True)
class MeasuredLag:
    """How long rows come after those of another stream with their value.

    `values`: how many are in both; `greatest_us`: a row comes at most so long after the first one
    there that has its value (0: none comes later); `quantiles`: of half of the values, of 99 % and
    of 99.9 % (none: no value is in both). `one`: no two rows of the stream have one value.
    """

    values: int
    greatest_us: int
    quantiles: tuple[int, ...]
    one: bool = False


@dataclass(frozen=True, slots=True)
class MeasuredRate:
    """How many rows come in how much time: `counts`, of spans of `width_us` each, the first of
    which is number `begin` since 1970; `quantiles`: so many rows have half of the timestamps that
    have some, 99 % and 99.9 % of them, at most."""

    width_us: int
    begin: int
    counts: tuple[int, ...]
    quantiles: tuple[int, ...]

    @property
    def busiest(self) -> float:
        """The rows a second of the span that has most."""
        return max(self.counts) / self.width_us * 1e6


@dataclass(frozen=True, slots=True)
class MeasuredRatio:
    """How many rows of a stream there are for each of another: `overall`; `least`, `most`: in spans
    of `width_us` in which both have rows (None: there is none such); `alone`: in so many, of
    `spans`, one has rows and the other none."""

    overall: float
    least: float | None
    most: float | None
    width_us: int
    spans: int
    alone: int


@dataclass(frozen=True, slots=True)
class MeasuredStream:
    """What was measured of a stream.

    `rows`: all; `untimed`: those without a timestamp; `first_us`, `last_us`: the first and last
    timestamp (None: there is none); `step_us`: all timestamps are multiples of it; `rate`: the most
    rows that share a timestamp, without those that repeat a declared key there, and `repeats`, how
    many these are; `gap_us`: two timestamps that follow each other are at most so far
    apart; `keys`: columns that tell the rows of a timestamp apart, those with few columns first;
    `whole_keys`: single columns that tell all rows apart;
    `references`: by column, the static columns that have all its values, as (relation, column);
    `left_out`: rows that came so late that they were not looked at any more;
    `spans`: by column, of those that were asked for, and that have not too many values;
    `determines`: pairs of columns, a value of the first of which always comes with one value of the
    second; `every_pair`: whether all were looked at; `rates`: how many rows come in how much time
    (None: none); `mistyped`: by column, how many rows have a value there that is not of its type,
    and none in a column before it; `nan`: by column, how many have NaN there, and are rejected.
    """

    rows: int
    untimed: int
    first_us: int | None
    last_us: int | None
    step_us: int | None
    lateness: MeasuredLateness
    rate: int
    gap_us: int | None
    columns: Mapping[str, MeasuredColumn]
    keys: tuple[tuple[str, ...], ...]
    whole_keys: tuple[str, ...]
    references: Mapping[str, tuple[tuple[str, str], ...]]
    repeats: int = 0
    left_out: int = 0
    spans: Mapping[str, ValueSpans] = field(default_factory=dict, repr=False)
    determines: tuple[tuple[str, str], ...] = ()
    every_pair: bool = True
    rates: MeasuredRate | None = None
    mistyped: Mapping[str, int] = field(default_factory=dict)
    nan: Mapping[str, int] = field(default_factory=dict)
