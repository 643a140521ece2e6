"""The options of `check` that are about scripts."""

import argparse

from ontoweir.errors import Source, UsageError

DIALECTS = ("flink", "spark", "risingwave", "materialize", "feldera")


def add_scripts(check: argparse.ArgumentParser) -> None:
    """Add them."""
    check.add_argument(
        "--dialect",
        choices=DIALECTS,
        help="whose SQL the files are that are given in place of a project: scripts as they are, "
        "with CREATE TABLE, views and INSERT INTO (default: Flink's where they look so)",
    )
    check.add_argument(
        "--catalog",
        metavar="PROJECT",
        help="what is declared beside such files: a project's folder or file",
    )
    check.add_argument(
        "--dbt",
        metavar="MANIFEST",
        help="the models of a dbt project, as `dbt compile` has written them: target/manifest.json",
    )
    check.add_argument("--script", action="append", default=[], help=argparse.SUPPRESS)


def refuse_alone(args: argparse.Namespace) -> None:
    """Raise UsageError for options about scripts, without one."""
    for option, value in (("--dialect", args.dialect), ("--catalog", args.catalog)):
        if value is not None:
            raise UsageError(
                f"{option} without a script",
                why="it is about files of SQL that are given in place of a project",
                fix=f"name one, as in `ontoweir check job.sql {option} {value}`, or leave it out",
                source=Source(option),
            )
