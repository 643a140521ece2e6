"""`init --from` of times as statistics, offices, mail and web servers write them."""

import csv
import tomllib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.ontoweir.conftest import Run

_BEGIN = datetime(2026, 3, 1, tzinfo=UTC)


def _init(run: Run, folder: Path, lines: Sequence[str], name: str = "t") -> dict[str, Any] | None:
    """The table of the only stream of a project, which all rows fit (None: there is none)."""
    (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    ran = run("init", folder / "p", "--from", folder / f"{name}.csv")
    if ran.code == 2:
        assert "has a time that goes on" in ran.err
        return None
    assert ran.code == 0, ran.err
    assert run("check", folder / "p", "--data", "-q").code == 0
    catalog = tomllib.loads((folder / "p" / "ontoweir.toml").read_text())
    (stream,) = catalog["streams"].values()
    assert isinstance(stream, dict)
    return stream


def _ask(run: Run, folder: Path, query: str) -> list[dict[str, str]]:
    shown = run("show", query, "--project", folder / "p", "--limit", "0", "--format", "csv")
    assert shown.code == 0, shown.err
    return list(csv.DictReader(shown.out.splitlines()))


@pytest.mark.parametrize(
    ("form", "step"),
    [
        ("%Y-%m", 32),
        ("%Y-%b", 32),
        ("%d.%m.%y", 1),
        ("%a, %d %b %Y %H:%M:%S %z", 0.3),
        ("%d/%b/%Y:%H:%M:%S %z", 0.3),
        ("%Y%m%dT%H%M%S%z", 0.3),
    ],
)
def test_a_column_of_such_times(run: Run, tmp_path: Path, form: str, step: float) -> None:
    times = [_BEGIN + timedelta(days=step * n) for n in range(40)]
    rows = [f'"{time.strftime(form)}",{n}.5' for n, time in enumerate(times)]
    stream = _init(run, tmp_path, ["when,level", *rows])
    assert stream is not None
    assert stream["timestamp"]["format"] == form
    answers = _ask(run, tmp_path, "SELECT `when`, level FROM t")
    shown = [datetime.fromisoformat(a["when"]).replace(tzinfo=UTC).strftime(form) for a in answers]
    assert shown == [time.strftime(form) for time in times]


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("{digits}", "%Y%m%d%H%M%S"),  # are no milliseconds of the year 2612
        ("{seconds}000000", "epoch_us"),
        ("{seconds}000000123", "epoch_ns"),
        ("{iso}.123456789Z", None),
    ],
)
def test_times_of_programs(run: Run, tmp_path: Path, written: str, form: str | None) -> None:
    times = [_BEGIN + timedelta(minutes=n) for n in range(40)]
    told = [
        written.format(
            seconds=int(t.timestamp()),
            iso=t.strftime("%Y-%m-%dT%H:%M:%S"),
            digits=t.strftime("%Y%m%d%H%M%S"),
        )
        for t in times
    ]
    stream = _init(run, tmp_path, ["time,level", *(f"{t},{n}.5" for n, t in enumerate(told))])
    assert stream is not None
    assert stream["timestamp"].get("format") == form
    answers = _ask(run, tmp_path, "SELECT time, level FROM t")
    assert [a["time"][:19] for a in answers] == [t.strftime("%Y-%m-%d %H:%M:%S") for t in times]


def test_a_year_alone_is_the_time_where_nothing_else_is(run: Run, tmp_path: Path) -> None:
    stream = _init(run, tmp_path, ["Year,Jobs", *(f"{1913 + n},{9000 - n}" for n in range(40))])
    assert stream is not None
    assert stream["timestamp"] == {"column": "Year", "unit": "1 day", "format": "%Y"}
    answers = _ask(run, tmp_path, "t-by-year")
    assert len(answers) == 39  # the last year is not over
    assert answers[0]["year"].startswith("1913-01-01")


def test_twin_a_year_beside_a_stream_is_a_column(run: Run, tmp_path: Path) -> None:
    (tmp_path / "models.csv").write_text("year,name\n2001,a\n2002,b\n2003,c\n")
    rows = [f"{(_BEGIN + timedelta(minutes=n)).isoformat()},{n}.5" for n in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["at,level", *rows]) + "\n")
    ran = run("init", tmp_path / "p", "--from", tmp_path / "t.csv", tmp_path / "models.csv")
    assert ran.code == 0, ran.err
    catalog = tomllib.loads((tmp_path / "p" / "ontoweir.toml").read_text())
    assert ([*catalog["streams"]], [*catalog["relations"]]) == (["t"], ["models"])


def test_twin_other_whole_numbers_are_no_years(run: Run, tmp_path: Path) -> None:
    assert _init(run, tmp_path, ["pressure,level", *(f"{1000 + n},{n}" for n in range(40))]) is None


def test_rows_in_no_order_are_sorted_where_nothing_else_is_a_stream(
    run: Run, tmp_path: Path
) -> None:
    days = [_BEGIN + timedelta(days=7 * n % 40) for n in range(40)]
    rows = [
        f"{n},{day:%m/%d/%Y},{day + timedelta(days=3 + n % 2):%m/%d/%Y},c{n % 3},{n}.5"
        for n, day in enumerate(days)
    ]
    head = "Order ID,Order Date,Ship Date,Customer,Amount"
    stream = _init(run, tmp_path, [head, *rows], "orders")
    assert stream is not None
    assert stream["timestamp"]["column"] == "Order Date"
    assert stream["source"]["sort"] is True
    answers = _ask(run, tmp_path, "SELECT `Order Date` AS d, Amount FROM orders")
    assert [a["d"][:10] for a in answers] == sorted(f"{day:%Y-%m-%d}" for day in days)
    # an order is about a customer, not about the day when it was sent
    assert "ofCustomer" in (tmp_path / "p" / "mapping.r2rml.ttl").read_text()


def test_hours_from_1_to_24(run: Run, tmp_path: Path) -> None:
    rows = [
        f"{_BEGIN + timedelta(days=n // 24):%m/%d/%Y},{n % 24 + 1:02}:00,{n}" for n in range(96)
    ]
    stream = _init(run, tmp_path, ["Date,Time,GHI", *rows])
    assert stream is not None
    assert stream["timestamp"]["from"] == ["Date", "Time"]
    answers = _ask(run, tmp_path, "SELECT ts, GHI FROM t")
    expected = [(_BEGIN + timedelta(hours=n + 1)).strftime("%Y-%m-%dT%H") for n in range(96)]
    assert [a["ts"].replace(" ", "T")[:13] for a in answers] == expected


def test_seconds_with_fractions_called_otherwise(run: Run, tmp_path: Path) -> None:
    rows = [f"{1767225600 + n * 0.5:.3f},{n}.25" for n in range(60)]
    stream = _init(run, tmp_path, ["stamped_by,level", *rows])
    assert stream is not None
    assert stream["timestamp"]["format"] == "epoch_s"
    other = [f"{n * 0.5:.3f},{n}.25" for n in range(60)]
    (tmp_path / "q").mkdir()
    assert _init(run, tmp_path / "q", ["offset_by,level", *other]) is None
