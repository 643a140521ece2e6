"""`ontoweir doctor`."""

import argparse
from typing import Any


def add_doctor(commands: Any) -> None:
    """Add `doctor` to the commands."""
    doctor = commands.add_parser(
        "doctor",
        help="what is installed, what is missing, how to mend it",
        epilog="example: ontoweir doctor",
    )
    doctor.set_defaults(run=_doctor)


def _doctor(given: argparse.Namespace) -> int:
    from ontoweir.doctor import examine

    return examine()
