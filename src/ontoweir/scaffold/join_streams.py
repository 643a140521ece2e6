"""Write first queries that join two streams by columns that seem to name the same things."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import ceil
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Column, IntType, Stream, StringType
from ontoweir.mappings.model.parse_duration import UNITS_US, show_duration
from ontoweir.measuring.measure_streams import measure_streams
from ontoweir.scaffold.terms.describe_stream import describe_stream
from ontoweir.scaffold.terms.name_terms import class_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ontoweir.runtime.measure.measured import MeasuredStream

_End = tuple[Stream, Column]

_NUMBERS = {"id", "uuid", "guid", "no", "nr", "number", "code", "key"}
"""Words that a column's name may end with, beside what it names."""
_CONTAINED = 0.5
"""So many of the values of one column are in the other, at least."""
_LEAST = 2
"""Of so many values at least."""


@dataclass(frozen=True, slots=True)
class Shared:
    """So many of the `values` of a column are in another one (`met`); rows come at most `lag_us`
    after the first one there with their value."""

    met: int
    values: int
    lag_us: int


def join_streams(catalog: Catalog, spark: "Callable[[], SparkSession]") -> list[tuple[str, str]]:
    """Queries, by name, of rows of a stream after rows of another one with the same value, within
    a limit of time. That the values are of the same things is a guess, by the columns' names and
    by how many values are in both, which each query says.

    Args:
        catalog: with streams that have data.
        spark: gives the session where a source needs it.

    Raises:
        DataError: data cannot be read.
    """
    pairs = list(_list_pairs(catalog))
    ends = {(stream.name, column.name) for pair in pairs for stream, column in pair}
    streams = [s for s in catalog.streams.values() if any(s.name == name for name, _ in ends)]
    measured = measure_streams(catalog, streams, spark, None, ends) if pairs else {}
    made: dict[str, str] = {}
    for pair in pairs:
        few, many = sorted(pair, key=lambda end: measured[end[0].name].rows)
        shared = _find_shared(measured, few, many)
        if shared is not None:
            name = f"{few[0].name}-after-{many[0].name}".replace("_", "-")
            made.setdefault(name, _ask(few, many, measured[many[0].name], shared))
    return [*made.items()]


def _list_pairs(catalog: Catalog) -> Iterator[tuple[_End, _End]]:
    """Columns of two streams, not of one file, that are called alike, one of which tells what its
    stream's rows are about."""
    about = {n: describe_stream(s, catalog).entity for n, s in catalog.streams.items()}
    for one, other in combinations(catalog.streams.values(), 2):
        if one.data.path == other.data.path:
            continue
        for mine in one.columns:
            for theirs in other.columns:
                told = mine.name == about[one.name] or theirs.name == about[other.name]
                alike = _is_alike(_words(mine.name, one), _words(theirs.name, other))
                if told and alike and _is_of_one_kind(mine, theirs):
                    yield (one, mine), (other, theirs)


def _words(column: str, stream: Stream) -> tuple[str, ...]:
    """What a column names: `vessel_mmsi` (vessel, mmsi), `stationId` (station); `id` the stream's
    own things."""
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", column).lower()
    words = [w for w in re.split(r"[_\W]+", split) if w]
    while words and words[-1] in _NUMBERS:
        words.pop()
    return tuple(words) or (class_of(stream.name).lower(),)


def _is_alike(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether one name ends with the other."""
    width = min(len(one), len(other))
    return one[-width:] == other[-width:]


def _is_of_one_kind(one: Column, other: Column) -> bool:
    kinds = IntType, StringType
    return any(isinstance(one.type, k) and isinstance(other.type, k) for k in kinds)


def _find_shared(measured: "dict[str, MeasuredStream]", few: _End, many: _End) -> "Shared | None":
    """The values of the one that are in the other (None: too few)."""
    from ontoweir.runtime.measure.measure_lag import measure_lag

    mine = measured[few[0].name].spans.get(few[1].name)
    theirs = measured[many[0].name].spans.get(many[1].name)
    if mine is None or theirs is None:
        return None
    lag = measure_lag(mine, theirs)
    if lag is None or lag.values < max(_LEAST, _CONTAINED * len(mine.values)):
        return None
    return Shared(lag.values, len(mine.values), lag.greatest_us)


def _ask(few: _End, many: _End, measured: "MeasuredStream", shared: Shared) -> str:
    """The query; within twice the time after which a thing of the one is seen again, or the time
    after which all rows come."""
    (late, mine), (early, theirs) = few, many
    span = (measured.last_us or 0) - (measured.first_us or 0)
    things = measured.columns[theirs.name].distinct or 1
    step = max(late.step_us, early.step_us, UNITS_US["second"])
    again = 2 * span * things // max(measured.rows, 1)
    within = max(2, ceil(min(again, shared.lag_us or again) / step)) * step
    met, of = f"{shared.met:,}", f"{shared.values:,}"
    return (
        f"-- Rows of {late.name} after those of {early.name} about the same, within "
        f"{show_duration(within)} (a guess: {met} of {of} values of {late.name}.{mine.name} are in "
        f"{early.name}.{theirs.name}).\n"
        f"SELECT DISTINCT late.{_quote(mine.name)} AS it, early.{_quote(early.timestamp)} AS "
        f"before, late.{_quote(late.timestamp)} AS after\n"
        f"FROM {_quote(early.name)} AS early JOIN {_quote(late.name)} AS late\n"
        f"  ON early.{_quote(theirs.name)} = late.{_quote(mine.name)}\n"
        f"WHERE early.{_quote(early.timestamp)} <= late.{_quote(late.timestamp)}\n"
        f"  AND late.{_quote(late.timestamp)} <= early.{_quote(early.timestamp)}"
        f" + INTERVAL '{within // UNITS_US['second']}' SECOND\n"
    )


def _quote(name: str) -> str:
    return f"`{name}`"
