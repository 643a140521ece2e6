"""Files of Avro and Arrow live, without a package of Spark's: as in a replay."""

import os
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any, cast

import fastavro
import pyarrow.parquet as pq
import pytest
from pyarrow.feather import write_feather
from pyspark.sql import SparkSession

from ontoweir.errors import RunError
from ontoweir.mappings.model.catalog import DataSource
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from ontoweir.runtime.live.arrivals.find_horizon import find_horizon
from ontoweir.runtime.live.arrivals.list_arrivals import ArrivedFile
from ontoweir.runtime.live.arrivals.open_batch import OpenBatch, open_files
from ontoweir.runtime.live.model.live_job import LiveJob
from ontoweir.runtime.located.data_files import is_data
from ontoweir.runtime.packed import read_avro, read_packed
from tests.runtime.in_process import replay_here
from tests.runtime.live.test_live_starts import _listener
from tests.runtime.live.test_one_rule import ROWS, TOML, _jobs, _live, seconds
from tests.runtime.live.test_run_live import QUERIES, read_output, write_history
from tests.runtime.live.test_run_live import TOML as TWO

AVRO = TOML.replace('"parquet"', '"avro"')
MICROS = {"type": "long", "logicalType": "timestamp-micros"}


def _null_or(kind: Any) -> list[Any]:
    return ["null", kind]


FIELDS: dict[str, Any] = {
    "ts": _null_or(MICROS),
    "i": _null_or("long"),
    "f": _null_or("double"),
    "p": _null_or({"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}),
    "t": _null_or("string"),
    "b": _null_or("boolean"),
    "d": {"type": "int", "logicalType": "date"},
    "w": {"type": "long", "logicalType": "timestamp-millis"},
    "spare": _null_or("int"),
    "nested": {"type": "array", "items": "int"},
}


def _records(random: Random, number: int) -> list[dict[str, Any]]:
    """Rows that keep what is declared, and some that do not."""
    return [
        {
            "ts": random.choice([datetime.fromtimestamp(at, UTC)] * 9 + [None]),
            "i": random.choice([0, 1, 2, 3, 4, 9, None]),
            "f": random.choice([0.5, -1e300, float("nan"), None]),
            "p": random.choice([Decimal("1.23"), Decimal(-7), None]),
            "t": random.choice(["", "é", "long " * 9, None]),
            "b": random.choice([True, False, None]),
            "d": date(1970, 1, 1 + place),
            "w": datetime(1990 + place, 1, 1, tzinfo=UTC),
            "spare": random.choice([1, -1, None]),
            "nested": [1],
        }
        for place, at in enumerate(seconds(number))
    ]


def _write(file: Path, records: list[dict[str, Any]], fields: dict[str, Any]) -> Path:
    named = [{"name": name, "type": kind} for name, kind in fields.items()]
    schema = fastavro.parse_schema({"type": "record", "name": "r", "fields": named})
    file.parent.mkdir(parents=True, exist_ok=True)
    held = [{name: record[name] for name in fields} for record in records]
    with file.open("wb") as opened:
        fastavro.writer(opened, schema, held, codec="deflate")
    return file


def _history(folder: Path, change: str, seed: int) -> list[Path]:
    fields = dict(FIELDS)
    random = Random(seed)
    files = []
    for number in range(3):
        records = _records(random, number)
        if change == "doubles as decimals":
            fields["p"] = "double"
            for record in records:
                record["p"] = random.choice([0.05, 0.1 + 0.2, 1e30, -12.34])
        elif change == "numbers as text":
            fields["i"] = "string"
            for record in records:
                record["i"] = random.choice(["1", " 2", "x", "9"])
        elif change == "bytes as text":
            fields["t"] = "bytes"
            for record in records:
                record["t"] = random.choice([b"a", b"\xff"])
        elif change == "other columns" and number == 1:
            fields = dict(reversed(FIELDS.items()))
            del fields["spare"]
        files.append(_write(folder / "s" / f"{number}.avro", records, fields))
    return files


@pytest.mark.parametrize(
    "change",
    ["as declared", "doubles as decimals", "numbers as text", "bytes as text", "other columns"],
)
def test_as_a_replay_reads(change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No Spark is asked."""
    files = _history(tmp_path, change, 3)
    _, job, live = _jobs(tmp_path, AVRO)
    whole, summary = replay_here(monkeypatch, job, tmp_path / "out.parquet", ranges=1)
    rows, reasons, shown = _live(live, files)
    last = datetime(1970, 1, 1, 0, 0, seconds(2)[-1])
    assert rows == [row for row in whole if row["at"] < last]
    assert rows
    assert reasons["s.ts is NULL"] > 0
    assert 0 <= sum(summary.rejected.values()) - sum(reasons.values()) <= 1
    said = {"doubles as decimals": "1e+30", "numbers as text": "'x'", "bytes as text": "\\xff"}
    assert change not in said or any(said[change] in text for text in shown)


def _open(live: LiveJob, files: list[Path], folder: Path) -> OpenBatch:
    arrived = [ArrivedFile(f.as_uri(), str(f), n) for n, f in enumerate(files)]
    return open_files(
        live.histories, {"s": arrived}, cast(SparkSession, object()), folder / "staged"
    )


def test_a_large_file_is_taken_in_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_avro, "_ROWS", 4)
    files = _history(tmp_path, "as declared", 5)
    _, _, live = _jobs(tmp_path, AVRO)
    opened = _open(live, files, tmp_path)
    assert [p.rows for p in opened.portions["s"]] == [4] * (3 * ROWS // 4)
    cuts = opened.cuts(rows=8)
    assert len(cuts) > 2
    steps = [opened.read(low, high) for low, high in zip([None, *cuts], [*cuts, None], strict=True)]
    assert sum(step["s"].num_rows for step in steps if step) == 3 * ROWS
    assert max(step["s"].num_rows for step in steps if step) < ROWS
    assert (tmp_path / "staged").exists()
    opened.close()
    assert not (tmp_path / "staged").exists()


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    files = _history(tmp_path, "as declared", 5)
    whole = files[0].read_bytes()
    bad = {
        "cut": whole[:-40],
        "text": b"ts,i\n1,2\n",
        "empty": b"",
    }
    for name, content in bad.items():
        (tmp_path / "s" / f"{name}.avro").write_bytes(content)
    lacking = {n: kind for n, kind in FIELDS.items() if n != "b"}
    _write(tmp_path / "s" / "lacking.avro", _records(Random(1), 0), lacking)
    twins = {**FIELDS, "b": {"type": "array", "items": "int"}}
    _write(tmp_path / "s" / "nested.avro", [{**r, "b": [1]} for r in _records(Random(1), 0)], twins)
    wrong = [tmp_path / "s" / f"{name}.avro" for name in (*bad, "lacking", "nested", "gone")]
    _, _, live = _jobs(tmp_path, AVRO)
    opened = _open(live, [*files, *wrong], tmp_path)
    found = opened.bad["s"]
    assert [b.file for b in found] == [str(file) for file in wrong]
    assert all(str(b.error.source) == b.file for b in found), [str(b.error) for b in found]
    said = ["cannot be read", "cannot be read", "0 bytes", "'b'", "is of type array", "No such"]
    assert all(text in str(b.error) for text, b in zip(said, found, strict=True))
    assert {p.file for p in opened.portions["s"]} == {str(file) for file in files}


def test_folders_say_columns_and_spools_do_not(tmp_path: Path) -> None:
    """The folder that rows are spooled to may have such a name, too."""
    fields = {n: kind for n, kind in FIELDS.items() if n not in ("t", "spare")}
    file = _write(tmp_path / "s" / "t=x%20y" / "a.avro", _records(Random(1), 0), fields)
    _, _, live = _jobs(tmp_path, AVRO)
    opened = _open(live, [file], tmp_path / "spare=7")
    assert not opened.bad["s"]
    rows = opened.read(None, None)["s"]
    assert set(rows.column("t").to_pylist()) == {"x y"}
    assert set(rows.column("spare").to_pylist()) == {None}


def test_times_that_wait_in_files(tmp_path: Path) -> None:
    """Time does not pass the rows of a file that is there and comes later."""
    files = _history(tmp_path, "as declared", 3)
    catalog, _, _ = _jobs(tmp_path, AVRO)
    stream = catalog.streams["s"]
    with files[2].open("rb") as opened:
        times = [row["ts"] for row in fastavro.reader(opened) if row["ts"] is not None]  # type: ignore[index,call-overload]
    waiting = [str(files[2]), str(tmp_path / "gone.avro")]
    first = min(times)
    assert isinstance(first, datetime)
    assert find_horizon(stream, waiting, {}) == int(first.timestamp()) * 1_000_000


def test_other_files_of_a_folder_are_none(tmp_path: Path) -> None:
    _history(tmp_path, "as declared", 3)
    (tmp_path / "s" / "note.txt").write_text("x")
    (tmp_path / "s" / "sub").mkdir()
    (tmp_path / "s" / "sub" / "data").write_text("x")
    data = DataSource("avro", str(tmp_path / "s"))
    assert not is_data(data, str(tmp_path / "s" / "note.txt"))
    assert is_data(data, str(tmp_path / "s" / "0.avro"))
    assert is_data(data, str(tmp_path / "s" / "sub" / "data"))
    assert is_data(replace(data, format="csv"), str(tmp_path / "s" / "note.txt"))


def _pack(folder: Path, name: str) -> None:
    """A stream's files as Avro, the other one's as Arrow."""
    value = {"s": "a", "u": "b"}[name]
    fields = {"ts": {"type": "long", "logicalType": "local-timestamp-micros"}, "k": "long"}
    for file in sorted((folder / name).glob("*.parquet")):
        place = file.with_suffix(".avro" if name == "s" else ".arrow")
        if name == "s":
            _write(place, pq.read_table(file).to_pylist(), {**fields, value: "long"})
        else:
            write_feather(pq.read_table(file), str(place))
        os.utime(place, ns=(file.stat().st_mtime_ns, file.stat().st_mtime_ns))
        file.unlink()


def _open_query(folder: Path) -> tuple[Workspace, list[Any]]:
    toml = TWO.format(folder).replace('"parquet"', '"avro"', 1).replace('"parquet"', '"arrow"')
    toml = toml.replace("\ntimestamp", '\non_bad_file = "quarantine"\ntimestamp')
    (folder / "ontoweir.toml").write_text(toml)
    (folder / "matches.sql").write_text(QUERIES["matches"])
    workspace = Workspace(load_project(folder, environ={}))
    return workspace, [workspace.compile_sql(folder / "matches.sql")]


@pytest.mark.parametrize("listened", [False, True])
def test_runs_as_over_parquet_across_restarts(
    spark: SparkSession, tmp_path: Path, listened: bool
) -> None:
    """Spark, which lists the files, has no package that reads them; one of them is broken."""
    options = RunOptions(
        tmp_path / "check",
        tmp_path / "out",
        once=True,
        progress=False,
        listeners=(_listener(),) if listened else (),
    )
    for first, last in ((0, 2), (2, 4)):
        write_history(tmp_path, first, last)
        for name in ("s", "u"):
            _pack(tmp_path, name)
        broken = tmp_path / "s" / f"broken{first}.avro"
        broken.write_bytes(b"Obj\x01 and no more")
        os.utime(broken, (1000 + first, 1000 + first))
        workspace, compiled = _open_query(tmp_path)
        assert run_queries(workspace, compiled, options, spark)["tuples"] == 60
        assert not broken.exists()
        assert (tmp_path / "out" / "quarantine" / "s" / broken.name).exists()
    for name in ("s", "u"):
        for file in (tmp_path / name).glob("*.a[vr]*o*"):
            file.unlink()
    write_history(tmp_path, 0, 4)
    (tmp_path / "ontoweir.toml").write_text(TWO.format(tmp_path))
    workspace = Workspace(load_project(tmp_path, environ={}))
    compiled = [workspace.compile_sql(tmp_path / "matches.sql")]
    known = RunOptions(tmp_path / "check2", tmp_path / "out2", once=True, progress=False)
    run_queries(workspace, compiled, known, spark)
    found = read_output(tmp_path / "out", "matches")
    assert found == read_output(tmp_path / "out2", "matches")
    assert found


def test_without_the_package_no_file_is_blamed(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_packed, "find_spec", lambda name: None)
    write_history(tmp_path, 0, 2)
    for name in ("s", "u"):
        _pack(tmp_path, name)
    workspace, compiled = _open_query(tmp_path)
    options = RunOptions(tmp_path / "check", tmp_path / "out", once=True, progress=False)
    with pytest.raises(RunError) as raised:
        run_queries(workspace, compiled, options, spark)
    assert "pip install 'ontoweir[avro]', for local files" in str(raised.value)
    assert len(list((tmp_path / "s").glob("*.avro"))) == 2
    assert not (tmp_path / "out" / "quarantine").exists()
