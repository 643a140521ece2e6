"""Three days of the real city's readings in the order in which they came lose nothing at the
lateness that `measure` finds: every answer is that over the sorted rows. The data are not part of
the repository; without them the test is skipped, and says so."""

import json
import tomllib
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.ontoweir.conftest import Run

_FILE = "traffic_20140804_0806_arrival_order.csv"
_TOML = """\
[streams.traffic]
source = {{ format = "csv", path = "{file}", options = {{ header = "true" }} }}
timestamp = {{ column = "ts", unit = "5 minutes" }}
max_per_timestamp = 449

[streams.traffic.columns]
report_id = {{ type = "int", min = 158324, max = 210199 }}
vehicle_count = {{ type = "int", min = 0, max = 77 }}
id = "int"
"""
_READINGS = "SELECT report_id, id, vehicle_count FROM traffic"
_JAMS = (
    "SELECT y.report_id, y.id FROM traffic x JOIN traffic y ON x.report_id = y.report_id "
    "AND x.ts < y.ts AND y.ts <= x.ts + INTERVAL '10 minutes' "
    "WHERE x.vehicle_count > 20 AND y.vehicle_count > 20"
)
_HOURS = (
    "SELECT report_id, date_trunc('hour', ts) AS hour, COUNT(*) AS n, SUM(vehicle_count) AS v "
    "FROM traffic GROUP BY report_id, date_trunc('hour', ts)"
)


@pytest.fixture(scope="module")
def arrivals(shared: Path) -> Path:
    """The rows as they came."""
    file = shared / "data" / "citybench" / _FILE
    if not file.is_file():
        pytest.skip(f"NOT TESTED: {file} is missing (data outside the repository)")
    return file


def _measure(run: Run, project: Path) -> str:
    """What `measure` says to declare as the timestamp, so that no row is lost."""
    ran = run("measure", project, "--sql", _READINGS, "--format", "json", "-q")
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    (lateness,) = (
        tomllib.loads(d["toml"])["streams"]["traffic"]["timestamp"]["lateness"]
        for d in told["declarations"]
        if "lateness" in d["toml"] and not d["loses"]
    )
    assert told["streams"]["traffic"]["lateness"]["max"] == lateness
    return str(lateness)


def _replay(run: Run, project: Path, sql: str) -> tuple[pa.Table, int]:
    """The answers of a replay, with their times, in an order that does not depend on that of their
    times; and how many rows of the stream it rejected."""
    output = project / "answers.parquet"
    ran = run(
        *("replay", project, "--sql", sql, "--output", output, "--engine", "driver"),
        *("--expand", "--summary", "json", "-q"),
    )
    assert ran.code == 0, ran.err
    rows = pq.read_table(output)
    rows = rows.sort_by([(name, "ascending") for name in rows.column_names])
    return rows, json.loads(ran.out)["rejected"]


@pytest.mark.slow
@pytest.mark.shared
def test_the_city_loses_nothing_at_the_lateness_that_measure_finds(
    run: Run, arrivals: Path, tmp_path: Path
) -> None:
    project = tmp_path / "ontoweir.toml"
    project.write_text(_TOML.format(file=arrivals))
    base = duckdb.connect()
    base.sql(f"CREATE TABLE arrived AS SELECT * FROM read_csv('{arrivals}', parallel = false)")
    ((late, most),) = base.sql(
        "SELECT count_if(ts < reach), max(reach - ts) FROM (SELECT ts, max(ts) OVER "
        "(ORDER BY rowid ROWS UNBOUNDED PRECEDING) AS reach FROM arrived)"
    ).fetchall()
    assert late > 0
    refused = run("replay", tmp_path, "--sql", _READINGS, "--output", tmp_path / "a.csv", "-q")
    assert refused.code == 2
    assert "goes backwards" in refused.err  # twin: without a lateness

    lateness = _measure(run, tmp_path)
    assert base.sql(f"SELECT INTERVAL '{lateness}'").fetchall() == [(most,)]
    unit = 'unit = "5 minutes"'
    text = project.read_text().replace(unit, f'{unit}, lateness = "{lateness}"')
    project.write_text(text)
    base.sql(f"COPY (SELECT * FROM arrived ORDER BY ts, rowid) TO '{tmp_path}/sorted.csv' (HEADER)")
    ordered = tmp_path / "sorted"
    ordered.mkdir()
    (ordered / "ontoweir.toml").write_text(_TOML.format(file=tmp_path / "sorted.csv"))
    found = {}
    for sql in (_READINGS, _JAMS, _HOURS):
        rows, rejected = _replay(run, tmp_path, sql)
        assert rejected == 0
        assert rows.num_rows
        assert rows.equals(_replay(run, ordered, sql)[0])
        found[sql] = rows.num_rows
    counted = base.sql(
        "SELECT count(*) FROM arrived x JOIN arrived y ON x.report_id = y.report_id AND x.ts < y.ts"
        " AND y.ts <= x.ts + INTERVAL '10 minutes' WHERE x.vehicle_count > 20 AND "
        "y.vehicle_count > 20"
    ).fetchall()
    assert counted == [(found[_JAMS],)]
    assert base.sql("SELECT count(*) FROM arrived").fetchall() == [(found[_READINGS],)]
