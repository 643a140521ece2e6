"""`ontoweir init`."""

import argparse
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.commands.setup.ask_candidates import ask_candidates, describe_terms, list_terms
from ontoweir.errors import Source, UsageError

if TYPE_CHECKING:
    from ontoweir.scaffold.make_scaffold import Scaffold


_OTHERS = 6
"""So many files that are left out are named."""
_DATA = (
    "tables of the project: CSV with a header, Parquet, JSON lines, Arrow or Avro, or "
    "folders of such (a folder whose files have different columns is several tables); a table "
    "of Delta or Iceberg (these and Avro with ontoweir[avro], "
    "[delta] or [iceberg]); a topic of MQTT, as in mqtt://host/sensors/{device}/temp, or of "
    "Kafka, as in kafka://host:9092/readings, whose first messages are copied into the project "
    "(with ontoweir[kafka], or --spark; add ?registry=http://host:8081 where a schema registry "
    "has their schemas); "
    "a file "
    "of SQLite (.db, .sqlite) or DuckDB (.duckdb), all of its tables; a workbook of Excel "
    "(.xlsx, with ontoweir[excel]), its sheets; a database of a PostgreSQL server, as in "
    "postgresql://user@host/database, all tables that may be read, or those named as in "
    "…/database#sales.orders,device (with ontoweir[postgres]); or SQL that creates tables "
    "(.sql), PostgreSQL's or Flink's, whose data is to come. InfluxDB's line protocol and "
    "annotated CSV, a JSON document such as Prometheus answers or pandas writes, what Apache and "
    "nginx log of requests and programs log with times and levels, and columns parted by blanks, "
    "as vmstat prints them, are copied into the project, as are files in a .zip, text in UTF-16, "
    "and "
    "what a URL or - (standard input) has"
)
_WITHOUT = {
    "--names": "it names the columns of CSV without a header",
    "--static": "it names a table",
    "--views": "views are those of databases",
    "--mapping": "a mapping is of tables",
}
"""What an option is about that needs data."""


def add_init(commands: Any) -> None:
    """Add `init` to the commands."""
    init = commands.add_parser(
        "init",
        help="create a small project that runs, to be edited; or one over data of your own",
        epilog="examples: `ontoweir init my-project && ontoweir check my-project`; "
        "`ontoweir init my-project --from readings.csv sensors.csv`",
    )
    init.add_argument("folder", metavar="DIR", help="a new folder, or an empty one")
    init.add_argument(
        "--from",
        dest="data",
        nargs="+",
        action="extend",
        default=[],
        metavar="DATA",
        help=_DATA,
    )
    init.add_argument(
        "--names",
        action="append",
        default=[],
        metavar="[TABLE=]NAME,NAME…",
        help="what the columns of CSV without a header are called, from the first one on, e.g. "
        "day,clock,mote,temperature; the table is called after its file, and may be left out where "
        "there is one",
    )
    init.add_argument(
        "--static",
        action="append",
        default=[],
        metavar="TABLE",
        help="a table whose rows always hold, though one of its columns is a time that goes on, "
        "e.g. calendar; may be repeated",
    )
    init.add_argument(
        "--views",
        action="store_true",
        help="views of databases are copied, too, as tables of what they compute now",
    )
    init.add_argument(
        "--listen",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="how long to listen to topics of MQTT, at most (default: 10)",
    )
    init.add_argument(
        "--spark",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a property of Spark, which reads topics of Kafka where ontoweir[kafka] is not "
        "installed, e.g. spark.jars.packages=…",
    )
    init.add_argument(
        "--ontology",
        metavar="FILE",
        help="with --from: an ontology, whose classes and properties take the place of the "
        "project's own where their names or labels are those of tables and columns; each is "
        "asked for",
    )
    init.add_argument(
        "--mapping",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="with --from: R2RML (Turtle) or a mapping of Ontop's (.obda) of these tables, read "
        "where it is; none is made then, and the queries are in its words. With --ontology, the "
        "ontology is taken as it is, too",
    )
    init.add_argument(
        "--yes",
        action="store_true",
        help="with --ontology: ask nothing, and take the terms that nothing is to be said against",
    )
    init.add_argument("--quiet", "-q", action="store_true", help="print nothing")
    init.add_argument("--format", choices=("text", "json"), default="text")
    init.set_defaults(run=_init)


def _init(args: argparse.Namespace) -> int:
    from ontoweir.files.write_folder import write_folder
    from ontoweir.project.new_project import list_project_files

    folder = Path(args.folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            f"{folder} exists" + (" and is not empty" if folder.is_dir() else " and is a file"),
            why="a new project needs an empty folder",
            fix="name another folder",
        )
    made_of = _make(args, folder)
    files: Mapping[str, str | bytes]
    files = dict(list_project_files()) if made_of is None else made_of.files
    try:
        with write_folder(folder.absolute()) as made:
            for name, text in files.items():
                (made / name).parent.mkdir(parents=True, exist_ok=True)
                content = text.encode("utf-8") if isinstance(text, str) else text
                (made / name).write_bytes(content)
    except OSError as error:
        raise UsageError(
            f"cannot create {folder}: {error.strerror or error}",
            why="a project is a folder of files",
            fix="name a writable folder",
        ) from None
    if args.format == "json":
        more: dict[str, Any] = {}
        if made_of is not None and args.mapping:
            more = {"refused": list(made_of.refused)}
        elif made_of is not None and args.ontology:
            more = {"terms": list_terms(made_of)}
        print(json.dumps({"project": str(folder), "files": sorted(files), **more}))
    elif made_of is not None and not args.quiet:
        print(
            f"{folder}: {_count(made_of.streams, 'stream')}, "
            f"{_count(made_of.relations, 'relation')}, {_count(made_of.queries, 'query')}; "
            f"{folder / 'README.md'} says what to try"
        )
        if made_of.left_out:
            from ontoweir.scaffold.read_sample import ODD, is_sql

            declared = any(is_sql(str(p)) for p in args.data)
            odd = any(ODD & {*name} for name in made_of.left_out)
            nested = "they are nested, or of types that are not read"
            nested += ", or called oddly" if odd else ""
            why = "their types are not known" if declared else nested
            print(f"  left out, as {why}: {', '.join(made_of.left_out)}")
        _print_lines(made_of)
        if made_of.copied:
            print(f"  copied, as of now: {', '.join(made_of.copied)}")
        for line in describe_terms(made_of):
            print(line)
        _print_refused(made_of.refused)
        print(f"  next: ontoweir check {shlex.quote(str(folder))}")
    elif not args.quiet:
        print(f"{folder}: a project of rooms and sensors; {folder / 'README.md'} says what to try")
        print(f"  next: ontoweir check {shlex.quote(str(folder))}")
    return 0


def _print_refused(refused: Sequence[str]) -> None:
    """The triples maps of the user's that do not fit."""
    for line in refused[:_OTHERS]:
        print(f"  left out: {line}")
    if len(refused) > _OTHERS:
        print(f"  left out: {len(refused) - _OTHERS} more, which `ontoweir check` names")
    if refused:
        print("    check ends with 2 until they fit, or are taken out of the mapping")


def _print_lines(made_of: "Scaffold") -> None:
    """The files that are not read, and the lines of those that are."""
    from ontoweir.scaffold.write_catalog import describe_lines

    if made_of.others:
        count = len(made_of.others) - _OTHERS
        more = f" and {count} more" if count > 0 else ""
        print(f"  left out, as no files of data: {', '.join(made_of.others[:_OTHERS])}{more}")
    if made_of.views:
        shown = ", ".join(made_of.views[:_OTHERS])
        more = f" and {len(made_of.views) - _OTHERS} more" if len(made_of.views) > _OTHERS else ""
        print(f"  left out, as tables alone are copied: views {shown}{more}")
        print(
            "    what one computes may be a query, or [views.NAME], over its tables; --views copies"
        )
    if made_of.denied:
        print(f"  left out, as this user may not read them: {', '.join(made_of.denied)}")
    for table, no_rows in made_of.no_rows:
        for number, line in enumerate(describe_lines(no_rows)):
            print(f"  {line}" if number else f"  {table}: {line}")


def _make(args: argparse.Namespace, folder: Path) -> "Scaffold | None":
    """The project over data (None: no data is named)."""
    needed = "--from" if args.ontology and not args.data else "--ontology"
    if needed == "--from" or (args.yes and not args.ontology):
        option = "--ontology" if needed == "--from" else "--yes"
        raise UsageError(
            f"{option} without {needed}",
            why="terms of an ontology are looked for that are called as tables and columns are",
            fix=f"add {needed} FILE, or leave out {option}",
            source=Source(option),
        )
    given = {o: getattr(args, o.removeprefix("--")) for o in _WITHOUT}
    if any(given.values()) and not args.data:
        option, why = next((o, _WITHOUT[o]) for o, there in given.items() if there)
        raise UsageError(
            f"{option} without --from", why=why, fix="add --from FILE", source=Source(option)
        )
    if not args.data:
        return None
    from ontoweir.progress.progress import FINISHED
    from ontoweir.progress.show_making import MakingLine
    from ontoweir.run.run_options import read_pairs
    from ontoweir.scaffold.make_scaffold import Given, make_scaffold
    from ontoweir.scaffold.remote.hear_topic import Listening
    from ontoweir.scaffold.terms.choose_terms import accept_sure
    from ontoweir.scaffold.terms.vocabulary import read_vocabulary

    named = [("--ontology", args.ontology or ""), *(("--mapping", name) for name in args.mapping)]
    for option, name in named:
        if "://" in name:
            raise UsageError(
                f"{name} is a URL",
                why="the project reads it each time, from a file",
                fix="download it, and name the file",
                source=Source(option),
            )
    vocabulary = read_vocabulary(Path(args.ontology)) if args.ontology else None
    accept = accept_sure if args.yes or vocabulary is None else ask_candidates()
    if not args.listen > 0:
        raise UsageError(
            f"--listen {args.listen:g}",
            why="it is a time in seconds",
            fix="write, for example, --listen 60",
            source=Source("--listen"),
        )
    listening = Listening(args.listen, report=partial(print, file=sys.stderr, flush=True))
    if args.quiet:
        listening = Listening(args.listen)
    name = folder.absolute().name
    line = MakingLine(quiet=args.quiet)
    asked = Given(
        args.data,
        name,
        vocabulary,
        accept,
        listening,
        spark=read_pairs("--spark", args.spark),
        names=dict(_read_names(text) for text in args.names),
        static=frozenset(args.static),
        views=args.views,
        mappings=[Path(name) for name in args.mapping],
        on_progress=line,
    )
    try:
        return make_scaffold(asked)
    finally:
        line(FINISHED)


def _read_names(text: str) -> tuple[str, Sequence[str]]:
    """A table (empty: the only one), and the names of its columns."""
    table, _, names = text.rpartition("=")
    columns = [name.strip() for name in names.split(",")]
    if not all(columns) or "|" in names:
        raise UsageError(
            f"--names {text} has no name for a column",
            why="it names the columns of CSV without a header, from the first one on",
            fix="write e.g. --names day,clock,mote,temperature",
        )
    return table.strip(), columns


def _count(names: "tuple[str, ...]", what: str) -> str:
    many = "queries" if what == "query" else f"{what}s"
    listed = f" ({', '.join(names)})" if names else ""
    return f"{len(names)} {what if len(names) == 1 else many}{listed}"
