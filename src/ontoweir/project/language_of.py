"""In which language a query is written."""

import re
from pathlib import Path
from typing import Literal

Language = Literal["sparql", "sql"]

_COMMENTS = re.compile(r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*", re.DOTALL)
_SQL = re.compile(r"(?:\(\s*)*(?:SELECT|WITH|CREATE)\s", re.IGNORECASE)


def language_of(file: Path) -> Language:
    """What the name of a query's file says: .sql is plain SQL over the catalog, all else SPARQL."""
    return "sql" if file.suffix.lower() == ".sql" else "sparql"


def language_of_text(text: str) -> Language | None:
    """The language of what is either a query or the name of one (None). SPARQL has braces."""
    if "{" in text:
        return "sparql"
    return "sql" if _SQL.match(text, _COMMENTS.match(text).end()) else None  # type: ignore[union-attr]
