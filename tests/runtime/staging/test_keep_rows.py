"""Kept rows are used again if nothing has changed, and never else."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from ontoweir.errors import CatalogError, DataError
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest
from ontoweir.runtime.sources import identify_file
from ontoweir.runtime.staging import keep_rows as module
from ontoweir.runtime.staging import kept_manifest
from tests.runtime.harness import make_catalog, make_sql_job, read_rows

TOML = """
[streams.s]
source = { format = "csv", path = "s", options = { header = "true" }, sort = true, keep = true }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 9
[streams.s.columns]
k = { type = "int", min = 0, max = 5 }
v = "decimal(6,2)"
"""
SQL = "SELECT s.k, s.v FROM s WHERE s.k > 0"
OTHER = "SELECT s.k FROM s WHERE s.k > 0"  # for which v may be missing
LINES = ["k,v,ts", "1,1.25,2020-01-01 00:00:09", "2,7.125,2020-01-01 00:00:03", ""]


class Told:
    """Counts how often a listener is told that rows are made ready."""

    def __init__(self) -> None:
        self.prepared = 0

    def update(self, progress: object) -> None:
        """See ProgressListener."""

    def prepare(self, *, stream: str, tuples: int) -> None:
        """See PreparationListener."""
        self.prepared += 1


def _run(folder: Path, sql: str = SQL, toml: str = TOML) -> tuple[list[str], bool]:
    """The answers, and whether the files were read for them."""
    (folder / "ontoweir.toml").write_text(toml)
    told = Told()
    job = make_sql_job(sql, make_catalog(folder, toml))
    output = folder / "out.parquet"
    replay_history(job, ReplayRequest(output, "parquet"), progress=told)
    return sorted(map(str, read_rows(output))), told.prepared > 0


@pytest.fixture(params=["hashes", "identities"])
def project(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A folder with a stream of two files, whose rows are kept: new ones, which are compared by
    their hashes, or such that were seen before, when they had not changed for long."""
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "a.csv").write_text("\n".join(LINES))
    (tmp_path / "s" / "b.csv").write_text("k,v,ts\n3,3,2020-01-01 00:00:05\n")
    rows, read = _run(tmp_path)
    assert len(rows) == 2
    assert read
    if request.param == "identities":
        monkeypatch.setattr(identify_file, "_SETTLED", -(10**12))
        assert not _run(tmp_path)[1]
        manifest = next((tmp_path / ".ontoweir" / "kept").rglob("manifest.json"))
        assert len(json.loads(manifest.read_text())["seen"]) == 3
    return tmp_path


def test_what_was_seen_is_not_read(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest, hashed = module._digest, []

    def noted(files: list[str]) -> tuple[tuple[str, str], ...]:
        hashed.extend(files)
        return digest(files)

    monkeypatch.setattr(module, "_digest", noted)
    settled = identify_file._SETTLED < 0
    assert not _run(project)[1]
    assert bool(hashed) == (not settled)


def _kept(project: Path) -> list[Path]:
    return sorted((project / ".ontoweir" / "kept").rglob("*/*.arrow"))


def test_a_second_replay_reads_what_is_kept(project: Path) -> None:
    first = read_rows(project / "out.parquet")
    (kept,) = _kept(project)
    rows, read = _run(project)
    assert (rows, read) == (sorted(map(str, first)), False)
    assert _kept(project) == [kept]
    rows, read = _run(project, OTHER)
    assert (len(rows), read) == (2, False)
    assert _kept(project) == [kept]


def test_what_may_be_missing_is_kept_for_those_who_do_without_it(project: Path) -> None:
    """Whoever asks for v has it from each file, or an error."""
    shutil.rmtree(project / ".ontoweir")
    assert [_run(project, OTHER)[1], _run(project, OTHER)[1]] == [True, False]
    assert [_run(project)[1], _run(project)[1], _run(project, OTHER)[1]] == [True, False, False]
    assert len(_kept(project)) == 1
    (project / "s" / "b.csv").write_text("k,ts\n3,2020-01-01 00:00:05\n")
    assert [_run(project, OTHER)[1], _run(project, OTHER)[1]] == [True, False]
    with pytest.raises(DataError, match="no column"):
        _run(project)


def _change_bytes(project: Path) -> None:
    """With size and times as before."""
    file = project / "s" / "a.csv"
    known = file.stat()
    file.write_text(file.read_text().replace("1,1.25", "1,1.75"))
    os.utime(file, ns=(known.st_atime_ns, known.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (known.st_size, known.st_mtime_ns)


def _replace_file(project: Path) -> None:
    new = project / "new"
    new.write_text((project / "s" / "b.csv").read_text().replace("3,3", "4,4"))
    new.replace(project / "s" / "b.csv")


def _add_file(project: Path) -> None:
    (project / "s" / "c.csv").write_text("k,v,ts\n5,5,2020-01-01 00:00:05\n")


@pytest.mark.parametrize("change", [_change_bytes, _replace_file, _add_file])
def test_other_files(project: Path, change: Callable[[Path], None]) -> None:
    before = read_rows(project / "out.parquet")
    change(project)
    rows, read = _run(project)
    assert read
    assert rows != sorted(map(str, before))
    shutil.rmtree(project / ".ontoweir")
    assert _run(project)[0] == rows
    assert len(_kept(project)) == 1


def test_a_file_without_rows(project: Path) -> None:
    (project / "s" / "d.csv").write_text("k,v,ts\n")
    toml = TOML.replace("sort = true, ", "")
    rows, _ = _run(project, toml=toml.replace('path = "s"', 'path = "s/d.csv"'))
    assert rows == []
    (project / "s" / "a.csv").unlink()
    assert [_run(project, toml=toml)[1], _run(project, toml=toml)[1]] == [True, False]
    assert not list((project / ".ontoweir").rglob("*.parquet"))


def test_a_file_is_gone(project: Path) -> None:
    (project / "s" / "b.csv").unlink()
    rows, read = _run(project)
    assert (len(rows), read) == (1, True)


@pytest.mark.parametrize(
    ("then", "now"),
    [("decimal(6,2)", "decimal(6,3)"), ('"decimal(6,2)"', '"string"')],
)
def test_other_declarations(project: Path, then: str, now: str) -> None:
    rows, read = _run(project, toml=TOML.replace(then, now))
    assert (len(rows), read) == (3, True)
    assert not _run(project)[1]


def test_another_source(project: Path) -> None:
    toml = TOML.replace('path = "s"', 'path = "s/a.csv"')
    assert [len(_run(project, toml=toml)[0]), _run(project, toml=toml)[1]] == [1, False]
    toml = TOML.replace('header = "true"', 'header = "true", nullValue = "1.25"')
    assert _run(project, toml=toml)[1]


def test_another_program(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "digest_program", lambda: "another")
    assert _run(project)[1]


def _flip(file: Path) -> None:
    known, raw = file.stat(), bytearray(file.read_bytes())
    raw[len(raw) // 3] ^= 1
    file.write_bytes(raw)
    os.utime(file, ns=(known.st_atime_ns, known.st_mtime_ns))


def _forge(file: Path) -> None:
    with pa.OSFile(str(file)) as source, pa.ipc.open_file(source) as opened:
        rows = opened.read_all()
    rows = rows.set_column(0, "k", pa.array([5] * rows.num_rows, pa.int8()))
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, rows.schema) as writer:
        writer.write_table(rows)


def _break_manifest(file: Path) -> None:
    manifest = file.parent.parent / "manifest.json"
    manifest.write_text(manifest.read_text()[:-9])


def _forget_hash(file: Path) -> None:
    manifest = file.parent.parent / "manifest.json"
    held = json.loads(manifest.read_text())
    held["parts"][0][2] = None
    manifest.write_text(json.dumps(held))


@pytest.mark.parametrize("harm", [_flip, _forge, Path.unlink, _break_manifest, _forget_hash])
def test_what_is_kept_was_tampered_with(project: Path, harm: Callable[[Path], None]) -> None:
    before = read_rows(project / "out.parquet")
    (kept,) = _kept(project)
    harm(kept)
    rows, read = _run(project)
    trusted = harm is _forget_hash and identify_file._SETTLED < 0  # which nobody looks at then
    assert (rows, read) == (sorted(map(str, before)), not trusted)
    assert not _run(project)[1]


def test_files_that_change_meanwhile(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of which nobody knows what was read of them."""
    _add_file(project)
    write_manifest, changed = kept_manifest.write_manifest, []

    def write(file: Path, manifest: kept_manifest.Manifest) -> None:
        changed.append(manifest.sources)
        write_manifest(file, manifest)

    digest, calls = module._digest, []

    def change(files: list[str]) -> tuple[tuple[str, str], ...]:
        calls.append(files)
        found = digest(files)
        if len(calls) == 1:  # right after the first look
            _replace_file(project)
        return found

    monkeypatch.setattr(module, "_digest", change)
    monkeypatch.setattr(module, "write_manifest", write)
    assert _run(project)[1]
    assert changed == [()]
    monkeypatch.setattr(module, "_digest", digest)
    assert _run(project)[1]
    assert not _run(project)[1]
    assert len(_kept(project)) == 1


@pytest.mark.parametrize(
    ("then", "now", "what"),
    [
        ('format = "csv"', 'format = "kafka"', "keep = true"),
        ('format = "csv"', 'format = "orc"', "keep = true"),
        ("streams.s", "relations.s", "keep"),
    ],
)
def test_what_cannot_be_kept(tmp_path: Path, then: str, now: str, what: str) -> None:
    toml = TOML.replace(then, now)
    if "relations" in now:
        toml = toml.replace('timestamp = { column = "ts", unit = "1 second" }\n', "")
        toml = toml.replace("max_per_timestamp = 9\n", "")
    with pytest.raises(CatalogError, match=what):
        make_catalog(tmp_path, toml)
