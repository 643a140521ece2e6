"""What the commands' arguments share."""

import argparse
from typing import NoReturn

from ontoweir.errors import UsageError


class ArgumentParser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, like all others."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(
            f"{self.prog}: {message}",
            why="that is not how it is called",
            fix=f"see `{self.prog} --help`",
        )


def add_project_arguments(command: argparse.ArgumentParser) -> None:
    """The project, its overrides, and how strict and how loud."""
    command.add_argument(
        "project", nargs="?", default=".", help="the project's folder or file (default: here)"
    )
    command.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="SECTION.KEY=VALUE",
        help="override an entry of the project file",
    )
    command.add_argument(
        "--strict", action="store_true", help="an axiom outside OWL 2 QL is an error"
    )
    command.add_argument("--quiet", "-q", action="store_true", help="no warnings, no progress")
