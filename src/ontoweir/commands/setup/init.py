"""`ontoweir init`."""

import argparse
import json
import shlex
from pathlib import Path
from typing import Any

from ontoweir.errors import UsageError


def add_init(commands: Any) -> None:
    """Add `init` to the commands."""
    init = commands.add_parser(
        "init",
        help="create a small project that runs, to be edited",
        epilog="example: ontoweir init my-project && ontoweir check my-project",
    )
    init.add_argument("folder", metavar="DIR", help="a new folder, or an empty one")
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
    try:
        with write_folder(folder.absolute()) as made:
            for name, text in list_project_files():
                (made / name).parent.mkdir(exist_ok=True)
                (made / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"cannot create {folder}: {error.strerror or error}",
            why="a project is a folder of files",
            fix="name a writable folder",
        ) from None
    if args.format == "json":
        files = sorted(name for name, _ in list_project_files())
        print(json.dumps({"project": str(folder), "files": files}))
    elif not args.quiet:
        print(f"{folder}: a project of rooms and sensors; {folder / 'README.md'} says what to try")
        print(f"  next: ontoweir check {shlex.quote(str(folder))}")
    return 0
