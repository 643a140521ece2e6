"""SQL in messages, in words that people write: the user's own, where the text is known."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import Token, exp

_TEXT: ContextVar[str | None] = ContextVar("text", default=None)
_AROUND = 16
"""So many tokens are looked at before and after the names of a piece, for where it begins."""
_SHORT = 4
"""Of less tokens a piece says little of where it is written: a column with its table has three."""
_CLAUSES = {"select", "from", "where", "group", "having", "qualify", "order", "limit", "join"}
"""With what clauses begin."""
_LIKE = 0.6
"""How like it the text of a piece is, at least: the share of tokens that both have in order."""


@contextmanager
def writing(text: str) -> Iterator[None]:
    """While it is entered, pieces of SQL are shown as they are written in a text."""
    token = _TEXT.set(text)
    try:
        yield
    finally:
        _TEXT.reset(token)


def show_sql(tree: "exp.Expr") -> str:
    """A piece of SQL as it is written in the text that it was read of, in one line; where it was
    made otherwise, or the text is not known, as Spark's, but for what Spark has other words for:
    EXCLUDE, AT TIME ZONE, TIME, and plain names, which have no quotes.

    What is written otherwise is put into a copy of the tree as text, from the leaves up: a sqlglot
    that is compiled (`sqlglot[c]`) has no generator that could be inherited from.

    Args:
        tree: the piece.
    """
    from sqlglot import exp

    whole = exp.Paren(this=tree.copy())  # so that the piece itself can be put in, too
    for node in reversed(list(whole.this.dfs())):
        written = _write(node)
        if written is not None:
            node.replace(exp.Var(this=written))
    made: str = whole.this.sql("spark")
    text = _TEXT.get()
    return made if text is None else _find_written(tree, made, text) or made


def _write(node: "exp.Expr") -> str | None:
    """The text of a node whose parts have been written; None: as Spark writes it (a name is quoted
    or not in place)."""
    from sqlglot import exp

    match node:
        case exp.Identifier():
            node.set("quoted", not (node.name.isascii() and node.name.isidentifier()))
        case exp.DataType() if node.this == exp.DataType.Type.TIME:  # no type of Spark's
            node.set("this", exp.DataType.Type.USERDEFINED)
            node.set("kind", "TIME")
        case exp.Ordered():
            return f"{node.this.sql('spark')}{' DESC' if node.args.get('desc') else ''}"
        case exp.AtTimeZone():
            return f"{node.this.sql('spark')} AT TIME ZONE {node.args['zone'].sql('spark')}"
        case exp.WithinGroup():  # which Spark has no words for
            return f"{node.this.sql('spark')} WITHIN GROUP ({node.expression.sql('spark').strip()})"
        case exp.WindowSpec() if node.args.get("exclude") is not None:
            excluded = node.text("exclude")
            node.set("exclude", None)
            return f"{node.sql('spark')} EXCLUDE {excluded}"
    return None


def _find_written(tree: "exp.Expr", made: str, text: str) -> str | None:
    """The piece of a text that a tree was read of (None: it was not found): of those around its
    names, with parentheses in pairs, the one that is most like what was made of it."""
    tokens, wanted = _tokenize(text), _tokenize(made)
    places = _find_names(tree, text)
    if not tokens or len(wanted) < _SHORT:
        return None
    words, shown = _fold(tokens), _fold(wanted)
    best, found = _LIKE, None
    for start, end in _list_spans(tokens, places, words, shown):
        piece = words[start : end + 1]
        if "." in (words[start - 1 : start] + words[end + 1 : end + 2]):
            continue  # it would begin, or end, within a name
        if any(w not in shown for w in piece if w.split(" ")[0] in _CLAUSES):
            continue  # it would reach into another clause
        ends = zip((piece[0], piece[-1]), (shown[0], shown[-1]), strict=True)
        if any(_kind_of(a) != _kind_of(b) for a, b in ends) or not _is_paired(piece):
            continue
        like = SequenceMatcher(None, piece, shown, autojunk=False).ratio()
        if like > best:
            best, found = like, (start, end)
    if found is None:
        return None
    return " ".join(text[tokens[found[0]].start : tokens[found[1]].end + 1].split())


def _list_spans(
    tokens: "Sequence[Token]", places: set[int], words: Sequence[str], shown: Sequence[str]
) -> Iterator[tuple[int, int]]:
    """Where a piece may begin and end: around its names; if it has none, where its first word is
    written, and no more than so many words later."""
    names = [n for n, t in enumerate(tokens) if t.start in places]
    if names:
        first, last = min(names), max(names)
        for start in range(first, max(-1, first - _AROUND), -1):
            for end in range(last, min(len(tokens), last + _AROUND)):
                yield start, end
        return
    for start in (n for n, word in enumerate(words) if word == shown[0]):
        for end in range(start, min(len(tokens), start + len(shown) + _AROUND)):
            yield start, end


def _tokenize(text: str) -> "list[Token]":
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        return list(sqlglot.tokenize(text, dialect="spark"))
    except SqlglotError:
        return []


def _fold(tokens: "Sequence[Token]") -> list[str]:
    return [token.text.lower() for token in tokens]


def _find_names(tree: "exp.Expr", text: str) -> set[int]:
    """Where the names and values of a tree are written in a text."""
    places: set[int] = set()
    for node in tree.walk():
        start, end = node.meta.get("start"), node.meta.get("end")
        if start is not None and end is not None:
            written = text[start : end + 1].strip("`\"'")
            if written.lower() == node.name.lower():
                places.add(start)
    return places


def _kind_of(word: str) -> str:
    """What a piece may begin and end with: a name or a value, or a sign."""
    return "name" if word[:1].isalnum() or word[:1] in ("_", "") else word


def _is_paired(words: Sequence[str]) -> bool:
    """Whether each parenthesis has its other one."""
    depth = 0
    for word in words:
        depth += (word == "(") - (word == ")")
        if depth < 0:
            return False
    return depth == 0
