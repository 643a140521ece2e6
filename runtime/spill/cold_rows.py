"""The rows of a plan that are on disk, as a chunk looks them up."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.runtime.columnar.columns import is_value
from ontoweir.runtime.columnar.frame import Frame, Name
from ontoweir.runtime.pool.string_pool import StringPool
from ontoweir.runtime.spill.row_codec import RowCodec
from ontoweir.runtime.spill.run_files import find_rows, read_rows
from ontoweir.runtime.spill.spill_plan import Members, SpillPlan, SpillWork
from ontoweir.runtime.spill.spill_state import SpillState, begin_spill


class ColdRows:
    """Looks rows up by values; counts how many were found, and how often all were read, as
    they were asked for by values that they are not sorted by."""

    def __init__(self, folder: Path, plan: SpillPlan, state: SpillState, codec: RowCodec) -> None:
        self.folder, self.plan, self.state, self.codec = folder, plan, state, codec
        self.found = self.scans = 0
        self._orders = {table.members: table.orders for table in plan.tables}

    def look_up(self, members: Members, names: Sequence[Name], wanted: Frame) -> Frame | None:
        """The rows of a table that are equal in some columns to one of those wanted, and maybe
        some others; None: there are none.

        Raises:
            RunError: a file is missing, or is not as it was written.
        """
        runs = self.state.runs.get(members, ())
        if not runs or not wanted.rows:
            return None
        asked = {name[1] for name in names if is_value(name)}
        fitting = [n for n, o in enumerate(self._orders[members]) if asked.issuperset(o)]
        if not fitting:
            self.scans += 1
            parts: list[pa.Table | None] = [read_rows(self.folder, run) for run in runs]
        else:
            best = max(fitting, key=lambda n: len(self._orders[members][n]))
            hashes = np.unique(self.codec.hash(wanted, self._orders[members][best]))
            parts = [find_rows(self.folder, run, best, hashes) for run in runs]
        there = [part for part in parts if part is not None]
        if not there:
            return None
        frame = self.codec.read(pa.concat_tables(there))
        self.found += frame.rows
        return frame

    def after(self) -> SpillState:
        """The state with what was counted."""
        return replace(self.state, found=self.state.found + self.found)


def open_cold(
    work: SpillWork | None,
    number: int,
    plan: SynopsisPlan,
    pool: StringPool,
    states: Sequence[SpillState],
) -> ColdRows | None:
    """The rows of a plan that are on disk (None: none ever is); `number`: its place."""
    mine = None if work is None else work.plans[number]
    if work is None or mine is None:
        return None
    state = states[number] if states else begin_spill(mine)
    return ColdRows(Path(work.folder), mine, state, RowCodec(plan, pool))
