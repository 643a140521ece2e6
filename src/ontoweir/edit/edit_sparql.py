"""Change the text of a SPARQL query: its SELECT clause, or one more FILTER."""

from collections.abc import Sequence
from itertools import pairwise

from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens


def set_distinct(text: str, distinct: bool) -> str | None:
    """With DISTINCT, or without it; None where there is no SELECT clause to change."""
    head = _head(Tokens(text).tokens)
    if head is None:
        return None
    select, rest = head
    word = next((t for t in rest if t.kind == "word" and t.text.upper() == "DISTINCT"), None)
    if distinct:
        end = select.offset + len(select.text)
        return text if word is not None else f"{text[:end]} DISTINCT{text[end:]}"
    return text if word is None else _without(text, word)


def drop_variable(text: str, name: str, kept: Sequence[str]) -> str | None:
    """Without a variable in the SELECT clause; `kept` are the others, for `SELECT *`."""
    head = _head(Tokens(text).tokens)
    if head is None:
        return None
    for token in head[1]:
        if token.kind == "var" and token.text[1:] == name:
            return _without(text, token)
        if token.text == "*":
            names = " ".join(f"?{v}" for v in kept)
            return text[: token.offset] + names + text[token.offset + 1 :]
    return None


def drop_group(text: str, name: str) -> str | None:
    """Without a variable in the SELECT and the GROUP BY clause."""
    tokens = Tokens(text).tokens
    head = _head(tokens)
    if head is None:
        return None
    grouped = [
        i for i, (a, b) in enumerate(pairwise(tokens)) if _is_word(a, "GROUP") and _is_word(b, "BY")
    ]
    if len(grouped) != 1:
        return None
    by: list[SparqlToken] = []
    for token in tokens[grouped[0] + 2 :]:
        if token.kind != "var":
            break
        by.append(token)
    depth, mine = 0, []
    for token in head[1]:
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth == 0 and token.kind == "var" and token.text[1:] == name:
            mine.append(token)
    named = [t for t in by if t.text[1:] == name]
    if len(mine) != 1 or len(named) != 1:
        return None
    if len(by) == 1:  # of the whole
        first = tokens[grouped[0]]
        end = by[0].offset + len(by[0].text)
        text = text[: first.offset].rstrip() + text[end:]
    else:
        text = _without(text, named[0])
    return _without(text, mine[0])


def add_filter(text: str, condition: str) -> str | None:
    """With one more FILTER at the end of the WHERE clause."""
    tokens = Tokens(text).tokens
    head = _head(tokens)
    if head is None:
        return None
    depth = 0
    first = len(head[1]) + tokens.index(head[0]) + 1
    for token in tokens[first:]:
        depth += {"{": 1, "}": -1}.get(token.text, 0) if token.kind == "op" else 0
        if depth == 0 and token.text == "}":
            start = text.rfind("\n", 0, token.offset) + 1
            indent = text[start : token.offset]
            if indent.strip():
                before = text[: token.offset].rstrip(" \t")
                return f"{before} FILTER({condition}) {text[token.offset :]}"
            return f"{text[:start]}{indent}  FILTER({condition})\n{text[start:]}"
    return None


def has_prefix(text: str, prefix: str, iri: str) -> bool:
    """Whether `PREFIX prefix: <iri>` is declared."""
    tokens = Tokens(text).tokens
    return any(
        a.text.upper() == "PREFIX" and b.text == f"{prefix}:" and c.text == f"<{iri}>"
        for a, b, c in zip(tokens, tokens[1:], tokens[2:], strict=False)
    )


def _head(tokens: Sequence[SparqlToken]) -> tuple[SparqlToken, tuple[SparqlToken, ...]] | None:
    """SELECT, and the tokens after it up to FROM, WHERE or the first brace."""
    first = next((i for i, t in enumerate(tokens) if _is_word(t, "SELECT")), None)
    if first is None:
        return None
    head: list[SparqlToken] = []
    for token in tokens[first + 1 :]:
        if token.text == "{" or _is_word(token, "WHERE") or _is_word(token, "FROM"):
            return tokens[first], tuple(head)
        head.append(token)
    return None


def _is_word(token: SparqlToken, word: str) -> bool:
    return token.kind == "word" and token.text.upper() == word


def _without(text: str, token: SparqlToken) -> str:
    """Without a token and the blanks before it."""
    return text[: token.offset].rstrip(" \t") + text[token.offset + len(token.text) :]
