"""Read lines of JSON that differ in their values alone: the same members in the same order, with
the same blanks, and values that are texts, numbers, true, false, or null, or objects and lists of
such values, likewise the same.

What of a line is not a value is compared with the first line, and what is a value has no quotes
and nothing escaped: so each line is the object that Arrow's reader would see, with these values. A
comma after an odd number of quotes is in a text, as all quotes are found to be around one.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.uniform.parse_whole import parse_whole

_NAME = re.compile(rb'("[^"\\\x00-\x1f]*")[ \t]*:[ \t]*')
_VALUE = re.compile(rb'"[^"\\\x00-\x1f]*"|-?[0-9][0-9.eE+-]*|null|true|false')
_OPEN = re.compile(rb"([\[{])[ \t]*")
_CLOSE = re.compile(rb"(?:[}\]][ \t]*)*")
_NEXT = re.compile(rb",[ \t]*")
_DEEPEST = 8
"""Objects and lists within each other."""
_NUMBER = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$"
_FAR = 40
"""Bytes of the longest number."""
_QUOTE, _COMMA, _NEWLINE, _BLANK = (ord(c) for c in '",\n ')
_NULL, _TRUE, _FALSE = (int.from_bytes(w, "little") for w in (b"null", b"true", b"false"))
_MARGIN = 16
"""Bytes before and after the lines, so that words can be read at their ends."""
_SHORT = 12
"""Bytes up to which Arrow holds a text in its view."""


class _Lines:
    """Lines in memory. `codes`: their bytes; `words`: the eight bytes from each byte on; `marks`:
    by line, where the commas outside of texts and its end are (None: there are not as many in
    each)."""

    def __init__(self, block: bytes, count: int) -> None:
        ended = block if block.endswith(b"\n") else block + b"\n"
        self.text = b"".join((b" " * _MARGIN, ended, b" " * _MARGIN))
        self.codes = np.frombuffer(self.text, np.uint8)
        self.words = np.ndarray((len(self.text) - 7,), "<u8", self.text, 0, (1,))
        self.lines = self.codes[_MARGIN:-_MARGIN]
        ends = self.lines == _NEWLINE
        marks = np.flatnonzero((self.lines == _COMMA) | ends)
        wanted = np.count_nonzero(ends) * count
        if len(marks) > wanted:  # some may be in texts
            inside = np.bitwise_xor.accumulate((self.lines == _QUOTE).view(np.uint8))
            marks = marks[inside[marks] == 0]
        self.marks: Array | None = None
        if len(marks) == wanted:
            self.marks = np.ascontiguousarray((marks + _MARGIN).reshape(-1, count).T)

    def have(self, places: Array, literal: bytes) -> bool:
        """Whether there is a literal at all places, which ascend."""
        if int(places[0]) < 0 or int(places[-1]) + len(literal) > len(self.text):
            return False  # a line is shorter than the literal
        return self.take(places, len(literal)) == literal * len(places)

    def take(self, places: Array, size: int) -> bytes:
        """So many bytes from each place on."""
        count = len(self.text) - size + 1
        return np.ndarray((count,), f"V{size}", self.text, 0, (1,))[places].tobytes()


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A value of each line that is neither an object nor a list: the member that it is (None: it is
    within one), what is before it in the line from the comma on, and behind it up to the next."""

    member: str | None
    before: bytes
    behind: bytes


def read_uniform(block: bytes, kinds: Mapping[str, pa.DataType]) -> pa.Table | None:
    """The members wanted of lines that are all alike: texts, int64, truth, and of other numbers the
    text (None: they are not alike).

    Args:
        block: at least one line, UTF-8, none of them blank.
        kinds: by member, the type that Arrow's reader would be asked for.
    """
    layout = _find_layout(block)
    if layout is None or b"\\" in block or not kinds or any(map(_is_other, kinds.values())):
        return None
    leaves, within = layout
    held = _Lines(block, len(leaves))
    if held.marks is None or not within.isdisjoint(kinds):
        return None
    rows, ends = held.marks.shape[1], held.marks[-1]
    starts = np.append(_MARGIN, ends[:-1] + 1)
    if np.count_nonzero(held.lines < _BLANK) != rows:
        return None
    found: dict[str, pa.Array] = {}
    quotes = 0
    # where what is before each value begins, and where what is behind it ends
    for leaf, place, mark in zip(leaves, [starts, *held.marks[:-1]], held.marks, strict=True):
        end, last = mark - len(leaf.behind), b"\n" if leaf is leaves[-1] else b""
        if not held.have(place, leaf.before) or not held.have(end, leaf.behind + last):
            return None
        kind = None if leaf.member is None else kinds.get(leaf.member)
        read = _read_values(held, place + len(leaf.before), end, kind)
        if read is None:
            return None
        if leaf.member is not None:
            found[leaf.member] = read[0]
        quotes += rows * leaf.before.count(b'"') + 2 * read[1]
    if np.count_nonzero(held.lines == _QUOTE) != quotes:
        return None
    given = {name: _given(kind) for name, kind in kinds.items()}
    wanted = {n: found[n] if n in found else pa.nulls(rows, kind) for n, kind in given.items()}
    return pa.table(wanted, schema=pa.schema(list(given.items())))


def _is_other(kind: pa.DataType) -> bool:
    known = pa.types.is_string(kind) or pa.types.is_int64(kind) or pa.types.is_boolean(kind)
    return not (known or _is_fraction(kind))


def _is_fraction(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _given(kind: pa.DataType) -> pa.DataType:
    return pa.string() if _is_fraction(kind) else kind


def _find_layout(block: bytes) -> tuple[list[_Leaf], set[str]] | None:
    """The values of the first line, and the members that are objects or lists (None: some of these
    have nothing in them, or it is not an object)."""
    line = block[: block.find(b"\n")] if b"\n" in block else block
    opened = _OPEN.match(line)
    if opened is None or opened[1] != b"{":
        return None
    place, begun, inside = opened.end(), 0, [b"}"]
    members: list[str] = []
    leaves: list[_Leaf] = []
    within: set[str] = set()
    while True:
        if inside[-1] == b"}":
            name = _NAME.match(line, place)
            if name is None:
                return None
            place = name.end()
            if len(inside) == 1:
                members.append(name[1][1:-1].decode())
        opened = _OPEN.match(line, place)
        if opened is not None:
            inside.append(b"}" if opened[1] == b"{" else b"]")
            within.add(members[-1])
            place = opened.end()
            if len(inside) > _DEEPEST:
                return None
            continue
        value = _VALUE.match(line, place)
        closed = None if value is None else _CLOSE.match(line, value.end())
        if value is None or closed is None or len(closed[0]) > _MARGIN:
            return None
        member = members[-1] if len(inside) == 1 else None
        leaves.append(_Leaf(member, line[begun:place], closed[0]))
        for bracket in closed[0].translate(None, b" \t"):
            if not inside or inside.pop()[0] != bracket:
                return None
        begun = closed.end()
        if not inside:
            whole = begun == len(line) and line.endswith(b"}")
            return (leaves, within) if whole and len(set(members)) == len(members) else None
        more = _NEXT.match(line, begun)
        if more is None:
            return None
        place = more.end()


def _read_values(
    held: _Lines, starts: Array, ends: Array, kind: pa.DataType | None
) -> tuple[pa.Array, int] | None:
    """A member's values, and how many are texts (None: some are neither texts alone nor numbers
    alone, or not of the type wanted, if one is)."""
    lengths = ends - starts
    if (lengths < 1).any():
        return None
    words = held.words[starts]
    quoted = (words & np.uint64(0xFF)) == _QUOTE
    none = _are_equal(words, lengths, _NULL, 4)
    texts = int(np.count_nonzero(quoted))
    whole = not none.any()
    mask = None if whole else none
    if texts:
        if not (quoted | none).all() or (kind is not None and not pa.types.is_string(kind)):
            return None
        # a text that is not there is empty, between two places that are the same
        inner = np.where(none, starts, starts + 1) if mask is not None else starts + 1
        sizes = np.where(none, 0, lengths - 2) if mask is not None else lengths - 2
        if (sizes < 0).any() or (held.codes[ends - 1] != _QUOTE)[quoted].any():
            return None
        made = pa.nulls(0) if kind is None else _take_texts(held, inner, sizes, mask)
        return made, texts
    if none.all():
        return pa.nulls(len(starts), pa.null() if kind is None else _given(kind)), 0
    if kind is not None and pa.types.is_string(kind):
        return None
    if kind is None or pa.types.is_boolean(kind):
        true = _are_equal(words, lengths, _TRUE, 4)
        if (true | none | _are_equal(words, lengths, _FALSE, 5)).all():
            return pa.array(true, pa.bool_(), mask=mask), 0
    made = None
    if kind is None or pa.types.is_int64(kind):
        made = _take_whole(held, starts, words, ends, mask)
    if made is None and (kind is None or _is_fraction(kind)):
        sizes = lengths if mask is None else np.where(mask, 0, lengths)
        made = _take_texts(held, starts, sizes, mask) if sizes.max() <= _FAR else None
        if made is not None and pc.all(pc.match_substring_regex(made, _NUMBER)).as_py() is False:
            made = None
    return None if made is None else (made, 0)


def _are_equal(words: Array, lengths: Array, literal: int, size: int) -> Array:
    """Which values are a literal of less than eight bytes, by the words they begin with."""
    same: Array = (words & np.uint64((1 << 8 * size) - 1)) == np.uint64(literal)
    same &= lengths == size
    return same


def _take_whole(
    held: _Lines, starts: Array, words: Array, ends: Array, mask: Array | None
) -> pa.Array | None:
    """Whole numbers (None: not all are)."""
    if mask is None:
        numbers = parse_whole(held.words, starts, words, ends)
    else:
        some = parse_whole(held.words, starts[~mask], words[~mask], ends[~mask])
        numbers = None if some is None else np.zeros(len(starts), dtype=np.int64)
        if numbers is not None:
            numbers[~mask] = some
    return None if numbers is None else pa.array(numbers, pa.int64(), mask=mask)


def _take_texts(held: _Lines, starts: Array, sizes: Array, mask: Array | None) -> pa.Array:
    """Texts, copied by Arrow from views of them (length, four bytes, buffer and place; of short
    ones all bytes)."""
    size = int(sizes[0])
    if mask is None and (sizes == size).all() and size:
        offsets = np.arange(len(starts) + 1, dtype=np.int32) * np.int32(size)
        copied = [pa.py_buffer(offsets), pa.py_buffer(held.take(starts, size))]
        return pa.Array.from_buffers(pa.string(), len(starts), [None, *copied])
    views = np.zeros((len(starts), 2), dtype=np.uint64)
    kept = np.minimum(sizes, 4).astype(np.uint64) * np.uint64(8)
    head = held.words[starts] & ((np.uint64(1) << kept) - np.uint64(1))
    views[:, 0] = sizes.astype(np.uint64) | (head << np.uint64(32))
    long = sizes > _SHORT
    rest = np.clip(sizes - 4, 0, 8)
    # a shift by a whole word is none
    kept = np.where(rest == 8, 0, rest).astype(np.uint64) * np.uint64(8)
    keep = np.where(rest == 8, ~np.uint64(0), (np.uint64(1) << kept) - np.uint64(1))
    tail = held.words[starts + 4] & keep
    views[:, 1] = np.where(long, starts.astype(np.uint64) << np.uint64(32), tail)
    valid = None if mask is None else pa.array(~mask).buffers()[1]
    buffers = [valid, pa.py_buffer(views), pa.py_buffer(held.text)]
    return pa.Array.from_buffers(pa.string_view(), len(starts), buffers).cast(pa.string())
