"""Which rows can be a member's, by their columns as they were read: only these are encoded.

A member's whole conditions are looked at later, on encoded columns (build_members.py). What is
found here may be too much, never too little: comparisons of whole numbers with constants, and
the declared or implied domains of such columns.
"""

from collections.abc import Callable, Collection, MutableMapping, Sequence
from fractions import Fraction
from functools import cache
from math import ceil, floor

import numpy as np
import pyarrow as pa

from ontoweir.checker.model.normal_form import Kind, Member, NormalForm
from ontoweir.mappings.model.catalog import IntType, Stream
from ontoweir.rewriter.model.spj import Compare, Constant, Op
from ontoweir.runtime.columnar.frame import Array, list_true

Limits = tuple[str, int | None, int | None]
"""A column, and the least and greatest value wanted of it."""

Selection = tuple[Limits, ...]
PiecesOf = Callable[[str], Sequence[Array] | None]
"""A column of whole numbers by its name, in the pieces that were read (None: it is none)."""
Masks = MutableMapping[Limits, Array | None]
"""Which rows keep limits (None: all, or not known)."""


def select_candidates(member: Member, form: NormalForm, stream: Stream) -> Selection:
    """What all rows keep that can be a member's.

    Args:
        member: of a plan's normal form.
        form: the normal form.
        stream: the member's stream.
    """
    whole = {c.name for c in stream.columns if isinstance(c.type, IntType)}
    limits: dict[str, tuple[int | None, int | None]] = {}

    def narrow(column: str, low: int | None, high: int | None) -> None:
        least, most = limits.get(column, (None, None))
        if low is not None:
            least = low if least is None else max(least, low)
        if high is not None:
            most = high if most is None else min(most, high)
        limits[column] = (least, most)

    for c in member.local:
        if not isinstance(c, Compare) or not isinstance(c.right, Constant):
            continue
        number, column = c.right.value, c.left.column
        if c.left.alias != member.alias or column not in whole:
            continue
        if isinstance(number, bool) or not isinstance(number, int):
            continue
        match c.op:
            case Op.LT:
                narrow(column, None, number - 1)
            case Op.LE:
                narrow(column, None, number)
            case Op.EQ:
                narrow(column, number, number)
            case Op.GE:
                narrow(column, number, None)
            case Op.GT:
                narrow(column, number + 1, None)
            case Op.NE:
                pass
    for group in form.classes:
        if group.kind is not Kind.NUMBER or group.optional:
            continue
        for attribute, shift in group.attributes:
            if attribute.alias == member.alias and attribute.column in whole:
                low, high = group.domain.low, group.domain.high
                narrow(
                    attribute.column,
                    None if low is None else ceil(Fraction(low + shift) / form.unit),
                    None if high is None else floor(Fraction(high + shift) / form.unit),
                )
    left = ((c, *_tighter(stream, c, *ends)) for c, ends in limits.items())
    return tuple(one for one in left if one[1:] != (None, None))


def _tighter(
    stream: Stream, name: str, low: int | None, high: int | None
) -> tuple[int | None, int | None]:
    """Limits without those that the column's declared domain keeps, which admission enforces."""
    column = stream.column(name)
    assert column is not None
    least, most = column.minimum, column.maximum
    if low is not None and isinstance(least, int) and low <= least:
        low = None
    if high is not None and isinstance(most, int) and most <= high:
        high = None
    return low, high


def plain_pieces(column: "pa.ChunkedArray") -> Sequence[Array] | None:
    """A column of whole numbers as it is, NULL as any, in the pieces that were read: to put them
    together costs more than to look at them. None: it is none."""
    if not pa.types.is_signed_integer(column.type):
        return None
    return [_read_any(c) for c in column.chunks]


def _read_any(values: "pa.Array") -> Array:
    """Whole numbers as they are held, whatever is in the place of NULL."""
    if not values.null_count:
        plain: Array = values.to_numpy()
        return plain
    kind = np.dtype(f"i{values.type.bit_width // 8}")
    _, held = values.buffers()
    return np.frombuffer(held, kind, len(values), values.offset * kind.itemsize)


def pick_pieces(pieces: Sequence[Array], index: Array) -> Array:
    """The rows at an ascending index, of a column in pieces."""
    if len(pieces) == 1:
        return pieces[0][index]
    starts = np.cumsum([0, *map(len, pieces)])
    cuts = np.searchsorted(index, starts)
    picked = [
        piece[index[first:last] - start]
        for piece, start, first, last in zip(pieces, starts, cuts, cuts[1:], strict=False)
    ]
    return np.concatenate(picked) if picked else np.zeros(0, dtype=np.int64)


def keep_selected(selection: Selection, pieces: PiecesOf, masks: Masks) -> Array | None:
    """Which rows keep all of some limits (None: all, or not known).

    Args:
        selection: the limits.
        pieces: a column by its name (plain_pieces).
        masks: which rows keep limits; those that are not there yet are added.
    """
    good: Array | None = None
    for limits in selection:
        if limits not in masks:
            column = pieces(limits[0])
            masks[limits] = None if column is None else _within(column, *limits[1:])
        if (mask := masks[limits]) is not None:
            good = mask if good is None else good & mask
    return good


def find_wanted(selections: Collection[Selection], pieces: PiecesOf, masks: Masks) -> Array | None:
    """The rows, by number, that keep all limits of one of some selections (None: all, or not
    known): as keep_selected has them."""
    wanted: Array | None = None
    for selection in selections:
        good = keep_selected(selection, pieces, masks)
        if good is None:
            return None
        wanted = good if wanted is None else wanted | good
    return None if wanted is None else list_true(wanted)


def _within(pieces: Sequence[Array], low: int | None, high: int | None) -> Array:
    """Which rows of a column lie within limits, one at least."""
    mask = np.empty(sum(map(len, pieces)), dtype=np.bool_)
    start = 0
    for values in pieces:
        mine = mask[start : start + len(values)]
        start += len(values)
        if low is not None and low == high:
            np.equal(values, low, out=mine)
        elif low is not None:
            np.greater_equal(values, low, out=mine)
            if high is not None:
                mine &= values <= high
        elif high is not None:
            np.less_equal(values, high, out=mine)
    return mask


def find_rows(table: pa.Table, selections: Collection[Selection]) -> Array | None:
    """The rows, by number, that keep one of some selections (None: all, or not known).

    Args:
        table: has the columns that are compared.
        selections: what some members want.
    """
    return find_wanted(selections, cache(lambda name: plain_pieces(table.column(name))), {})


def in_dates(member: Member, steps: Array) -> Array:
    """Which tuples lie between a member's first and last date, implied ones too: a finite stream
    is kept whole, and what comes after its end must not be."""
    good = np.ones(len(steps), dtype=np.bool_)
    if member.first is not None:
        good &= steps >= member.first
    if member.last is not None:
        good &= steps <= member.last
    return good
