"""Why none of many ways to match a query has a row."""

from collections.abc import Callable, Sequence

from ontoweir.diagnostics import Reason

MOST = 100
"""So many ways are looked at: each takes milliseconds, and others are mostly much the same."""


def explain_first(explain: Sequence[Callable[[], Reason | None]]) -> tuple[Reason, ...]:
    """The reasons of the first ways, each once, and how many others there are.

    Args:
        explain: of each way what says its reason (None: it is not known).
    """
    found = dict.fromkeys(r for way in explain[:MOST] if (r := way()) is not None)
    if found and len(explain) > MOST:
        return (*found, Reason(f"and {len(explain) - MOST:,} more ways, which are not looked at"))
    return tuple(found)
