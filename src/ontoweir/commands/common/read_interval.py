"""Read the interval of history that --from and --to name."""

import argparse
from datetime import datetime

from ontoweir.project.read_moment import check_span, read_moment


def read_interval(args: argparse.Namespace) -> tuple[datetime | None, datetime | None]:
    """The times of --from and --to.

    Raises:
        UsageError: one is not a time, or they are in the wrong order.
    """
    start, stop = read_moment(args.start, "--from"), read_moment(args.stop, "--to")
    check_span(start, stop, "--from", "--to")
    return start, stop
