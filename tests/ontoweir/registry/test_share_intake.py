"""What an intake does while queries that it has a state of wait to be started."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ontoweir.registry.share_intake import SharedEntries
from ontoweir.run.run_options import RunOptions


@pytest.mark.parametrize("all_here", [True, False])
def test_no_file_is_forgotten_that_one_is_to_read(
    all_here: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New logs know nothing of what came before: who does not take part yet could not go on."""
    done: list[str] = []
    intake = SimpleNamespace(lacking=frozenset(), hands_all=True, busy=0.0)

    def catch_up(**more: bool) -> bool:
        done.append("caught up")
        return False

    intake.catch_up = catch_up
    run: Any = SimpleNamespace(intake=intake, query=object(), is_over=lambda: False)
    run.rotate = lambda streams: done.append("rotated")
    shared = SharedEntries(tmp_path, run, RunOptions(None, tmp_path / "out"))
    running: Any = SimpleNamespace(entry=SimpleNamespace(id="q"))
    shared.entries["q"] = running
    monkeypatch.setattr(SharedEntries, "show", lambda *given: False)
    intake.await_pause = lambda seconds: None
    shared.go_on(0.01, all_here=all_here)
    assert done == (["rotated", "caught up"] if all_here else ["caught up"])
