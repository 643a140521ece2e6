"""Find columns of two streams that seem to name the same things."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from ontoweir.mappings.model.catalog import Catalog, Column, IntType, Stream, StringType
from ontoweir.measuring.measure_streams import measure_streams
from ontoweir.scaffold.terms.describe_stream import describe_stream
from ontoweir.scaffold.terms.name_terms import class_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ontoweir.runtime.measure.measured import MeasuredStream

End: TypeAlias = tuple[Stream, Column]

_NUMBERS = {"id", "uuid", "guid", "no", "nr", "number", "code", "key"}
"""Words that a column's name may end with, beside what it names."""
_CONTAINED = 0.5
"""So many of the values of one column are in the other, at least."""
_LEAST = 2
"""Of so many values at least."""


@dataclass(frozen=True, slots=True)
class Same:
    """A column of a stream whose values are among those of another one's: so many (`met`) of the
    `values`; rows come at most `lag_us` after the first one there with their value. `again_us`:
    the time after which a thing of the other stream is seen again, on average."""

    few: End
    many: End
    met: int
    values: int
    lag_us: int
    again_us: int

    @property
    def because(self) -> str:
        """The evidence, in words."""
        (late, mine), (early, theirs) = self.few, self.many
        there = f"{early.name}.{theirs.name}"
        return f"{self.met:,} of {self.values:,} values of {late.name}.{mine.name} are in {there}"


def find_same(catalog: Catalog, spark: "Callable[[], SparkSession]") -> list[Same]:
    """Columns that seem to name the same things, which is a guess: by their names, and by how many
    values are in both.

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
    found = []
    for pair in pairs:
        few, many = sorted(pair, key=lambda end: measured[end[0].name].rows)
        same = _compare(measured, few, many)
        if same is not None:
            found.append(same)
    return found


def _list_pairs(catalog: Catalog) -> Iterator[tuple[End, End]]:
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


def _compare(measured: "dict[str, MeasuredStream]", few: End, many: End) -> Same | None:
    """The values of the one that are in the other (None: too few)."""
    from ontoweir.runtime.measure.measure_lag import measure_lag

    theirs_of = measured[many[0].name]
    mine = measured[few[0].name].spans.get(few[1].name)
    theirs = theirs_of.spans.get(many[1].name)
    if mine is None or theirs is None:
        return None
    lag = measure_lag(mine, theirs)
    if lag is None or lag.values < max(_LEAST, _CONTAINED * len(mine.values)):
        return None
    span = (theirs_of.last_us or 0) - (theirs_of.first_us or 0)
    things = theirs_of.columns[many[1].name].distinct or 1
    again = span * things // max(theirs_of.rows, 1)
    return Same(few, many, lag.values, len(mine.values), lag.greatest_us, again)
