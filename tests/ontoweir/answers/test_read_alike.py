"""`diff` of answers with types and of the same as text: by the types of the former."""

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.ontoweir.conftest import Run

TOML = """
[project]
[streams.r]
source = { format = "parquet", path = "rows.parquet" }
timestamp = { column = "ts", unit = "1 minute" }
[streams.r.columns]
id = { type = "string", nullable = true }
d = { type = "decimal(20,2)", nullable = true }
n = { type = "int", nullable = true }
b = { type = "boolean", nullable = true }
x = { type = "double", nullable = true }
day = { type = "date", nullable = true }
seen = { type = "timestamp", nullable = true }
e = { type = "string", nullable = true }
"""
START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def answers(run: Run, tmp_path: Path) -> Path:
    count = 40
    decimals = [Decimal("1.50"), None, Decimal("20.25"), Decimal("123456789012345.67")]
    texts = ["007", None, "", "x y", "1.50", "true", "2026-01-01", 'q"x']
    seen = [START + timedelta(microseconds=n) if n % 3 else None for n in range(count)]
    rows = {
        "ts": pa.array([START + timedelta(minutes=n) for n in range(count)], pa.timestamp("us")),
        "id": pa.array(texts * 5),
        "d": pa.array(decimals * 10, pa.decimal128(20, 2)),
        "n": pa.array([1, None, 3, 4] * 10),
        "b": pa.array([True, None, False, True] * 10),
        "x": pa.array([0.1 + 0.2, None, 1e300, 2.0] * 10),
        "day": pa.array([date(2026, 1, 1), None] * 20),
        "seen": pa.array(seen, pa.timestamp("us")),
        "e": pa.array([None] * count, pa.string()),
    }
    pq.write_table(pa.table(rows), tmp_path / "rows.parquet")
    (tmp_path / "ontoweir.toml").write_text(TOML)
    text = "SELECT ts, id, d, n, b, x, day, seen, e FROM r"
    for form in ("parquet", "csv", "jsonl", "avro"):
        ran = run("replay", tmp_path, text, "--output", tmp_path / f"a.{form}", "-q")
        assert ran.code == 0, ran.err
    return tmp_path


def test_the_same_rows_as_text(run: Run, answers: Path) -> None:
    for text in ("csv", "jsonl"):
        for typed in ("parquet", "avro"):
            one, other = answers / f"a.{text}", answers / f"a.{typed}"
            for pair in ((one, other), (other, one)):
                ran = run("diff", *pair, "--exit-code")
                assert (ran.code, ran.out) == (0, "40 answers in both, 0 gone, 0 new\n"), ran.err


@pytest.mark.parametrize(
    ("form", "written", "instead", "rows"),
    [
        ("csv", "345.67,", "345.68,", 10),  # a difference that doubles do not have
        ("csv", ',"",', ",,", 5),  # NULL is no empty text
        ("csv", "00.000001Z", "00.000002Z", 1),
        ("csv", ",false,", ",true,", 10),
        ("csv", '"007"', '"7"', 5),
        ("csv", "2026-01-01,2026", "2026-01-02,2026", 13),
        ("csv", "123456789012345.67", "many", 30),  # no value of the type: all are texts
        ("jsonl", '345.67"', '345.68"', 10),
        ("jsonl", '"id": ""', '"id": null', 5),
    ],
)
def test_what_differs_is_found(
    run: Run, answers: Path, form: str, written: str, instead: str, rows: int
) -> None:
    text = (answers / f"a.{form}").read_text()
    assert written in text
    (answers / f"b.{form}").write_text(text.replace(written, instead))
    ran = run("diff", answers / "a.parquet", answers / f"b.{form}", "--format", "json")
    found = json.loads(ran.out)
    gone, come = (sum(row["times"] for row in found[side]) for side in ("gone", "come"))
    assert gone == come
    assert found["same"] + gone == 40
    assert gone == rows
