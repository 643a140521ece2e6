"""What a micro-batch did and what is kept after it, as one JSON object."""

from collections.abc import Mapping, Sequence
from typing import Any

from ontoweir.checker.sizes.bound_open_steps import count_open_rows
from ontoweir.runtime.columnar.decode_times import show_time
from ontoweir.runtime.engine.execution import ExecutionState
from ontoweir.runtime.live.measure_state import measure_state, text_bytes
from ontoweir.runtime.live.model.divided_state import DividedState
from ontoweir.runtime.live.model.live_job import (
    PARTITION_OF,
    LiveJob,
    LiveState,
    RunningQuery,
    partitions_of,
)
from ontoweir.runtime.live.model.measure_limits import list_events, measure_limits
from ontoweir.runtime.rules.enforce_rules import begin_rules, count_broken
from ontoweir.runtime.spill.spill_state import measure_spill
from ontoweir.runtime.times.late_rows import NOT_LATE

_NONE: Mapping[str, float] = {}


def measure_batch(
    job: LiveJob,
    before: LiveState,
    state: LiveState,
    seconds: float,
    now: float,
    stages: Mapping[str, float] = _NONE,
) -> dict[str, Any]:
    """The record of a micro-batch.

    Args:
        job: the queries.
        before: the state that it found.
        state: the state that it left.
        seconds: how long it took, from its rows being asked for to its answers being published.
        now: the time of day (seconds since 1970).
        stages: how many of the seconds each stage took.

    Returns:
        `batch`, `time`, `seconds`, `stages`; `tuples`, `markers`, `results`, `late`, `rejected` of
        this micro-batch, and under `totals` since the run's first; `rejects`: totals by reason;
        `tuples_per_second`; `finished`: the last finished timestamp; `behind_seconds`: by how much
        that is before the newest timestamp that has come (None: there is none of both); `waiting`:
        rows that wait for a marker. By stream: `tuples` (total), `waiting`, `last`: the last
        timestamp of each partition, `lag_seconds`: by how much the slowest partition's is behind
        the time of day (None: nothing came), `holds_back`: whether the others wait for it,
        `open_rows_bound`: how many rows may wait because earlier ones may come, `late`: how late
        those came that were too late (LateRows). `limits`: of each lateness and rule, the k in use
        and the k observed (measure_limits), `events`: what has changed of them. By query:
        `state_rows`, `state_bytes`, `bound_rows`, `bound_bytes` (without texts, as they are of any
        length; None: not known), `parts`: the rows of each part of a state that is divided,
        `on_disk`: what rules dropped, its bytes, and how many rows were found again (no fields:
        nothing is kept there), `rules`: what is watched, and of each synopsis rows and bytes with
        their bounds.
    """
    did = {name: count - before.totals[name] for name, count in state.totals.items()}
    slowest = min(state.max_event_time.values(), default=None)
    streams, newest = {}, None
    for history in job.histories:
        name = history.stream.name
        partitions = partitions_of(name, state.last_arrival)
        times = state.max_event_time
        last = {partition: times[partition] for partition in partitions if partition in times}
        newest = max((at for at in (newest, *last.values()) if at is not None), default=None)
        lag = None if not last else round(now - min(last.values()) / 1e6, 3)
        waiting = state.buffered_rows.get(name)
        streams[name] = {
            "tuples": state.arrived.get(name, 0),
            "waiting": 0 if waiting is None else waiting.num_rows,
            "last": {
                partition.replace(PARTITION_OF, " "): show_time(at)
                for partition, at in last.items()
            },
            "lag_seconds": lag,
            "holds_back": len(last) < max(1, len(partitions)) or min(last.values()) == slowest,
            "open_rows_bound": count_open_rows(history.stream) if history.stream.lateness_us else 0,
            "late": state.late.get(name, NOT_LATE).describe(),
        }
    limits = measure_limits(job, state)
    return {
        "batch": state.batch,
        "time": show_time(round(now * 1e6)),
        "seconds": round(seconds, 6),
        "stages": dict(stages),
        **did,
        "tuples_per_second": round(did["tuples"] / seconds, 1) if seconds else 0.0,
        "totals": dict(state.totals),
        "rejects": dict(state.reasons),
        "finished": None if state.finished_us is None else show_time(state.finished_us),
        "behind_seconds": _behind(newest, state.finished_us),
        "waiting": state.waiting,
        "streams": streams,
        "limits": limits,
        "events": list_events(measure_limits(job, before), limits),
        "queries": _queries(job, state),
    }


def _behind(newest: int | None, finished: int | None) -> float | None:
    """Seconds between two times in µs, to a thousandth.

    >>> _behind(5_000_000, 3_999_999)
    1.0
    >>> _behind(5_000_000, 4_999_999)
    0.0
    """
    if newest is None or finished is None:
        return None
    return round(max(newest - finished, 0) / 1e6, 3)


def _sum_known(numbers: Sequence[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def _queries(job: LiveJob, state: LiveState) -> dict[str, Any]:
    measures = {}
    for query, held in zip(job.queries, state.queries, strict=True):
        sizes = measure_state(query, held)
        measures[query.name] = {
            "state_rows": held.rows,
            "state_bytes": sum(s.bytes for s in sizes) + text_bytes(held),
            "bound_rows": query.bound,
            "bound_bytes": _sum_known([s.bound_bytes for s in sizes]),
            "parts": [part.rows for part in held.parts] if isinstance(held, DividedState) else [],
            "on_disk": {} if isinstance(held, DividedState) else _on_disk(query, held),
            "rules": [] if isinstance(held, DividedState) else _rules(query, held),
            "synopses": [
                {
                    "synopsis": s.name,
                    "rows": s.rows,
                    "bytes": s.bytes,
                    "bound_rows": s.bound_rows,
                    "bound_bytes": s.bound_bytes,
                    "bound": s.formula,
                }
                for s in sizes
            ],
        }
    return measures


def _on_disk(query: RunningQuery, state: ExecutionState) -> dict[str, int]:
    """What rules dropped that is on disk; nothing where none does that."""
    return {} if query.work.spill is None else measure_spill(state.spilled)


def count_let_in(job: LiveJob, state: LiveState) -> dict[str, int]:
    """How many rows broke each rule that counts, by its name; of queries that watch the same rule,
    as the one with most says."""
    counts: dict[str, int] = {}
    for query, held in zip(job.queries, state.queries, strict=True):
        if isinstance(held, DividedState):
            continue
        for rule, count in count_broken(query.work.rules, held.rules).items():
            counts[rule] = max(counts.get(rule, 0), count)
    return counts


def _rules(query: RunningQuery, state: ExecutionState) -> list[dict[str, Any]]:
    """The rules that are watched: how many rows broke each and were let in (None: such rows are
    rejected, and counted by their reason), and how many closed values are remembered."""
    known = state.rules or begin_rules(query.work.rules)
    return [
        {
            "rule": rule.name,
            "broken": None if rule.reject else held.broken,
            "remembered": len(held.time),
        }
        for rule, held in zip(query.work.rules, known, strict=True)
    ]
