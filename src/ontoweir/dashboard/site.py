"""A dashboard's project, registry and metrics, and how it reads them."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Site:
    """A project, its overrides, and where its runs write: `registry`, the registered queries;
    `metrics`, the plain run's metrics.jsonl, and `answers`, its answers; `running`: that run is
    this process. `host`: the address that is listened on; `token`: what whoever asks must know
    (None: nothing); `limit`: seconds of a check; `text`: the most characters of a typed query;
    `changes`: queries may be registered and dropped."""

    project: Path
    registry: Path
    metrics: Path
    answers: Path
    overrides: tuple[str, ...] = ()
    strict: bool = False
    running: bool = False
    host: str = "127.0.0.1"
    token: str | None = None
    limit: float = 30.0
    text: int = 50_000
    changes: bool = False
