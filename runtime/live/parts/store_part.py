"""Write the state of a part to a file of its own."""

import uuid
from collections.abc import Mapping
from pathlib import Path

from ontoweir.runtime.engine.execution import ExecutionState
from ontoweir.runtime.live.checkpoint.state_tables import list_part_tables
from ontoweir.runtime.live.measure_state import measure_state, text_bytes
from ontoweir.runtime.live.model.divided_state import PartState
from ontoweir.runtime.live.model.live_job import RunningQuery
from ontoweir.runtime.live.parts.part_files import KeptTable, write_tables


def store_part(
    folder: Path,
    part: int,
    query: RunningQuery,
    state: ExecutionState,
    before: Mapping[str, KeptTable],
) -> tuple[PartState, dict[str, KeptTable]]:
    """Where the state is, and its tables.

    Args:
        folder: of the files of parts.
        part: its number.
        query: whose state it is.
        state: to be kept.
        before: the tables that were written before, of which changes are written.

    Raises:
        RunError: the disk does not take it.
    """
    version = uuid.uuid4().hex
    tables = write_tables(folder, f"{part:04d}-{version}.part", before, list_part_tables(state))
    kept = PartState(
        version,
        {n: t.pieces for n, t in tables.items()},
        state.rows,
        tuple((s.rows, s.bytes) for s in measure_state(query, state)),
        text_bytes(state),
    )
    return kept, tables
