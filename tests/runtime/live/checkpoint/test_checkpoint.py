"""Checkpoints that are damaged, of another run, or of another version are refused; then nothing
is lost once they are whole again."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ontoweir.errors import OntoweirError
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.project.project import load_project
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from tests.runtime.live.test_run_live import (
    TOML,
    open_queries,
    read_output,
    replayed,
    write_history,
)


def _last(check: Path) -> Path:
    return sorted((check / "commits").glob("[0-9]*"))[-1]


def _version(number: int) -> Callable[[Path], None]:
    def change(check: Path) -> None:
        manifest = _last(check) / "manifest.json"
        entries = json.loads(manifest.read_text())
        manifest.write_text(json.dumps({**entries, "version": number}))

    return change


def _truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-3])


def _truncate_all(folder: Path) -> None:
    for file in folder.glob("[0-9]*"):
        _truncate(file)


def _truncate_logs(spark: Path) -> None:
    for source in (spark / "sources").iterdir():
        _truncate_all(source)


def _flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(bytes(content))


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "an older version": (_version(1), "version 1"),
    "a newer version": (_version(99), "version 99"),
    "no manifest": (lambda c: (_last(c) / "manifest.json").unlink(), "manifest cannot be read"),
    "half a manifest": (lambda c: _truncate(_last(c) / "manifest.json"), "manifest"),
    "half a state": (lambda c: _truncate(next(_last(c).glob("state-*"))), "not what was written"),
    "a flipped bit": (lambda c: _flip(next(_last(c).glob("state-*"))), "not what was written"),
    "no state file": (lambda c: next(_last(c).glob("state-*")).unlink(), "is missing"),
    "no commits": (lambda c: shutil.rmtree(c / "commits"), "the state is missing"),
    "no offsets": (lambda c: shutil.rmtree(c / "spark"), "do not belong together"),
    "half a log of files": (lambda c: _truncate_logs(c / "spark"), "not what was committed"),
    "no list of parts": (lambda c: (c / "parts.jsonl").unlink(), "parts.jsonl is not what"),
}


@pytest.fixture(scope="module")
def stopped(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Workspace, list[CompiledQuery]]:
    """A run that has stopped, with a copy of its checkpoint, and more to read since."""
    folder = tmp_path_factory.mktemp("stopped")
    write_history(folder, 0, 2)
    workspace, compiled = open_queries(folder, ["matches"])
    run_queries(workspace, compiled, _options(folder), spark)
    for name in ("check", "out"):
        shutil.copytree(folder / name, folder / f"{name}-copy")
    write_history(folder, 2, 3)
    return folder, workspace, compiled


def _options(folder: Path) -> RunOptions:
    return RunOptions(folder / "check", folder / "out", once=True, progress=False)


def _restore(folder: Path) -> None:
    for name in ("check", "out"):
        shutil.rmtree(folder / name)
        shutil.copytree(folder / f"{name}-copy", folder / name)


@pytest.mark.parametrize("what", DAMAGE)
def test_damaged(
    what: str, stopped: tuple[Path, Workspace, list[CompiledQuery]], spark: SparkSession
) -> None:
    """Refused in one line; nothing is published."""
    folder, workspace, compiled = stopped
    _restore(folder)
    damage, message = DAMAGE[what]
    damage(folder / "check")
    before = read_output(folder / "out", "matches")
    with pytest.raises(OntoweirError, match=message) as caught:
        run_queries(workspace, compiled, _options(folder), spark)
    assert len(str(caught.value).splitlines()) == 1
    assert read_output(folder / "out", "matches") == before


def test_restored_from_a_copy(
    stopped: tuple[Path, Workspace, list[CompiledQuery]], spark: SparkSession
) -> None:
    """Whole again, it goes on as if nothing had happened."""
    folder, workspace, compiled = stopped
    _restore(folder)
    run_queries(workspace, compiled, _options(folder), spark)
    expected = replayed(folder, workspace, compiled[0], spark)
    assert read_output(folder / "out", "matches") == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [("max = 4", "max = 5"), ("/s", "/t"), ("max_per_timestamp = 50", "max_per_timestamp = 51")],
)
def test_a_changed_catalog(
    old: str,
    new: str,
    stopped: tuple[Path, Workspace, list[CompiledQuery]],
    spark: SparkSession,
) -> None:
    """Another domain, another folder (its files are other offsets), another rate."""
    folder, _, _ = stopped
    _restore(folder)
    changed_folder = folder / "changed"
    changed_folder.mkdir(exist_ok=True)
    text = TOML.format(folder).replace(old, new, 1)
    (changed_folder / "ontoweir.toml").write_text(text)
    shutil.copytree(folder / "s", folder / "t", dirs_exist_ok=True)
    changed = Workspace(load_project(changed_folder, environ={}))
    compiled = [changed.compile_sql(folder / "matches.sql")]
    with pytest.raises(OntoweirError, match="another run"):
        run_queries(changed, compiled, _options(folder), spark)


MAPPING = """
@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix : <http://example.org/ns#> .
@base <http://example.org/mapping/> .
<S> a rr:TriplesMap ;
    rr:logicalTable [ rr:sqlQuery "SELECT k, a FROM s WHERE a > 3" ] ;
    rr:subjectMap [ rr:template "http://example.org/k/{k}" ; rr:class :Seen ] ;
    rr:predicateObjectMap [ rr:predicate :says ; rr:objectMap [ rr:column "a" ] ] .
<U> a rr:TriplesMap ;
    rr:logicalTable [ rr:tableName "u" ] ;
    rr:subjectMap [ rr:template "http://example.org/k/{k}" ; rr:class :Other ] .
"""
ASKED = "PREFIX : <http://example.org/ns#> SELECT ?x ?v WHERE { GRAPH ?t { ?x :says ?v } }"


@pytest.mark.parametrize(
    ("old", "new", "refused"),
    [
        ("a > 3", "a > 4", True),
        ("k/{k}", "other/{k}", True),
        ('rr:column "a"', 'rr:column "k"', True),
        (":Other", ":Another", False),
        ("<S>", "<Renamed>", False),
    ],
)
def test_a_changed_mapping(
    old: str, new: str, refused: bool, tmp_path: Path, spark: SparkSession
) -> None:
    """Refused where the question now means something else; a change elsewhere is none of it."""
    write_history(tmp_path, 0, 2)

    def open_mapped(mapping: str) -> tuple[Workspace, list[CompiledQuery]]:
        project = '[project]\nontology = ["o.ttl"]\nmappings = ["m.ttl"]\nqueries = ["q.rq"]\n'
        (tmp_path / "ontoweir.toml").write_text(project + TOML.format(tmp_path))
        (tmp_path / "o.ttl").write_text(
            "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
            "<http://example.org/ns#Seen> a owl:Class .\n"
            "<http://example.org/ns#says> a owl:DatatypeProperty ."
        )
        (tmp_path / "m.ttl").write_text(mapping)
        (tmp_path / "q.rq").write_text(ASKED)
        workspace = Workspace(load_project(tmp_path, environ={}))
        return workspace, [workspace.compile("q")]

    first = run_queries(*open_mapped(MAPPING), _options(tmp_path), spark)
    assert first["results"] > 0
    write_history(tmp_path, 2, 3)
    workspace, compiled = open_mapped(MAPPING.replace(old, new))
    if not refused:
        assert run_queries(workspace, compiled, _options(tmp_path), spark)["tuples"] == 15
        return
    before = read_output(tmp_path / "out", "q")
    with pytest.raises(OntoweirError, match="another run"):
        run_queries(workspace, compiled, _options(tmp_path), spark)
    assert read_output(tmp_path / "out", "q") == before
    workspace, compiled = open_mapped(MAPPING)
    assert run_queries(workspace, compiled, _options(tmp_path), spark)["tuples"] == 15
