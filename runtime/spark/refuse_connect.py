"""Refuse live runs on Spark Connect."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ontoweir.errors import Source, UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def is_connect(spark: "SparkSession") -> bool:
    """Whether a session is one of Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


_REMOTE, _VARIABLE = "spark.remote", "SPARK_REMOTE"


def refuse_connect(spark: "SparkSession | None", settings: Mapping[str, str]) -> None:
    """See to it that a live run has a session whose driver is this process.

    Connect calls what takes the micro-batches in a process of the server. The kernel's state, the
    locks of the checkpoint, and the handle that errors and progress come through are here.

    Args:
        spark: the session given (None: the active one, or one to be started).
        settings: properties of the one to be started.

    Raises:
        UsageError: it is one of Spark Connect.
    """
    if spark is None:
        for place, named in ((f"--spark {_REMOTE}", settings), (_VARIABLE, os.environ)):
            if named.get(place.removeprefix("--spark ")):
                raise _refused(f"{place} names a server of Spark Connect", Source(place))
        from pyspark.sql import SparkSession

        spark = SparkSession.getActiveSession()
    if spark is not None and is_connect(spark):
        raise _refused("the session is one of Spark Connect", Source("spark"))


def _refused(what: str, source: Source) -> UsageError:
    return UsageError(
        what,
        why="a live run keeps its state in the process of Spark's driver, and on Connect the "
        "driver is the server",
        fix="run it in a process that has a driver (`ontoweir run` without a server, or "
        "SparkSession.builder.master(…)), or replay the history, which works on Connect",
        source=source,
    )
