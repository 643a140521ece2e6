"""`ontoweir show`."""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.commands.common.arguments import (
    PROJECT_FILE,
    add_project_arguments,
    ask_file,
    ask_sparql,
    keep_text,
)
from ontoweir.commands.common.open_workspace import open_workspace
from ontoweir.commands.common.report_refusals import report_all_refused
from ontoweir.commands.common.warn_rejects import warn_rejects
from ontoweir.errors import UsageError
from ontoweir.project.language_of import language_of, language_of_text

if TYPE_CHECKING:
    from ontoweir.answers.choose_rows import Wanted
    from ontoweir.answers.read_answers import Answers

LIMIT = 40
"""Rows that are shown if nothing else is asked for."""
_QUERIES = (".rq", ".sparql", ".rspql", ".csparql", ".starql", ".sql")
_OFTEN = 0.5
"""Seconds between two looks at a folder that is followed."""


def add_show(commands: Any) -> None:
    """Add `show` to the commands."""
    show = commands.add_parser(
        "show",
        help="look at answers: of a file or folder of them, or of a query, which is replayed",
        epilog='examples: `ontoweir show fast.parquet --where "speed > 100" --sort "speed DESC"`; '
        "`ontoweir show out/answers/every-reading-above-130 --follow`; "
        "`ontoweir show every-reading-above-130 examples/traffic`; "
        '`ontoweir show "SELECT id FROM traffic WHERE avg_speed > 130" examples/traffic`',
    )
    show.add_argument(
        "what",
        nargs="?",
        metavar="RESULT|QUERY",
        help="what replay or run has written, or - for standard input; or a query: its name, "
        "SPARQL or SQL, or a file of it",
    )
    add_project_arguments(show)
    show.add_argument(
        "--query", metavar="NAME", help="a query by its name, as other commands have it"
    )
    show.add_argument("--sql", metavar="FILE|SQL", help="SQL, or a file of it")
    show.add_argument("--where", metavar="SQL", help="only rows that meet this condition")
    show.add_argument(
        "--sort",
        action="append",
        default=[],
        metavar="COLUMN",
        help='in the order of this column; "COLUMN DESC": from the greatest down; may be repeated',
    )
    show.add_argument(
        "--columns",
        metavar="A,B",
        type=lambda t: tuple(t.split(",")),
        default=(),
        help="only these",
    )
    show.add_argument(
        "--limit", type=int, default=LIMIT, metavar="N", help=f"rows (default: {LIMIT}); 0: all"
    )
    show.add_argument("--format", choices=("text", "csv", "jsonl"), default="text")
    show.add_argument(
        "--follow",
        action="store_true",
        help="of a folder that a run writes to, or will write to: go on with the rows that come, "
        "until stopped",
    )
    show.set_defaults(run=_show)


def _show(args: argparse.Namespace) -> int:
    from ontoweir.answers.choose_rows import Wanted, choose_rows
    from ontoweir.answers.read_answers import find_answers
    from ontoweir.answers.show_rows import show_rows
    from ontoweir.answers.take_piped import take_piped

    if args.limit < 0 or (args.follow and args.sort):
        raise UsageError(
            "--follow with --sort" if args.limit >= 0 else f"--limit {args.limit}",
            why="rows that come are shown as they come"
            if args.limit >= 0
            else "it is how many rows are shown",
            fix="leave one of them out" if args.limit >= 0 else "write a whole number; 0 is all",
        )
    _settle_what(args)
    if args.what == "-" and args.follow:
        raise UsageError(
            "--follow with standard input",
            why="what it has is looked at when it ends",
            fix="leave --follow out, or name the folder that a run writes to",
        )
    wanted = Wanted(args.where, tuple(args.sort), args.limit or None, args.columns)
    path = Path(args.what)
    if language_of_text(args.what) == "sparql":
        args.what = ask_sparql(args.what)
    elif path.suffix.lower() in _QUERIES and _exists(path):
        args.what = ask_file(path) if language_of(path) != "sql" else args.what
        above = (p for p in path.resolve().parents if (p / PROJECT_FILE).is_file())
        args.project = args.project if args.has_project else next(map(str, above), args.project)
    elif language_of(path) != "sql" and (_exists(path) or _is_path(args) or not _is_query(args)):
        with take_piped(path) as file:
            answers = _await(file) if args.follow else find_answers(file)
            show_rows(choose_rows(answers.read(), wanted), args.format, sys.stdout)
            if args.follow:
                sys.stdout.flush()
                _follow(path, answers, wanted, args.format)
        return 0
    _refuse_following(args)
    _refuse_unknown(args)
    with _replayed(args) as file:
        show_rows(choose_rows(find_answers(file).read(), wanted), args.format, sys.stdout)
    return 0


def _settle_what(args: argparse.Namespace) -> None:
    """Let `args.what` be what is looked at, where `--query` or `--sql` says it.

    Raises:
        UsageError: nothing says it, or several arguments do.
    """
    said = [one for one in (args.query, args.sql) if one is not None]
    if len(said) > 1 or (said and args.what is not None and args.has_project):
        raise UsageError(
            "several things are to be shown",
            why="one result or query is looked at",
            fix="leave all but one out",
        )
    if said:
        if args.what is not None:
            args.project = args.what
        args.what = said[0]
    elif args.what is None:
        raise UsageError(
            "nothing is said that is to be shown",
            why="it is a file or folder of answers, or a query",
            fix="name one, as in `ontoweir show QUERY`; `ontoweir check` lists the queries",
        )


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a text that is too long for a name
        return False


def _is_query(args: argparse.Namespace) -> bool:
    """Whether something that is no file is to be taken for a query: it is the text of one, or has
    no suffix of a file."""
    return language_of_text(args.what) == "sql" or not Path(args.what).suffix


def _is_path(args: argparse.Namespace) -> bool:
    """Whether what is no file yet is to be taken for one: it has the form of a path, and is to be
    followed; or it is standard input."""
    return args.what == "-" or (
        args.follow and language_of_text(args.what) is None and len(Path(args.what).parts) > 1
    )


def _refuse_following(args: argparse.Namespace) -> None:
    """
    Raises:
        UsageError: a query is to be followed.
    """
    if args.follow:
        raise UsageError(
            "--follow with a query",
            why="a query is replayed over the history, which ends",
            fix="follow what a run of it writes, as in "
            "`ontoweir show out/answers/QUERY --follow`, beside `ontoweir run`",
        )


def _refuse_unknown(args: argparse.Namespace) -> None:
    """
    Raises:
        UsageError: one word is neither a file nor, as there is no project, a query; or a path, at
            which there is nothing.
    """
    path = Path(args.what)
    if language_of_text(args.what) is None and len(path.parts) > 1 and not _exists(path):
        raise UsageError(
            f"there is no {args.what}",
            why="it is neither a file nor a folder",
            fix="name what `replay --output` or `run --output` has written: a live run makes a "
            "folder with its first answers, for which --follow waits",
        )
    here = Path(args.project or ".")
    project = here if here.is_file() else here / PROJECT_FILE
    if args.has_project or project.is_file() or language_of_text(args.what) is not None:
        return
    if not Path(args.what).suffix:
        raise UsageError(
            f"there is no {args.what}",
            why="it is neither a file, nor a folder, nor, as no project is here, a query",
            fix="name what `replay --output` or `run --output` has written, or a query and its "
            "project, as in `ontoweir show QUERY FOLDER`",
        )


def _await(path: Path) -> "Answers":
    """The answers in a file or folder, as soon as there are some."""
    from ontoweir.answers.read_answers import find_answers

    told = False
    while True:
        try:
            return find_answers(path)
        except UsageError:
            if path.is_file():
                raise
        if not told:
            print(f"waiting for answers in {path} (Ctrl-C ends)", file=sys.stderr, flush=True)
            told = True
        time.sleep(_OFTEN)


@contextmanager
def _replayed(args: argparse.Namespace) -> Iterator[Path]:
    """The answers of a query over its history, for a while."""
    from ontoweir.report.describe_finality import describe_nothing
    from ontoweir.run.replay_query import ReplayOptions, replay_query

    workspace, warnings = open_workspace(args)
    with report_all_refused(workspace):
        if language_of_text(args.what) == "sql":
            compiled = workspace.compile_sql(Path(keep_text(args.what, "query.sql")))
        elif language_of(Path(args.what)) == "sql":
            compiled = workspace.compile_sql(Path(args.what))
        else:
            compiled = workspace.compile(args.what)
    warnings.release()
    with tempfile.TemporaryDirectory(prefix="ontoweir-show-") as folder:
        file = Path(folder, "answers.parquet")
        summary = replay_query(workspace, compiled, ReplayOptions(file, progress=not args.quiet))
        warn_rejects(summary)
        if not summary["results"] and (nothing := describe_nothing(compiled.union)) is not None:
            print(f"no rows: {nothing}", file=sys.stderr)
        yield file


def _follow(path: Path, seen: "Answers", wanted: "Wanted", form: Any) -> None:
    """Show the rows of files that come."""
    from dataclasses import replace

    from ontoweir.answers.choose_rows import choose_rows
    from ontoweir.answers.read_answers import Answers, find_answers
    from ontoweir.answers.show_rows import show_rows

    table = next((file for file in seen.files if file.is_dir()), None)
    if table is not None:
        raise UsageError(
            f"--follow with the table {table}",
            why="a table of Delta or Iceberg is read as a whole",
            fix="leave --follow out, or let the run write files: --sink parquet",
        )
    known = set(seen.files)
    wanted = replace(wanted, limit=None)
    while True:
        time.sleep(_OFTEN)
        fresh = tuple(f for f in find_answers(path).files if f not in known)
        known.update(fresh)
        chosen = choose_rows(Answers(fresh).read(), wanted)
        if chosen.met:
            show_rows(chosen, form, sys.stdout)
            sys.stdout.flush()
