"""`ontoweir init --from` of tables as Flink SQL declares them."""

import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.ontoweir.conftest import Run

SQL = """\
-- one; two ( three
CREATE TEMPORARY TABLE `readings` (
  `device` STRING COMMENT 'which, of (all)',
  celsius DECIMAL(5, 2),
  sent BIGINT,
  tags ARRAY<STRING>,
  place ROW<x DOUBLE, y ROW<z INT>>, /* nested, both */
  part INT METADATA FROM 'partition' VIRTUAL,
  seen AS TO_TIMESTAMP_LTZ(sent, 3),
  came AS PROCTIME(),
  WATERMARK FOR seen AS seen - INTERVAL '15' SECONDS
) WITH ('connector' = 'kafka', 'topic' = 'a;b)');
CREATE TABLE devices (
  id STRING, room VARCHAR(20), PRIMARY KEY (id) NOT ENFORCED
) WITH ('connector' = 'jdbc');
CREATE TABLE visits (
  device STRING, began TIMESTAMP(3), ended TIMESTAMP(3) WITH LOCAL TIME ZONE,
  WATERMARK FOR ended AS ended
) WITH ('connector' = 'filesystem');
INSERT INTO sink SELECT device FROM readings;
"""


def _init(run: Run, folder: Path, text: str) -> dict[str, Any]:
    (folder / "plant.sql").write_text(text)
    ran = run("init", folder / "p", "--from", folder / "plant.sql")
    assert ran.code == 0, ran.err
    checked = run("check", folder / "p", "--fail-on", "unbounded", "-q")
    assert checked.code == 0, checked.err
    return tomllib.loads((folder / "p" / "ontoweir.toml").read_text())


def test_what_is_declared(run: Run, tmp_path: Path) -> None:
    declared = _init(run, tmp_path, SQL)
    readings, visits = declared["streams"]["readings"], declared["streams"]["visits"]
    assert readings["timestamp"] == {
        "column": "seen",
        "unit": "1 second",
        "format": "epoch_ms",
        "from": ["sent"],
    }
    assert readings["columns"] == {"device": "string", "celsius": "decimal(5,2)", "part": "int"}
    assert visits["timestamp"]["column"] == "ended"
    assert [*visits["columns"]] == ["device", "began"]
    assert declared["relations"]["devices"]["keys"] == [["id"]]
    said = (tmp_path / "p" / "ontoweir.toml").read_text()
    assert 'a watermark 15 seconds behind, which is lateness = "15 seconds"' in said


def test_the_data_comes_later(run: Run, tmp_path: Path) -> None:
    _init(run, tmp_path, SQL)
    at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    rows = f'{{"device": "a", "celsius": 2.5, "sent": {int(at.timestamp() * 1000)}, "part": 1}}\n'
    (tmp_path / "r.jsonl").write_text(rows)
    asked = (
        "--set",
        "streams.readings.source.format=json",
        "--set",
        f"streams.readings.source.path={tmp_path / 'r.jsonl'}",
    )
    query = "SELECT device, seen FROM readings"
    ran = run("show", query, "--project", tmp_path / "p", *asked, "--format", "csv")
    assert ran.code == 0, ran.err
    assert "a,2026-03-01 12:00:00" in ran.out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "CREATE TABLE a (k STRING, t AS PROCTIME()) WITH ('connector' = 'faker');",
            "no table of",
        ),
        ("CREATE VIEW v AS SELECT 1;\n-- WATERMARK FOR x\n", "no table is created"),
        ("\n\nCREATE TABLE a (k STRING STRING 3) WITH ('connector' = 'faker');", ".sql:3: "),
    ],
)
def test_what_makes_no_stream(run: Run, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "plant.sql").write_text(text)
    ran = run("init", tmp_path / "p", "--from", tmp_path / "plant.sql")
    assert (ran.code, said in ran.err) == (2, True), ran.err
    assert len(ran.err.splitlines()) == 1
