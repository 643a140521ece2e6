"""Change the text of a plain SQL query: SELECT [DISTINCT] … FROM … WHERE …, or a UNION of them.

What WITH names, and subqueries, stay as they are.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

_TOKEN = re.compile(
    r"""(?P<skip>\s+|--[^\n]*|/\*.*?\*/)
    |(?P<string>'(?:[^'\\]|''|\\.)*'|"(?:[^"\\]|""|\\.)*")
    |(?P<word>[A-Za-z_]\w*|`[^`]*`)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_CLAUSES = ("SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT")


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int
    stop: int
    depth: int

    def is_word(self, *words: str) -> bool:
        """Whether it is one of these words, outside parentheses."""
        return self.kind == "word" and self.depth == 0 and self.text.upper() in words


@dataclass(frozen=True, slots=True)
class _Select:
    """The clauses of one SELECT: their first word, and the tokens after it."""

    clauses: tuple[tuple[_Token, tuple[_Token, ...]], ...]

    def clause(self, word: str) -> tuple[_Token, tuple[_Token, ...]] | None:
        return next((c for c in self.clauses if c[0].is_word(word)), None)


def set_distinct(text: str, distinct: bool) -> str | None:
    """With DISTINCT or, of several SELECTs, UNION; without it, and UNION ALL."""
    tokens = _tokens(text)
    selects = _selects(tokens)
    if selects is None:
        return None
    changes: list[tuple[int, int, str]] = []
    for select in selects:
        word, rest = select.clauses[0]
        known = bool(rest) and rest[0].is_word("DISTINCT")
        if known and not distinct:
            changes.append((word.stop, rest[0].stop, ""))
        elif distinct and len(selects) == 1 and not known:
            changes.append((word.stop, word.stop, " DISTINCT"))
    for here, after in pairwise(tokens):
        if here.is_word("UNION"):
            every = after.is_word("ALL")
            if distinct and every:
                changes.append((here.stop, after.stop, ""))
            elif not distinct and not every:
                stop = after.stop if after.is_word("DISTINCT") else here.stop
                changes.append((here.stop, stop, " ALL"))
    return _change(text, changes)


def drop_column(text: str, place: int, count: int) -> str | None:
    """Without the column at a place, of `count`, in every SELECT; None for `SELECT *`."""
    selects = _selects(_tokens(text))
    if selects is None:
        return None
    changes = []
    for select in selects:
        _, rest = select.clauses[0]
        if rest and rest[0].is_word("DISTINCT", "ALL"):
            rest = rest[1:]
        items = _items(rest)
        if len(items) != count or not all(items) or count < 2 or "*" in {i[0].text for i in items}:
            return None
        changes.append(_drop_item(items, place))
    return _change(text, changes)


def drop_group(text: str, place: int) -> str | None:
    """Without the column at a place, in SELECT and in GROUP BY; None where that is not plainly
    one of both."""
    selects = _selects(_tokens(text))
    if selects is None or len(selects) != 1:
        return None
    grouped = selects[0].clause("GROUP")
    if grouped is None or not grouped[1] or not grouped[1][0].is_word("BY"):
        return None
    items, by = _items(selects[0].clauses[0][1]), _items(grouped[1][1:])
    if not all(items) or not all(by) or not 0 <= place < len(items) or len(items) < 2:
        return None
    item_words = [t.text.lower() for t in items[place]]
    if "as" in item_words:
        item_words = item_words[: item_words.index("as")]
    texts = [[t.text.lower() for t in item] for item in by]
    # `s.k` and `k` are the same, if no other is called so
    places = [i for i, item in enumerate(texts) if item == item_words]
    places = places or [i for i, item in enumerate(texts) if item[-1] == item_words[-1]]
    if len(places) != 1:
        return None
    changes = [_drop_item(items, place)]
    if len(by) == 1:
        changes.append((grouped[0].start, by[0][-1].stop, ""))
    else:
        changes.append(_drop_item(by, places[0]))
    return _change(text, changes).rstrip() + ("\n" if text.endswith("\n") else "")


def leave_nulls(text: str, place: int) -> str | None:
    """With rows alone that have a value in the column of SELECT at a place; None where that is
    none, or of several SELECTs."""
    selects = _selects(_tokens(text))
    if selects is None or len(selects) != 1:
        return None
    items = _items(selects[0].clauses[0][1])
    words = [t.text for t in items[place]] if 0 <= place < len(items) else []
    if len(words) > 2 and words[-2].upper() == "AS":
        words = words[:-2]
    if "".join(words[1::2]) not in ("", ".") or len(words) not in (1, 3):
        return None
    return add_condition(text, f"{''.join(words)} IS NOT NULL", ())


def _items(tokens: Sequence[_Token]) -> list[list[_Token]]:
    """What commas outside parentheses separate."""
    items: list[list[_Token]] = [[]]
    for token in tokens:
        if token.text == "," and token.depth == 0:
            items.append([])
        else:
            items[-1].append(token)
    return items


def _drop_item(items: Sequence[Sequence[_Token]], place: int) -> tuple[int, int, str]:
    if place:
        return items[place - 1][-1].stop, items[place][-1].stop, ""
    return items[0][0].start, items[1][0].start, ""


def add_condition(text: str, condition: str, aliases: Sequence[str]) -> str | None:
    """With one more condition in every SELECT whose FROM clause has all these aliases."""
    selects = _selects(_tokens(text))
    if selects is None:
        return None
    changes = []
    for select in selects:
        source, where = select.clause("FROM"), select.clause("WHERE")
        if source is None:
            return None
        names = {t.text.strip("`").lower() for t in source[1]}
        if not names.issuperset(a.lower() for a in aliases):
            continue
        if where is None:
            end = source[1][-1].stop
            changes.append((end, end, f"\nWHERE {condition}"))
            continue
        _, rest = where
        if not rest:
            return None
        end = rest[-1].stop
        if any(t.is_word("OR") for t in rest):
            changes.append((rest[0].start, rest[0].start, "("))
            changes.append((end, end, f")\n  AND {condition}"))
        else:
            changes.append((end, end, f"\n  AND {condition}"))
    return _change(text, changes) if changes else None


def _tokens(text: str) -> list[_Token]:
    tokens, depth = [], 0
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "other"
        if kind == "skip":
            continue
        depth -= match[0] == ")"
        tokens.append(_Token(kind, match[0], match.start(), match.end(), depth))
        depth += match[0] == "("
    return tokens


def _selects(tokens: Sequence[_Token]) -> list[_Select] | None:
    """The SELECTs of a UNION, after WITH or not; None where they are wrapped in something else."""
    if tokens and tokens[0].is_word("WITH"):
        start = next((i for i, t in enumerate(tokens) if t.is_word("SELECT")), 0)
        tokens = tokens[start:]
    parts: list[list[_Token]] = [[]]
    for token in tokens:
        if token.is_word("UNION"):
            parts.append([])
        elif token.text != ";" and not (
            token.is_word("ALL", "DISTINCT") and len(parts) > 1 and not parts[-1]
        ):
            parts[-1].append(token)
    selects = []
    for part in parts:
        if not part or not part[0].is_word("SELECT"):
            return None
        starts = [i for i, t in enumerate(part) if t.is_word(*_CLAUSES)]
        selects.append(
            _Select(
                tuple(
                    (part[i], tuple(part[i + 1 : j]))
                    for i, j in zip(starts, [*starts[1:], len(part)], strict=True)
                )
            )
        )
    return selects


def _change(text: str, changes: Sequence[tuple[int, int, str]]) -> str:
    """The text with parts replaced."""
    for start, stop, written in sorted(changes, reverse=True):
        text = text[:start] + written + text[stop:]
    return text
