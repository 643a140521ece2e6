"""In which language a query is written."""

import re
from pathlib import Path
from typing import Literal

Language = Literal["sparql", "sql"]

_COMMENTS = re.compile(r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*", re.DOTALL)
_SQL = re.compile(r"(?:\(\s*)*(?:SELECT|WITH|CREATE(?!\s+PULSE\b))\s", re.IGNORECASE)

_APART = re.compile(r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
"""Texts, and SQL's comments."""
_VARIABLES = re.compile(
    r"SELECT\b(?:[^{]*[?$]\w[^{]*|\s*(?:DISTINCT\b|REDUCED\b)?\s*\*[^{,]*?)\{", re.IGNORECASE
)


def language_of(file: Path) -> Language:
    """What the name of a query's file says: .sql is plain SQL over the catalog, all else SPARQL."""
    return "sql" if file.suffix.lower() == ".sql" else "sparql"


def language_of_text(text: str) -> Language | None:
    """The language of what is either a query or the name of one (None).

    SPARQL has braces, and SELECT of variables, which SQL has not outside of texts and comments.

    >>> language_of_text("SELECT ?x WHERE { ?x ?p ?y }"), language_of_text("ASK { ?x ?p ?y }")
    ('sparql', 'sparql')
    >>> language_of_text("SELECT a FROM s WHERE REGEXP_LIKE(b, '[A-Z]{2}') -- {}")
    'sql'
    """
    if (start := _SQL.match(text, _COMMENTS.match(text).end())) is not None:  # type: ignore[union-attr]
        plain = _APART.sub(" ", text[start.start() :])
        return "sparql" if _VARIABLES.match(plain) is not None else "sql"
    return "sparql" if "{" in text else None
