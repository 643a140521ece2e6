"""The latest row of each key where a condition on one value makes it one row: as DuckDB has it."""

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ontoweir
from ontoweir.api.python_api import OpenProject
from ontoweir.errors import OntoweirError
from tests.oracle.database import open_database

CATALOG = """
[streams.vital]
source = { format = "parquet", path = "vital.parquet" }
timestamp = { column = "ts", unit = "1 second" }
keys = [["bed", "kind", "ts"]]
max_per_timestamp = 20
[streams.vital.columns]
bed = { type = "string", enum = ["a", "b", "c"] }
kind = { type = "string", enum = ["hr", "spo2"] }
value = { type = "int", min = 0, max = 9 }
dose = "double"
[streams.alarm]
source = { format = "parquet", path = "alarm.parquet" }
timestamp = { column = "ts", unit = "1 second" }
keys = [["bed", "ts"]]
columns = { bed = { type = "string", enum = ["a", "b", "c"] } }
"""
MOST = "SELECT v.value FROM vital v WHERE v.bed = a.bed AND v.ts <= a.ts"
PINNED = "SELECT a.bed, a.ts, v.value FROM alarm a ASOF JOIN vital"
HR = PINNED.replace("vital", "(SELECT * FROM vital WHERE kind = 'hr')")
LAST = "ORDER BY v.ts DESC LIMIT 1) AS x FROM alarm a"
ASKED = [
    f"SELECT a.bed, a.ts, ({MOST} AND v.kind = 'hr' {LAST}",
    f"SELECT a.bed, a.ts, ({MOST} AND value > 2 AND 'spo2' = v.kind {LAST}",
    f"{HR} v ON v.bed = a.bed AND a.ts >= v.ts",
    f"{PINNED} v ON v.bed = a.bed AND v.kind = 'hr' AND a.ts >= v.ts",
]
ONE = PINNED.replace("vital", "(SELECT * FROM vital WHERE kind = 'hr' AND bed = 'b')")
KEYLESS = [
    f"{ONE} v ON a.ts >= v.ts",
    f"{ONE.replace('ASOF', 'ASOF LEFT')} v ON a.ts > v.ts",
    (
        "SELECT a.bed, a.ts, (SELECT v.value FROM vital v WHERE v.bed = 'a' AND v.kind = 'hr' AND "
        f"v.ts <= a.ts {LAST}"
    ),
    f"{ONE.replace('v.value', '3 AS x')} v ON a.ts >= v.ts",
]


@pytest.fixture(name="folder", scope="module")
def write(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, random = tmp_path_factory.mktemp("pinned"), Random(3)
    (folder / "ontoweir.toml").write_text(CATALOG, encoding="utf-8")
    vitals, alarms = [], []
    for second in range(150):
        ts = second * 1_000_000
        for bed in "abc":
            vitals += [
                {"ts": ts, "bed": bed, "kind": kind, "value": random.randint(0, 9), "dose": 0.5}
                for kind in ("hr", "spo2")
                if random.random() < 0.3
            ]
            if random.random() < 0.2:
                alarms.append({"ts": ts, "bed": bed})
    for name, rows in (("vital", vitals), ("alarm", alarms)):
        table = pa.Table.from_pylist(rows)
        times = table.column("ts").cast(pa.timestamp("us"))
        pq.write_table(table.set_column(0, "ts", times), folder / f"{name}.parquet")
    return folder


@pytest.fixture(name="project")
def open_it(folder: Path) -> OpenProject:
    return ontoweir.open_project(folder)


@pytest.mark.parametrize(
    ("text", "tier", "rows"),
    [
        *((text, "conditionally-bounded", 3) for text in ASKED),
        *((text, "tree-bounded", 1) for text in KEYLESS),
    ],
)
def test_it_is_as_duckdb_answers(
    text: str, tier: str, rows: int, folder: Path, project: OpenProject
) -> None:
    verdict = project.check(text)
    assert (verdict.tier, verdict.bound and verdict.bound.rows) == (tier, rows)
    found: Counter[tuple[Any, ...]] = Counter()
    for row in project.replay(text).to_arrow().to_pylist():
        found[row["bed"], row["ts"].replace(tzinfo=None), row[list(row)[2]]] += row.get(
            "multiplicity", 1
        )
    with open_database() as base:
        for name in ("vital", "alarm"):
            base.execute(f"CREATE TEMP VIEW {name} AS FROM '{folder / name}.parquet'")
        assert found == Counter(base.execute(text).fetchall())


@pytest.mark.parametrize(
    "condition",
    ["v.kind <> 'hr'", "v.kind = 'hr' OR v.value = 3", "v.value = 3", "UPPER(v.kind) = 'HR'"],
)
def test_several_rows_are_refused(condition: str, project: OpenProject) -> None:
    text = f"SELECT a.bed, ({MOST} AND ({condition}) ORDER BY v.ts DESC LIMIT 1) AS x FROM alarm a"
    with pytest.raises(OntoweirError, match="the latest row, where vital may have several rows"):
        project.check(text)


def test_zero_and_minus_zero_are_two_values_of_a_key(tmp_path: Path) -> None:
    text = CATALOG.replace('["bed", "kind", "ts"]', '["dose", "ts"]')
    (tmp_path / "ontoweir.toml").write_text(text, encoding="utf-8")
    asked = f"SELECT a.bed, ({MOST} AND v.dose = 0 ORDER BY v.ts DESC LIMIT 1) AS x FROM alarm a"
    with pytest.raises(OntoweirError, match="may have several rows of one timestamp"):
        ontoweir.open_project(tmp_path).check(asked)


def test_what_keeps_rows_of_a_span_is_bounded_by_a_window(project: OpenProject) -> None:
    over = "(PARTITION BY bed, kind ORDER BY ts RANGE BETWEEN INTERVAL '9' SECOND PRECEDING AND"
    verdict = project.check(f"SELECT bed, ts, SUM(value) OVER {over} CURRENT ROW) AS s FROM vital")
    assert (verdict.tier, verdict.bound and verdict.bound.rows) == ("window-bounded", 180)
    verdict = project.check(f"{PINNED} v ON v.bed = 'a' AND v.kind = 'hr' AND a.ts >= v.ts")
    assert (verdict.tier, verdict.bound and verdict.bound.rows) == ("tree-bounded", 1)
