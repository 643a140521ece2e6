"""`ontoweir init --from` of data as others write it: what is missing, rows in another order."""

import tomllib
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.ontoweir.conftest import Run


def _init(run: Run, folder: Path, text: str) -> dict[str, object]:
    (folder / "trade.csv").write_text(text)
    ran = run("init", folder / "p", "--from", folder / "trade.csv")
    assert ran.code == 0, ran.err
    assert run("check", folder / "p", "--data", "-q").code == 0
    stream: dict[str, object] = tomllib.loads((folder / "p" / "ontoweir.toml").read_text())[
        "streams"
    ]["trade"]
    return stream


def test_a_text_for_what_is_missing(run: Run, tmp_path: Path) -> None:
    rows = [f"{'NA' if n % 7 == 0 else n},{n / 2},2026-01-01T00:{n:02}:00" for n in range(60)]
    stream = _init(run, tmp_path, "\n".join(["count,price,ts", *rows]) + "\n")
    source = stream["source"]
    assert isinstance(source, dict)
    assert source["options"] == {"header": "true", "nullValue": "NA"}
    assert stream["columns"] == {"count": {"type": "int", "nullable": True}, "price": "double"}


def test_blocks_that_each_begin_anew_are_sorted(run: Run, tmp_path: Path) -> None:
    rows = [
        f"{symbol},{month} 1 {year},{year % 100}"
        for symbol in ("one", "two", "three")
        for year in range(2000, 2010)
        for month in ("Jan", "Feb", "Mar")
    ]
    stream = _init(run, tmp_path, "\n".join(["symbol,date,price", *rows]) + "\n")
    source = stream["source"]
    assert isinstance(source, dict)
    assert source["sort"] is True
    assert stream["timestamp"] == {"column": "date", "unit": "1 day", "format": "%b %d %Y"}
    assert stream["keys"] == [["symbol", "date"]]
    shown = run("show", "trade-above", tmp_path / "p", "--format", "csv", "-q")
    assert shown.code == 0, shown.err


def test_tables_that_speak_of_one_thing(run: Run, tmp_path: Path) -> None:
    """Several streams name one kind of thing, which is also called as one of them is."""
    times = [f"2026-01-01T00:{n:02}:00" for n in range(40)]
    tables = {
        "orders": ("ts,total,customer_id", [f"{t},{n},c{n % 3}" for n, t in enumerate(times)]),
        "payments": ("ts,order_id,amount", [f"{t},o{n % 5},{n}" for n, t in enumerate(times)]),
        "refunds": ("ts,order_id,amount", [f"{t},o{n % 5},{n}" for n, t in enumerate(times)]),
    }
    for name, (head, rows) in tables.items():
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *rows]) + "\n")
    ran = run("init", tmp_path / "p", "--from", *(tmp_path / f"{name}.csv" for name in tables))
    assert ran.code == 0, ran.err
    ran = run("check", tmp_path / "p", "-q")
    assert ran.code == 0, ran.err
    assert run("check", tmp_path / "p", "--mappings-only", "-q").code == 0


def test_names_that_a_mapping_cannot_have(run: Run, tmp_path: Path) -> None:
    start = datetime(2026, 1, 5, 8)
    names = ("value", 'the "q" b\\c', "a{b}")
    rows = [{"ts": start + timedelta(minutes=n)} | dict.fromkeys(names, n / 2) for n in range(60)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "odd.parquet")
    told = run("init", tmp_path / "p", "--from", tmp_path / "odd.parquet")
    assert told.code == 0
    assert 'called oddly: odd.the "q" b\\c, odd.a{b}' in told.out
    assert run("check", tmp_path / "p").code == 0
    assert run("check", tmp_path / "p", "--mappings-only").code == 0


def test_bytes_that_are_no_text(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"ts,name\n2026-01-01T00:00:00Z,a\x81\n")
    told = run("init", tmp_path / "p", "--from", tmp_path / "a.csv")
    assert told.code == 2
    assert "cannot be read" in told.err


def test_a_table_of_begins_and_ends_may_be_static(run: Run, tmp_path: Path) -> None:
    """As timetables have it (GTFS): a calendar that other tables, and a stream, refer to."""
    days = [f"c{n},2026-0{n + 1}-01,2026-0{n + 2}-01" for n in range(5)]
    changes = [f"c{n % 5},2026-03-{n + 1:02},{n % 2}" for n in range(25)]
    tables = {"calendar": ["service,start_date,end_date", *days], "dates": ["service,date,x"]}
    tables["dates"] += changes
    for name, lines in tables.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    given = ["--from", *(tmp_path / f"{name}.csv" for name in tables)]
    assert "2 streams (calendar, dates)" in run("init", tmp_path / "p", *given).out  # twin
    made = run("init", tmp_path / "q", *given, "--static", "calendar")
    assert "1 stream (dates), 1 relation (calendar)" in made.out
    text = "SELECT end_date FROM dates JOIN calendar ON dates.service = calendar.service"
    shown = run("show", text, "--project", tmp_path / "q", "--format", "csv", "--limit", "0")
    assert len(shown.out.splitlines()) == 26
    for more, said in (
        ([*given, "--static", "kalender"], "a table 'kalender', which there is not"),
        (["--static", "calendar"], "--static without --from"),
        ([*given, "--static", "calendar", "--static", "dates"], "has a time that goes on"),
    ):
        ran = run("init", tmp_path / "r", *more)
        assert (ran.code, said in ran.err) == (2, True), ran.err
