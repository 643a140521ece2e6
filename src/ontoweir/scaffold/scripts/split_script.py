"""The statements of a script of SQL, each with the line where it begins."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

_PIECES = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|--[^\n]*|/\*.*?\*/|;|[^;'\"`/-]+|.", re.S)
_NAME = r"((?:`[^`]+`|\"[^\"]+\"|[\w$]+)(?:\s*\.\s*(?:`[^`]+`|\"[^\"]+\"|[\w$]+))*)"
_OR = r"(?:OR\s+REPLACE\s+)?"
_IF = r"(?:IF\s+NOT\s+EXISTS\s+)?"
_TABLE = re.compile(
    rf"CREATE\s+{_OR}(?:TEMP(?:ORARY)?\s+|EXTERNAL\s+|UNLOGGED\s+)*(?:TABLE|SOURCE|STREAM)\s+{_IF}{_NAME}\s*",
    re.I,
)
_VIEW = re.compile(
    rf"CREATE\s+{_OR}(?:TEMP(?:ORARY)?\s+|RECURSIVE\s+|LOCAL\s+)*(MATERIALIZED\s+)?VIEW\s+{_IF}{_NAME}\s*",
    re.I,
)
_COLUMNS = re.compile(r"\(\s*([\w`\"]+(?:\s*,\s*[\w`\"]+)*)\s*\)\s*(?=(?:WITH\b|AS\b))", re.I)
_INSERT = re.compile(rf"INSERT\s+(?:INTO|OVERWRITE)\s+(?:TABLE\s+)?{_NAME}\s*", re.I)
_AS = re.compile(r"(?:WITH\s*\((?:[^()']|'[^']*')*\)\s*)?AS\s+(?=SELECT\b|WITH\b|\()", re.I)
_QUERY = re.compile(r"(?:\(\s*)*(?:SELECT|WITH)\b", re.I)
_OPENING = re.compile(
    r"(?:EXECUTE\s+)?(?:BEGIN\s+)?STATEMENT\s+SET\s*(?:BEGIN\s*)?(?:;\s*)?|BEGIN\s+(?=INSERT\b)",
    re.I,
)
_PLAN = re.compile(r"EXPLAIN\s+(?:PLAN\s+FOR\s+)?(?=INSERT\b|SELECT\b|WITH\b)", re.I)


class Kind(StrEnum):
    """What a statement does."""

    TABLE = "a table"
    VIEW = "a view"
    QUERY = "a query"
    OTHER = "another statement"


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a script.

    `text`: as it is written, without comments before it; `line`: where that begins, from 1; `name`:
    of the table or view that it makes, or writes into (None: it has none); `body`: the query in it
    (None: there is none), after as many ends of lines as there are before it in the script, so that
    messages name its lines; `kept`: a view whose answer is kept, so that it runs by itself;
    `columns`: names that a view gives its columns.
    """

    kind: Kind
    text: str
    line: int
    name: str | None = None
    body: str | None = None
    kept: bool = False
    columns: tuple[str, ...] = ()


def split_script(text: str) -> Iterator[Statement]:
    """The statements of a script, in order.

    Args:
        text: SQL of any dialect; statements end with semicolons that are neither quoted nor in a
            comment. The frame of a set of statements (BEGIN STATEMENT SET … END) is left out.
    """
    start = 0
    for piece in _cut(text):
        yield from _read(text, piece, start)
        start += len(piece) + 1


def cut_pieces(text: str) -> list[str]:
    """A text in pieces: what is quoted, comments, semicolons, and what is between them."""
    return _PIECES.findall(text)


def _cut(text: str) -> Iterator[str]:
    """The parts between semicolons."""
    held: list[str] = []
    for piece in cut_pieces(text):
        if piece == ";":
            yield "".join(held)
            held = []
        else:
            held.append(piece)
    yield "".join(held)


def _read(text: str, piece: str, start: int) -> Iterator[Statement]:
    """The statement in a part of a script that begins at a place."""
    plain = _blank_comments(piece)
    place = len(plain) - len(plain.lstrip())
    for frame in (_OPENING, _PLAN):
        if (opened := frame.match(plain, place)) is not None:
            place = opened.end()
            place += len(plain[place:]) - len(plain[place:].lstrip())
    rest = plain[place:].strip()
    if not rest or rest.upper() in ("END", "BEGIN"):
        return
    line = text.count("\n", 0, start + place) + 1
    shown = piece[place:].rstrip()

    def body(at: int) -> str:
        return "\n" * text.count("\n", 0, start + at) + piece[at:]

    if (table := _TABLE.match(plain, place)) is not None:
        made = _AS.search(plain, table.end())
        if made is not None and plain[table.end()] != "(":  # of what a query answers
            name = bare_name(table[1])
            yield Statement(Kind.QUERY, shown, line, name, body(made.end()))
            return
        yield Statement(Kind.TABLE, shown, line, bare_name(table[1]))
    elif (view := _VIEW.match(plain, place)) is not None:
        named = _COLUMNS.match(plain, view.end())
        at = _AS.match(plain, view.end() if named is None else named.end())
        if at is None:
            yield Statement(Kind.OTHER, shown, line)
            return
        columns = () if named is None else tuple(bare_name(n) for n in named[1].split(","))
        name, kept = bare_name(view[2]), view[1] is not None
        yield Statement(Kind.VIEW, shown, line, name, body(at.end()), kept, columns)
    elif (insert := _INSERT.match(plain, place)) is not None:
        query = _QUERY.search(plain, insert.end())
        if query is None:
            yield Statement(Kind.OTHER, shown, line)
            return
        yield Statement(Kind.QUERY, shown, line, bare_name(insert[1]), body(query.start()))
    elif _QUERY.match(plain, place) is not None:
        yield Statement(Kind.QUERY, shown, line, None, body(place))
    else:
        yield Statement(Kind.OTHER, shown, line)


def _blank_comments(text: str) -> str:
    """The same text with blanks in the place of comments, so that all places stay."""
    made = []
    for piece in cut_pieces(text):
        comment = piece.startswith(("--", "/*"))
        made.append(re.sub(r"[^\n]", " ", piece) if comment else piece)
    return "".join(made)


def bare_name(name: str) -> str:
    """The last part of a name, without quotes."""
    return name.split(".")[-1].strip().strip('`"')
