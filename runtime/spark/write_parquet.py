"""Write a DataFrame as Parquet that holds every time as it is."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_EXACT = {
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # the default ends in 2262
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
}


def write_parquet(frame: "DataFrame", place: str, *, replace: bool = False) -> None:
    """Write a DataFrame to a folder of Parquet files: times in microseconds, in the calendar that
    everyone has. `replace`: what is there goes.

    Raises:
        PySparkException: Spark cannot read the data, or a task cannot write.
    """
    with _exact(frame.sparkSession):
        frame.write.mode("overwrite" if replace else "error").parquet(place)


@contextmanager
def _exact(spark: "SparkSession") -> Iterator[None]:
    """The session's settings meanwhile; it is somebody else's."""
    before = {name: spark.conf.get(name, None) for name in _EXACT}
    for name, value in _EXACT.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, was in before.items():
            if was is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, was)
