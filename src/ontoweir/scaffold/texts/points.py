"""Points of a time series database as tables."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ontoweir.errors import DataError, Source
from ontoweir.scaffold.flatten_rows import make_name

Value = str | int | float | bool | None
"""Of a tag or a field."""


@dataclass(frozen=True, slots=True)
class Point:
    """What was measured (`series`) at a time (µs since 1970, UTC): `values` of tags and fields."""

    series: str
    time_us: int
    values: Mapping[str, Value]


def write_points(points: Iterable[Point], file: Path, folder: Path) -> list[Path]:
    """A file of Parquet for each series, in the order of time; points of one series, time and tags
    have been put together.

    Args:
        points: in any order.
        file: that they come from.
        folder: for the files, which are called after the series.

    Raises:
        DataError: there are none, or a field is text in some points and a number in others.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables: dict[str, list[Point]] = {}
    for point in points:
        tables.setdefault(point.series, []).append(point)
    if not tables:
        raise DataError(
            f"{file} has no points",
            why="what its columns are is seen in its points",
            fix="name a file with some",
            source=Source(str(file)),
        )
    written = []
    for series, found in tables.items():
        found.sort(key=lambda p: p.time_us)
        names = dict.fromkeys(name for point in found for name in point.values)
        time = next(n for n in ("time", "ts", "time_utc", "time_us") if n not in names)
        times = pa.array([p.time_us for p in found], pa.timestamp("us", "UTC"))
        columns: dict[str, pa.Array] = {time: times}
        for name in names:
            try:
                columns[name] = pa.array(_widen([p.values.get(name) for p in found]))
            except pa.ArrowException:
                raise DataError(
                    f"{name} of {series} is of several types",
                    why="a column has one type",
                    fix="write it under several names",
                    source=Source(str(file)),
                ) from None
        target = folder / f"{make_name(series)}.parquet"
        if target.exists():
            raise DataError(
                f"two tables would be called {target.stem!r}",
                why="a table is called after its series",
                fix="name them differently",
                source=Source(str(file)),
            )
        pq.write_table(pa.table(columns), target)
        written.append(target)
    return written


def _widen(values: list[Value]) -> list[Value]:
    """Whole numbers beside fractions as fractions, too."""
    return (
        [float(v) if type(v) is int else v for v in values]
        if any(type(v) is float for v in values)
        else values
    )
