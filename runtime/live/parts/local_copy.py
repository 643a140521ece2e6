"""A copy of a part's large tables on the machine that has advanced it last.

Whoever advances the part next on this machine maps it to memory, instead of reading all changes
since a table was written whole. It is only a copy: what is missing is read from the part's files.
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from ontoweir.runtime.live.checkpoint import table_changes
from ontoweir.runtime.live.model.divided_state import PartState
from ontoweir.runtime.live.parts.part_files import KeptTable

_PLACES = "SPARK_LOCAL_DIRS"
"""Where Spark says to its workers which folders are for what is in the way when it stops."""


def keep_copy(
    part: str,
    version: str,
    tables: Mapping[str, KeptTable],
    before: tuple[str, Mapping[str, KeptTable]],
) -> None:
    """Write the large tables of a part, and remove the copy before; where that is not possible
    there is no copy. `before`: the version and tables that these came of: the files of those that
    are the same are taken from their copy."""
    place = _place(part)
    if place is None:
        return
    large = {n: t.table for n, t in tables.items() if t.table.num_rows >= table_changes.LARGE}
    try:
        old = list(place.iterdir()) if place.is_dir() else []
        if large:
            scratch = place / f".{version}"
            scratch.mkdir(parents=True)
            for name, table in large.items():
                known = before[1].get(name)
                same = known is not None and known.pieces == tables[name].pieces
                if same and _link(place / before[0] / name, scratch / name):
                    continue
                with (
                    pa.OSFile(str(scratch / name), "wb") as sink,
                    pa.ipc.new_file(sink, table.schema) as writer,
                ):
                    writer.write_table(table)
            scratch.rename(place / version)
        for other in old:
            shutil.rmtree(other, ignore_errors=True)
    except OSError:
        shutil.rmtree(place, ignore_errors=True)


def _link(file: Path, name: Path) -> bool:
    """Give a file another name, if it is there and can have one."""
    try:
        os.link(file, name)
    except OSError:
        return False
    return True


def find_copy(part: str, state: PartState) -> dict[str, KeptTable]:
    """The large tables of a part that are here, mapped to memory."""
    place = _place(part)
    if place is None or not state.version or not (place / state.version).is_dir():
        return {}
    tables = {}
    for name, pieces in state.tables.items():
        file = place / state.version / name
        try:
            table = pa.ipc.open_file(pa.memory_map(str(file))).read_all()
        except (OSError, pa.ArrowInvalid):
            continue
        tables[name] = KeptTable(table, tuple(pieces))
    return tables


def _place(part: str) -> Path | None:
    """The folder of a part's copies (None: there is no place for them)."""
    first = os.environ.get(_PLACES, "").split(",")[0]
    return Path(first) / "ontoweir-parts" / part if first and os.path.isdir(first) else None
