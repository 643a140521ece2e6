"""What `ontoweir status` says of how rows come, and of what is on disk."""

from ontoweir.commands.operate.status import _lines
from ontoweir.registry.entry_status import begin_status
from ontoweir.registry.registry_entry import Entry

ENTRY = Entry(
    name="q",
    id="1",
    language="sql",
    text="SELECT 1",
    file="q.sql",
    reads={},
    registered="2026-05-04T08:00:00",
    allow_unbounded=False,
    verdict="bounded",
    tier="lag",
    bound_rows=7,
    bound_formula="7",
)


def test_limits_and_rows_on_disk() -> None:
    status = begin_status(ENTRY, "", None) | {
        "on_disk": {"rows": 1234, "bytes": 5_600_000, "found": 7},
        "limits": [
            {
                "stream": "page",
                "rule": "lateness",
                "shown": {"in_use": "1 minute", "observed": "12 seconds"},
            }
        ],
        "lag_seconds": None,
    }
    told = list(_lines(status))
    assert "  page: lateness: 1 minute in use, 12 seconds observed" in told
    assert "  on disk: 1,234 rows that rules drop (5.6 MB); 7 found again" in told


def test_state_and_lag_against_what_they_are_held_to() -> None:
    status = begin_status(ENTRY, "", None) | {
        "state_rows": 1200,
        "state_bytes": 34_000,
        "bound_bytes": 56_000,
        "lag_seconds": 7200.0,
        "behind_seconds": 4.0,
    }
    told = list(_lines(status))
    assert "  state: 1,200 rows; 34,000 bytes of at most 56,000, without texts" in told
    assert "  2 h behind the clock, 4.0 s behind its newest row" in told


def test_nothing_is_said_where_there_is_none() -> None:
    told = "\n".join(_lines(begin_status(ENTRY, "", None) | {"lag_seconds": None}))
    assert "on disk" not in told
    assert "in use" not in told
