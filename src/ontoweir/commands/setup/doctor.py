"""`ontoweir doctor`."""

import argparse
import json
from dataclasses import asdict
from typing import Any


def add_doctor(commands: Any) -> None:
    """Add `doctor` to the commands."""
    doctor = commands.add_parser(
        "doctor",
        help="list what is installed, what is missing, and how to install it",
        epilog="example: ontoweir doctor",
    )
    doctor.add_argument("--format", choices=("text", "json"), default="text")
    doctor.set_defaults(run=_doctor)


def _doctor(args: argparse.Namespace) -> int:
    from ontoweir.report.doctor import examine

    parts = examine()
    if args.format == "json":
        print(json.dumps([asdict(part) for part in parts]))
    else:
        for part in parts:
            mend = "" if part.mend is None else f"; mend it: {part.mend}"
            print(f"{part.state:9}{part.what}{mend}")
    return 0 if all(part.state in ("ok", "optional") for part in parts) else 3
