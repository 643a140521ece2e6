"""`ontoweir init`."""

import argparse
import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ontoweir.errors import UsageError


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
        metavar="FILE",
        help="tables of the project: CSV with a header, Parquet or JSON lines, or folders of "
        "such; a file of SQLite (.db, .sqlite) or DuckDB (.duckdb), all of its tables; or SQL "
        "that creates tables (.sql), whose data is to come",
    )
    init.add_argument("--quiet", "-q", action="store_true", help="print nothing")
    init.add_argument("--format", choices=("text", "json"), default="text")
    init.set_defaults(run=_init)


def _init(args: argparse.Namespace) -> int:
    from ontoweir.files.write_folder import write_folder
    from ontoweir.project.new_project import list_project_files
    from ontoweir.scaffold.make_scaffold import make_scaffold

    folder = Path(args.folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            f"{folder} exists" + (" and is not empty" if folder.is_dir() else " and is a file"),
            why="a new project needs an empty folder",
            fix="name another folder",
        )
    made_of = None
    if args.data:
        made_of = make_scaffold([Path(p) for p in args.data], folder.absolute().name)
    files: Mapping[str, str | bytes]
    files = dict(list_project_files()) if made_of is None else made_of.files
    try:
        with write_folder(folder.absolute()) as made:
            for name, text in files.items():
                (made / name).parent.mkdir(exist_ok=True)
                content = text.encode("utf-8") if isinstance(text, str) else text
                (made / name).write_bytes(content)
    except OSError as error:
        raise UsageError(
            f"cannot create {folder}: {error.strerror or error}",
            why="a project is a folder of files",
            fix="name a writable folder",
        ) from None
    if args.format == "json":
        print(json.dumps({"project": str(folder), "files": sorted(files)}))
    elif made_of is not None and not args.quiet:
        print(
            f"{folder}: {_count(made_of.streams, 'stream')}, "
            f"{_count(made_of.relations, 'relation')}, {_count(made_of.queries, 'query')}; "
            f"{folder / 'README.md'} says what to try"
        )
        if made_of.left_out:
            declared = any(str(p).lower().endswith(".sql") for p in args.data)
            why = "their types are not known" if declared else "they are nested"
            print(f"  left out, as {why}: {', '.join(made_of.left_out)}")
        print(f"  next: ontoweir check {shlex.quote(str(folder))}")
    elif not args.quiet:
        print(f"{folder}: a project of rooms and sensors; {folder / 'README.md'} says what to try")
        print(f"  next: ontoweir check {shlex.quote(str(folder))}")
    return 0


def _count(names: "tuple[str, ...]", what: str) -> str:
    many = "queries" if what == "query" else f"{what}s"
    listed = f" ({', '.join(names)})" if names else ""
    return f"{len(names)} {what if len(names) == 1 else many}{listed}"
