"""Files that arrive in a live run: columns by name, one rule for names, and files that are bad."""

import gzip
import os
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from ontoweir.errors import DataError, OntoweirError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from ontoweir.runtime.live.advance_live import advance_live
from ontoweir.runtime.live.arrivals import open_batch
from ontoweir.runtime.live.arrivals.list_arrivals import list_arrivals
from tests.runtime.live.test_run_live import (
    TOML,
    open_queries,
    read_output,
    replayed,
    write_history,
)


def _open(folder: Path, form: str, more: str = "", name: str = "matches") -> Any:
    """The project with both streams in a format; `more`: in each stream."""
    open_queries(folder, [name])
    text = TOML.format(folder).replace(', options = { maxFilesPerTrigger = "1" }', "")
    options = ', options = { header = "true" }' if form == "csv" else ""
    text = text.replace('format = "parquet"', f'format = "{form}"{options}')
    text = text.replace("max_per_timestamp = 50\n", f"max_per_timestamp = 50\n{more}\n")
    (folder / "ontoweir.toml").write_text(text)
    workspace = Workspace(load_project(folder, environ={}))
    return workspace, [workspace.compile_sql(folder / f"{name}.sql")]


def _run(folder: Path, opened: Any, spark: SparkSession, **more: Any) -> Any:
    options = RunOptions(folder / "check", folder / "out", once=True, progress=False, **more)
    return run_queries(opened[0], opened[1], options, spark)


def _as_csv(folder: Path) -> None:
    for file in sorted(folder.glob("[su]/*.parquet")):
        table = pq.read_table(file)
        target = file.with_suffix(".csv")
        pcsv.write_csv(table, target)
        os.utime(target, ns=(file.stat().st_mtime_ns,) * 2)
        file.unlink()


def _expected(folder: Path, spark: SparkSession) -> Any:
    """Of the same history in Parquet."""
    place = folder / "plain"
    place.mkdir()
    write_history(place, 0, 4)
    workspace, compiled = open_queries(place, ["matches"])
    return replayed(place, workspace, compiled[0], spark)


@pytest.mark.parametrize("change", ["none", "other order", "more", "quoted"])
def test_csv_columns_are_found_by_the_header(
    change: str, spark: SparkSession, tmp_path: Path
) -> None:
    write_history(tmp_path, 0, 4)
    _as_csv(tmp_path)
    for name in ("s/001.csv", "s/002.csv", "u/003.csv"):
        file = tmp_path / name
        table = pcsv.read_csv(file)
        if change == "other order":
            table = table.select(table.column_names[::-1])
        elif change == "more":
            table = table.add_column(1, "x", pa.array(range(len(table))))
        before = file.stat().st_mtime_ns
        pcsv.write_csv(table, file)
        os.utime(file, ns=(before, before))
    opened = _open(tmp_path, "csv")
    summary = _run(tmp_path, opened, spark)
    assert (summary["tuples"], summary["rejected"]) == (120, 0)
    assert read_output(tmp_path / "out", "matches") == _expected(tmp_path, spark)


def _make_bad(kind: str, file: Path) -> None:
    before = file.stat().st_mtime_ns
    table = pq.read_table(file)
    match kind:
        case "truncated":
            file.write_bytes(file.read_bytes()[:-100])
        case "damaged within":
            content = bytearray(file.read_bytes())
            content[4:60] = b"\xff" * 56
            file.write_bytes(bytes(content))
        case "no column":
            pq.write_table(table.drop_columns(["k"]), file)
        case "other case":
            pq.write_table(table.rename_columns(["ts", "K", "a"]), file)
        case "wrong type":
            nested = pa.array([[1]] * len(table))
            pq.write_table(table.set_column(1, "k", nested), file)
        case _:
            file.write_bytes(b"")
    os.utime(file, ns=(before, before))


KINDS = ["truncated", "damaged within", "no column", "other case", "wrong type", "empty"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_bad_file_is_named_and_the_run_goes_on_when_it_is_mended(
    kind: str, spark: SparkSession, tmp_path: Path
) -> None:
    write_history(tmp_path, 0, 4)
    file = tmp_path / "s" / "001.parquet"
    shutil.copy2(file, tmp_path / "copy")
    _make_bad(kind, file)
    opened = _open(tmp_path, "parquet")
    for _ in range(2):  # starting again does not change it
        with pytest.raises(DataError, match=r"s/001\.parquet") as caught:
            _run(tmp_path, opened, spark)
        assert len(str(caught.value).splitlines()) == 1
        assert "on_bad_file" in str(caught.value)
    named = "k" if kind == "wrong type" else r"s/001\.parquet"
    with pytest.raises(OntoweirError, match=named):  # a replay says so, too
        replayed(tmp_path, opened[0], opened[1][0], spark)
    shutil.copy2(tmp_path / "copy", file)
    assert _run(tmp_path, opened, spark)["rejected"] == 0
    assert read_output(tmp_path / "out", "matches") == _expected(tmp_path, spark)


@pytest.mark.parametrize("kind", KINDS)
def test_a_bad_file_goes_to_quarantine(kind: str, spark: SparkSession, tmp_path: Path) -> None:
    """It is counted once, shown, and the answers are those without it."""
    write_history(tmp_path, 0, 4)
    _make_bad(kind, tmp_path / "s" / "001.parquet")
    opened = _open(tmp_path, "parquet", 'on_bad_file = "quarantine"')
    summary = _run(tmp_path, opened, spark)
    assert summary["tuples"] == 105
    assert summary["rejects"] == {"its file cannot be read, and is in quarantine": 1}
    assert [f.name for f in (tmp_path / "out" / "quarantine" / "s").iterdir()] == ["001.parquet"]
    shown = read_output(tmp_path / "out", "rejects")
    assert len(shown) == 1
    assert "001.parquet" in shown[0][3]
    found = read_output(tmp_path / "out", "matches")
    assert found == replayed(tmp_path, opened[0], opened[1][0], spark)
    assert _run(tmp_path, opened, spark)["tuples"] == 0


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("goes_on", [False, True])
def test_a_file_that_is_gone_before_it_is_read(
    goes_on: bool, form: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is named, and the next start does not look for it."""
    write_history(tmp_path, 0, 4)
    if form == "csv":
        _as_csv(tmp_path)
    gone = tmp_path / "s" / f"001.{form}"
    listed = list_arrivals

    def remove(*given: Any) -> Any:
        found = listed(*given)
        gone.unlink(missing_ok=True)
        return found

    monkeypatch.setattr(open_batch, "list_arrivals", remove)
    opened = _open(tmp_path, form, 'on_bad_file = "quarantine"' if goes_on else "")
    if not goes_on:
        with pytest.raises(DataError, match=gone.name):
            _run(tmp_path, opened, spark)
    summary = _run(tmp_path, opened, spark)
    assert (summary["tuples"], summary["rejected"]) == (105, int(goes_on))


def test_a_truncated_gz_among_others_is_named(spark: SparkSession, tmp_path: Path) -> None:
    write_history(tmp_path, 0, 4)
    _as_csv(tmp_path)
    for file in sorted((tmp_path / "s").iterdir()):
        before = file.stat().st_mtime_ns
        packed = file.with_suffix(".csv.gz")
        content = gzip.compress(file.read_bytes())
        packed.write_bytes(content[:-20] if file.name == "002.csv" else content)
        os.utime(packed, ns=(before, before))
        file.unlink()
    opened = _open(tmp_path, "csv")
    with pytest.raises(DataError, match=r"s/002\.csv\.gz") as caught:
        _run(tmp_path, opened, spark)
    assert len(str(caught.value)) < 1000


def test_a_column_that_no_query_asks_for_may_be_in_some_files(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Tuples are held to it where it is there; in a replay, too."""
    write_history(tmp_path, 0, 4)
    file = tmp_path / "s" / "001.parquet"
    before = file.stat().st_mtime_ns
    table = pq.read_table(file)
    values = pa.array([float("nan"), *[1.5] * (len(table) - 1)])
    pq.write_table(table.append_column("f", values), file)
    os.utime(file, ns=(before, before))
    opened = _open(tmp_path, "parquet")
    text = (tmp_path / "ontoweir.toml").read_text()
    text = text.replace('a = "int"', 'a = "int"\nf = "double"')
    (tmp_path / "ontoweir.toml").write_text(text)
    workspace = Workspace(load_project(tmp_path, environ={}))
    opened = workspace, [workspace.compile_sql(tmp_path / "matches.sql")]
    assert _run(tmp_path, opened, spark)["rejected"] == 1
    found = read_output(tmp_path / "out", "matches")
    assert found == replayed(tmp_path, opened[0], opened[1][0], spark)


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_what_is_no_data_is_left_alone(form: str, spark: SparkSession, tmp_path: Path) -> None:
    """Files that are being written, hidden ones, and of text those of 0 bytes; by both."""
    write_history(tmp_path, 0, 4)
    if form == "csv":
        _as_csv(tmp_path)
        (tmp_path / "s" / "005.csv").touch()
    else:
        (tmp_path / "s" / "readme.txt").write_text("no Parquet")
    part = (tmp_path / "s" / f"001.{form}").read_bytes()[:50]
    for name in (f"x.{form}.tmp", f"y.{form}.inprogress", f".z.{form}", "_SUCCESS", "a.crdownload"):
        (tmp_path / "s" / name).write_bytes(part)
    opened = _open(tmp_path, form)
    assert _run(tmp_path, opened, spark)["tuples"] == 120
    expected = _expected(tmp_path, spark)
    assert read_output(tmp_path / "out", "matches") == expected
    if form == "csv":
        (tmp_path / "s" / "005.csv").unlink()
    folder = tmp_path / "s"
    assert len(list(folder.iterdir())) >= 9
    shutil.copy2(folder / f"003.{form}", tmp_path / "done")
    os.replace(tmp_path / "done", folder / f"x.{form}")  # the rename of one of them is a new file
    assert _run(tmp_path, opened, spark)["tuples"] == 15


def test_a_large_micro_batch_is_taken_in_steps(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bounded before it is read: no step has more than its rows; the answers are the same."""
    from ontoweir.runtime.live import live_options
    from ontoweir.runtime.live import process_batches as take_batches

    write_history(tmp_path, 0, 40)
    for name in ("s", "u"):  # one file each, of many row groups
        tables = [pq.read_table(f) for f in sorted((tmp_path / name).iterdir())]
        shutil.rmtree(tmp_path / name)
        (tmp_path / name).mkdir()
        pq.write_table(pa.concat_tables(tables), tmp_path / name / "all.parquet", row_group_size=20)
    default = live_options.LiveOptions.__init__

    def small(self: Any, *given: Any, **more: Any) -> None:
        default(self, *given, **{**more, "step": (100, 1 << 30)})

    monkeypatch.setattr(live_options.LiveOptions, "__init__", small)
    sizes: list[int] = []
    advance = advance_live

    def counted(job: Any, state: Any, arrived: Any, *given: Any, **more: Any) -> Any:
        sizes.append(sum(t.num_rows for t in arrived.values()))
        if len(sizes) == 6:
            raise DataError("a crash", why="for the test", fix="start again")
        return advance(job, state, arrived, *given, **more)

    monkeypatch.setattr(take_batches, "advance_live", counted)
    opened = _open(tmp_path, "parquet")
    with pytest.raises(DataError, match="a crash"):
        _run(tmp_path, opened, spark)
    _run(tmp_path, opened, spark)
    assert len(sizes) > 10
    assert max(sizes) <= 120
    found = read_output(tmp_path / "out", "matches")
    assert found == replayed(tmp_path, opened[0], opened[1][0], spark)
    assert sum(sizes) - sizes[5] == 1200


def test_a_file_that_changes_between_steps_is_refused(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ontoweir.runtime.live import live_options
    from ontoweir.runtime.live import process_batches as take_batches

    write_history(tmp_path, 0, 6)
    default = live_options.LiveOptions.__init__

    def small(self: Any, *given: Any, **more: Any) -> None:
        default(self, *given, **{**more, "step": (40, 1 << 30)})

    monkeypatch.setattr(live_options.LiveOptions, "__init__", small)
    advance = advance_live
    taken: list[int] = []

    def crash(*given: Any, **more: Any) -> Any:
        taken.append(1)
        if len(taken) == 3:
            raise DataError("a crash", why="for the test", fix="start again")
        return advance(*given, **more)

    monkeypatch.setattr(take_batches, "advance_live", crash)
    opened = _open(tmp_path, "parquet")
    with pytest.raises(DataError, match="a crash"):
        _run(tmp_path, opened, spark)
    file = tmp_path / "s" / "004.parquet"
    shutil.copy2(file, tmp_path / "copy")
    pq.write_table(pq.read_table(file)[:-1], file)
    with pytest.raises(OntoweirError, match=r"004\.parquet is not what it was"):
        _run(tmp_path, opened, spark)
    shutil.copy2(tmp_path / "copy", file)
    _run(tmp_path, opened, spark)
    found = read_output(tmp_path / "out", "matches")
    assert found == replayed(tmp_path, opened[0], opened[1][0], spark)
    assert found


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_crashes_between_and_within_steps(
    form: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, in and after commits, with files read here and by Spark; one file is bad."""
    from ontoweir.runtime.live import live_options
    from ontoweir.runtime.live import process_batches as take_batches

    write_history(tmp_path, 0, 12)
    if form == "csv":
        _as_csv(tmp_path)
    else:
        _make_bad("truncated", tmp_path / "u" / "007.parquet")
    default = live_options.LiveOptions.__init__

    def small(self: Any, *given: Any, **more: Any) -> None:
        default(self, *given, **{**more, "step": (40, 1 << 30)})

    monkeypatch.setattr(live_options.LiveOptions, "__init__", small)
    opened = _open(tmp_path, form, 'on_bad_file = "quarantine"')
    random = Random(form)
    names = ["advance_live", "commit_batch", "publish_commit", "quarantine_files"]
    for _ in range(8):
        with monkeypatch.context() as patch:
            name, left = random.choice(names), [random.randint(1, 3)]
            called = getattr(take_batches, name)

            def crash(*given: Any, called: Any = called, left: Any = left, **more: Any) -> Any:
                found = called(*given, **more)
                left[0] -= 1
                if not left[0]:
                    raise DataError("a crash", why="for the test", fix="start again")
                return found

            patch.setattr(take_batches, name, crash)
            try:
                _run(tmp_path, opened, spark)
            except DataError as error:
                assert "a crash" in str(error)  # noqa: PT017
    _run(tmp_path, opened, spark)
    if form == "csv":
        place = tmp_path / "plain"
        place.mkdir()
        write_history(place, 0, 12)
        workspace, compiled = open_queries(place, ["matches"])
        expected = replayed(place, workspace, compiled[0], spark)
    else:
        expected = replayed(tmp_path, opened[0], opened[1][0], spark)
    assert read_output(tmp_path / "out", "matches") == expected
    assert expected
    rejects = read_output(tmp_path / "out", "rejects")
    assert len(rejects) == (form == "parquet")
