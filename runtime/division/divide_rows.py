"""Rows that were admitted, divided into parts."""

from collections.abc import Mapping, Sequence

import numpy as np

from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.division.division import Division
from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.sources.coded_texts import pick_rows
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.times.steps import Steps


def divide_rows(
    division: Division, histories: Sequence[History], admitted: Mapping[str, Admitted]
) -> list[dict[str, Admitted]]:
    """The rows of each part, in order of time; those of streams that all parts see are in each.

    Raises:
        DataError: the values of a column that divides a stream are of another type than declared.
    """
    parts: list[dict[str, Admitted]] = [{} for _ in range(division.parts)]
    for history in histories:
        name = history.stream.name
        rows = admitted[name]
        shared = [rows] * division.parts if name in division.whole else None
        for part, mine in enumerate(shared or _divide(division, history, rows)):
            parts[part][name] = mine
    return parts


def _divide(division: Division, history: History, rows: Admitted) -> list[Admitted]:
    """A stream's rows by part."""
    place, times = _find(division, history, rows), rows.times
    divided = []
    for part in range(division.parts):
        mine = np.flatnonzero(place == part)
        stamps = times[mine]
        steps, table = Steps(stamps, rows.steps.step_us), pick_rows(rows.table, mine)
        divided.append(Admitted(steps, stamps, table, len(mine), {}, filled=rows.filled))
    return divided


def _find(division: Division, history: History, rows: Admitted) -> Array:
    """The part of each row."""
    column = division.columns.get(history.stream.name)
    shortest = np.min_scalar_type(division.parts)
    if column is None:
        anywhere: Array = np.arange(len(rows.times)) % division.parts
        return anywhere.astype(shortest)
    return division.place(history.stream, rows.table.column(column)).astype(shortest)
