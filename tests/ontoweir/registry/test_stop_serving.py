"""A server that is asked to end while it starts its queries does not start the rest of them."""

import threading
from pathlib import Path
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


@pytest.mark.parametrize("asked_at", [1, 3, 9])
def test_the_rest_is_not_started(
    asked_at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ontoweir.toml").write_text(PROJECT)
    workspace = Workspace(load_project(tmp_path, environ={}))
    registry = tmp_path / "registry"
    for number in range(5):
        query = QueryText(f"q{number}", "sql", f"SELECT s.k FROM s WHERE s.k > {number}", "q.sql")
        register_query(workspace, registry, query)
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
