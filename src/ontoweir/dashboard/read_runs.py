"""The state of queries, read from the files that runs write: metrics.jsonl, and the registry.

These files are not trusted: values that are missing or of a wrong type are left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ontoweir.dashboard.read_tail import read_object, read_tail
from ontoweir.files.hold_lock import is_held
from ontoweir.registry.entry_status import STATUS
from ontoweir.registry.registry_entry import ENTRY

METRICS = "metrics.jsonl"


@dataclass(frozen=True, slots=True)
class Synopsis:
    """The rows of a synopsis, and its bound (None: no number is known)."""

    name: str
    rows: int
    bound: int | None
    formula: str


@dataclass(frozen=True, slots=True)
class Limit:
    """A rule on how rows of a stream come: the k that is in use, and the one observed, as text;
    `broken`: whether more is observed than used."""

    stream: str
    rule: str
    in_use: str
    observed: str
    broken: bool


@dataclass(frozen=True, slots=True)
class Moment:
    """A query after a micro-batch; `at` in seconds since 1970. `tuples`, `results`, `rejected`
    and `rejects` count from the run's start; `lag`: seconds behind the clock; `stages`: seconds of
    each stage of the micro-batch."""

    at: float
    batch: int
    rows: int
    bound: int | None
    synopses: tuple[Synopsis, ...]
    seconds: float
    tuples_per_second: float
    tuples: int
    results: int
    rejected: int
    rejects: Mapping[str, int]
    finished: str | None
    lag: float | None
    stages: Mapping[str, float] = field(default_factory=dict)
    limits: tuple[Limit, ...] = ()
    events: tuple[str, ...] = ()
    on_disk: int | None = None
    """Rows that rules drop, on disk (None: nothing is kept there)."""
    bytes: int | None = None
    """Of the rows that are kept."""
    bound_bytes: int | None = None
    """The bound on these, without texts (None: not known)."""
    behind: float | None = None
    """Seconds from the last finished timestamp to the newest that has come."""
    waiting: int | None = None
    """Rows that wait for a marker."""


@dataclass(frozen=True, slots=True)
class Run:
    """A query that is registered, or ran. `status`: waiting, running, stopped, failed, died, or,
    without a status, "ran"; `shared`: the counts belong to a run with other queries; `entry`: the
    registered query."""

    name: str
    status: str
    moments: tuple[Moment, ...]
    error: str | None = None
    shared: bool = False
    entry: Mapping[str, Any] | None = None

    @property
    def last(self) -> Moment | None:
        """The newest moment."""
        return self.moments[-1] if self.moments else None


MAX_BATCHES = 300
"""Moments that are read of a run, if they lie in the last megabyte of its metrics."""


def read_runs(
    registry: Path, metrics: Path, *, running: bool = False, most: int = MAX_BATCHES
) -> dict[str, Run]:
    """The queries of the registry, and those of the plain run whose metrics are in a folder.

    Args:
        registry: its folder; one folder for each entry in it.
        metrics: the folder of the plain run's metrics.jsonl.
        running: whether that run is known to go on.
        most: the number of newest moments of each.
    """
    runs = read_plain_run(metrics, running=running, most=most)
    try:
        folders = sorted(f for f in registry.iterdir() if (f / ENTRY).is_file())
    except OSError:
        folders = []
    for folder in folders:
        run = read_run(folder, most=most)
        if run is not None:
            runs[run.name] = run
    return runs


def read_plain_run(
    metrics: Path, *, running: bool = False, most: int = MAX_BATCHES
) -> dict[str, Run]:
    """The queries of a run that is not of the registry."""
    records = read_tail(metrics / METRICS, most=most)
    names = dict.fromkeys(name for r in records for name in _dict(r.get("queries")))
    status = "running" if running else "ran"
    return {
        name: Run(name, status, _moments(records, name), shared=len(names) > 1) for name in names
    }


def read_run(folder: Path, *, most: int = MAX_BATCHES) -> Run | None:
    """A registered query; None where its entry cannot be read."""
    entry = read_object(folder / ENTRY)
    if entry is None:
        return None
    name = _text(entry.get("name")) or folder.name
    status = read_object(folder / STATUS) or {}
    if status.get("id") != entry.get("id"):
        status = {}  # of the entry that this one replaces
    state, error = _text(status.get("state")) or "waiting", _text(status.get("error"))
    if status and state in ("running", "waiting") and not is_held(folder):
        state, error = "died", "the process that served it is gone"
    return Run(
        name,
        state,
        _moments(read_tail(folder / METRICS, most=most), name),
        error=error,
        entry=entry,
    )


def _moments(records: Sequence[Mapping[str, Any]], name: str) -> tuple[Moment, ...]:
    moments = []
    for record in records:
        query = _dict(record.get("queries")).get(name)
        at = _time(record.get("time"))
        if isinstance(query, dict) and at is not None:
            moments.append(_moment(record, query, at))
    return tuple(moments)


def _moment(record: Mapping[str, Any], query: Mapping[str, Any], at: float) -> Moment:
    totals = _dict(record.get("totals"))
    lags = [
        lag
        for stream in _dict(record.get("streams")).values()
        if (lag := _number(_dict(stream).get("lag_seconds"))) is not None
    ]
    return Moment(
        at,
        _count(record.get("batch")),
        _count(query.get("state_rows")),
        _whole(query.get("bound_rows")),
        tuple(
            Synopsis(
                _text(s.get("synopsis")) or "?",
                _count(s.get("rows")),
                _whole(s.get("bound_rows")),
                _text(s.get("bound")) or "",
            )
            for s in _list(query.get("synopses"))
            if isinstance(s, dict)
        ),
        _number(record.get("seconds")) or 0.0,
        _number(record.get("tuples_per_second")) or 0.0,
        _count(totals.get("tuples")),
        _count(totals.get("results")),
        _count(totals.get("rejected")),
        {str(k): _count(v) for k, v in _dict(record.get("rejects")).items()},
        _text(record.get("finished")),
        max(lags, default=None),
        {str(k): _number(v) or 0.0 for k, v in _dict(record.get("stages")).items()},
        tuple(_limit(m) for m in _list(record.get("limits")) if isinstance(m, dict)),
        tuple(e for e in map(_text, _list(record.get("events"))) if e is not None),
        _whole(_dict(query.get("on_disk")).get("rows")),
        _whole(query.get("state_bytes")),
        _whole(query.get("bound_bytes")),
        _number(record.get("behind_seconds")),
        _whole(record.get("waiting")),
    )


def _limit(held: Mapping[str, Any]) -> Limit:
    shown = _dict(held.get("shown"))
    return Limit(
        _text(held.get("stream")) or "?",
        _text(held.get("rule")) or "?",
        _text(shown.get("in_use")) or "?",
        _text(shown.get("observed")) or "?",
        (_number(held.get("observed")) or 0.0) > (_number(held.get("in_use")) or 0.0),
    )


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e300 else None


def _whole(value: object) -> int | None:
    number = _number(value)
    return None if number is None else int(number)


def _count(value: object) -> int:
    return max(_whole(value) or 0, 0)


def _time(value: object) -> float | None:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
        if moment is None:
            return None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
