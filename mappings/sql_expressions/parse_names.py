"""SQL of a query, with what is in double quotes read as a name or as a text, whichever is meant."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, ColumnType, Relation, Stream, TimestampType
from ontoweir.mappings.sql.read_scope import SqlRefusal, find_name
from ontoweir.mappings.sql.read_select import parse_sql_text
from ontoweir.mappings.sql.refuse_clauses import refuse_sql
from ontoweir.mappings.sql_expressions.mean_names import mean_names
from ontoweir.mappings.sql_expressions.read_flink_functions import read_flink_functions
from ontoweir.mappings.sql_expressions.read_struct_choices import read_struct_choices

if TYPE_CHECKING:
    from sqlglot import exp

_PIECE = re.compile(
    r"""'(?:[^'\\]|\\.|'')*' | --[^\n]* | /\*.*?\*/ | `(?P<quoted>[^`]*)` |
    (?P<before>\.\s*|\bAS\s+|\b(?:date_)?(?:trunc|part)\s*\(\s*)?"(?P<text>(?:[^"\\]|\\.|"")*)" |
    (?P<word>[^\W\d]\w*)""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_UNITS = frozenset(("second", "minute", "hour", "day", "week", "month", "quarter", "year"))
"""What functions of times take as texts, and answers are called after."""


def parse_names(text: str, catalog: Catalog) -> "exp.Query":
    """The query that a text of Spark SQL is.

    Spark SQL has texts in double quotes, standard SQL names. One that is called like a column of
    one of the query's tables, or like a name that the query gives with AS, is read as this name
    where a text of the query would make no sense: it is grouped or ordered by, or summed; it is
    compared with a constant; the column's type is not text. One such place decides for all of
    them. Where both make sense it is refused. All others are texts.

    Args:
        text: Spark SQL.
        catalog: the tables.

    Raises:
        SqlRefusal: it is no query; what is in double quotes may be a column as well as a text; or
            an alias of a stream names its columns anew.
    """
    from sqlglot import exp

    tree = parse_sql_text(_decide(text, catalog) if '"' in text else text)
    for table in tree.find_all(exp.Table):
        alias = table.args.get("alias")
        if alias is not None and alias.columns and find_name(table.name, catalog.streams):
            raise refuse_sql(table, "an alias with names of columns")
    for node in list(tree.find_all(exp.Paren)):
        if isinstance(node.parent, exp.AggFunc | exp.Distinct) and isinstance(
            node.unnest(), exp.Column
        ):
            node.replace(node.unnest())  # COUNT(DISTINCT (x)), as many write it
    read_struct_choices(tree)
    return read_flink_functions(tree)


def _decide(text: str, catalog: Catalog) -> str:
    """The text with names in backticks, at the same places."""
    pieces = list(_PIECE.finditer(text))
    given = _list_names(pieces, catalog)
    asked = {
        p.start("text") - 1: p["text"]
        for p in pieces
        if p["before"] is None and p["text"] and p["text"].lower() in given
    }
    if not asked:
        return text
    named = list(text)
    for start, name in asked.items():
        named[start] = named[start + len(name) + 1] = "`"
    read = "".join(named)
    types = {name: kind for name, (_, kind) in given.items()}
    if not any("`" in name for name in asked.values()) and mean_names(read, asked, types):
        return read
    start, name = next(iter(asked.items()))
    raise SqlRefusal(
        f'"{name}" in double quotes',
        why=f"it is a text in Spark SQL, and a name in standard SQL; {given[name.lower()][0]}",
        fix=f"write `{name}` in backticks for the column, or '{name}' for the text",
        line=text.count("\n", 0, start) + 1,
    )


def _list_names(
    pieces: list[re.Match[str]], catalog: Catalog
) -> Mapping[str, tuple[str, ColumnType | None]]:
    """What may be meant, in small letters: who calls it so, and its type (None: not known)."""
    words = [(p["word"] or p["quoted"] or p["text"] or "").lower() for p in pieces]
    own = "the query gives this name"
    given: dict[str, tuple[str, ColumnType | None]] = {
        word: (own, None)
        for before, word in zip(["", *words], words, strict=False)
        if before == "as" and word not in _UNITS
    }
    for p in pieces:
        if p["text"] and (p["before"] or "").strip().lower() == "as":
            given[p["text"].lower()] = (own, None)
    tables: list[Stream | Relation] = [*catalog.streams.values(), *catalog.relations.values()]
    for table in tables:
        if table.name.lower() not in words:
            continue
        columns: list[tuple[str, ColumnType]] = [(c.name, c.type) for c in table.columns]
        if isinstance(table, Stream):
            columns.append((table.timestamp, TimestampType()))
        for name, kind in columns:
            who, before = f"{table.name} has a column that is called so", given.get(name.lower())
            alike = before is None or before[1] == kind
            given[name.lower()] = (who, kind if alike else None)
    return given
