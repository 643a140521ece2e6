"""What was verified of text, and of rows that are to be sorted, is known by the next replay."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
import pytest

from ontoweir.errors import RunError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.runtime.replay import open_history as opening
from ontoweir.runtime.replay import replay as replaying
from ontoweir.runtime.sources import identify_file
from ontoweir.runtime.staging import keep_rows as keeping
from tests.runtime.harness import make_catalog
from tests.runtime.verified.test_verified import (
    JOIN,
    SITES,
    TIMES,
    TOML,
    WHOLE,
    Replays,
    same,
    write_history,
)

FORMS = {
    "csv": 'format = "csv", path = "s", options = { header = "true" }',
    "csv, kept": 'format = "csv", path = "s", options = { header = "true" }, keep = true',
    "csv, sorted": 'format = "csv", path = "s", options = { header = "true" }, sort = true',
    "json": 'format = "json", path = "s"',
    "json, kept": 'format = "json", path = "s", sort = true, keep = true',
    "parquet, sorted": 'format = "parquet", path = "s", sort = true',
    "parquet, kept": 'format = "parquet", path = "s", sort = true, keep = true',
    "arrow": 'format = "arrow", path = "s"',
    "arrow, kept": 'format = "arrow", path = "s", keep = true',
}
READ = {JOIN: {"a", "t"}, SITES: {"a", "t"}, TIMES: {"a", "t"}, WHOLE: {"a", "w"}}


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as settled at once."""
    monkeypatch.setattr(identify_file, "_SETTLED", -(10**12))


def write_form(folder: Path, seed: int, form: str) -> Catalog:
    """The rows of test_verified.py in another form; those to be sorted are not."""
    write_history(folder, seed)
    for file in sorted((folder / "s").iterdir()):
        table = pq.read_table(file)
        file.unlink()
        if "sort" in FORMS[form]:
            table = table.take(np.random.default_rng(seed).permutation(table.num_rows))
        if form.startswith("csv"):
            pcsv.write_csv(table, file.with_suffix(".csv"))
        elif form.startswith("json"):
            times = pc.strftime(table.column("ts"), "%Y-%m-%d %H:%M:%S")
            lines = table.set_column(0, "ts", times).to_pylist()
            for row in lines:  # as they are written elsewhere, too: 2 and 2.5
                row |= {"v": str(row["v"]), "w": int(row["w"]) if row["w"] % 1 == 0 else row["w"]}
            text = "".join(json.dumps(row) + "\n" for row in lines)
            file.with_suffix(".json").write_text(text)
        elif form.startswith("arrow"):
            place = str(file.with_suffix(".arrow"))
            with pa.OSFile(place, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table, max_chunksize=60)
        else:
            pq.write_table(table, file, row_group_size=60)
    return make_catalog(folder, make_toml(form))


def make_toml(form: str) -> str:
    """The project, with the stream in a form."""
    return TOML.replace('format = "parquet", path = "s"', FORMS[form])


@pytest.mark.parametrize("form", FORMS)
def test_the_next_replays_read_less(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of any query; they reject the same rows, and answer the same, also in other portions."""
    catalog = write_form(tmp_path, len(form), form)
    replays = Replays(tmp_path, monkeypatch)
    first = replays.run(catalog, JOIN)
    assert replays.read >= {"k", "a", "t", "v"}
    assert {"S repeats the key (k, ts)", "S.v is NaN", "S.a is not in R.a"} <= {*first[1].rejected}
    same(replays.run(catalog, JOIN, known=False), first)
    once = {"k"} if form in ("csv", "json") else set[str]()  # of which no statistics are made
    for size in (37, 1000):
        same(replays.run(catalog, JOIN, rows_per_chunk=size), first)
        assert replays.read == READ[JOIN] | once
    for sql in (SITES, TIMES, WHOLE):
        if sql == WHOLE and "parquet" in form:
            replays.run(catalog, sql)  # whose doubles need not be whole
        found = replays.run(catalog, sql)
        assert replays.read == READ[sql]
        same(found, replays.run(catalog, sql, known=False))


def test_rows_that_are_mapped_are_those_of_parquet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Text that is sorted is written as Parquet; what is kept, or read once, is mapped."""
    catalog = write_form(tmp_path, 9, "csv")
    replays = Replays(tmp_path, monkeypatch)
    for sql in (JOIN, SITES, WHOLE):
        found = replays.run(catalog, sql, known=False)
        same(found, replays.run(make_catalog(tmp_path, make_toml("csv, kept")), sql, known=False))


def append(file: Path) -> None:
    """A row more."""
    rows = file.read_text()
    file.write_text(rows + rows.splitlines()[-1] + "\n")


def change_byte(file: Path) -> None:
    """Another value; the size and the time of the last write stay."""
    before, text = file.stat(), file.read_text()
    file.write_text(text.replace(',"x",', ',"q",', 1) if ',"x",' in text else text)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_size == before.st_size


@pytest.mark.parametrize("form", ["csv", "csv, kept", "csv, sorted"])
@pytest.mark.parametrize("change", [append, change_byte])
def test_what_changed_is_verified_again(
    form: str, change: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = write_form(tmp_path, 3, form)
    replays = Replays(tmp_path, monkeypatch)
    before = replays.run(catalog, JOIN)
    change(tmp_path / "s" / "1.csv")
    after = replays.run(catalog, JOIN)
    assert "v" in replays.read
    assert after[1].rejected != before[1].rejected
    same(after, replays.run(catalog, JOIN, known=False))


@pytest.mark.parametrize("form", ["csv, kept", "parquet, kept"])
def test_other_declarations(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = write_form(tmp_path, 3, form)
    replays = Replays(tmp_path, monkeypatch)
    replays.run(catalog, JOIN)
    narrower = make_catalog(tmp_path, make_toml(form).replace("max = 9", "max = 5"))
    same(replays.run(narrower, JOIN), replays.run(narrower, JOIN, known=False))


def flip(file: Path) -> None:
    """Another bit; the size and the time of the last write stay."""
    known, raw = file.stat(), bytearray(file.read_bytes())
    raw[len(raw) // 3] ^= 1
    file.write_bytes(raw)
    os.utime(file, ns=(known.st_atime_ns, known.st_mtime_ns))


def find_kept(folder: Path) -> Path:
    """The file of the kept rows."""
    (kept,) = (folder / ".ontoweir" / "kept").rglob("*.arrow")
    return kept


@pytest.mark.parametrize("harm", [flip, Path.unlink, lambda file: shutil.rmtree(file.parents[3])])
def test_kept_rows_that_are_not_as_they_were(
    harm: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are made again; of the source's files, which have not changed, all is known."""
    catalog = write_form(tmp_path, 4, "json, kept")
    replays = Replays(tmp_path, monkeypatch)
    first = replays.run(catalog, JOIN)
    harm(find_kept(tmp_path))
    same(replays.run(catalog, JOIN), first)
    assert replays.read == READ[JOIN]
    same(replays.run(catalog, WHOLE), replays.run(catalog, WHOLE, known=False))
    same(replays.run(catalog, JOIN, again=True), first)
    assert "v" in replays.read


def test_a_second_replay_compares_no_contents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kept rows were seen after the clock of the file system had gone on."""
    catalog = write_form(tmp_path, 4, "json, kept")
    Replays(tmp_path, monkeypatch).run(catalog, JOIN, known=False)
    monkeypatch.setattr(keeping, "_digest", lambda files: pytest.fail("hashed"))
    shutil.rmtree(tmp_path / "cache")
    Replays(tmp_path, monkeypatch).run(catalog, JOIN, known=False)


def test_a_clock_that_stands_still(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What may have changed within a tick of it is compared by contents."""
    catalog = write_form(tmp_path, 4, "json, kept")
    monkeypatch.setattr(keeping, "await_tick", lambda folder, files: False)
    Replays(tmp_path, monkeypatch).run(catalog, JOIN)
    assert '"seen": null' in find_kept(tmp_path).parents[1].joinpath("manifest.json").read_text()


def test_kept_rows_that_change_while_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = write_form(tmp_path, 4, "parquet, kept")
    replays = Replays(tmp_path, monkeypatch)
    replays.run(catalog, JOIN)
    (tmp_path / "out.parquet").unlink()
    opened: Any = vars(replaying)["open_history"]

    def late(*given: Any, **named: Any) -> Any:
        history = opened(*given, **named)
        file = find_kept(tmp_path)
        os.utime(file, ns=(0, 0))
        return history

    monkeypatch.setattr(replaying, "open_history", late)
    with pytest.raises(RunError, match="the files of S changed while they were replayed"):
        replays.run(catalog, JOIN)
    assert not (tmp_path / "out.parquet").exists()


def test_rows_that_only_spark_can_read_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may find them in other places."""
    catalog = write_form(tmp_path, 4, "csv")
    replays = Replays(tmp_path, monkeypatch)
    first = replays.run(catalog, JOIN)
    monkeypatch.setattr(opening, "spool_stream", lambda *given: None)
    with pytest.raises(RunError, match="--verify"):
        replays.run(catalog, JOIN)
    monkeypatch.undo()
    same(replays.run(catalog, JOIN, known=False), first)
