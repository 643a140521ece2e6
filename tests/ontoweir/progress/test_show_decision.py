"""How far a decision is, on a terminal: after a moment, in one line, gone when it is over."""

from collections.abc import Callable

import pytest

from ontoweir.progress.progress import FINISHED, Progress
from ontoweir.progress.show_decision import DecisionBar


@pytest.fixture
def clock() -> Callable[[], float]:
    """Half a second later whenever somebody looks at it."""
    times = iter(n / 2 for n in range(100))
    return lambda: next(times)


def _show(progress: DecisionBar) -> None:
    for done in range(6):
        progress(Progress("deciding", done, 12))
    progress(FINISHED)


def test_a_bar_comes_after_a_moment_and_goes(
    clock: Callable[[], float], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    _show(DecisionBar(clock=clock))
    pictures = capsys.readouterr().err.split("\r\x1b[K")[1:]
    assert [p.split()[-3:] for p in pictures[:-1]] == [[str(n), "of", "12"] for n in (2, 3, 4, 5)]
    assert pictures[-1] == ""  # gone
    assert pictures[-2].count("━") == 12


@pytest.mark.parametrize(("terminal", "quiet"), [(True, True), (False, False)])
def test_nothing_is_shown_to_nobody(
    terminal: bool,
    quiet: bool,
    clock: Callable[[], float],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal, raising=False)
    _show(DecisionBar(quiet=quiet, clock=clock))
    assert capsys.readouterr().err == ""


def test_what_is_quick_shows_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    _show(DecisionBar(clock=lambda: 7.0))
    assert capsys.readouterr().err == ""
