"""The status of a registered query: `status.json`, written by the process that serves it."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ontoweir.files.hold_lock import is_held
from ontoweir.registry.registry_entry import Entry, utc_now, write_json

STATUS = "status.json"
State: TypeAlias = Literal["waiting", "running", "stopped", "failed", "died"]
"""`waiting`: for a server, or to be started; `died`: the process that served it is gone, and had no
time to say so (found by its lock; never written)."""
_COUNTS = ("tuples", "markers", "results", "rejected", "late")


_KEPT = (
    *("state_rows", "state_bytes", "bound_rows", "bound_bytes", "synopses", "batch", "last_batch"),
    *(
        "finished",
        "behind_seconds",
        "waiting_rows",
        "rejects",
        "rules",
        "on_disk",
        "limits",
        "streams",
        *_COUNTS,
    ),
)
"""What an entry has come to, which stays true until it goes on."""


def begin_status(
    entry: Entry, answers: str, answers_folder: Path | None, folder: Path | None = None
) -> dict[str, Any]:
    """The status of an entry that is about to run; `answers` says where these go, and
    `answers_folder` which folder has their files, if they go to files. `folder`: the entry's, which
    says how far it has come before."""
    before = None if folder is None else _read(folder, entry)
    return {
        "version": 1,
        "name": entry.name,
        "id": entry.id,
        "state": "waiting",
        "error": None,
        "pid": os.getpid(),
        "started": utc_now(),
        "updated": utc_now(),
        "answers": answers,
        "answers_folder": None if answers_folder is None else str(answers_folder.absolute()),
        "verdict": entry.verdict,
        "tier": entry.tier,
        "bound_rows": entry.bound_rows,
        "bound_formula": entry.bound_formula,
        "bound_bytes": None,
        "state_rows": 0,
        "state_rows_max": 0,
        "shared_rows": 0,
        "state_bytes": 0,
        "synopses": [],
        "batch": None,
        "last_batch": None,
        "finished": None,
        "behind_seconds": None,
        "waiting_rows": 0,
        **dict.fromkeys(_COUNTS, 0),
        "rejects": {},
        "rules": [],
        "on_disk": {},
        "limits": [],
        "streams": {},
        "tuples_per_second": 0.0,
        "stages": {},
        **{name: held for name, held in (before or {}).items() if name in _KEPT},
    }


def add_record(status: dict[str, Any], record: Mapping[str, Any]) -> None:
    """Bring a status up to date with the record of a micro-batch (measure_batch)."""
    held = record["queries"][status["name"]]
    status |= {name: record["totals"][name] for name in _COUNTS}
    status |= {
        "updated": utc_now(),
        "batch": record["batch"],
        "last_batch": record["time"],
        "finished": record["finished"],
        "behind_seconds": record["behind_seconds"],
        "waiting_rows": record["waiting"],
        "rejects": record["rejects"],
        "streams": record["streams"],
        "tuples_per_second": record["tuples_per_second"],
        "stages": record["stages"],
        "state_rows": held["state_rows"],
        "state_rows_max": max(status["state_rows_max"], held["state_rows"]),
        "state_bytes": held["state_bytes"],
        "bound_rows": held["bound_rows"],
        "bound_bytes": held["bound_bytes"],
        "synopses": held["synopses"],
        "rules": held["rules"],
        "on_disk": held["on_disk"],
        "limits": record["limits"],
    }


def write_status(folder: Path, status: Mapping[str, Any]) -> None:
    """Replace `status.json`, whole.

    Raises:
        RunError: it cannot be written.
    """
    write_json(folder / STATUS, dict(status), durable=False)


def read_status(registry: Path, entry: Entry) -> dict[str, Any]:
    """An entry's status, as `ontoweir status --format json` prints it: what the process that serves
    it last wrote, `state` as it is now, and `registered`, `language`, `allow_unbounded`.

    `lag_seconds`: how far the slowest stream is behind the clock (None: nothing has arrived).
    """
    folder = registry / entry.name
    status = begin_status(entry, "", None)
    status |= {"pid": None, "started": None, "updated": None}
    held = _read(folder, entry)
    if held is not None and held["state"] in ("running", "waiting") and not is_held(folder):
        held = _read(folder, entry)  # it may have ended, and said so, in between
        if held is not None and held["state"] in ("running", "waiting"):
            held["state"] = "died"
            held["error"] = f"process {held['pid']}, which served it, is gone"
    status |= held or {}
    lags = [s["lag_seconds"] for s in status["streams"].values() if s["lag_seconds"] is not None]
    return {
        **status,
        "lag_seconds": max(lags) if lags else None,
        "language": entry.language,
        "registered": entry.registered,
        "allow_unbounded": entry.allow_unbounded,
    }


def _read(folder: Path, entry: Entry) -> dict[str, Any] | None:
    """The status written last (None: the entry has not been served yet)."""
    try:
        held: dict[str, Any] = json.loads((folder / STATUS).read_text(encoding="utf-8"))
        return held if held["id"] == entry.id and held["version"] == 1 else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
