"""SQL of a query, where a text in double quotes is called like nothing that could be meant."""

import re
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Relation, Stream
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.read_select import parse_sql_text

if TYPE_CHECKING:
    from sqlglot import exp

_PIECE = re.compile(
    r"""'(?:[^'\\]|\\.|'')*' | --[^\n]* | /\*.*?\*/ | `(?P<quoted>[^`]*)` |
    (?P<before>\.\s*|\bAS\s+)?"(?P<text>(?:[^"\\]|\\.|"")*)" | (?P<word>[^\W\d]\w*)""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_UNITS = frozenset(("second", "minute", "hour", "day", "week", "month", "quarter", "year"))
"""What functions of times take as texts, and answers are called after."""


def parse_names(text: str, catalog: Catalog) -> "exp.Query":
    """The query that a text of Spark SQL is; double quotes are around texts, as in Spark SQL.

    Standard SQL has names in them. A text that is called like a column of one of the query's
    tables, or like a name that the query gives with AS, is so likely meant as this that it is
    refused.

    Args:
        text: Spark SQL.
        catalog: the tables.

    Raises:
        SqlRefusal: it is no query; or what is in double quotes may be a column.
    """
    if '"' in text:
        _refuse_names(text, catalog)
    return parse_sql_text(text)


def _refuse_names(text: str, catalog: Catalog) -> None:
    pieces = list(_PIECE.finditer(text))
    words = [p["word"] or p["quoted"] or p["text"] or "" for p in pieces]
    words = [word.lower() for word in words]
    given = {
        word: "the query gives this name"
        for before, word in zip(["", *words], words, strict=False)
        if before == "as" and word not in _UNITS
    }
    given |= {
        p["text"].lower(): "the query gives this name"
        for p in pieces
        if p["text"] and p["before"] is not None and "." not in p["before"]
    }
    tables: list[Stream | Relation] = [*catalog.streams.values(), *catalog.relations.values()]
    for table in tables:
        if table.name.lower() in words:
            own = [table.timestamp] if isinstance(table, Stream) else []
            for name in (*own, *(c.name for c in table.columns)):
                given[name.lower()] = f"{table.name} has a column that is called so"
    for piece in pieces:
        name = piece["text"]
        if name is None or piece["before"] is not None or name.lower() not in given:
            continue
        raise SqlRefusal(
            f'"{name}" in double quotes',
            why=f"it is a text in Spark SQL, and a name in standard SQL; {given[name.lower()]}",
            fix=f"write `{name}` in backticks for the column, or '{name}' for the text",
            line=text.count("\n", 0, piece.start()) + 1,
        )
