"""Rows as they come, as server-sent events (text/event-stream, WHATWG HTML, section 9.2)."""

import json
from collections.abc import Iterator
from pathlib import Path
from threading import Event

from ontoweir.answers.choose_rows import Wanted, choose_rows
from ontoweir.answers.read_answers import Answers
from ontoweir.answers.write_rows import plain_cell
from ontoweir.dashboard.rows.page_rows import list_parts

LASTS = 25.0
"""Seconds after which a connection ends; who reads goes on from the last event by a new one, as
browsers do by themselves. So no thread is held by a reader that is gone."""
_OFTEN = 0.5
"""Seconds between two looks at the folder."""
_AT_ONCE = 500
"""Rows of an event, at most."""


def follow_rows(
    folder: Path, last: str | None, where: str | None, closing: Event, lasts: float = LASTS
) -> Iterator[str]:
    """Events of the rows that a run adds to a folder.

    An event's id is the last file of which all rows have been told. Event `ready` comes first, with
    the id that is gone on from; each event `rows` has a list of objects.

    Args:
        folder: of files of rows.
        last: the id of the last event that was received (None: only what comes from now on).
        where: the condition that rows meet, SQL (None: all).
        closing: is set when the server ends.
        lasts: seconds after which there are no more events.

    Raises:
        UsageError: the condition is none.
        DataError: a file cannot be read.
    """
    if last is None:
        last = max((p.name for p in list_parts(folder)), default="")
    yield f"retry: 1000\nid: {last}\nevent: ready\ndata: {{}}\n\n"
    for _ in range(max(1, round(lasts / _OFTEN))):
        for part in list_parts(folder):
            if part.name > last and part.is_file():  # what a table has anew cannot be told
                yield from _tell(part, where)
                last = part.name
                yield f"id: {last}\nevent: whole\ndata: {{}}\n\n"
        if closing.wait(_OFTEN):
            return
        yield ":\n\n"  # who is gone is noticed


def _tell(part: Path, where: str | None) -> Iterator[str]:
    for table in Answers((part,)).read():
        rows = choose_rows([table], Wanted(where)).rows
        for start in range(0, rows.num_rows, _AT_ONCE):
            told = rows.slice(start, _AT_ONCE).to_pylist()
            cells = [{name: plain_cell(v) for name, v in row.items()} for row in told]
            yield f"event: rows\ndata: {json.dumps(cells)}\n\n"
