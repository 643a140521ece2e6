"""An ASK as the SELECT DISTINCT of its truth value."""

from itertools import chain, count

from ontoweir.rewriter.syntax.locate_tokens import Tokens


def open_ask(text: str, *, told: str | None = None) -> str:
    """`ASK { … }` as `SELECT DISTINCT ?ask { … BIND(true AS ?ask) }`, on its lines: its one answer
    is given when the first solution is. Another text is as it was.

    Args:
        text: a query.
        told: whether there are solutions is counted, so that false is told as well: of the values
            of this variable, or of true, where it is empty (None: it is not).
    """
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
    names = (n for n in chain(["ask"], (f"ask{k}" for k in count(1))) if n not in used)
    name, one = next(names), told or next(names)
    ask, opens, closes = (tokens[n].offset for n in (words[0], start, end))
    body = text[opens + 1 : closes]
    if tokens[start + 1].text.upper() == "SELECT":
        body = f"{{{body}}}"
    before = text[ask + 3 : opens]
    if told is None:
        return (
            f"{text[:ask]}SELECT DISTINCT ?{name}{before}{{{body} "
            f"BIND(true AS ?{name}) {text[closes:]}"
        )
    bind = "" if told else f"BIND(true AS ?{one}) "
    return (
        f"{text[:ask]}SELECT (COUNT(?{one}) > 0 AS ?{name}){before}{{ "
        f"{{ SELECT DISTINCT ?{one} {{{body} {bind}}} }} {text[closes:]}"
    )
