"""`--data` of `ontoweir check`."""

import argparse
from pathlib import Path

from ontoweir.errors import UsageError

ALL = "all"


def add_data(check: argparse.ArgumentParser) -> None:
    """`--data` of `check`."""
    check.add_argument(
        "--data",
        nargs="?",
        const=ALL,
        metavar="SAMPLE",
        help="hold the rows at hand to what is declared (types, domains, keys, references, order, "
        "steps, lateness): all, or the first SAMPLE rows of each stream; exit with 1 if it is not "
        "true of some",
    )


def read_sample(args: argparse.Namespace) -> int | None:
    """How many rows of a stream are looked at (None: all). A project after `--data` is the project.

    Raises:
        UsageError: it is no number, or does not go with what else is asked.
    """
    text = args.data
    if text != ALL and not text.isdecimal() and args.project == "." and Path(text).exists():
        args.project, text = text, ALL
    args.data = text
    if text != ALL and (not text.isdecimal() or not int(text)):
        raise UsageError(
            f"--data {text} is not a number of rows",
            why="it says of how many rows of each stream the first are looked at",
            fix="write --data 10000, or --data alone for all",
        )
    if args.format in ("sarif", "github", "html"):
        raise UsageError(
            f"--data does not go with --format {args.format}",
            why="rows are shown as text and JSON",
            fix="write --format json, or leave one of them out",
        )
    return None if text == ALL else int(text)
