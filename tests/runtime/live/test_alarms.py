"""A query that passes a share of its bound is told of once, until it keeps clearly less."""

from types import SimpleNamespace
from typing import Any, cast

from ontoweir.run.state_alarm import StateAlarm


def _told(share: float | None, bound: int | None, rows: list[int]) -> list[int]:
    """After which of so many rows kept there is a warning."""
    warned: list[str] = []
    alarm = StateAlarm(1_000_000, share, warned.append)
    found = []
    for held in rows:
        query = SimpleNamespace(name="q", bound=bound, work=SimpleNamespace(spill=None))
        job: Any = SimpleNamespace(queries=[query], histories=[], metered=())
        kept = [SimpleNamespace(rows=held)]
        state: Any = SimpleNamespace(queries=kept, arrived={}, reasons={}, meters=())
        before = len(warned)
        alarm(cast(Any, state), cast(Any, job))
        if len(warned) > before:
            found.append(held)
            assert f"q holds {held:,} rows of state, {held / (bound or 1):.0%}" in warned[-1]
    return found


def test_a_share_of_the_bound_is_told_of_once() -> None:
    rows = [0, 89, 90, 95, 89, 91, 80, 92]
    assert _told(0.9, 100, rows) == [90, 92]


def test_none_is_told_of_unless_asked_for() -> None:
    assert _told(None, 100, [100]) == []
    assert _told(0.5, None, [100]) == []
    assert _told(0.5, 0, [0]) == []
