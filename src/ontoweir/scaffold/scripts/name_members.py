"""Members of nested columns in a query, as the columns that they are read as."""

import re
from collections.abc import Collection

from ontoweir.scaffold.scripts.split_script import cut_pieces


def name_members(body: str, nested: Collection[tuple[str, ...]]) -> str:
    """A query in which a member of a ROW is called by one name, at the same place; as it is where
    the first of its names is that of something else, too.

    Args:
        body: the query.
        nested: the names that lead to members, of all tables.

    >>> name_members("SELECT o.who.at.zip, 'who.at.zip' FROM o", [("who", "at", "zip")])
    "SELECT o.who_at_zip, 'who.at.zip' FROM o"
    >>> name_members("SELECT who.at FROM t AS who", [("who", "at")])
    'SELECT who.at FROM t AS who'
    """
    pieces = cut_pieces(body)
    plain = [piece[:1] not in ("'", '"', "`") and piece[:2] not in ("--", "/*") for piece in pieces]
    text = " ".join(piece for piece, code in zip(pieces, plain, strict=True) if code)
    for path in sorted(nested, key=len, reverse=True):
        first = re.escape(path[0])
        if re.search(rf"(?<!\.)\b{first}\b(?!\s*\.)", text, re.I):
            continue
        named = r"\.".join(map(re.escape, path))
        found = re.compile(rf"\b{named}\b(?!\s*[.(])", re.I)
        pieces = [
            found.sub("_".join(path), piece) if code else piece
            for piece, code in zip(pieces, plain, strict=True)
        ]
    return "".join(pieces)
