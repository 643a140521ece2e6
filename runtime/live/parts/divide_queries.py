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
from ontoweir.runtime.live.measure_state import SynopsisSize, measure_state
from ontoweir.runtime.live.model.divided_state import Placement
from ontoweir.runtime.live.model.live_job import LiveJob, RunningQuery
from ontoweir.runtime.live.parts.widen_bounds import widen_bounds
from ontoweir.runtime.results.group_state import GroupState

LiveEngine: TypeAlias = Literal["auto", "driver", "spark"]

_SHARE = 0.25
"""Where the bound of a query's state is more than this share of the machine's memory, its rows are
divided."""
_NUMBER = 8
"""Bytes of a number."""


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


@dataclass(frozen=True, slots=True)
class DividedJob:
    """A job with a placement of each query whose state is divided. `told`: in words, by query,
    where it is and why; `former`: how the queries are divided that the checkpoint has in parts, by
    name, where some are to be in others."""

    job: LiveJob
    told: dict[str, str]
    former: Mapping[str, Division] | None


def divide_queries(job: LiveJob, jobs: Sequence[QueryJob], wanted: PartsWanted) -> DividedJob:
    """Where the queries of a run keep their states.

    Args:
        job: the queries as they run.
        jobs: the same queries, in order.
        wanted: what was asked for.

    Raises:
        UsageError: the checkpoint has a state in parts that cannot be divided any more.
    """
    placements: dict[str, Placement] = {}
    told: dict[str, str] = {}
    former: dict[str, Division] = {}
    moved = False
    for query, mine in zip(job.queries, jobs, strict=True):
        known = wanted.known.get(query.name)
        asked = _count_parts(wanted, known)
        division = _divide(query, mine, max(asked, known or 1))
        if isinstance(division, str):
            if known is not None and known > 1:
                raise _undivided(query.name, known, division)
            kept = known == asked == 1 and wanted.parts is None and wanted.engine == "auto"
            told[query.name] = f"in the driver: {'as in the checkpoint' if kept else division}"
            continue
        if known is not None and known > 1:
            former[query.name] = replace(division, parts=known)
        divided, because = asked > 1, "as in the checkpoint"
        if known != asked:
            divided, because = _choose(query, wanted, asked)
        number = asked if divided else 1
        if known is not None and number != known:
            moved = True
            place = f"{known} parts" if known > 1 else "the driver"
            because = f"{because}; the checkpoint had it in {place}"
        told[query.name] = f"in the driver: {because}"
        if divided:
            told[query.name] = f"in {asked} parts on Spark's executors: {because}"
            order = tuple(list_order(query.work))
            mine_now = replace(division, parts=asked)
            placements[query.name] = Placement(mine_now, order, wanted.folder)
    queries = tuple(
        widen_bounds(q, placements[q.name].division) if q.name in placements else q
        for q in job.queries
    )
    made = replace(job, queries=queries, placements=placements)
    return DividedJob(made, told, former if moved else None)


def _count_parts(wanted: PartsWanted, known: int | None) -> int:
    """Into how many parts a state is to be divided, if it is: 1 where it is not."""
    if wanted.engine == "driver":
        return 1
    if wanted.parts is not None:
        return wanted.parts
    if known is not None and (known > 1 or wanted.engine == "auto"):
        return known
    return max(2, wanted.cores)


def _divide(query: RunningQuery, job: QueryJob, parts: int) -> Division | str:
    """How the rows of a query are divided, or why they are not."""
    if parts < 2:
        return "one part was asked for"
    apart = replace(job, watched=())  # keys over whole streams are watched in the driver
    return plan_division(apart, query.work, parts, changing=query.feed is not None)


def _undivided(name: str, known: int, why: str) -> UsageError:
    return UsageError(
        f"the checkpoint has the state of {name} in {known} parts",
        why=f"it is not divided any more: {why}",
        fix="undo the change, or start with a new checkpoint and replay what has passed",
    )


def _choose(query: RunningQuery, wanted: PartsWanted, asked: int) -> tuple[bool, str]:
    """Whether the state of a query that can be divided is, and why."""
    if wanted.engine == "driver" or asked < 2:
        return False, "as it was asked for"
    if wanted.engine == "spark" or wanted.parts is not None:
        return True, "as it was asked for"
    nothing = ExecutionState({}, tuple(KernelState() for _ in query.plans), (), GroupState())
    sizes = [_bound_bytes(query, size) for size in measure_state(query, nothing)]
    bounds = [size for size in sizes if size is not None]
    if not sizes or len(bounds) < len(sizes):
        return False, "no bound of its bytes is known"
    share = sum(bounds) / wanted.memory
    return share > _SHARE, (
        f"its bound is {sum(bounds) / 1e6:,.1f} MB, {share:.0%} of this machine's memory"
    )


def _bound_bytes(query: RunningQuery, size: SynopsisSize) -> int | None:
    """The bytes that a synopsis may have; of groups, which have none yet, as of their answers."""
    if size.bound_bytes is not None or size.bound_rows is None:
        return size.bound_bytes
    return size.bound_rows * _NUMBER * len(query.schema)
