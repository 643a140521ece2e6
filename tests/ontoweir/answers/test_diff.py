"""`ontoweir diff`: two results as bags; two versions of a project."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.ontoweir.conftest import Run


def _write(file: Path, rows: list[tuple[object, ...]]) -> Path:
    columns = zip(("k", "at", "multiplicity"), zip(*rows, strict=True), strict=True)
    pq.write_table(pa.table({name: list(cells) for name, cells in columns}), file)
    return file


def test_rows_that_came_and_went(run: Run, tmp_path: Path) -> None:
    before = _write(tmp_path / "a.parquet", [("x", 1, 2), ("y", 1, 1), (None, 2, 1)])
    after = _write(tmp_path / "b.parquet", [("y", 1, 1), ("x", 1, 1), ("z", 3, 1)])
    ran = run("diff", before, after)
    assert ran.code == 0, ran.err
    assert ran.out.splitlines() == [
        "2 answers in both, 2 gone, 1 new",
        "  k, at",
        "- x, 1",
        "- NULL, 2",
        "  k, at",
        "+ z, 3",
    ]
    told = json.loads(run("diff", before, after, "--format", "json", "--ignore", "at").out)
    assert told["come"] == [{"k": "z", "times": 1}]
    assert run("diff", before, after, "--exit-code").code == 1
    assert run("diff", before, before, "--exit-code").code == 0


def test_a_csv_of_the_same_answers(run: Run, tmp_path: Path) -> None:
    table = pa.table({"k": [1, 2], "at": pa.array([0, 60_000_000], pa.timestamp("us"))})
    pq.write_table(table, tmp_path / "a.parquet")
    (tmp_path / "b.csv").write_text("at,k\n1970-01-01 00:01:00,2\n1970-01-01 00:00:00,1\n")
    ran = run("diff", tmp_path / "a.parquet", tmp_path / "b.csv", "--exit-code")
    assert (ran.code, ran.out) == (0, "2 answers in both, 0 gone, 0 new\n")


def test_results_of_different_queries(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("k\n1\n")
    (tmp_path / "b.csv").write_text("m\n1\n")
    ran = run("diff", tmp_path / "a.csv", tmp_path / "b.csv")
    assert ran.code == 2
    assert "different columns: k, m" in ran.err


def test_versions_of_a_project(run: Run, example: Path, project: Path) -> None:
    file = project / "ontoweir.toml"
    text = file.read_text()
    file.write_text(
        text.replace(
            'avg_measured_time = "int"', 'avg_measured_time = { type = "int", min = 0, max = 5000 }'
        )
    )
    (project / "queries" / "every-reading-above-130.rq").unlink()
    slow = project / "queries" / "sensors-fast-after-congestion.rq"
    slow.write_text(f"# asked otherwise\n{slow.read_text()}")
    ran = run("diff", example, project)
    assert ran.code == 0, ran.err
    lines = ran.out.splitlines()
    assert lines[0] == "4 of 31 queries changed"
    place = next(n for n, line in enumerate(lines) if line.endswith(", as before"))
    assert lines[place].startswith("sensors-fast-after-congestion: conditionally-bounded ≤")
    assert lines[place + 1] == "  its text changed"
    assert "every-reading-above-130: bounded ≤ 0 rows → not there" in lines
    name = "how-often-congestion-got-worse"
    assert any(line.startswith(f"{name}: unbounded → conditionally-bounded ≤") for line in lines)
    assert "  + rests on traffic.avg_measured_time in 0..5000" in lines
    assert run("diff", example, example / "ontoweir.toml", "--exit-code").code == 0
    assert run("diff", example, example / "traffic.ttl").code == 2
