"""Build a project from objects in memory: graphs, texts, dictionaries."""

import json
import re
import tomllib
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, TypeAlias

from ontoweir.errors import CatalogError, OntoweirError, Source, UsageError, with_article
from ontoweir.project.check_name import check_name
from ontoweir.project.language_of import language_of_text
from ontoweir.project.project import PROJECT_FILE, Project, load_project

if TYPE_CHECKING:
    from rdflib import Graph

Document: TypeAlias = "Graph | str | Path"
"""A graph, a text, or the path of a file (a Path, or a str without a line break that names one)."""
Documents: TypeAlias = "Document | Sequence[Document]"
"""One, or several."""


@dataclass(frozen=True)
class BuiltProject:
    """A project whose texts are in a temporary folder, which is removed with this object.

    `shown`: the names of its files in messages; `lineless`: generated files, whose lines the user
    has not seen.
    """

    project: Project
    shown: Mapping[str, str]
    lineless: frozenset[str]
    folder: str = field(repr=False, default="")

    def __post_init__(self) -> None:
        weakref.finalize(self, rmtree, self.folder, ignore_errors=True)

    def rename(self, text: str) -> str:
        """A message with the names that the user knows."""
        for file, name in self.shown.items():
            if file in self.lineless:
                text = re.sub(re.escape(file) + r"(:\d+)?", name, text)
            text = text.replace(file, name)
        return text

    def rename_in(self, error: OntoweirError) -> None:
        """Put the names that the user knows into an error."""
        error.what, error.why = self.rename(error.what), self.rename(error.why)
        error.fix = self.rename(error.fix)
        if error.source is not None and error.source.file in self.shown:
            line = None if error.source.file in self.lineless else error.source.line
            error.source = Source(self.shown[error.source.file], line)
        error.args = (error.what,)

    def renamed(self, error: OntoweirError) -> OntoweirError:
        """The error with the names that the user knows in it."""
        self.rename_in(error)
        return error


def write_project(
    ontology: Documents,
    mappings: Documents,
    catalog: str | Mapping[str, Any],
    queries: Mapping[str, str],
    views: Mapping[str, str | Path],
    root: Path,
) -> BuiltProject:
    """Write the objects in memory to files, and read them as a project.

    Raises:
        OntoweirError: the catalog is wrong; places are `<catalog>`, `<ontology>`, ….
        UsageError: a query cannot be called so, or a document is none.
    """
    folder = Path(mkdtemp(prefix="ontoweir-"))
    shown: dict[str, str] = {}
    lineless: set[str] = set()
    try:
        files = {
            "ontology": _write_all(folder, "ontology", ontology, shown, lineless),
            "mappings": _write_all(folder, "mappings", mappings, shown, lineless),
            "queries": [],
        }
        for name, text in queries.items():
            ending = "sql" if language_of_text(text) == "sql" else "rq"
            place = folder / f"{check_name(name)}.{ending}"
            place.write_text(text, encoding="utf-8")
            shown[str(place)] = f"<query {name}>"
            files["queries"].append(str(place))
        project = folder / PROJECT_FILE
        text = catalog if isinstance(catalog, str) else _write_toml(catalog)
        if not isinstance(catalog, str):
            lineless.add(str(project))
        shown[str(project)] = "<catalog>"
        _refuse_project(text)
        own = "".join(f"{key} = {json.dumps(paths)}\n" for key, paths in files.items())
        project.write_text(f"{text}\n[project]\n{own}", encoding="utf-8")
    except BaseException:
        rmtree(folder, ignore_errors=True)
        raise
    try:
        read = load_project(project, views=views, root=root)
    except OntoweirError as error:
        nothing: Any = None
        BuiltProject(nothing, shown, frozenset(lineless), str(folder)).rename_in(error)
        raise
    return BuiltProject(read, shown, frozenset(lineless), str(folder))


def _write_all(
    folder: Path,
    kind: str,
    given: Documents,
    shown: dict[str, str],
    lineless: set[str],
) -> list[str]:
    """The files of one document or several."""
    from rdflib import Graph

    several = [given] if isinstance(given, (Graph, str, Path)) else list(given)
    written = []
    for number, document in enumerate(several):
        match document:
            case Path():
                written.append(str(document.absolute()))
                continue
            case str() if "\n" not in document and Path(document).is_file():
                written.append(str(Path(document).absolute()))
                continue
            case str():
                text = document
            case Graph():
                text = document.serialize(format="turtle")
            case _:
                raise UsageError(
                    f"{kind} is {with_article(type(document).__name__)}",
                    why="it is an rdflib Graph, a text, or the path of a file",
                    fix="give one of these, or a list of them",
                    source=Source(f"<{kind}>"),
                )
        mark = "" if len(several) == 1 else f" {number + 1}"
        ending = ".obda" if "[MappingDeclaration]" in text else ""
        place = folder / f"{kind}{number}{ending}"
        place.write_text(text, encoding="utf-8")
        shown[str(place)] = f"<{kind}{mark}>"
        if isinstance(document, Graph):
            lineless.add(str(place))
        written.append(str(place))
    return written


def _refuse_project(text: str) -> None:
    try:
        there = "project" in tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return  # load_project says where
    if there:
        raise CatalogError(
            "the catalog has a section [project]",
            why="ontology, mappings and queries are separate arguments",
            fix="remove the section",
            source=Source("<catalog>"),
        )


def _write_toml(catalog: Mapping[str, Any]) -> str:
    """A dictionary as TOML: sections of tables, each entry a line.

    Raises:
        UsageError: it has what TOML has not.
    """
    lines: list[str] = []
    for section, tables in catalog.items():
        if not isinstance(tables, Mapping):
            lines.insert(0, f"{json.dumps(section)} = {_toml(tables)}")
            continue
        for name, table in tables.items():
            if not isinstance(table, Mapping):
                lines.append(f"[{json.dumps(section)}]\n{json.dumps(name)} = {_toml(table)}")
                continue
            lines.append(f"[{json.dumps(section)}.{json.dumps(name)}]")
            lines += [f"{json.dumps(key)} = {_toml(held)}" for key, held in table.items()]
    return "\n".join(lines) + "\n"


def _toml(held: Any) -> str:
    match held:
        case bool():
            return "true" if held else "false"
        case str():
            return json.dumps(held)
        case int() | float() | Decimal():
            return str(held)
        case datetime() | date() | time():
            return held.isoformat()
        case Mapping():
            return "{" + ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in held.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_toml, held)) + "]"
        case _:
            raise UsageError(
                f"the catalog has {with_article(type(held).__name__)}",
                why="it may have the values of a project file: texts, numbers, lists, tables",
                fix="write it as in a project file",
                source=Source("<catalog>"),
            )
