"""Timestamps in formats: against Python's datetime, value by value, and what is none."""

from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from random import Random
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

from ontoweir.mappings.model.catalog import TimeFormat
from ontoweir.runtime.times.read_times import read_times

US = timedelta(microseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
PATTERNS = (
    "%d/%m/%Y %H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%d.%m.%y %H.%M",
    "%b %d %Y %I:%M:%S %p",
    "%Y%m%d%H%M%S.%f",
    "%Y-%m-%dT%H:%M:%S%z",
    "%d/%m/%Y",
    "%m/%d/%Y %T",
    "%a, %d %b %Y %H:%M:%S %z",
    "%A %d %B %Y %H:%M",
    "%Y",
    "%Y-%m",
    "%b-%Y",
    "%B %y",
)


def read(
    cells: list[object], form: str, *, zone: str | None = None, kind: pa.DataType | None = None
) -> list[int | None]:
    """The timestamps of cells (None: NULL, or none); what is none is said."""
    column = pa.chunked_array([pa.array(cells, kind)])
    times, wrong = read_times([column], TimeFormat(form, ("t",), zone))
    found = times.to_pylist()
    bad = [False] * len(cells) if wrong is None else wrong.tolist()
    assert bad == [c is not None and t is None for c, t in zip(cells, found, strict=True)]
    return [None if t is None else int(t) for t in found]


def expected(text: str, form: str, zone: str | None) -> int | None:
    """What Python makes of a text; of an hour that is there twice the first, of none None."""
    try:
        moment = datetime.strptime(text, form.replace("%T", "%H:%M:%S"))
    except ValueError:
        return None
    if moment.tzinfo is None:
        place = ZoneInfo(zone or "UTC")
        aware = moment.replace(tzinfo=place)
        back = aware.astimezone(UTC).astimezone(place).replace(tzinfo=None)
        if back != moment:
            return None
        moment = aware
    return (moment - EPOCH) // US


@pytest.mark.parametrize("zone", [None, "Europe/Copenhagen", "America/New_York", "Asia/Kolkata"])
@pytest.mark.parametrize("form", PATTERNS)
def test_patterns_are_those_of_strptime(form: str, zone: str | None) -> None:
    if "%z" in form:
        zone = None
    draw = Random(form)
    texts: list[object] = [None]
    for _ in range(400):
        moment = datetime(1969, 1, 1, tzinfo=UTC) + timedelta(
            seconds=draw.randrange(99 * 365 * 86_400)
        )
        text = moment.strftime(form.replace("%T", "%H:%M:%S"))
        if draw.random() < 0.2:  # a digit is another one: many are no times
            place = draw.randrange(len(text))
            text = text[:place] + draw.choice("0123456789x") + text[place + 1 :]
        texts.append(text)
    texts += ["", "yesterday", "2026-02-30 00:00", "29/02/2025 00:00:00", "31/04/2026"]
    assert read(texts, form, zone=zone) == [
        None if t is None else expected(str(t), form, zone) for t in texts
    ]


@pytest.mark.parametrize("zone", [None, "Europe/Copenhagen"])
def test_24_00_is_the_end_of_a_day(zone: str | None) -> None:
    form = "%m/%d/%Y %H:%M:%S"
    texts: list[object] = ["02/28/2026 24:00:00", "12/31/2026 24:00:00", "03/28/2026 24:00:00"]
    ends: list[object] = ["03/01/2026 00:00:00", "01/01/2027 00:00:00", "03/29/2026 00:00:00"]
    assert read(texts, form, zone=zone) == read(ends, form, zone=zone)
    later: list[object] = ["02/28/2026 24:00:01", "02/28/2026 24:01:00", "02/28/2026 25:00:00"]
    assert read(later, form, zone=zone) == [None] * 3
    parts = "%Y-%m-%d %H:%M:%S.%f"
    assert read(["2026-02-28 24:00:00.0"], parts) == read(["2026-03-01 00:00:00.0"], parts)
    assert read(["2026-02-28 24:00:00.5"], parts) == [None]


def test_zones_by_name_and_several_blanks() -> None:
    form = "%a %b %d %H:%M:%S %z %Y"
    (plain, *others) = read(
        [
            "Sun Mar 1 00:00:00 +0000 2026",
            "Sun Mar  1 00:00:00 UTC 2026",
            "Sun Mar 1 00:00:00 GMT 2026",
        ],
        form,
    )
    assert plain == (datetime(2026, 3, 1, tzinfo=UTC) - EPOCH) // US
    assert others == [plain, plain]
    assert (
        read(["Xyz Mar 1 00:00:00 +0000 2026", "Sun Mar 1 00:00:00 CET 2026"], form) == [None] * 2
    )


def test_hours_that_are_there_twice_or_not_at_all() -> None:
    """Clocks in Copenhagen: 2026-03-29 has no hour from 2, 2026-10-25 has it twice."""
    form = "%Y-%m-%d %H:%M"
    texts: list[object] = [
        "2026-03-29 01:59",
        "2026-03-29 02:30",
        "2026-03-29 03:00",
        "2026-10-25 02:30",
        "2026-10-25 03:00",
    ]
    first, gap, after, twice, later = read(texts, form, zone="Europe/Copenhagen")
    assert gap is None
    assert first is not None
    assert after == first + 60_000_000
    assert twice == (datetime(2026, 10, 25, 0, 30, tzinfo=UTC) - EPOCH) // US
    assert later == (datetime(2026, 10, 25, 2, 0, tzinfo=UTC) - EPOCH) // US


@pytest.mark.parametrize(
    ("form", "cells", "kind", "micros"),
    [
        ("epoch_s", [0, 1_767_225_600, None, -5], pa.int64(),
         [0, 1_767_225_600_000_000, None, -5_000_000]),
        ("epoch_s", [1.5, float("nan"), float("inf"), 1e300, 0.1 + 0.2], pa.float64(),
         [1_500_000, None, None, None, 300_000]),
        ("epoch_ms", [1_767_225_600_123, 2**62], pa.int64(), [1_767_225_600_123_000, None]),
        ("epoch_ms", [1_767_225_600_123.4, 0.0004], pa.float64(), [1_767_225_600_123_400, 0]),
        ("epoch_us", [1_767_225_600_000_001, None, 2**62], pa.int64(),
         [1_767_225_600_000_001, None, None]),
        ("epoch_ns", [1_767_225_600_000_000_499, 1_501, 500, 1_500, -1, -501, None], pa.int64(),
         [1_767_225_600_000_000, 2, 0, 2, 0, -1, None]),
        ("epoch_ns", ["1767225600000000499", "1501", "500", "1500", "-1", "-501", "x"], None,
         [1_767_225_600_000_000, 2, 0, 2, 0, -1, None]),
        ("epoch_ns", [2**63 + 1, 2_000], pa.uint64(), [9_223_372_036_854_776, 2]),
        ("epoch_ns", [1_501.0, 2e18], pa.float64(), [2, 2_000_000_000_000_000]),
        ("epoch_s", ["1767225600", "1767225600.25", "1.7e9", " 7 ", "x", "", "1_0", "inf"], None,
         [1_767_225_600_000_000, 1_767_225_600_250_000, 1_700_000_000_000_000, 7_000_000,
          None, None, None, None]),
        ("epoch_s", [Decimal("1.25"), None], pa.decimal128(9, 2), [1_250_000, None]),
        ("epoch_s", [2**63, 3], pa.uint64(), [None, 3_000_000]),
        ("iso", ["1970-01-01T00:00:01", "1970-01-01 00:00:02Z", "1970-01-01T01:00:00+01:00",
                 "1970-01-02", "soon", None], None,
         [1_000_000, 2_000_000, 0, 86_400_000_000, None, None]),
    ],
)  # fmt: skip
def test_numbers_and_iso(
    form: str, cells: list[object], kind: pa.DataType | None, micros: list[int | None]
) -> None:
    assert read(cells, form, kind=kind) == micros


def test_iso_in_a_zone() -> None:
    cells: list[object] = ["2026-07-01T12:00:00", "2026-07-01T12:00:00Z", "2026-01-01 12:00:00"]
    noon, zoned, winter = read(cells, "iso", zone="Europe/Copenhagen")
    assert noon == (datetime(2026, 7, 1, 10, tzinfo=UTC) - EPOCH) // US
    assert zoned == (datetime(2026, 7, 1, 12, tzinfo=UTC) - EPOCH) // US
    assert winter == (datetime(2026, 1, 1, 11, tzinfo=UTC) - EPOCH) // US


def test_timestamps_in_a_zone() -> None:
    moment = datetime(2026, 7, 1, 12)
    (local,) = read([moment], "iso", zone="Europe/Copenhagen", kind=pa.timestamp("ms"))
    assert local == (datetime(2026, 7, 1, 10, tzinfo=UTC) - EPOCH) // US
    (aware,) = read([moment], "iso", zone="Europe/Copenhagen", kind=pa.timestamp("ms", "UTC"))
    assert aware == (datetime(2026, 7, 1, 12, tzinfo=UTC) - EPOCH) // US


@pytest.mark.parametrize("typed", [False, True])
def test_a_date_and_a_time_of_day(typed: bool) -> None:
    days: list[object] = ["2026-01-02", None, "2026-01-02"]
    clocks: list[object] = ["13:00:05", "13:00:05", None]
    parts = [pa.chunked_array([pa.array(days)]), pa.chunked_array([pa.array(clocks)])]
    if typed:
        clock = time(13, 0, 5)
        held = pa.array([clock, clock, None], pa.time32("s"))
        parts = [parts[0].cast(pa.date32()), pa.chunked_array([held])]
    times, wrong = read_times(parts, TimeFormat("iso", ("d", "c")))
    assert wrong is None
    assert times.to_pylist() == [
        (datetime(2026, 1, 2, 13, 0, 5, tzinfo=UTC) - EPOCH) // US,
        None,
        None,
    ]


def test_a_dictionary_of_texts() -> None:
    column = pa.chunked_array([pa.array(["01/02/2026", "x", None]).dictionary_encode()])
    times, wrong = read_times([column], TimeFormat("%d/%m/%Y", ("t",)))
    assert times.null_count == 2
    assert wrong is not None
    assert wrong.tolist() == [False, True, False]


def test_no_rows() -> None:
    column = pa.chunked_array([pa.array([], pa.string())])
    for form in ("%d/%m/%Y", "iso", "epoch_s"):
        times, wrong = read_times([column], TimeFormat(form, ("t",), None))
        assert len(times) == 0
        assert wrong is None
