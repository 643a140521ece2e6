"""`ontoweir init --from` of data as others write it: what is missing, rows in another order."""

import csv
import json
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


def test_rows_about_what_the_table_is_called_after(run: Run, tmp_path: Path) -> None:
    """Several rows of `orders` are of one order: they are not orders themselves, and are counted
    apart from these; amounts of money that JSON has as texts are numbers."""
    begin = datetime(2026, 3, 1, 8)
    lines = [
        {
            "at": (begin + timedelta(minutes=n)).isoformat(),
            "order": {"id": n // 3, "items": [{"sku": f"s{n % 4}", "qty": 2}] * (2 - n % 3)},
            "event": ("placed", "paid", "sent")[n % 3],
            "amount": f"{n}.50",
        }
        for n in range(200)
    ]
    (tmp_path / "orders.jsonl").write_text("\n".join(map(json.dumps, lines)))
    ran = run("init", tmp_path / "p", "--from", tmp_path / "orders.jsonl")
    assert ran.code == 0, ran.err
    made = tomllib.loads((tmp_path / "p" / "ontoweir.toml").read_text())["streams"]
    assert made["orders"]["columns"]["amount"] == "double"
    assert "keys" not in made["orders_items"]  # two equal elements are two rows
    texts = {f.name: f.read_text() for f in (tmp_path / "p" / "queries").iterdir()}
    for name, text in texts.items():
        query = name.partition(".")[0]
        ran = run(
            "replay", query, "--project", tmp_path / "p", "--output", tmp_path / f"{query}.csv"
        )
        assert ran.code == 0, ran.err
        assert ("a :OrderEvent" in text) == (name.startswith("orders-") and name.endswith(".rq"))
    by_hour = next(q for q in texts if q.startswith("orders-by-hour-of-all"))
    with (tmp_path / f"{by_hour.partition('.')[0]}.csv").open() as opened:
        assert {row["rows"] for row in csv.DictReader(opened)} == {"60"}
    above = (tmp_path / "p" / "queries" / "orders-items-above.sql").read_text()
    assert "at AS at_seen" in above
    items = next(q for q in texts if q.startswith("orders-items-by-hour-of-all"))
    assert items.endswith(".sql")
    with (tmp_path / f"{items.partition('.')[0]}.csv").open() as opened:
        assert {row["number"] for row in csv.DictReader(opened)} == {"60"}


def test_cells_beyond_the_header_are_told(run: Run, tmp_path: Path) -> None:
    rows = [f"2026-01-01T00:{n:02}:00;{n};a{'; b' if n % 4 == 0 else ''}" for n in range(60)]
    (tmp_path / "log.csv").write_text("\n".join(["ts;n;text", *rows]) + "\n")
    ran = run("init", tmp_path / "p", "--from", tmp_path / "log.csv")
    assert ran.code == 0, ran.err
    told = "15 of the first 60 rows have more cells than there are columns; what is beyond is not"
    assert told in ran.out
    assert f"# {told}" in (tmp_path / "p" / "ontoweir.toml").read_text()
