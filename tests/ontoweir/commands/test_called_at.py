"""A stream whose timestamp has the name that answers' times have."""

import json
from pathlib import Path

from tests.ontoweir.conftest import Run

TOML = """
[streams.meter]
source = { format = "csv", path = "meter.csv", options = { header = "true" } }
timestamp = { column = "at", unit = "1 minute" }
keys = [["meter", "at"]]
[streams.meter.columns]
meter = "string"
watt = "int"
"""
ROWS = "at,meter,watt\n2026-03-01 10:05:00,a,1\n2026-03-01 10:05:00,b,3\n"
ROWS += "2026-03-01 10:20:00,a,4\n2026-03-01 11:00:00,a,5\n"


def test_shares_of_an_hour(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ontoweir.toml").write_text(TOML)
    (tmp_path / "meter.csv").write_text(ROWS)
    over = "OVER (PARTITION BY date_trunc('hour', at) ORDER BY watt DESC)"
    sql = f"SELECT meter, at AS t, watt, RANK() {over} AS place FROM meter"
    for query in (f"{sql} WHERE at > TIMESTAMP '2026-01-01'", f"{sql} QUALIFY meter <> 'c'"):
        ran = run("show", query, tmp_path, "--format", "jsonl", "-q")
        assert ran.code == 0, ran.err
        found = [json.loads(line) for line in ran.out.splitlines()]
        rows = {(r["meter"], r["t"][11:16], r["watt"], r["place"], r["at"][11:16]) for r in found}
        hour = {("a", "10:05", 1, 3), ("b", "10:05", 3, 2), ("a", "10:20", 4, 1)}
        assert {r[:4] for r in rows} == hour
        assert {r[4] for r in rows} <= {"10:59", "11:00"}
