"""`ontoweir explain`."""

import argparse
from typing import Any


def add_explain(commands: Any) -> None:
    """Add `explain` to the commands."""
    explain = commands.add_parser(
        "explain",
        help="what the code of a diagnostic means, an example, and how to mend it",
        epilog="example: ontoweir explain OW203",
    )
    explain.add_argument("code", metavar="CODE")
    explain.set_defaults(run=_explain)


def _explain(given: argparse.Namespace) -> int:
    from ontoweir.explain_code import explain_code

    print(explain_code(given.code))
    return 0
