"""The places of rows among those of one time, in an order."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.runtime.columnar.frame import Array, group_codes


class Ordered(NamedTuple):
    """A key of an order: its values, whether the greatest is first, and whether NULL is."""

    values: "pa.Array"
    down: bool
    nulls_first: bool


Placed: TypeAlias = Literal["rank", "dense", "number", "percent", "share", "part"]
"""What is said of a row's place."""


def rank_rows(
    function: Placed, groups: Sequence[Array], order: Sequence[Ordered], parts: int = 0
) -> "pa.Array":
    """The place of each row among those of its group, from 1 on: of equal ones the same place, and
    after them as many are left out as there are more of them ("rank"), or none ("dense"); or each
    has its own ("number"). Or which share of the other rows are before it ("percent", 0 where there
    are none), and of all not after it ("share"), as doubles; or in which part it lies, of `parts`
    as even as can be, the first of which are longer by a row ("part").

    Args:
        function: which.
        groups: columns of whole numbers that are equal in the rows of a group.
        order: what the rows are ordered by; no two are equal there of which each is to have its own
            place ("number", "part").
        parts: into how many the rows of a group are divided.
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
    place = before[codes] - before[first][group]  # from 0 on
    if function in ("rank", "number"):
        return pa.array(place + 1)
    size = np.bincount(group)[group]
    if function == "percent":
        return pa.array(place / np.maximum(size - 1, 1))
    if function == "share":
        return pa.array((place + begins[1:][codes]) / size)
    whole, longer = size // parts, size % parts
    ahead = longer * (whole + 1)  # rows of the parts that are longer
    late = longer + (place - ahead) // np.maximum(whole, 1)
    return pa.array(np.where(place < ahead, place // (whole + 1), late) + 1)


def first_in_order(
    values: "pa.Array", groups: Sequence[Array], order: Sequence[Ordered]
) -> "pa.Array":
    """The value of the first row of each row's group; no two rows are equal in the order."""
    places = rank_rows("number", groups, order).to_numpy()
    group, _ = group_codes(list(groups), len(places))
    rows = np.flatnonzero(places == 1)
    at = np.zeros(int(group.max(initial=-1)) + 1, dtype=np.int64)
    at[group[rows]] = rows
    return values.take(pa.array(at[group]))


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
