"""Reads `[views.*]`: queries that other queries read."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from ontoweir.errors import CatalogError
from ontoweir.mappings.model.catalog import Catalog, QueryView
from ontoweir.mappings.model.read_table import TomlTable
from ontoweir.mappings.sql.read_scope import SqlRefusal, find_table
from ontoweir.mappings.sql.refuse_view import place_in_view, refuse_cycle

_SPARQL = re.compile(r"^\s*(PREFIX|BASE)\b|\{[^}]*[?$]\w", re.IGNORECASE | re.MULTILINE)
"""What is in a query of SPARQL, and in none of SQL that is read."""


def read_views(table: TomlTable, catalog: Catalog) -> Catalog:
    """The catalog with its views.

    Args:
        table: the section `views`; files are absolute paths.
        catalog: the streams and relations.

    Raises:
        CatalogError: a view has no SQL, or reads itself or what is not declared; or its name is a
            table's.
    """
    if not table.values:
        return catalog
    views = {name: _read_view(table.table(name)) for name in table.values}
    for name in views:
        others = {
            **dict.fromkeys(catalog.streams, "a stream"),
            **dict.fromkeys(catalog.relations, "a relation"),
            **dict.fromkeys((v for v in views if v != name), "another view"),
        }
        same = next((other for other in others if other.lower() == name.lower()), None)
        if same is not None:
            raise table.error(
                name,
                f"the view {name!r} has the name of {others[same]}",
                why="tables and views are known by their names alone, in upper or lower case",
                fix="rename the view",
            )
    made = replace(catalog, views=views)
    reads: dict[str, list[str]] = {}
    for view in views.values():
        try:
            reads[view.name] = _list_views(view, made)
        except SqlRefusal as error:
            raise _error(place_in_view(error, view)) from None
    _refuse_cycles(reads, views)
    return made


def _read_view(table: TomlTable) -> QueryView:
    table.refuse_unknown(("query",))
    table.need("query", '"SELECT … FROM …", or "views/NAME.sql"')
    text, file = table.text("query") or "", None
    if text.lower().endswith(".sql") and "\n" not in text:
        file = text
        try:
            text = Path(file).read_text(encoding="utf-8-sig")
        except OSError as error:
            raise table.error(
                "query",
                f"cannot read {file}: {error.strerror or error}",
                why="the query of a view is SQL, or the path of a file of SQL, relative to the "
                "project file",
                fix="correct the path",
            ) from None
        except UnicodeDecodeError as error:
            raise table.error(
                "query",
                f"{file} is not UTF-8 text",
                why=f"byte {error.start} is {error.object[error.start]:#04x}",
                fix="save it as UTF-8",
            ) from None
    elif re.fullmatch(r"[\w./-]+", text.strip()) and not text.lower().endswith(".rq"):
        raise table.error(
            "query",
            f"the query of the view {table.path[-1]!r} is {text.strip()!r}",
            why="it is SQL, or the path of a file of SQL, relative to the project file; queries of "
            "the project have no names here",
            fix=f"write the path of its file, as in {Path(text.strip()).stem}.sql, or its SELECT",
        )
    return QueryView(table.path[-1], text, table.lines.place(*table.path, "query"), file)


def _list_views(view: QueryView, catalog: Catalog) -> list[str]:
    """The views that a view reads.

    Raises:
        SqlRefusal: it is not SQL, or reads what is not declared.
    """
    from sqlglot import exp

    from ontoweir.mappings.sql.read_literal import line_of
    from ontoweir.mappings.sql.read_select import parse_sql_text

    if not view.text.strip().strip(";"):
        raise SqlRefusal(
            "there is no SQL",
            why="a view is a query that others read",
            fix="write SELECT … FROM …, or remove the view",
        )
    try:
        tree = parse_sql_text(view.text)
    except SqlRefusal:
        if view.text.lower().endswith(".rq") or _SPARQL.search(view.text):
            raise SqlRefusal(
                "it is SPARQL",
                why="views are SQL over the catalog's tables, which queries of SQL read",
                fix="write it in SQL, where SQL reads it; in SPARQL, make it a subquery of each "
                "query that reads it, { SELECT … WHERE { … } }",
            ) from None
        raise
    own = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    folded = {name.lower(): name for name in catalog.views}
    found: list[str] = []
    for table in tree.find_all(exp.Table):
        name = table.name.lower()
        if name in own or not isinstance(table.this, exp.Identifier):
            continue
        if name in folded:
            found.append(folded[name])
        else:
            find_table(".".join(p.name for p in table.parts), catalog, line_of(table))
    return found


def _refuse_cycles(reads: Mapping[str, Collection[str]], views: Mapping[str, QueryView]) -> None:
    """Raise CatalogError for a view that reads itself, through others or at once."""
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            error = refuse_cycle((*path[path.index(name) :], name))
            raise _error(place_in_view(error, views[name]))
        if name in done:
            return
        for other in reads[name]:
            visit(other, (*path, name))
        done.add(name)

    for name in reads:
        visit(name, ())


def _error(error: SqlRefusal) -> CatalogError:
    return CatalogError(error.what, why=error.why, fix=error.fix, source=error.source)
