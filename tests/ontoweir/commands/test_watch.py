"""`check --watch`: again after each change of a text, and not for others."""

from functools import partial
from pathlib import Path

import pytest

from ontoweir.commands.common import watch_files as watching
from ontoweir.commands.common.watch_files import watch_files
from tests.ontoweir.conftest import Run


def test_each_change_runs_it_again(tmp_path: Path) -> None:
    query, data = tmp_path / "queries" / "a.rq", tmp_path / "data" / "b.csv"
    for file in (query, data):
        file.parent.mkdir()
        file.write_text("one")
    runs: list[str] = []
    waits: list[float] = []

    def run() -> int:
        runs.append(query.read_text() if query.exists() else "gone")
        return len(runs)

    def wait(seconds: float) -> None:
        waits.append(seconds)
        match len(waits):
            case 1:
                data.write_text("more")  # is data, which is not watched
            case 2:
                (tmp_path / "notes.txt").write_text("no text of a project's")
            case 3:
                query.write_text("two, longer")
            case 4:
                query.unlink()
            case 5:
                (tmp_path / "ontoweir.toml").write_text("[project]")
            case _:
                pass

    assert watch_files(run, [tmp_path], rounds=4, wait=wait) == 4
    assert runs == ["one", "two, longer", "gone", "gone"]
    assert len(waits) == 5


def test_an_error_does_not_end_it(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("init", tmp_path / "rooms", "-q").code == 0
    file = tmp_path / "rooms" / "ontoweir.toml"
    text = file.read_text()
    steps = iter([text + "\n[wrong]\n", text, None])

    def wait(seconds: float) -> None:
        after = next(steps)
        if after is None:
            raise KeyboardInterrupt
        file.write_text(after)

    monkeypatch.setattr(watching, "watch_files", partial(watch_files, wait=wait))
    ran = run("check", tmp_path / "rooms", "--watch", "-q")
    assert ran.code == 130  # Ctrl-C
    assert "unknown section [wrong]" in ran.err
    assert ran.out.count("3 queries: 2 bounded, 1 conditionally-bounded") == 2
    assert "exit code 2; watching" in ran.err
