"""Timestamps that are not in their column as such: numbers, dates as people write them, in a zone.

One rule, whoever reads: replays and live runs, CSV, JSON lines and Parquet.
"""

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.catalog.time_pattern import EPOCHS, MONTHS, WEEKDAYS, read_pattern
from ontoweir.mappings.model.catalog import TimeFormat
from ontoweir.mappings.model.column_types import epoch_us, parse_instant
from ontoweir.runtime.columnar.convert_column import FIRST_US, LAST_US
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.times.leave_zone import leave_zone

_ZONED = r"[T ].*(Z|z|[+-][0-9]{2}:?[0-9]{2})\s*$"
_PIVOT = 69
"""Years of two digits from here on are of the 20th century."""


def read_times(
    parts: "Sequence[pa.ChunkedArray]", written: TimeFormat
) -> "tuple[pa.ChunkedArray, Array | None]":
    """Timestamps in whole microseconds (int64), to the nearest one, and which are none (None: all
    are; they are NULL then).

    Of an hour that a zone has twice, the first is meant; a time that it leaves out is none.

    Args:
        parts: the columns, as a file has them: with several, the parts of one text.
        written: how.
    """
    values = parts[0] if len(parts) == 1 else _join(parts)
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_null(values.type):
        return values.cast(pa.int64()), None
    there = pc.is_valid(values).to_numpy()
    if written.format in EPOCHS:
        times, good = _numbers(values, *EPOCHS[written.format])
    elif written.format == "iso":
        times, good = _iso(values, written.zone)
    else:
        times, good = _pattern(_as_text(values), written.format, written.zone)
    good &= (times >= FIRST_US) & (times <= LAST_US)
    held = pa.chunked_array([pa.array(times, pa.int64(), mask=~(good & there))])
    wrong = there & ~good
    return held, wrong if wrong.any() else None


def _join(parts: "Sequence[pa.ChunkedArray]") -> "pa.ChunkedArray":
    """Parts of a time as one text, with blanks between them."""
    texts = [_flat(_as_text(p)) for p in parts]
    return pa.chunked_array([pc.binary_join_element_wise(*texts, " ", null_handling="emit_null")])


def _flat(values: "pa.ChunkedArray") -> "pa.Array":
    return values.chunk(0) if values.num_chunks == 1 else pa.concat_arrays(values.chunks)


def _as_text(values: "pa.ChunkedArray") -> "pa.ChunkedArray":
    if values.num_chunks == 0:
        return pa.chunked_array([pa.array([], pa.string())])
    return values if pa.types.is_string(values.type) else values.cast(pa.string())


def _numbers(values: "pa.ChunkedArray", unit: int, per: int) -> tuple[Array, Array]:
    """Numbers since 1970, of which `per` are `unit` microseconds."""
    kind = values.type
    if pa.types.is_integer(kind):
        whole = pc.fill_null(values, 0).to_numpy()
        if per > 1:  # to the nearest, of two the even one, as texts are
            rest = whole % per
            whole = whole // per
            whole = whole + ((2 * rest > per) | ((2 * rest == per) & (whole % 2 == 1)))
        good = (whole >= FIRST_US // unit) & (whole <= LAST_US // unit)
        return np.where(good, whole, 0).astype(np.int64) * unit, good
    if pa.types.is_floating(kind):
        numbers = pc.fill_null(values.cast(pa.float64()), 0.0).to_numpy()
        with np.errstate(invalid="ignore", over="ignore"):
            micros = np.rint(numbers * unit / per)
            good = (micros >= FIRST_US) & (micros <= LAST_US)
        return np.where(good, micros, 0).astype(np.int64), good
    return _by_value(values, lambda value: _read_number(value, unit, per))


def _read_number(value: object, unit: int, per: int) -> int | None:
    text = str(value).strip()
    if "_" in text:
        return None
    try:
        number = Decimal(text) * unit / per
        return int(number.to_integral_value()) if number.is_finite() else None
    except InvalidOperation:
        return None


def _by_value(values: "pa.ChunkedArray", read: object) -> tuple[Array, Array]:
    """Each distinct value read (None: it is none)."""
    assert callable(read)
    coded = _flat(values).dictionary_encode()
    made = [read(v) for v in coded.dictionary.to_pylist()]
    fits = [m is not None and FIRST_US <= m <= LAST_US for m in made]
    table = np.array([m if f else 0 for m, f in zip(made, fits, strict=True)], dtype=np.int64)
    index = pc.fill_null(coded.indices, 0).to_numpy(zero_copy_only=False)
    if not len(table):
        return np.zeros(len(index), np.int64), np.zeros(len(index), np.bool_)
    return table[index], np.array(fits)[index]


def _iso(values: "pa.ChunkedArray", zone: str | None) -> tuple[Array, Array]:
    """Timestamps and dates as such, and text as ISO 8601 has it."""
    kind = values.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        aware = pa.types.is_timestamp(kind) and kind.tz is not None
        moments = values.cast(pa.timestamp("us", kind.tz if aware else None), safe=False)
        times = pc.fill_null(moments.cast(pa.int64()), 0).to_numpy()
        good = np.ones(len(times), np.bool_)
        return (times, good) if aware or zone is None else _leave_zone(times, good, zone)
    text = _as_text(values)
    times, good = _by_value(text, _read_iso)
    if zone is None:
        return times, good
    aware = pc.fill_null(pc.match_substring_regex(text, _ZONED), False).to_numpy()
    local, there = _leave_zone(times, good & ~aware, zone)
    return np.where(aware, times, local), np.where(aware, good, there)


def _read_iso(text: str) -> int | None:
    try:
        return epoch_us(parse_instant(text))
    except (ValueError, OverflowError):
        return None


def _pattern(values: "pa.ChunkedArray", form: str, zone: str | None) -> tuple[Array, Array]:
    """Text by a pattern, all of it."""
    pattern = read_pattern(form)
    found = pc.extract_regex(pc.utf8_trim_whitespace(_flat(values)), pattern.regex)
    good = pc.is_valid(found).to_numpy(zero_copy_only=False)

    def number(name: str, default: int = 0) -> Array:
        if name not in pattern.fields:
            return np.full(len(good), default, np.int64)
        cells = pc.if_else(pa.array(good), pc.struct_field(found, name), "0")
        numbers: Array = pc.cast(cells, pa.int64()).to_numpy()
        return numbers

    def text(name: str) -> "pa.Array":
        return pc.utf8_lower(pc.fill_null(pc.struct_field(found, name), ""))

    if "y" in pattern.fields:
        years = number("y")
        years = years + np.where(years < _PIVOT, 2000, 1900)
    else:
        years = number("Y")
    for name in pattern.fields & {"a", "A"}:
        good = good & (_name(text(name), WEEKDAYS, short=name == "a") > 0)
    named = next(iter(pattern.fields & {"b", "B"}), None)
    month = number("m", 1) if named is None else _name(text(named), MONTHS, short=named == "b")
    hours = number("H")
    if "I" in pattern.fields:
        twelve = number("I")
        good = good & (twelve >= 1) & (twelve <= 12)
        late = pc.equal(text("p"), "pm").to_numpy(zero_copy_only=False)
        hours = twelve % 12 + np.where(late, 12, 0)
    day, minutes, seconds = number("d", 1), number("M"), number("S")
    good = good & (years >= 1) & (month >= 1) & (month <= 12)
    # 24:00 is the end of a day, as ISO 8601 has it
    good &= (hours < 24) | ((hours == 24) & (minutes == 0) & (seconds == 0))
    good &= (minutes < 60) & (seconds < 60)
    safe = np.where(good, (years - 1970) * 12 + month - 1, 0).astype("datetime64[M]")
    first = safe.astype("datetime64[D]")
    length = ((safe + np.timedelta64(1, "M")).astype("datetime64[D]") - first).astype(np.int64)
    good &= (day >= 1) & (day <= length)
    days = first.astype(np.int64) + day - 1
    times = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    times = times * 1_000_000
    if "f" in pattern.fields:
        digits = pc.utf8_rpad(pc.fill_null(pc.struct_field(found, "f"), ""), 6, "0")
        held = pc.if_else(pa.array(good), digits, "0")
        parts = pc.cast(held, pa.int64()).to_numpy()
        times, good = times + parts, good & ((hours < 24) | (parts == 0))
    if "z" in pattern.fields:
        offsets, known = _by_value(pa.chunked_array([text("z")]), _read_offset)
        return times - offsets, good & known
    return (times, good) if zone is None else _leave_zone(times, good, zone)


def _name(texts: "pa.Array", names: Sequence[str], *, short: bool) -> Array:
    """Which of the names texts are, from 1 on (0: none), or of their first three letters."""
    known = pa.array([name[:3] if short else name for name in names])
    found: Array = pc.fill_null(pc.index_in(texts, known), -1).to_numpy() + 1
    return found


def _read_offset(text: str) -> int | None:
    """How far a zone is ahead of UTC, in µs."""
    if text in ("", "z", "utc", "gmt"):
        return 0
    hours, minutes = int(text[1:3]), int(text[-2:])
    if hours > 23 or minutes > 59:
        return None
    return (-1 if text[0] == "-" else 1) * (hours * 60 + minutes) * 60_000_000


def _leave_zone(times: Array, good: Array, zone: str) -> tuple[Array, Array]:
    """What clocks of a zone show, as times in UTC; those that they never show are none."""
    good = good & (times >= FIRST_US) & (times <= LAST_US)
    found = times.copy()
    there = good.copy()
    found[good], there[good] = leave_zone(times[good], zone)
    return found, there
