"""Parts in processes of their own: the answers of one, its errors, and what a dead one leads to."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.cli import main
from ontoweir.errors import RunError
from ontoweir.runtime.ingest import admit_rows
from ontoweir.runtime.replay.parts import run_processes as module
from ontoweir.runtime.replay.parts import scan_parts
from ontoweir.runtime.sources import identify_file
from tests.runtime.replay.parts.test_parts_equal import run_here

TOML = """
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
keys = [["id", "ts"]]
[streams.s.columns]
id = { type = "int", min = 0, max = 49 }
name = "string"
v = { type = "int", min = 0, max = 90 }

[streams.t]
source = { format = "csv", path = "t.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 second" }
columns = { sensor = "decimal(6,2)", w = "int" }
references = [{ columns = ["sensor"], relation = "place", to = ["id"] }]

[relations.place]
source = { format = "csv", path = "place.csv", options = { header = "true" } }
columns = { id = "decimal(6,2)", road = "string" }
keys = [["id"]]
max_rows = 45
"""
JOIN = (
    "SELECT s.name, p.road, t.w FROM s, t, place AS p "
    "WHERE s.id = t.sensor AND t.sensor = p.id "
    "AND t.ts < s.ts AND t.ts >= s.ts - INTERVAL '9' SECOND"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    random = np.random.default_rng(5)
    rows = 4_000
    seconds = np.sort(random.integers(0, 400, rows))
    times = pa.array(seconds * 1_000_000).cast(pa.timestamp("us"))
    table = {
        "ts": times,
        "id": random.integers(0, 52, rows),
        "name": [f"name {n % 17}" for n in range(rows)],
        "v": [None if n % 31 == 0 else n for n in random.integers(0, 95, rows).tolist()],
    }
    pq.write_table(pa.table(table), tmp_path / "s.parquet", row_group_size=700)
    lines = [
        f"1970-01-01 00:{n // 600:02d}:{n // 10 % 60:02d},{n % 47},{n % 7}"
        for n in range(0, 3_000, 13)
    ]
    (tmp_path / "t.csv").write_text("ts,sensor,w\n" + "\n".join(lines) + "\n")
    places = "\n".join(f"{n}.0,road {n % 5}" for n in range(45))
    (tmp_path / "place.csv").write_text(f"id,road\n{places}\n")
    (tmp_path / "ontoweir.toml").write_text(TOML)
    (tmp_path / "q.sql").write_text(JOIN)
    return tmp_path


def _replay(
    project: Path, capsys: pytest.CaptureFixture[str], *options: str, cache: str = "off"
) -> tuple[int, dict[str, object], str]:
    asked = ["replay", str(project), "--sql", str(project / "q.sql"), "--summary", "json", "-q"]
    code = main([*asked, "--cache", cache, *options])
    told = capsys.readouterr()
    return code, json.loads(told.out) if told.out else {}, told.err


@pytest.mark.parametrize("forked", [True, False])
def test_answers_and_rejected_rows_are_those_of_one_process(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    forked: bool,
) -> None:
    monkeypatch.setattr(module, "may_fork", lambda: forked)
    one, several = project / "1.csv", project / "2.csv"
    code, alone, _ = _replay(project, capsys, "--output", str(one), "--parts", "1")
    assert code == 0
    code, apart, _ = _replay(project, capsys, "--output", str(several), "--parts", "3")
    assert code == 0
    assert several.read_bytes() == one.read_bytes()
    assert one.read_text().count("\n") > 20
    assert (alone["parts"], apart["parts"]) == (1, 3)
    for name in ("markers", "tuples", "results", "rejects", "bound_rows"):
        assert apart[name] == alone[name]
    rejects = apart["rejects"]
    assert isinstance(rejects, dict)
    assert {"s repeats the key (id, ts)", "s.v is outside its declared domain"} <= rejects.keys()
    assert [f.name for f in project.iterdir() if f.name.startswith(".ontoweir")] == []


def test_what_is_known_of_rejected_rows_is_used(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a replay that has verified all rows; its parts are in this process, which is watched."""
    monkeypatch.setattr(identify_file, "_SETTLED", -(10**12))
    monkeypatch.setattr(scan_parts, "run_processes", run_here)
    cache = str(project / "cache")
    one, several = project / "1.csv", project / "2.csv"
    _, alone, _ = _replay(project, capsys, "--output", str(one), cache=cache)
    monkeypatch.setattr(admit_rows, "_reject_values", lambda *_: pytest.fail("looked at again"))
    _, apart, _ = _replay(project, capsys, "--output", str(several), "--parts", "2", cache=cache)
    assert several.read_bytes() == one.read_bytes()
    for name in ("markers", "tuples", "results", "rejects"):
        assert apart[name] == alone[name]


def test_other_engines_are_refused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--output", str(project / "o.csv"), "--parts", "2", "--engine", "driver")
    code, _, err = _replay(project, capsys, *asked)
    assert code == 2
    assert "--parts 2 with --engine driver" in err


def test_the_error_is_that_of_one_process(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    late = pq.read_table(project / "s.parquet")
    wrong = late.slice(1_500, 1).set_column(0, "ts", pa.array([10**15 + 1], pa.timestamp("us")))
    pq.write_table(pa.concat_tables([late, wrong]), project / "s.parquet")
    told = [
        _replay(project, capsys, "--output", str(project / "o.csv"), "--parts", parts)
        for parts in ("1", "2")
    ]
    assert told[0][0] == told[1][0] == 2
    assert told[0][2] == told[1][2]
    assert "between two steps" in told[0][2]
    assert not (project / "o.csv").exists()


def test_what_cannot_be_divided_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "q.sql").write_text("SELECT COUNT(*) AS n FROM s")
    code, _, err = _replay(project, capsys, "--output", str(project / "o.csv"), "--parts", "2")
    assert code == 2
    assert "cannot be divided by key: all rows make one group" in err


@pytest.mark.parametrize("begin", ["_fork", "_start"])
def test_a_dead_process_ends_the_replay(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, begin: str
) -> None:
    started: list[Any] = []
    start = getattr(module, begin)

    def kill(*given: Any) -> Any:
        started.append(start(*given))
        started[-1].kill()
        return started[-1]

    monkeypatch.setattr(module, "may_fork", lambda: begin == "_fork")
    monkeypatch.setattr(module, begin, kill)
    code, _, err = _replay(project, capsys, "--output", str(project / "o.csv"), "--parts", "2")
    assert code == RunError.exit_code
    assert "ended with -9" in err
    assert not (project / "o.csv").exists()
    assert all(child.poll() is not None for child in started)


def test_what_a_forked_process_does_not_expect_is_told(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*asked: Any) -> bool:
        raise ValueError("no such thing")

    monkeypatch.setattr(module, "may_fork", lambda: True)
    monkeypatch.setattr(module, "_run_part", fail)
    code, _, err = _replay(project, capsys, "--output", str(project / "o.csv"), "--parts", "2")
    assert code == RunError.exit_code
    assert "ended with 1: ValueError: no such thing" in err
