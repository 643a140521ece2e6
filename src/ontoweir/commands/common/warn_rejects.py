"""Warn on stderr that many rows were rejected, even with --quiet."""

import sys
from collections.abc import Mapping
from typing import Any


def warn_rejects(summary: Mapping[str, Any]) -> None:
    """Warn if more than one tuple in a hundred was rejected."""
    from ontoweir.report.describe_rejects import describe_rejects

    text = describe_rejects(summary)
    if text is not None:
        from rich.console import Console
        from rich.text import Text

        console = Console(file=sys.stderr, highlight=False, force_jupyter=False)
        console.print(Text(f"WARNING: {text}", style="bold red"), soft_wrap=True)
