"""A warning if answers rest on only part of the data."""

from collections.abc import Mapping
from typing import Any

LOUD = 0.01
"""The share of tuples that may be rejected without more than a line in the summary."""
_SHOWN = 3


def describe_rejects(summary: Mapping[str, Any]) -> str | None:
    """A sentence if more than one tuple in a hundred was rejected; else None.

    >>> describe_rejects({"tuples": 300, "rejected": 200, "rejects": {"late": 200}})
    '200 of 300 tuples (67 %) were rejected and are in no answer: late (200)'

    Args:
        summary: of a replay or a run. `decided`: how many tuples it has rejected or admitted, if
            that are others than it has read: some had waited before, some wait behind it.
    """
    tuples, rejected = summary.get("decided", summary["tuples"]), summary["rejected"]
    if not rejected or rejected <= LOUD * tuples:
        return None
    share = 100 * rejected / max(tuples, rejected)
    reasons = sorted(summary["rejects"].items(), key=lambda r: (-r[1], r[0]))
    shown = "; ".join(f"{reason} ({count:,})" for reason, count in reasons[:_SHOWN] if count)
    if len(reasons) > _SHOWN:
        shown += f"; and {len(reasons) - _SHOWN} other reasons"
    return (
        f"{rejected:,} of {max(tuples, rejected):,} tuples ({share:.0f} %) were rejected and are "
        f"in no answer: {shown}"
    )
