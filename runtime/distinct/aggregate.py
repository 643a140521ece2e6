"""Equal rows of a frame put together, their weights and sums added up."""

from collections.abc import Sequence

import numpy as np

from ontoweir.runtime.columnar.frame import EVENT, WEIGHT, Frame, Name, add_up, sums_of
from ontoweir.runtime.distinct.first_rows import first_rows


def aggregate(frame: Frame, by: Sequence[Name], *, bag: bool) -> Frame:
    """One row per distinct value of `by`, with the sum of weights (bag) or weight one (set), and
    the sums of sums."""
    sums = sums_of(frame)
    if frame.rows == 0:
        return frame.select([*by, WEIGHT, *sums])
    first, codes = first_rows([frame[name] for name in by], frame.rows)
    if codes is None:
        weight = frame[WEIGHT] if bag else np.ones(frame.rows, dtype=np.int64)
        names = [*by, *sums]
        if first is None:
            return frame.select(names).with_columns({WEIGHT: weight})
        moved = {name: frame[name][first] for name in names}
        return Frame(frame.rows, {**moved, WEIGHT: weight[first] if bag else weight})
    assert first is not None
    count = len(first)
    columns = {name: frame[name][first] for name in by}
    events = columns.get(EVENT)
    ones = np.ones(count, dtype=np.int64)
    weight = add_up(frame[WEIGHT], codes, count, events) if bag else ones
    for name in sums:
        columns[name] = add_up(frame[name], codes, count, events)
    return Frame(count, {**columns, WEIGHT: weight})
