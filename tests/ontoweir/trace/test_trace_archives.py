"""While a replay is watched, no file is moved to an archive."""

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from ontoweir.mappings.model.catalog import DataSource
from ontoweir.runtime.located import hold_archive
from ontoweir.trace import trace_replay
from tests.runtime.live.archive.archived_project import declare
from tests.runtime.live.test_run_live import write_history


def test_archives_are_held_while_it_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_history(tmp_path, 0, 2)
    workspace, (compiled,) = declare(tmp_path, names=["matches"])
    said: list[str | None] = []

    @contextlib.contextmanager
    def hold(sources: Iterable[DataSource]) -> Iterator[None]:
        said.extend(source.archive for source in sources)
        yield
        said.append("released")

    monkeypatch.setattr(hold_archive, "read_archives", hold)
    held = trace_replay.watch_job

    def watch(*given: object, **more: object) -> object:
        assert said == [f"{tmp_path}/old/{name}" for name in "su"]
        return held(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(trace_replay, "watch_job", watch)
    trace_replay.trace_replay(workspace, compiled)
    assert said[-1] == "released"
