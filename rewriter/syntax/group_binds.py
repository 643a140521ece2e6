"""Buckets of time that BIND names, in GROUP BY."""

from collections.abc import Sequence

from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens

_NAMESPACE = "urn:ontoweir:"
_BUCKETS = {
    f"{_NAMESPACE}{name}" for kind in ("tumble", "hop", "cumulate") for name in (kind, f"{kind}End")
} | {f"{_NAMESPACE}session"}


def group_binds(text: str) -> str:
    """`{ … BIND(ow:tumble(…) AS ?h) } GROUP BY ?h` as `{ … } GROUP BY (ow:tumble(…) AS ?h)`, on its
    lines: where ?h is in GROUP BY as it is, and nowhere else within the braces. Another text is as
    it was."""
    tokens = Tokens(text).tokens
    names = list_prefixes(tokens)
    edits: list[tuple[int, int, str]] = []
    for n, token in enumerate(tokens):
        if token.kind != "word" or token.text.upper() != "BIND":
            continue
        end = _close(tokens, n + 1, "(", ")")
        called = tokens[n + 2] if n + 2 < end else token
        if expand_name(called, names) not in _BUCKETS or tokens[end - 1].kind != "var":
            continue
        name = tokens[end - 1].text[1:]
        place = _find_group(tokens, n, end, name)
        if place is None:
            continue
        begins, ends = token.offset, tokens[end].offset + 1
        while text[ends:].lstrip().startswith("."):
            ends = text.index(".", ends) + 1
        edits.append((begins, ends, "\n" * text.count("\n", begins, ends)))
        call = " ".join(t.text for t in tokens[n + 1 : end + 1]).replace(" ^^ ", "^^")
        variable = tokens[place]
        edits.append((variable.offset, variable.offset + len(variable.text), call))
    for begins, ends, instead in sorted(edits, reverse=True):
        text = text[:begins] + instead + text[ends:]
    return text


def list_prefixes(tokens: Sequence[SparqlToken]) -> dict[str, str]:
    """The namespaces that prefixes stand for."""
    return {
        name.text: iri.text[1:-1]
        for word, name, iri in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if word.text.upper() == "PREFIX" and name.kind == "pname" and iri.kind == "iri"
    }


def expand_name(token: SparqlToken, names: dict[str, str]) -> str | None:
    """The IRI that a token is."""
    if token.kind == "iri":
        return token.text[1:-1]
    prefix, colon, local = token.text.partition(":")
    known = names.get(prefix + colon) if token.kind == "pname" else None
    return None if known is None else known + local


def _close(tokens: Sequence[SparqlToken], start: int, opens: str, closes: str) -> int:
    """Where what opens at a place closes, or the last token."""
    depth = 0
    for n in range(start, len(tokens)):
        depth += {opens: 1, closes: -1}.get(tokens[n].text, 0)
        if depth == 0:
            return n
    return len(tokens) - 1


def _find_group(tokens: Sequence[SparqlToken], bind: int, end: int, name: str) -> int | None:
    """Where the GROUP BY of the braces around a BIND has its variable, which they use nowhere
    else; None: it does not."""
    depth, opens = 0, bind
    while depth < 1 and opens > 0:
        opens -= 1
        depth += {"{": 1, "}": -1}.get(tokens[opens].text, 0)
    closes = _close(tokens, opens, "{", "}")
    inside = [*range(opens, bind), *range(end + 1, closes)]
    words = [t.text.upper() for t in tokens[closes + 1 : closes + 3]]
    if depth < 1 or words != ["GROUP", "BY"]:
        return None
    if any(tokens[n].kind == "var" and tokens[n].text[1:] == name for n in inside):
        return None
    times = {tokens[n].text[1:] for n in range(bind, end) if tokens[n].kind == "var"} - {name}
    before = {tokens[n].text[1:] for n in range(opens, bind) if tokens[n].kind == "var"}
    if not times <= before:  # where BIND stands its time is not bound yet
        return None
    depth = 0
    for n in range(closes + 3, len(tokens)):
        token = tokens[n]
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth == 0 and token.kind == "var" and token.text[1:] == name:
            return n
        if depth < 0 or (token.kind == "word" and depth == 0) or token.text == "}":
            return None  # HAVING, ORDER BY and the like, or the end of an inner SELECT
    return None
