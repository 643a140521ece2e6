"""Replay a query over the history, and tell its answers time by time."""

from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

from ontoweir.answers.read_answers import find_answers
from ontoweir.answers.write_rows import plain_cell
from ontoweir.errors import QueryError, UsageError
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.progress.replay_progress import ProgressListener
from ontoweir.run.replay_query import ReplayOptions, check_replay, replay_query

MOST = 5000
"""Changes that are told, at most; more only if they all come at one time."""
MOST_AT_ONCE = 100_000
"""Changes of one time that are told, at most."""
Row: TypeAlias = tuple[Any, ...]
"""The cells of an answer, as JSON has them."""
_OWN = ("op", "at", "until", "multiplicity")


@dataclass(frozen=True, slots=True)
class Change:
    """An answer that came, or (not `came`) went, so many `times`."""

    came: bool
    row: Row
    times: int


@dataclass(frozen=True, slots=True)
class Step:
    """What changed `at` a time, as text; how many answers are `holding` from then on, counted."""

    at: str
    changes: tuple[Change, ...]
    holding: int


@dataclass(frozen=True, slots=True)
class Steps:
    """The answers of a replay. `columns`: theirs; `steps`: in the order of time; `total`: how many
    changes there were, of which the first are told; `ending`: answers may go again; `state_rows`,
    `bound_rows`: the most rows that were kept, and that may be (None: not known)."""

    columns: tuple[str, ...]
    steps: tuple[Step, ...]
    total: int
    ending: bool
    state_rows: int
    bound_rows: int | None

    @property
    def told(self) -> int:
        """How many changes are told."""
        return sum(len(step.changes) for step in self.steps)


def replay_steps(
    workspace: Workspace, compiled: CompiledQuery, folder: Path, listener: ProgressListener
) -> Steps:
    """The answers over the history, as changes if they can be written so, or as they are found.

    Args:
        workspace: the project.
        compiled: the query.
        folder: for what is written meanwhile.
        listener: is told how far it is, and may raise what ends it.

    Raises:
        UsageError: only Spark can read the history.
        QueryError: the query is not bounded.
        DataError: the data is missing or breaks its declarations.
    """
    file = folder / "steps.parquet"
    plain = ReplayOptions(file, progress=False, engine="driver", listener=listener)
    options = replace(plain, emit="changes")
    try:
        check_replay(workspace, compiled, options)
    except (UsageError, QueryError):  # of what cannot be written so; whatever else is wrong is told
        options = plain
    summary = replay_query(workspace, compiled, options)
    rows: list[dict[str, Any]] = []
    names: tuple[str, ...] = ()
    for table in find_answers(file).read():
        names = names or tuple(n for n in table.column_names if n not in _OWN)
        place = 0
        while place < table.num_rows and _are_few(rows):
            part = table.slice(place, MOST + 1 - len(rows) if len(rows) <= MOST else MOST)
            rows += part.to_pylist()
            place += part.num_rows
        if not _are_few(rows):
            break
    steps, holding = [], 0
    for at, group in groupby(rows, key=lambda row: row["at"]):
        changes = tuple(_read_change(row, names) for row in group)
        holding += sum(c.times if c.came else -c.times for c in changes)
        steps.append(Step(str(plain_cell(at)), changes, holding))
    if not _are_few(rows):  # there may be more of the last time
        steps.pop()
    if rows and not steps:
        raise UsageError(
            f"more than {MOST_AT_ONCE:,} answers come at one time, {plain_cell(rows[0]['at'])}",
            why="what comes at one time is shown together",
            fix="ask for fewer, as by a WHERE or FILTER; or replay it, and look at the file",
        )
    return Steps(
        names,
        tuple(steps),
        int(summary["results"]),
        any("op" in row for row in rows[:1]),
        int(summary["state_rows_max"]),
        summary["bound_rows"],
    )


def _are_few(rows: list[dict[str, Any]]) -> bool:
    """Whether more changes are read: of one time all are."""
    if len(rows) <= MOST:
        return True
    return bool(rows[0]["at"] == rows[-1]["at"]) and len(rows) <= MOST_AT_ONCE


def _read_change(row: dict[str, Any], names: tuple[str, ...]) -> Change:
    cells = tuple(plain_cell(row[name]) for name in names)
    return Change(row.get("op", "+") == "+", cells, int(row.get("multiplicity") or 1))
