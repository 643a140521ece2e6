"""What the commands' arguments share."""

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ontoweir.errors import Source, UsageError
from ontoweir.files.find_output import STDOUT, StreamOutput, find_output, require_folder
from ontoweir.project.language_of import language_of_text
from ontoweir.project.spell_queries import name_typed, spell_queries

if TYPE_CHECKING:
    from ontoweir.project.project import Project


PROJECT_FILE = "ontoweir.toml"
"""As ontoweir.project has it, which takes longer to import."""

_KEPT: list[str] = []
"""The folders of texts that were given as such, which messages do not name."""


class _AddFunction(argparse.Action):
    """Names a function, as `--set project.udf=[…]` would name all of them."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        namespace.udf = [*namespace.udf, str(values)]
        namespace.set = [*namespace.set, f"project.udf={json.dumps(namespace.udf)}"]


def add_project_arguments(command: argparse.ArgumentParser) -> None:
    """The project, its overrides, and how strict and how loud."""
    command.add_argument(
        "project",
        nargs="?",
        default=".",
        help="the project's folder or file (default: the current folder, or the nearest above it)",
    )
    command.add_argument(
        "--project",
        dest="named_project",
        metavar="PROJECT",
        help="the same, as an option",
    )
    command.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="SECTION.KEY=VALUE",
        help="override an entry of the project file",
    )
    command.add_argument(
        "--udf",
        action=_AddFunction,
        default=[],
        metavar="MODULE:FUNCTION",
        help="a Python function of a row, for SQL and SPARQL (docs/functions.md); in place of udf "
        "in [project]; may be repeated",
    )
    command.add_argument(
        "--strict", action="store_true", help="an axiom outside OWL 2 QL is an error"
    )
    command.add_argument(
        "--quiet", "-q", action="store_true", help="suppress warnings and progress"
    )
    command.add_argument(
        "--cache",
        metavar="FOLDER",
        help="the folder of what is kept between runs, or off (default: $ONTOWEIR_CACHE, else "
        "ontoweir in the folder of the user's caches)",
    )
    command.add_argument(
        "--verbose", "-v", action="store_true", help="more detail, and the time of each step"
    )


def settle_project(args: argparse.Namespace) -> None:
    """Let `args.project` be the project that is meant: of `--project`, or else the one that is
    named; where none is, the nearest folder with a project file, from the current one upward.
    `args.has_project` is whether one is named.

    Raises:
        UsageError: two are named.
    """
    named = getattr(args, "named_project", None)
    args.has_project = named is not None or getattr(args, "project", ".") != "."
    if named is not None:
        if args.project not in (".", named):
            raise UsageError(
                f"two projects are named, {args.project} and {named}",
                why="--project is the same as the project after the command",
                fix="leave one of them out",
            )
        args.project = named
    if getattr(args, "project", None) != "." or Path(PROJECT_FILE).is_file():
        return
    here = Path.cwd()
    above = next((p for p in here.parents if (p / PROJECT_FILE).is_file()), None)
    if above is not None:
        args.project = os.path.relpath(above, here)


OF_QUERIES = ("check", "replay", "rewrite", "plot", "measure", "run", "register", "report")
_WITHOUT_SQL = ("report",)
_SQL, _SPARQL = (".sql",), (".rq", ".sparql", ".rspql", ".csparql", ".starql")
_ASKED: list[Path] = []
"""Files of SPARQL that this command names itself."""
_NAMING = ("--query", "--sql", "--for", "--sparql")
_OF_ONE = ("replay", "register", "plot")
"""Commands that need a query; without a project, that is what there is none of."""
FLAGS = (
    *("--allow-changes", "--allow-unbounded", "--expand", "--final", "--help", "--live", "--once"),
    *("--mappings-only", "--parts-may-go", "--quiet", "--replace", "--serve", "--skip-refused"),
    *("--static-data", "--strict", "--verbose", "--verify", "--watch", "--write", "--"),
    *("-h", "-q", "-v"),
)
"""Their options that take no value."""


def name_query(given: Sequence[str]) -> list[str]:
    """The arguments, in which a query that stands by itself is that of `--query` or `--sql`: the
    name of one, SPARQL or SQL, or a file of it; one of SPARQL is a query of the project for this
    command (`add_asked`). The project is the nearest above a file, if none is named. A name that is
    a file's, or a folder's, is that.

    Args:
        given: the command and its arguments.
    """
    _ASKED.clear()
    given = spell_queries(given)
    made = list(given)
    if not given or given[0] not in OF_QUERIES:
        return made
    alone = [n for n in range(1, len(given)) if stands_alone(given, n)]
    named = any(one.split("=")[0] in _NAMING for one in given)
    files = [n for n in alone if Path(given[n]).suffix.lower() in (*_SQL, *_SPARQL)]
    if len(files) == 1 and _is_file(given[files[0]]):
        return _name_file(made, files[0], alone)
    for place in () if named or len(alone) > 2 else alone:
        text = given[place]
        if _is_sql(text):
            made[place : place + 1] = ["--sql", text]
            return made if given[0] not in _WITHOUT_SQL else list(given)
        if language_of_text(text) == "sparql":
            made[place : place + 1] = [_naming(given[0]), ask_sparql(text)]
            return made
        plain = re.fullmatch(r"[\w-]+", text) is not None and not _is_project(text, alone)
        if plain and (given[0] in _OF_ONE or _has_project(given, alone)):
            made[place : place + 1] = [_naming(given[0]), text]
            return made
    return made


def ask_sparql(text: str) -> str:
    """The name of a query that was typed, in the project for this command."""
    return ask_file(Path(keep_text(text, f"{name_typed(text)}.rq")))


def ask_file(file: Path) -> str:
    """The name of a query in a file, in the project for this command."""
    _ASKED.append(file.resolve())
    return file.stem


def list_asked() -> list[Path]:
    """The files of SPARQL that the command names itself."""
    return list(_ASKED)


def add_asked(project: "Project") -> "Project":
    """The project with the queries that the command names by their files, or their text; of a text
    with the prefixes that the project's files declare."""
    known = {query.resolve() for query in project.queries}
    more = [file for file in _ASKED if file not in known]
    if not more:
        return project
    for file in more:
        if is_kept(file):
            from ontoweir.project.complete_prefixes import complete_prefixes

            documents = (*project.ontology, *project.mappings, *project.queries)
            text = file.read_text(encoding="utf-8")
            file.write_text(complete_prefixes(text, documents), encoding="utf-8")
    names = {file.stem for file in more}
    rest = (query for query in project.queries if query.stem not in names)
    return replace(project, queries=(*rest, *more))


def _naming(command: str) -> str:
    return "--for" if command == "measure" else "--query"


def _name_file(made: list[str], place: int, alone: Sequence[int]) -> list[str]:
    """The arguments, in which a file is a query's."""
    file = Path(made[place])
    named = any(one.split("=")[0] == "--project" for one in made)
    if file.suffix.lower() not in _SQL:
        made[place : place + 1] = [_naming(made[0]), ask_file(file)]
    elif made[0] not in _WITHOUT_SQL:
        made[place : place + 1] = ["--sql", str(file)]
    else:
        return made
    if len(alone) == 1 and not named:
        above = (p for p in file.resolve().parents if (p / PROJECT_FILE).is_file())
        nearest = next(above, None)
        made += ["--project", str(nearest)] if nearest else []
    return made


def _is_project(text: str, alone: Sequence[int]) -> bool:
    """Whether a text is a path of what may be a project: beside another one only if it is one."""
    path = Path(text)
    return path.is_file() or (path / PROJECT_FILE).is_file() or (path.exists() and len(alone) == 1)


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except OSError:  # a text that is too long for a name
        return False


def _has_project(given: Sequence[str], alone: Sequence[int]) -> bool:
    """Whether there is a project beside a text that is no path."""
    if len(alone) > 1 or any(one.split("=")[0] == "--project" for one in given):
        return True
    here = Path.cwd()
    return any((p / PROJECT_FILE).is_file() for p in (here, *here.parents))


def stands_alone(given: Sequence[str], place: int) -> bool:
    """Whether it is neither an option nor, as far as can be told, what one is given."""
    before = given[place - 1]
    valued = place > 1 and before.startswith("-") and "=" not in before and before not in FLAGS
    return not given[place].startswith("-") and not valued


def settle_input(args: argparse.Namespace) -> None:
    """Let what `--sql` is given be files: `-`, what standard input has, and the text of a query.
    They may be read more than once.

    Raises:
        UsageError: standard input has no text.
    """
    asked = getattr(args, "sql", None)
    if isinstance(asked, list):
        args.sql = [_settle_sql(one) for one in asked]
    elif asked is not None:
        args.sql = _settle_sql(asked)


def _is_sql(asked: str) -> bool:
    """Whether it is the text of a query of SQL, and no file's name."""
    return language_of_text(asked) == "sql"


def _settle_sql(asked: str) -> str:
    """The file of what `--sql` is given."""
    if asked != "-":
        return keep_text(asked, f"{name_typed(asked)}.sql") if _is_sql(asked) else asked
    try:
        text = "" if sys.stdin is None else sys.stdin.read()
    except UnicodeDecodeError:
        text = ""
    if not text.strip():
        raise UsageError(
            "standard input has no query",
            why="--sql - reads it there",
            fix="pipe the text of a query in, or name a file",
            source=Source("--sql"),
        )
    return keep_text(text, "stdin.sql")


def keep_text(text: str, name: str) -> str:
    """The path of a file that has a text, until this process ends."""
    import atexit
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(prefix="ontoweir-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _KEPT.append(folder)
    file = Path(folder, name)
    file.write_text(text, encoding="utf-8")
    return str(file)


def is_kept(file: Path) -> bool:
    """Whether it has a text that was typed."""
    return str(file.parent) in {str(Path(folder).resolve()) for folder in _KEPT} | {*_KEPT}


def hide_kept(text: str) -> str:
    """A message that names texts which were given as such by no path: they have none."""
    for folder in _KEPT:
        text = text.replace(f"{folder}{os.sep}", "")
    return text


def add_registry_argument(command: argparse.ArgumentParser) -> None:
    """Where registered queries are kept."""
    command.add_argument(
        "--registry",
        metavar="FOLDER",
        help="the folder of registered queries (default: $ONTOWEIR_REGISTRY, else out/registry in "
        "the project's folder)",
    )


def find_root(project: str) -> Path:
    """The folder of a project, without reading it: registries are listed also while it is wrong.

    Raises:
        UsageError: there is no such project.
    """
    path = Path(project)
    if not path.exists():
        raise UsageError(
            f"there is no project {project}",
            why="it is a folder with an ontoweir.toml, or that file",
            fix="give the project's folder, or --registry FOLDER",
        )
    return path.resolve() if path.is_dir() else path.resolve().parent


def read_output(text: str) -> Path:
    """The place that --output names; - is standard output. Links are followed when it is written.

    Raises:
        UsageError: it is not a file, pipe or character device, or its folder is missing.
    """
    path = STDOUT if text == "-" else Path(text)
    if not text or text.endswith(os.sep):
        raise UsageError(
            f"cannot write {text!r}",
            why="that names a folder" if text else "that is not a name",
            fix="name a file",
            source=Source("--output"),
        )
    require_folder(path, find_output(path))
    return path


def choose_channel(output: Path) -> TextIO:
    """The channel of messages: stderr, if standard output is the output."""
    place = find_output(output)
    return sys.stderr if isinstance(place, StreamOutput) and place.standard else sys.stdout
