"""ORDER BY … LIMIT n of groups, and of solutions, in SPARQL."""

from dataclasses import dataclass

from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens


@dataclass(frozen=True, slots=True)
class LimitedGroups:
    """`text`: the query of all groups, or solutions; those with numbers from `least` to `limit` are
    asked for, in the order of variables, each with whether the greatest comes first; `line`: where.
    """

    text: str
    order: tuple[tuple[str, bool], ...]
    least: int
    limit: int
    line: int


def split_limit(text: str) -> LimitedGroups | None:
    """A query with ORDER BY of variables and LIMIT, also with OFFSET, as that of all its groups, or
    solutions (None: another query)."""
    tokens = Tokens(text).tokens
    closes = [n for n, t in enumerate(tokens) if t.kind == "op" and t.text == "}"]
    after = closes[-1] + 1 if closes else 0
    words = [t.text.upper() if t.kind == "word" else "" for t in tokens]
    if "ORDER" not in words[after:]:
        return None
    start = words.index("ORDER", after)
    ends = [words.index(w, start) for w in ("LIMIT", "OFFSET") if w in words[start:]]
    if not ends or "LIMIT" not in words[start:] or words[start + 1 : start + 2] != ["BY"]:
        return None
    order = _read_order(tokens[start + 2 : min(ends)])
    counts = _read_counts(tokens[min(ends) :], words[min(ends) :])
    if not order or counts is None or counts["LIMIT"] < 1:
        return None
    skipped = counts.get("OFFSET", 0)
    kept = text[: tokens[start].offset].rstrip() + "\n"
    return LimitedGroups(kept, order, skipped + 1, skipped + counts["LIMIT"], tokens[start].line)


def _read_order(tokens: tuple[SparqlToken, ...]) -> tuple[tuple[str, bool], ...]:
    """Variables, and whether each falls (none: there are expressions)."""
    made: list[tuple[str, bool]] = []
    place = 0
    while place < len(tokens):
        one = tokens[place]
        if one.kind == "var":
            made.append((one.text[1:], False))
            place += 1
            continue
        inside = tokens[place + 1 : place + 4]
        called = [t.text for t in inside[:1]] == ["("] and [t.text for t in inside[2:]] == [")"]
        if one.text.upper() not in ("ASC", "DESC") or not called or inside[1].kind != "var":
            return ()
        made.append((inside[1].text[1:], one.text.upper() == "DESC"))
        place += 4
    return tuple(made)


def _read_counts(tokens: tuple[SparqlToken, ...], words: list[str]) -> dict[str, int] | None:
    """LIMIT and OFFSET, which are all that is left (None: there is more)."""
    made: dict[str, int] = {}
    for place in range(0, len(tokens), 2):
        value = tokens[place + 1 : place + 2]
        if words[place] not in ("LIMIT", "OFFSET") or not value or not value[0].text.isdigit():
            return None
        made[words[place]] = int(value[0].text)
    return made
