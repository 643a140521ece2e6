"""`ontoweir explain`."""

import argparse
import json
from typing import Any


def add_explain(commands: Any) -> None:
    """Add `explain` to the commands."""
    explain = commands.add_parser(
        "explain",
        help="explain the code of a diagnostic, with an example and its repair",
        epilog="example: ontoweir explain OW203",
    )
    explain.add_argument("code", metavar="CODE")
    explain.add_argument("--format", choices=("text", "json"), default="text")
    explain.set_defaults(run=_explain)


def _explain(args: argparse.Namespace) -> int:
    from ontoweir.report.explain_code import code_titles, explain_code

    page = explain_code(args.code)
    if args.format == "json":
        code = args.code.strip().upper()
        print(json.dumps({"code": code, "title": code_titles()[code], "page": page}))
    else:
        print(page)
    return 0
