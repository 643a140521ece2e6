"""Divide the queries of a run, and give the tasks of their parts to Spark, while it runs."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.runtime.division.division import Division
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.live.checkpoint.save_state import read_parts
from ontoweir.runtime.live.model.live_job import LiveJob
from ontoweir.runtime.live.parts.divide_queries import LiveEngine, PartsWanted, divide_queries
from ontoweir.runtime.live.parts.spark_parts import SparkParts
from ontoweir.runtime.spark.count_cores import count_cores

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class PlacedJob:
    """A job with its placements, and in words where the state of each query is, and why; `former`:
    how the queries are divided that the checkpoint has in parts, where some are divided anew."""

    job: LiveJob
    told: dict[str, str]
    former: Mapping[str, Division] | None

    @property
    def identity(self) -> str:
        """What decides in which part rows are (empty: no state is divided)."""
        return _identify({n: p.division for n, p in self.job.placements.items()})

    @property
    def former_identity(self) -> str | None:
        """That of the checkpoint, where it is another one."""
        return None if self.former is None else _identify(self.former)


def _identify(divisions: Mapping[str, Division]) -> str:
    return "\n".join(f"{name} {d.identity}" for name, d in sorted(divisions.items()))


@contextmanager
def place_queries(
    job: LiveJob,
    jobs: Sequence[QueryJob],
    spark: "SparkSession",
    checkpoint: Path,
    engine: LiveEngine,
    parts: int | None,
) -> Iterator[PlacedJob]:
    """The job as it runs.

    Args:
        job: the queries.
        jobs: the same queries as they were prepared, in order.
        spark: the session whose executors advance parts.
        checkpoint: the folder of the run's state.
        engine: where states are to be kept.
        parts: into how many parts each is to be divided (None: as many as there are cores).

    Raises:
        UsageError: the checkpoint has a state in parts that cannot be divided any more.
    """
    folder = (checkpoint / "parts").absolute()
    names = [query.name for query in job.queries]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    known = read_parts(checkpoint / "commits", names)
    wanted = PartsWanted(engine, parts, count_cores(spark), known, memory, folder)
    made = divide_queries(job, jobs, wanted)
    placed = PlacedJob(made.job, made.told, made.former)
    if not made.job.placements:
        yield placed
        return
    tasks = SparkParts(spark, made.job, folder)
    try:
        yield replace(placed, job=replace(made.job, run_parts=tasks))
    finally:
        tasks.close()
