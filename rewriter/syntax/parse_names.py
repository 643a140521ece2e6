"""SQL of a query, where a text in double quotes is no name of a column."""

import re
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Relation, Stream
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.read_select import parse_sql_text

if TYPE_CHECKING:
    from sqlglot import exp

_PIECE = re.compile(
    r"""'(?:[^'\\]|\\.|'')*' | `[^`]*` | --[^\n]* | /\*.*?\*/ |
    (?P<before>\.\s*|\bAS\s+)?"(?P<name>[^"`]+)" | (?P<word>[^\W\d]\w*)""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)


def parse_names(text: str, catalog: Catalog) -> "exp.Query":
    """The query that a text of Spark SQL is; double quotes are around texts, as in Spark SQL.

    Standard SQL has names in them. A text that is called like a column of one of the query's tables
    is so likely meant as this column that it is refused.

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
    words = {(p["word"] or p["name"] or p[0].strip("`")).lower() for p in pieces}
    names: dict[str, str] = {}
    tables: list[Stream | Relation] = [*catalog.streams.values(), *catalog.relations.values()]
    for table in tables:
        if table.name.lower() in words:
            own = [table.timestamp] if isinstance(table, Stream) else []
            names |= {n.lower(): table.name for n in (*own, *(c.name for c in table.columns))}
    for piece in pieces:
        name = piece["name"]
        if name is None or piece["before"] is not None or name.lower() not in names:
            continue
        raise SqlRefusal(
            f'"{name}" in double quotes',
            why=f"it is a text in Spark SQL, and a name in standard SQL; "
            f"{names[name.lower()]} has a column that is called so",
            fix=f"write `{name}` in backticks for the column, or '{name}' for the text",
            line=text.count("\n", 0, piece.start()) + 1,
        )
