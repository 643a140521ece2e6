"""The project: `ontoweir.toml` with its overrides, resolved to files and the catalog."""

import glob
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from ontoweir.errors import CatalogError, Source, UsageError
from ontoweir.mappings.catalog.load_catalog import load_catalog
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.expression import UserFunction
from ontoweir.mappings.model.locate_toml import TomlLines, locate_toml, split_path
from ontoweir.mappings.model.read_table import TomlTable, did_you_mean
from ontoweir.rewriter.model.query import Counts

PROJECT_FILE = "ontoweir.toml"
SECTIONS = ("project", "streams", "relations", "views")
_PREFIX = "ONTOWEIR_"
_PATH_LISTS = ("ontology", "mappings", "queries")
_NO_VIEWS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Project:
    """A project file and the files it names; all paths are absolute, globs expanded and sorted.

    `imports`: local files for the IRIs that ontologies import. `queries_source`: where the
    queries are named. `counts`: what SELECT and COUNT count.
    """

    file: Path
    root: Path
    ontology: tuple[Path, ...]
    mappings: tuple[Path, ...]
    queries: tuple[Path, ...]
    catalog: Catalog
    queries_source: Source
    imports: Mapping[str, Path] = field(default_factory=dict)
    counts: Counts = Counts.SPARQL


def load_project(
    path: Path,
    *,
    overrides: Sequence[str] = (),
    environ: Mapping[str, str] = os.environ,
    views: Mapping[str, str | Path] = _NO_VIEWS,
    root: Path | None = None,
) -> Project:
    """Reads a project.

    Args:
        path: the project file, or the folder it is in.
        overrides: `section.key=value`, the value in TOML or else a string; they override
            `ONTOWEIR_SECTION__KEY` variables. Paths in both are relative to the current folder.
        environ: the environment.
        views: by stream or relation, the temporary view of Spark that is its source, or the Parquet
            file, whose rows need no order.
        root: the folder that paths of data are relative to (default: the project file's).

    Raises:
        CatalogError: the file is missing or wrong, with its line.
        UsageError: an override is not a `section.key=value`; or a view is for no table.
    """
    file = path / PROJECT_FILE if path.is_dir() else path
    shown = str(file)
    data, lines = _read_toml(file, shown)
    for setting, value, origin in _settings(overrides, environ, data):
        _override(data, lines, setting, value, origin)
    for name, view in views.items():
        _set_view(data, lines, name, view)
    whole = TomlTable(data, (), lines)
    for key in data:
        if key not in SECTIONS:
            raise whole.error(
                key,
                f"unknown section [{key}]",
                why=f"known sections are {', '.join(SECTIONS)}",
                fix=did_you_mean(key, SECTIONS),
            )
    project = whole.table("project")
    project.refuse_unknown((*_PATH_LISTS, "imports", "counts", "udf"))
    folder = file.resolve().parent
    _resolve_sources(data, lines, root or folder)
    _resolve_views(data, lines, folder)
    files = {key: _expand(project, key, folder) for key in _PATH_LISTS}
    _refuse_namesakes(project, files["queries"])
    return Project(
        file=file.resolve(),
        root=root or folder,
        ontology=files["ontology"],
        mappings=files["mappings"],
        queries=files["queries"],
        catalog=replace(
            load_catalog(TomlTable(data, (), lines)), functions=_read_functions(project, folder)
        ),
        queries_source=lines.place("project", "queries"),
        imports=_read_imports(project.table("imports"), folder),
        counts=_read_counts(project),
    )


def _refuse_namesakes(project: TomlTable, queries: Sequence[Path]) -> None:
    """Two files of queries of one name: only one of them could be asked for."""
    first: dict[str, Path] = {}
    for file in queries:
        other = first.setdefault(file.stem, file)
        if other is not file:
            above = os.path.commonpath((other.parent, file.parent))
            one, two = (os.path.relpath(f, above) for f in (other, file))
            raise project.error(
                "queries",
                f"two queries are called {file.stem!r}: {one} and {two}",
                why="a query is called as its file is, without the ending",
                fix="rename one of the files",
            )


def _read_functions(project: TomlTable, folder: Path) -> dict[str, UserFunction]:
    """The users' functions that `udf` names; modules are looked for in the project's folder, and in
    the current one."""
    references = project.texts("udf")
    if not references:
        return {}
    from ontoweir.mappings.functions.read_function import read_functions  # few projects have some

    folders = (folder, Path.cwd())
    return read_functions(references, folders, project.lines.place("project", "udf"))


def _read_counts(project: TomlTable) -> Counts:
    chosen = project.text("counts")
    if chosen is None:
        return Counts.SPARQL
    if chosen not in list(Counts):
        raise project.error(
            "counts",
            f'unknown counts "{chosen}"',
            why="what is counted are solutions over triples, as SPARQL has it, or matches of rows",
            fix=f"write {' or '.join(f'{chr(34)}{c}{chr(34)}' for c in Counts)}",
        )
    return Counts(chosen)


def _read_toml(file: Path, shown: str) -> tuple[dict[str, object], TomlLines]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise CatalogError(
            f"there is no project file {shown}",
            why=f"a project is a folder with an {PROJECT_FILE}",
            fix="write --query -, which reads a query in standard input"
            if shown == "-"
            else "run `ontoweir init DIR`, or give the project's folder",
            source=Source(shown),
        ) from None
    except OSError as error:
        raise CatalogError(
            f"cannot read the project file: {error.strerror or error}",
            why="it must be a readable file",
            fix="correct its permissions",
            source=Source(shown),
        ) from None
    except UnicodeDecodeError as error:
        raise CatalogError(
            f"byte {error.start} is not UTF-8",
            why="TOML files are UTF-8",
            fix="save the file as UTF-8",
            source=Source(shown, error.object.count(b"\n", 0, error.start) + 1),
        ) from None
    try:
        return tomllib.loads(text), locate_toml(text, shown)
    except tomllib.TOMLDecodeError as error:
        match = re.search(r"at line (\d+)", str(error))
        line = int(match[1]) if match else len(text.splitlines()) or 1
        raise CatalogError(
            f"not TOML: {error}",
            why="the project file is written in TOML (toml.io)",
            fix="correct this line, or close a bracket or a quote before it"
            if "Unclosed" in str(error) or "end of document" in str(error)
            else "keep one of the two"
            if "twice" in str(error) or "overwrite" in str(error)
            else "correct this line",
            source=Source(shown, line),
        ) from None


def _settings(
    overrides: Sequence[str], environ: Mapping[str, str], data: Mapping[str, object]
) -> list[tuple[tuple[str, ...], object, str]]:
    settings: list[tuple[tuple[str, ...], object, str]] = []
    for name in sorted(environ):
        parts = name.removeprefix(_PREFIX).split("__")
        # One level (ONTOWEIR_HOME, say) is not a setting; a setting starts with a known section.
        if name.startswith(_PREFIX) and len(parts) > 1 and parts[0].lower() in SECTIONS:
            settings.append((_match_case(parts, data), _parse_value(environ[name]), name))
    for text in overrides:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise UsageError(
                f"--set {text!r} has no value",
                why="an override is section.key=value",
                fix="write e.g. --set streams.traffic.max_per_timestamp=500",
            )
        settings.append((split_path(key.strip()), _parse_value(value.strip()), f"--set {text}"))
    return settings


def _match_case(parts: Sequence[str], data: Mapping[str, object]) -> tuple[str, ...]:
    """Environment variables are upper case: take the existing spelling, else lower case."""
    path: list[str] = []
    node: object = data
    for part in parts:
        known = list(node) if isinstance(node, Mapping) else []
        path.append(
            next((k for k in known if k == part), None)
            or next((k for k in known if k.lower() == part.lower()), part.lower())
        )
        node = node.get(path[-1]) if isinstance(node, Mapping) else None
    return tuple(path)


def _parse_value(text: str) -> object:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, KeyError):
        return text


def _override(
    data: dict[str, object], lines: TomlLines, path: tuple[str, ...], value: object, origin: str
) -> None:
    if len(path) < 2 or path[0] not in SECTIONS:
        raise UsageError(
            f"unknown section {path[0]!r}",
            why=f"an override is section.key=value, in {', '.join(SECTIONS)}",
            fix=did_you_mean(path[0], SECTIONS),
            source=Source(origin),
        )
    node = data
    for depth, part in enumerate(path[:-1]):
        child = node.setdefault(part, {})
        if not isinstance(child, dict):
            # A column's short form "int" becomes { type = "int" } when a part of it is set.
            if path[0] not in SECTIONS or len(path) < 5 or path[2] != "columns":
                raise CatalogError(
                    f"{'.'.join(path[: depth + 1])} is not a table",
                    why=f"{path[depth + 1]!r} cannot be set in it",
                    fix="set the whole value",
                    source=Source(origin),
                )
            child = node[part] = {"type": child}
        node = child
    if path[-1] == "path" and isinstance(value, str):
        value = _from_here(value)
    elif path[-1] == "source" and isinstance(value, dict) and value.get("format") == "view":
        pass  # the path is the name of a temporary view
    elif path[-1] == "source" and isinstance(value, dict) and isinstance(value.get("path"), str):
        value = {**value, "path": _from_here(value["path"])}
    elif path[0] == "views" and path[-1] == "query" and isinstance(value, str):
        value = _from_here(value) if value.lower().endswith(".sql") else value
    elif path[0] == "project" and path[-1] in _PATH_LISTS:
        texts = [value] if isinstance(value, str) else value
        if isinstance(texts, list):
            value = [_from_here(t) if isinstance(t, str) else t for t in texts]
    elif path[:2] == ("project", "imports") and isinstance(value, str):
        value = _from_here(value)
    node[path[-1]] = value
    lines.origins[path] = origin


def _set_view(data: dict[str, object], lines: TomlLines, name: str, view: str | Path) -> None:
    """Make a temporary view, or a Parquet file, the source of a declared table."""
    for kind in ("streams", "relations"):
        tables = data.get(kind)
        table = tables.get(name) if isinstance(tables, dict) else None
        if isinstance(table, dict):
            table["source"] = {"format": "view", "path": view}
            if isinstance(view, Path):
                table["source"] = {"format": "parquet", "path": str(view)}
            if isinstance(view, Path) and kind == "streams":
                table["source"]["sort"] = True
            lines.origins[(kind, name, "source")] = "sources"
            return
    known = [
        n for k in ("streams", "relations") for n in TomlTable(data, (), lines).table(k).values
    ]
    raise UsageError(
        f"sources names {name!r}, which is neither a stream nor a relation",
        why=f"the catalog declares {', '.join(known) or 'nothing'}",
        fix=did_you_mean(name, known) if known else f"declare [streams.{name}]",
        source=Source("sources"),
    )


def _is_uri(text: str) -> bool:
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", text) is not None


def _from_here(text: str) -> str:
    return text if _is_uri(text) else os.path.abspath(text)


def _resolve_sources(data: dict[str, object], lines: TomlLines, folder: Path) -> None:
    """Makes the paths of data sources absolute."""
    root = TomlTable(data, (), lines)
    for kind in ("streams", "relations"):
        for name in root.table(kind).values:
            source = root.table(kind).table(name).table("source")
            if source.text("format") == "view":
                continue  # the path is the name of a temporary view
            for key in ("path", "archive") if kind == "streams" else ("path",):
                path = source.text(key)
                if path is not None and not _is_uri(path) and isinstance(source.values, dict):
                    source.values[key] = os.path.normpath(folder / path)


def _resolve_views(data: dict[str, object], lines: TomlLines, folder: Path) -> None:
    """Makes the paths of the SQL of views absolute."""
    views = TomlTable(data, (), lines).table("views")
    for name in views.values:
        view = views.table(name)
        query = view.text("query")
        if query is not None and query.lower().endswith(".sql") and isinstance(view.values, dict):
            view.values["query"] = os.path.normpath(folder / query)


def _read_imports(imports: TomlTable, folder: Path) -> dict[str, Path]:
    imports_: dict[str, Path] = {}
    for iri in imports.values:
        text = imports.text(iri) or ""
        path = Path(os.path.normpath(folder / text))
        if not path.is_file():
            raise imports.error(
                iri,
                f"there is no file {text!r}",
                why=f"an import of {iri} stands for it; paths are relative to the project file",
                fix="create the file or correct the path",
            )
        imports_[iri] = path
    return imports_


def _expand(project: TomlTable, key: str, folder: Path) -> tuple[Path, ...]:
    files: dict[Path, None] = {}
    for pattern in project.texts(key):
        if glob.has_magic(pattern):
            wanted = os.path.join(glob.escape(str(folder)), pattern)  # the folder is no pattern
            found = map(os.path.normpath, glob.glob(wanted, recursive=True))
            hits = sorted(h for h in found if os.path.isfile(h))
        else:
            full = os.path.normpath(folder / pattern)
            hits = [full] if os.path.isfile(full) else []
        # A project may still be without queries, but a vocabulary that is named is needed.
        if not hits and (key != "queries" or not glob.has_magic(pattern)):
            raise project.error(
                key,
                f"there is no file {pattern!r}",
                why=f"{project.name(key)} names it; paths are relative to the project file",
                fix="create the file or correct the path",
            )
        files.update(dict.fromkeys(map(Path, hits)))
    return tuple(files)
