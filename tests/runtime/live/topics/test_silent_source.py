"""A source that does not answer is not waited for by each query that reads it."""

from types import SimpleNamespace
from typing import Any

import pytest

from ontoweir.errors import RunError
from ontoweir.runtime.live import run_intake
from ontoweir.runtime.live.run_intake import IntakeRun


def _history(topic: str, name: str = "s") -> Any:
    return SimpleNamespace(stream=SimpleNamespace(name=name, data=topic))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> IntakeRun:
    monkeypatch.setattr(run_intake, "is_read_here", lambda stream: False)
    session: Any = object()
    intake: Any = SimpleNamespace(parked={})
    return IntakeRun(intake, session, session)


def test_it_is_asked_once_in_a_while(run: IntakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def probe(session: object, history: Any) -> None:
        asked.append(history.stream.data)
        if history.stream.data == "silent":
            raise RunError("the broker does not answer", why="-", fix="-")

    monkeypatch.setattr(run_intake, "probe_source", probe)
    for number in range(3):
        with pytest.raises(RunError, match="does not answer"):
            run.probe([_history("there"), _history("silent")], f"q{number}")
    assert asked == ["there", "silent"]
    run.probe([_history("there"), _history("other")], "q3")  # the others are
    assert asked == ["there", "silent", "other"]
    monkeypatch.setattr(run_intake, "_SILENT", 0.0)
    run.silent.clear()
    for number in range(2):  # later it is asked again
        with pytest.raises(RunError, match="does not answer"):
            run.probe([_history("silent")], f"q{number}")
    assert asked == ["there", "silent", "other", "silent", "silent"]
