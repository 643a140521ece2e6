"""An ASK as the SELECT DISTINCT of its truth value."""

from itertools import chain, count

from ontoweir.rewriter.syntax.locate_tokens import Tokens


def open_ask(text: str) -> str:
    """`ASK { … }` as `SELECT DISTINCT ?ask { … BIND(true AS ?ask) }`, on its lines: its one answer
    is given when the first solution is. Another text is as it was."""
    tokens = Tokens(text).tokens
    start = next((n for n, t in enumerate(tokens) if t.text == "{"), len(tokens))
    words = [
        n for n, t in enumerate(tokens[:start]) if t.kind == "word" and t.text.upper() == "ASK"
    ]
    end, depth = start, 0
    for n in range(start, len(tokens)):
        depth += {"{": 1, "}": -1}.get(tokens[n].text, 0)
        if depth == 0:
            end = n
            break
    if not words or end == start:
        return text
    used = {t.text[1:] for t in tokens if t.kind == "var"}
    name = next(n for n in chain(["ask"], (f"ask{k}" for k in count(1))) if n not in used)
    ask, opens, closes = (tokens[n].offset for n in (words[0], start, end))
    body = text[opens + 1 : closes]
    if tokens[start + 1].text.upper() == "SELECT":
        body = f"{{{body}}}"
    return (
        f"{text[:ask]}SELECT DISTINCT ?{name}{text[ask + 3 : opens]}{{{body} "
        f"BIND(true AS ?{name}) {text[closes:]}"
    )
