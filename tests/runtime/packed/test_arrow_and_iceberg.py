"""Sources of Arrow and Iceberg, without Spark: the rows are those of the same data as Parquet."""

import shutil
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table

from ontoweir.cli import main
from ontoweir.project.project import load_project
from ontoweir.runtime.packed.read_arrow import read_arrow
from ontoweir.runtime.spark import explain_java
from ontoweir.runtime.spark.explain_java import suggest_package
from ontoweir.runtime.verified.identify_streams import identify_relations
from tests.runtime.packed.test_packed import _ask, _fail, _project, _records, _table

SQL = "SELECT n FROM a"


def _known(folder: Path) -> list[dict[str, Any]]:
    """The answers over the same rows as Parquet."""
    pq.write_table(_table(_records(range(200))), folder / "known.parquet")
    source = {"format": "parquet", "path": str(folder / "known.parquet")}
    return _ask(_project(folder / "k", source), folder / "k.parquet")


def _write_arrow(file: Path, rows: pa.Table, how: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    if how == "dictionaries":
        rows = rows.set_column(1, "sensor", rows.column("sensor").dictionary_encode())
        rows = rows.set_column(6, "id", rows.column("id").cast(pa.large_string()))
    if how == "feather":
        pf.write_feather(rows, str(file), compression="zstd", chunksize=17)
        return file
    open_writer = pa.ipc.new_stream if how == "stream" else pa.ipc.new_file
    with open_writer(str(file), rows.schema) as writer:
        writer.write_table(rows, max_chunksize=17)
    return file


@pytest.mark.parametrize("how", ["file", "stream", "feather", "dictionaries"])
def test_arrow_files_are_read_in_order(tmp_path: Path, how: str) -> None:
    for number in range(4):
        part = _table(_records(range(50 * number, 50 * number + 50)))
        part = part.append_column("place", pa.array([{"x": 1}] * 50))
        _write_arrow(tmp_path / "data" / f"{number}.arrow", part, how)
    (tmp_path / "data" / "note.txt").write_text("not of Arrow")
    source = {"format": "arrow", "path": str(tmp_path / "data")}
    project = _project(tmp_path / "p", source)
    assert _ask(project, tmp_path / "a.parquet") == _known(tmp_path)
    joined = "SELECT a.n FROM a, r WHERE a.id = r.id"
    assert len(_ask(project, tmp_path / "j.parquet", joined)) == 200
    assert main(["check", str(project), "--data", "-q"]) == 0


def test_a_row_that_is_rejected_has_its_number(tmp_path: Path) -> None:
    records = _records(range(40))
    records[33]["n"] = 1 << 40
    _write_arrow(tmp_path / "a.arrow", _table(records), "file")
    source = {"format": "arrow", "path": str(tmp_path / "a.arrow")}
    project = _project(tmp_path / "p", source, {"n": {"type": "int", "min": -100, "max": 100}})
    text = (project / "ontoweir.toml").read_text()
    (project / "ontoweir.toml").write_text(text[: text.index("[relations.r]")])
    rejects = tmp_path / "rejects"
    command = ["replay", str(project), "--sql", SQL, "--rejects", str(rejects), "-q"]
    assert main([*command, "--output", str(tmp_path / "b.csv")]) == 0
    (row,) = pq.read_table(rejects / "rejects.parquet").to_pylist()
    assert (row["file"], row["number"]) == (str(tmp_path / "a.arrow"), 34)


@pytest.mark.parametrize("how", ["empty", "text", "cut", "cut stream", "old", "twice", "nested"])
def test_files_that_are_no_arrow(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], how: str
) -> None:
    rows = _table(_records(range(200)))
    if how == "twice":
        rows = rows.append_column("n", rows.column("n"))
    if how == "nested":
        rows = rows.drop_columns(["n"]).append_column("n", pa.array([[1]] * 200))
    file = _write_arrow(tmp_path / "a.arrow", rows, "stream" if "stream" in how else "file")
    held = file.read_bytes()
    content = {"empty": b"", "text": b"ts,n\n1,2\n", "old": b"FEA1" + held}
    file.write_bytes(content.get(how, held[:-400] if how.startswith("cut") else held))
    source = {"format": "arrow", "path": str(file)}
    told = _fail(_project(tmp_path / "p", source, {"n": "int"}), capsys)
    said = {
        "empty": "0 bytes",
        "old": "Feather's first version",
        "twice": "it has the column n twice",
        "nested": "the column a.n is of type list",
    }
    assert said.get(how, "the data cannot be read") in told
    assert told.startswith(f"{file}: ")


@pytest.mark.parametrize("how", ["two", "junk", "no end"])
def test_streams_that_are_not_one_whole_stream(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], how: str
) -> None:
    """Rows behind the end of one would be lost."""
    file = _write_arrow(tmp_path / "a.arrow", _table(_records(range(40))), "stream")
    held = file.read_bytes()
    end = b"\xff\xff\xff\xff\0\0\0\0"
    assert held.endswith(end)
    file.write_bytes({"two": held + held, "junk": held + b"x" + end, "no end": held[:-8]}[how])
    source = {"format": "arrow", "path": str(file)}
    told = _fail(_project(tmp_path / "p", source, {"n": "int"}), capsys)
    assert ("does not say that it ends" if how == "no end" else "bytes behind its end") in told


def test_runs_are_values(tmp_path: Path) -> None:
    rows = _table(_records(range(40)))
    runs = pa.RunEndEncodedArray.from_arrays([20, 40], pa.array([1, 2], pa.int64()))
    rows = rows.drop_columns(["n"]).append_column("n", runs)
    file = _write_arrow(tmp_path / "a.arrow", rows, "file")
    project = _project(tmp_path / "p", {"format": "arrow", "path": str(file)}, {"n": "int"})
    found = [row["n"] for row in _ask(project, tmp_path / "o.parquet")]
    assert found == [1] * 10 + [2] * 10  # each twice at its time
    assert main(["init", str(tmp_path / "q"), "--from", str(file), "-q"]) == 0


def test_times_between_microseconds_are_rejected(tmp_path: Path) -> None:
    times = pa.array([n * 60 * 10**9 + (n == 7) for n in range(40)], pa.int64())
    rows = pa.table({"ts": times.view(pa.timestamp("ns")), "n": range(40)})
    for form in ("arrow", "parquet"):
        if form == "arrow":
            _write_arrow(tmp_path / "a.arrow", rows, "file")
        else:
            pq.write_table(rows, tmp_path / "a.parquet")
        source = {"format": form, "path": str(tmp_path / f"a.{form}")}
        project = _project(tmp_path / form, source, {"n": "int"})
        text = (project / "ontoweir.toml").read_text()
        (project / "ontoweir.toml").write_text(text[: text.index("[relations.r]")])
        found = [row["n"] for row in _ask(project, tmp_path / f"{form}.out.parquet", SQL)]
        assert found == [n for n in range(40) if n != 7]


def test_rows_without_columns_are_counted(tmp_path: Path) -> None:
    file = _write_arrow(tmp_path / "a.arrow", _table(_records(range(40))), "file")
    found = read_arrow(str(file), ())
    assert sum(rows.num_rows for rows in found.rows) == 40


def _make_table(folder: Path) -> tuple[Table, Path]:
    """An Iceberg table whose rows go backwards, in two snapshots, without a hint of its version."""
    folder.mkdir()
    catalog = SqlCatalog("here", uri="sqlite:///:memory:", warehouse=f"file://{folder}")
    catalog.create_namespace("db")
    backwards = _table(_records(range(199, -1, -1)))
    table = catalog.create_table("db.t", backwards.schema)
    table.append(backwards.slice(0, 90))
    table.append(backwards.slice(90))
    return table, Path(table.location().removeprefix("file://"))


def test_iceberg_has_what_its_log_says(tmp_path: Path) -> None:
    table, place = _make_table(tmp_path / "w")
    source = {"format": "iceberg", "path": str(place)}
    project = _project(tmp_path / "p", source)
    found = sorted(_ask(project, tmp_path / "a.parquet"), key=lambda row: int(row["n"]))
    assert found == sorted(_known(tmp_path), key=lambda row: int(row["n"]))
    joined = "SELECT a.n FROM a, r WHERE a.id = r.id"
    assert len(_ask(project, tmp_path / "j.parquet", joined)) == 200
    assert main(["check", str(project), "--data", "-q"]) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table.delete("sensor = 's0'")
    assert len(_ask(project, tmp_path / "b.parquet", SQL)) == 100
    first = table.history()[0]
    for options in (
        {"snapshot-id": str(first.snapshot_id)},
        {"as-of-timestamp": str(first.timestamp_ms)},
    ):
        before = _project(tmp_path / "q", {**source, "options": options})
        assert len(_ask(before, tmp_path / "c.parquet", SQL)) == 90
    metadata = table.metadata_location.removeprefix("file://")
    named = _project(tmp_path / "n", {"format": "iceberg", "path": metadata})
    assert len(_ask(named, tmp_path / "d.parquet", SQL)) == 100
    assert identify_relations(load_project(project).catalog, ["r"]) == {}  # nothing is recalled


def test_which_metadata_is_current(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, place = _make_table(tmp_path / "w")
    project = _project(tmp_path / "p", {"format": "iceberg", "path": str(place)})
    latest = Path(table.metadata_location.removeprefix("file://"))
    (first,) = (f for f in latest.parent.glob("00001-*.metadata.json"))
    # of another attempt, which was not committed, or was
    shutil.copy(first, latest.with_name(f"{latest.name.partition('-')[0]}-other.metadata.json"))
    assert "which of its metadata is current cannot be told" in _fail(project, capsys)
    hint = latest.parent / "version-hint.text"
    hint.write_text(first.name)
    assert len(_ask(project, tmp_path / "a.parquet", SQL)) == 90
    first.rename(first.with_name("v7.metadata.json"))
    hint.write_text("7\n")
    assert len(_ask(project, tmp_path / "b.parquet", SQL)) == 90


def test_folders_that_are_no_iceberg(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, place = _make_table(tmp_path / "w")
    source = {"format": "iceberg", "path": str(place)}
    for options, said in (
        ({"snapshot-id": "7"}, "it has no snapshot 7"),
        ({"as-of-timestamp": "7"}, "it had no snapshot yet"),
        ({"snapshot-id": "x"}, "cannot be read"),
    ):
        wrong = _project(tmp_path / "o", {**source, "options": options}, {"n": "int"})
        assert said in _fail(wrong, capsys)
    _fail(_project(tmp_path / "m", source, {"nope": "int"}), capsys)
    gone = next(iter(table.inspect.files().column("file_path").to_pylist()))
    Path(gone.removeprefix("file://")).unlink()
    assert "cannot be read" in _fail(_project(tmp_path / "g", source, {"n": "int"}), capsys)
    Path(table.metadata_location.removeprefix("file://")).write_text("{}")
    assert "cannot be read" in _fail(_project(tmp_path / "g", source, {"n": "int"}), capsys)


def test_init_reads_them(tmp_path: Path) -> None:
    _, place = _make_table(tmp_path / "w")
    arrow = _write_arrow(tmp_path / "f" / "x.feather", _table(_records(range(50))), "feather")
    for name, data in (("i", place), ("f", arrow), ("d", arrow.parent)):
        project = tmp_path / f"of-{name}"
        assert main(["init", str(project), "--from", str(data), "-q"]) == 0
        form = "iceberg" if name == "i" else "arrow"
        assert f'format = "{form}"' in (project / "ontoweir.toml").read_text()
        assert main(["check", str(project), "-q"]) == 0


def test_what_spark_would_need(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark is asked where options are not known here, or files are elsewhere."""
    told = suggest_package("a", Exception("Failed to find data source: arrow."))
    assert told is not None
    assert "Spark reads no Arrow" in told
    told = suggest_package("a", Exception("Failed to find the data source: iceberg."))
    assert told is not None
    assert "leave out options but snapshot-id" in told
    monkeypatch.setattr(explain_java, "find_spec", lambda name: None)
    told = suggest_package("a", Exception("Failed to find the data source: iceberg."))
    assert told is not None
    assert "ontoweir[iceberg]" in told
