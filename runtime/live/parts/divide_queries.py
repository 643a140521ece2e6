"""Where the queries of a run keep their state: in the driver, or divided by key among executors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from ontoweir.errors import UsageError
from ontoweir.runtime.division.division import Division
from ontoweir.runtime.division.plan_division import plan_division
from ontoweir.runtime.division.unite_parts import list_order
from ontoweir.runtime.engine.execution import ExecutionState
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.kernel.kernel import KernelState
from ontoweir.runtime.live.measure_state import measure_state
from ontoweir.runtime.live.model.divided_state import Placement
from ontoweir.runtime.live.model.live_job import LiveJob, RunningQuery
from ontoweir.runtime.live.parts.widen_bounds import widen_bounds
from ontoweir.runtime.results.group_state import GroupState

LiveEngine: TypeAlias = Literal["auto", "driver", "spark"]

_SHARE = 0.25
"""Where the bound of a query's state is more than this share of the machine's memory, its rows are
divided."""


@dataclass(frozen=True, slots=True)
class PartsWanted:
    """What a run was asked for: `parts` (None: as many as there are cores, at least two); `known`:
    by query, into how many parts its state is divided in the checkpoint (1: it is in the driver;
    not there: there is no checkpoint yet); `memory`: bytes of the machine; `folder`: of the files
    of parts."""

    engine: LiveEngine
    parts: int | None
    cores: int
    known: Mapping[str, int]
    memory: int
    folder: Path


def divide_queries(
    job: LiveJob, jobs: Sequence[QueryJob], wanted: PartsWanted
) -> tuple[LiveJob, dict[str, str]]:
    """The job with a placement of each query whose state is divided; and in words, by query, where
    it is and why.

    Args:
        job: the queries as they run.
        jobs: the same queries, in order.
        wanted: what was asked for.

    Raises:
        UsageError: the checkpoint has its state elsewhere than was asked for.
    """
    placements: dict[str, Placement] = {}
    told: dict[str, str] = {}
    for query, mine in zip(job.queries, jobs, strict=True):
        known = wanted.known.get(query.name)
        asked = known if known is not None and known > 1 else wanted.parts or max(2, wanted.cores)
        division: Division | str = "one part was asked for"
        if asked > 1:
            division = plan_division(mine, query.work, asked, changing=query.feed is not None)
        if isinstance(division, str):
            told[query.name] = f"in the driver: {division}"
            continue
        divided, because = _choose(query, wanted, known)
        told[query.name] = f"in the driver: {because}"
        if divided:
            told[query.name] = f"in {asked} parts on Spark's executors: {because}"
            order = tuple(list_order(query.work))
            placements[query.name] = Placement(division, order, wanted.folder)
    queries = tuple(
        widen_bounds(q, placements[q.name].division) if q.name in placements else q
        for q in job.queries
    )
    return replace(job, queries=queries, placements=placements), told


def _choose(query: RunningQuery, wanted: PartsWanted, known: int | None) -> tuple[bool, str]:
    """Whether the state of a query that can be divided is, and why.

    Raises:
        UsageError: the checkpoint has it elsewhere.
    """
    if known is not None:
        fits = wanted.parts in (None, known)
        if wanted.engine != "auto":
            fits &= (known > 1) == (wanted.engine == "spark")
        if not fits:
            place = f"{known} parts" if known > 1 else "the driver"
            raise UsageError(
                f"the checkpoint has the state of {query.name} in {place}",
                why="a run goes on where it keeps its state: which rows a part has follows from "
                "how many parts there are",
                fix="leave out --engine and --parts, or start with a new checkpoint and replay "
                "what has passed",
            )
        return known > 1, "as in the checkpoint"
    if wanted.engine == "driver":
        return False, "as it was asked for"
    if wanted.engine == "spark" or wanted.parts is not None:
        return True, "as it was asked for"
    nothing = ExecutionState({}, tuple(KernelState() for _ in query.plans), (), GroupState())
    sizes = [size.bound_bytes for size in measure_state(query, nothing)]
    bounds = [size for size in sizes if size is not None]
    if not sizes or len(bounds) < len(sizes):
        return False, "no bound of its bytes is known"
    share = sum(bounds) / wanted.memory
    return share > _SHARE, (
        f"its bound is {sum(bounds) / 1e6:,.1f} MB, {share:.0%} of this machine's memory"
    )
