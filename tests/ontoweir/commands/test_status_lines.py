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


def test_nothing_is_said_where_there_is_none() -> None:
    told = "\n".join(_lines(begin_status(ENTRY, "", None) | {"lag_seconds": None}))
    assert "on disk" not in told
    assert "in use" not in told
