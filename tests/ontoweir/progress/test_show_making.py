"""What `init --from` does, on a terminal: after a moment, in one line, which goes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ontoweir.progress.progress import FINISHED, Progress
from ontoweir.progress.show_making import MakingLine
from ontoweir.scaffold.make_scaffold import Given, make_scaffold


@pytest.fixture
def clock() -> Callable[[], float]:
    """Half a second later whenever somebody looks at it."""
    times = iter(n / 2 for n in range(100))
    return lambda: next(times)


def _show(line: MakingLine) -> None:
    for done in range(1, 5):
        line(Progress("measuring readings", 1000 * done, None))
    line(FINISHED)


def test_a_line_comes_after_a_moment_and_goes(
    clock: Callable[[], float], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    _show(MakingLine(clock=clock))
    texts = capsys.readouterr().err.split("\r\x1b[K")[1:]
    assert texts == [f"measuring readings: {n},000 rows" for n in (2, 3, 4)] + [""]


@pytest.mark.parametrize(("terminal", "quiet"), [(True, True), (False, False)])
def test_nothing_is_shown_to_nobody(
    terminal: bool,
    quiet: bool,
    clock: Callable[[], float],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal, raising=False)
    _show(MakingLine(quiet=quiet, clock=clock))
    assert capsys.readouterr().err == ""


def test_a_project_is_told_of_while_it_is_made(tmp_path: Path) -> None:
    (tmp_path / "readings.csv").write_text(
        "ts,sensor,celsius\n"
        + "".join(f"2026-03-01T00:{n:02}:00,s{n % 3},{n / 8}\n" for n in range(60))
    )
    (tmp_path / "sensors.csv").write_text("sensor,room\ns0,r\ns1,r\ns2,q\n")
    told: list[Progress] = []
    data = [str(tmp_path / "readings.csv"), str(tmp_path / "sensors.csv")]
    make_scaffold(Given(data, "rooms", on_progress=told.append))
    assert Progress("reading tables", 1, 2) in told
    assert Progress("measuring readings", 60, None) in told
    assert [p.phase for p in told if not p.done] == [
        f"looking at {data[0]}",
        f"looking at {data[1]}",
        "looking for joins",
        "",  # whoever accepts terms is asked now
        "checking queries",
    ]
