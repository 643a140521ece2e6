"""A server that starts many queries: it ends when asked to, and those that run go on between."""

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.registry import serving
from ontoweir.registry.register_query import QueryText, register_query
from ontoweir.run.run_options import RunOptions

PROJECT = """
[streams.s]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 5
[streams.s.columns]
k = "int"
"""


def _register(folder: Path) -> tuple[Workspace, Path]:
    (folder / "ontoweir.toml").write_text(PROJECT)
    workspace = Workspace(load_project(folder, environ={}))
    registry = folder / "registry"
    for number in range(5):
        query = QueryText(f"q{number}", "sql", f"SELECT s.k FROM s WHERE s.k > {number}", "q.sql")
        register_query(workspace, registry, query)
    return workspace, registry


@pytest.mark.parametrize("asked_at", [1, 3, 9])
def test_the_rest_is_not_started(
    asked_at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, registry = _register(tmp_path)
    stop, started, went_on = threading.Event(), [], []

    def start(server: Any, workspaces: Any, registry: Path, entry: Any, *more: Any) -> None:
        started.append(entry.name)
        if len(started) == asked_at:
            stop.set()

    def go_on(server: Any) -> None:
        went_on.append(len(started))
        stop.set()

    monkeypatch.setattr(serving, "_start", start)
    monkeypatch.setattr(serving, "open_session", lambda *given: object())
    monkeypatch.setattr(serving._Server, "go_on", go_on)
    options = RunOptions(None, tmp_path / "out")
    serving.serve_registry(lambda: workspace, registry, options, stop=stop)
    assert len(started) == min(asked_at, 5)
    assert went_on == ([5] if asked_at > 5 else [])


_EACH = [(1, False), (2, False), (3, False), (4, False), (5, True)]
"""How many queries have been tried when the others go on, and whether that is all."""


@pytest.mark.parametrize(
    ("begun", "together", "once", "seen"),
    [
        (True, 60.0, False, _EACH),
        (False, 60.0, False, _EACH[-1:]),  # those that begin do so together
        (False, 0.0, False, _EACH),  # unless it takes too long
        (True, 60.0, True, _EACH[-1:]),
    ],
)
def test_those_that_run_go_on_while_others_start(
    begun: bool,
    together: float,
    once: bool,
    seen: list[tuple[int, bool]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each start takes its turn. One that could not be started is tried after all others."""
    workspace, registry = _register(tmp_path)
    stop = threading.Event()
    tried: list[str] = []
    went_on: list[tuple[int, bool]] = []

    def follow(seconds: float, *, all_here: bool) -> None:
        went_on.append((len(set(tried)), all_here))
        if all_here:
            stop.set()

    shared = SimpleNamespace(
        dead=False,
        entries={},
        run=SimpleNamespace(intake=SimpleNamespace(begun=begun)),
        forget_others=lambda: None,
        stop=lambda: None,
        go_on=follow,
    )

    def start(server: Any, workspaces: Any, registry: Path, entry: Any, *more: Any) -> None:
        tried.append(entry.name)
        server.shared[".intake"] = shared
        if entry.name == "q0":
            server.said[entry.name] = "served by another process"
        else:
            running: Any = SimpleNamespace(entry=entry, ended=False, run=None, error=None)
            server.running[entry.name] = running

    monkeypatch.setattr(serving, "_start", start)
    monkeypatch.setattr(serving, "open_session", lambda *given: object())
    monkeypatch.setattr(serving, "stop_entry", lambda running: None)
    monkeypatch.setattr(serving, "_summarise", lambda *given: {})
    monkeypatch.setattr(serving, "_STARTING", 0.0)
    monkeypatch.setattr(serving, "_TOGETHER", together)
    options = RunOptions(None, tmp_path / "out", once=once)
    serving.serve_registry(lambda: workspace, registry, options, stop=stop)
    assert went_on == seen
    assert tried[:5] == ["q0", "q1", "q2", "q3", "q4"]
    assert len(set(tried)) == 5
