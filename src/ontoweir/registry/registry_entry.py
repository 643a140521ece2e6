"""A registered query: its text, and the verdict at its registration.

An entry is a folder of the registry, called as the query is: `entry.json`, and what runs leave
there (`checkpoint/`, `rejects/`, `metrics.jsonl`, `metrics.prom`, `status.json`). A dropped entry
whose state is kept has `dropped.json` in the place of `entry.json`.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ontoweir.errors import RunError, Source, UsageError
from ontoweir.files.replace_file import replace_file
from ontoweir.project.language_of import Language

ENTRY_VERSION = 1
ENTRY, DROPPED = "entry.json", "dropped.json"


@dataclass(frozen=True, slots=True)
class Entry:
    """A registered query.

    `id`: changes when a name is registered again; `text`: the query at that time; `file`:
    where it was read, for messages; `reads`: the registered queries that it reads, by their names,
    as they were then; `registered`: when (ISO 8601, UTC); `verdict`, `tier`,
    `bound_rows`, `bound_formula`: what was decided then, from the declarations alone;
    `allow_unbounded`: run it although it is not bounded.
    """

    name: str
    id: str
    language: Language
    text: str = field(repr=False)
    file: str
    registered: str
    allow_unbounded: bool
    verdict: str
    tier: str
    bound_rows: int | None
    bound_formula: str
    version: int = ENTRY_VERSION
    reads: dict[str, str] = field(default_factory=dict, repr=False)


def summarise_verdict(status: Mapping[str, Any]) -> str:
    """A verdict, its tier where that says more, and its bound: of an entry, or of a status.

    >>> summarise_verdict({"verdict": "bounded", "tier": "stateless", "bound_rows": 0})
    'bounded, stateless, ≤ 0 rows of state'
    """
    verdict, tier, rows = status["verdict"], status["tier"], status["bound_rows"]
    both = verdict if verdict == tier else f"{verdict}, {tier}"
    return f"{both}, {summarise_bound(verdict, rows)} of state"


def summarise_bound(verdict: str, rows: int | None) -> str:
    """The most rows that are kept: a number, "finite" where it is bounded without one, or "∞"."""
    if rows is not None:
        return f"≤ {rows:,} rows"
    finite = verdict in ("bounded", "conditionally-bounded", "unsatisfiable")
    return "finitely many rows" if finite else "∞ rows"


def utc_now() -> str:
    """The time of day, ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def write_json(file: Path, content: dict[str, Any], *, durable: bool = True) -> None:
    """Replace a file by an object, whole or not at all; links are followed; `durable`: wait for
    the disk; otherwise it is replaced often, and is one line, which takes a tenth of the time.

    Raises:
        RunError: it cannot be written.
    """
    if os.path.islink(file):
        file = Path(os.path.realpath(file))
    text = json.dumps(content, indent=1 if durable else None, ensure_ascii=False) + "\n"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, text.encode(), durable=durable, shared=True)
    except OSError as error:
        raise RunError(
            f"{file} cannot be written: {error.strerror or error}",
            why="the registry is kept in files",
            fix="free space, correct the folder, or name another with --registry",
        ) from error


def write_entry(registry: Path, entry: Entry) -> None:
    """Register an entry; a running server finds it there.

    Raises:
        RunError: it cannot be written.
    """
    write_json(registry / entry.name / ENTRY, asdict(entry))


def read_entry(file: Path) -> Entry | None:
    """The entry of a file (None: there is none).

    Raises:
        UsageError: it is damaged, or of another version.
    """
    try:
        held = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _damaged(file, str(error)) from error
    try:
        if held["version"] != ENTRY_VERSION:
            raise UsageError(
                f"the entry has version {held['version']}, this ontoweir writes {ENTRY_VERSION}",
                why="the registry is read back exactly as it was written",
                fix="register the query again with --replace",
                source=Source(str(file)),
            )
        entry = Entry(**held)
    except (KeyError, TypeError) as error:
        raise _damaged(file, str(error)) from error
    if file.parent.name != entry.name or entry.language not in ("sparql", "sql"):
        raise _damaged(file, "its name or its language is not as expected")
    return entry


def _damaged(file: Path, what: str) -> UsageError:
    return UsageError(
        f"the entry is damaged: {what}",
        why="only a complete entry can be used",
        fix="register the query again with --replace, or remove its folder",
        source=Source(str(file)),
    )
