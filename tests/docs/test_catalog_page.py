"""The page about the catalog: what it says of nested JSON is replayed."""

import re
from pathlib import Path

import duckdb

from ontoweir.cli import main
from tests.paths import ROOT

PAGE = (ROOT / "docs" / "catalog.md").read_text(encoding="utf-8")


def _project(stream: str) -> str:
    """The block that declares a stream."""
    found = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return next(str(b) for b in found if b.startswith(f"[streams.{stream}]\n"))


def _block(language: str, place: int = 0) -> str:
    found = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(found[place])


def test_what_is_nested(tmp_path: Path) -> None:
    (tmp_path / "ontoweir.toml").write_text(_project("reading"))
    (tmp_path / "readings.jsonl").write_text(_block("json"))
    (tmp_path / "q.sql").write_text("SELECT device, kind, v FROM reading")
    output = str(tmp_path / "out.csv")
    asked = ["--sql", str(tmp_path / "q.sql"), "--output", output, "-q"]
    assert main(["replay", str(tmp_path), *asked]) == 0
    rows = duckdb.execute("SELECT device, kind, v FROM read_csv(?) ORDER BY v", [output])
    assert rows.fetchall() == [(7, "t", 20.5), (7, "h", 55.0)]
    assert "`7, t, 20.5` and `7, h, 55.0`" in PAGE


def test_changes_of_tables(tmp_path: Path) -> None:
    """Who a meter belongs to at the time of a reading."""
    reading = """
[streams.reading]
source = { format = "json", path = "readings.jsonl" }
timestamp = { column = "ts", unit = "1 second" }
columns = { meter = { type = "int" } }
"""
    (tmp_path / "ontoweir.toml").write_text(_project("meter_change") + reading)
    (tmp_path / "meter_changes.jsonl").write_text(_block("json", 1))
    lines = [f'{{"ts": "2026-01-01T00:00:{n:02}Z", "meter": 1}}\n' for n in (2, 7, 10)]
    (tmp_path / "readings.jsonl").write_text("".join(lines))
    join = "FROM reading AS r JOIN meter FOR SYSTEM_TIME AS OF r.ts AS m ON m.id = r.meter"
    assert join in PAGE
    output = str(tmp_path / "out.csv")
    asked = ["--sql", f"SELECT r.ts, m.owner {join}", "--output", output, "-q"]
    assert main(["replay", str(tmp_path), *asked]) == 0
    rows = duckdb.execute("SELECT second(ts), owner FROM read_csv(?) ORDER BY ts", [output])
    assert rows.fetchall() == [(2, "Ada"), (7, "Bo")]
    assert "00:00:02 is Ada's, one at 00:00:07 Bo's, and one at 00:00:10 nobody's" in PAGE


def test_registers_of_a_date(tmp_path: Path) -> None:
    reading = """
[streams.reading]
source = { format = "csv", path = "readings.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 day" }
columns = { meter = "int" }
"""
    (tmp_path / "ontoweir.toml").write_text(_project("register") + reading)
    (tmp_path / "readings.csv").write_text("ts,meter\n2026-01-31,2\n2026-02-01,2\n2026-02-02,1\n")
    named = (line for line in PAGE.splitlines() if line.startswith("register/since="))
    for file, *lines in map(str.split, named):
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / file).write_text("".join(f"{line}\n" for line in lines))
    output = str(tmp_path / "out.csv")
    assert main(["replay", str(tmp_path), "--sql", _block("sql"), "--output", output, "-q"]) == 0
    rows = duckdb.execute("SELECT meter, owner FROM read_csv(?) ORDER BY ts", [output]).fetchall()
    assert rows == [(2, "Bo"), (2, None), (1, "Cy")]
