"""The best rows of each key that later values must also differ from, as of every marker."""

import numpy as np

from ontoweir.checker.model.plan import SynopsisTable
from ontoweir.runtime.columnar.columns import frontier, table_columns, value
from ontoweir.runtime.columnar.frame import EVENT, UNTIL, WEIGHT, Array, Frame, group_codes
from ontoweir.runtime.kernel.pareto_front import FOREVER
from ontoweir.runtime.kernel.thin_rows import can_miss


def keep_apart(frame: Frame, table: SynopsisTable) -> tuple[Frame, Array]:
    """Keep, per key, the rows that are needed beside those with better frontier values.

    A row is needed where later values, as many for each class as `table.samples` says, could
    equal a value of every row of the same or an earlier marker that is at least as good, and none
    of its own. At any marker a key has at most the product of partners + 1 such rows.

    Args:
        frame: rows with EVENT, key columns and frontier value 0, less is better.
        table: with one frontier value, and samples of distinct values.

    Returns:
        The rows that were ever needed, with UNTIL, the marker at which others made them
        superfluous (look-ups at or before it still see them), and a slot number: rows of one key
        (without the sampled classes) and slot do not overlap in time.
    """
    names = [value(a.value) for a in table.samples]
    by = [n for n in table_columns(table) if n not in names]
    room = tuple(a.partners for a in table.samples)
    codes, _ = group_codes([frame[n] for n in by], frame.rows)
    order = np.lexsort((frame[frontier(0)], frame[EVENT], codes))
    frame = frame.take(order)
    groups, events = codes[order].tolist(), frame[EVENT].tolist()
    best = frame[frontier(0)].tolist()
    points = list(zip(*(frame[n].tolist() for n in names), strict=True))
    until = [FOREVER] * frame.rows
    chosen: list[int] = []
    slots: dict[int, int] = {}
    front: list[int] = []
    current = None
    for row, group in enumerate(groups):
        if group != current:
            front, current = [], group
        better = [points[r] for r in front if best[r] <= best[row]]
        if not can_miss(better, room, points[row]):
            continue
        taken = {slots[r] for r in front}
        slots[row] = next(n for n in range(len(taken) + 1) if n not in taken)
        chosen.append(row)
        kept: list[int] = []
        for r in sorted((*front, row), key=lambda r: (best[r], r)):
            if can_miss([points[k] for k in kept], room, points[r]):
                kept.append(r)
            else:
                until[r] = events[row]
        front = kept
    index = np.array(chosen, dtype=np.int64)
    found = frame.take(index).with_columns(
        {
            UNTIL: np.array([until[r] for r in chosen], dtype=np.int64),
            WEIGHT: np.ones(len(chosen), np.int64),
        }
    )
    unexpired = found[UNTIL] > found[EVENT]
    places = np.array([slots[r] for r in chosen], dtype=np.int64)
    return found.take(unexpired), places[unexpired]
