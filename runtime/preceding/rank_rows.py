"""The places of rows among those of one time, in an order."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.runtime.columnar.frame import Array, group_codes


class Ordered(NamedTuple):
    """A key of an order: its values, whether the greatest is first, and whether NULL is."""

    values: "pa.Array"
    down: bool
    nulls_first: bool


def rank_rows(
    function: Literal["rank", "dense", "number"],
    groups: Sequence[Array],
    order: Sequence[Ordered],
) -> "pa.Array":
    """The place of each row among those of its group, from 1 on: of equal ones the same place, and
    after them as many are left out as there are more of them ("rank"), or none ("dense"); or each
    has its own ("number").

    Args:
        function: which.
        groups: columns of whole numbers that are equal in the rows of a group.
        order: what the rows are ordered by; no two are equal there of which each is to have its own
            place ("number").
    """
    rows = len(groups[0])
    group, _ = group_codes(list(groups), rows)
    ranks = [rank_values(*key) for key in order]
    codes, count = group_codes([group, *ranks], rows)
    # codes are in the order of groups, and there in that of the rows
    of_code = np.zeros(count, dtype=np.int64)
    of_code[codes] = group
    begins = np.concatenate([np.zeros(1, dtype=np.int64), np.bincount(codes, minlength=count)])
    before = np.cumsum(begins)[:-1]
    first = np.searchsorted(of_code, np.arange(int(group.max(initial=-1)) + 1))
    if function == "dense":
        return pa.array(codes - first[group] + 1)
    return pa.array(before[codes] - before[first][group] + 1)


def rank_values(values: "pa.Array", down: bool, nulls_first: bool) -> Array:
    """The place of each value in order, equal ones have one."""
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.int8())
    if pa.types.is_floating(values.type):
        values = pc.add(values, 0.0)  # -0.0 equals 0.0
    side = "descending" if down else "ascending"
    ranks: Array = pc.rank(values, sort_keys=side, tiebreaker="dense").to_numpy().astype(np.int64)
    if values.null_count:
        valid = values.is_valid().to_numpy(zero_copy_only=False)
        ranks = np.where(valid, ranks, 0 if nulls_first else len(values) + 1)
    return ranks
