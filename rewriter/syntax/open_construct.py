"""A CONSTRUCT as the SELECT DISTINCT of its triples."""

from collections.abc import Iterator, Sequence

from ontoweir.errors import QueryError, Source
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens

_ROLES = ("subject", "predicate", "object")
_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def open_construct(text: str, file: str) -> str:
    """`CONSTRUCT { T } WHERE { P }` as `SELECT DISTINCT ?subject ?predicate ?object`, of P once for
    each triple of T, which are united. Variables of a triple are called after their places in it,
    and its constants are bound: a triple is an answer when the first solution is that makes it.
    Another text is as it was.

    Raises:
        QueryError: T has blank nodes, lists or no triple.
    """
    tokens = Tokens(text).tokens
    start = next((n for n, t in enumerate(tokens) if t.text == "{"), len(tokens))
    word = next((n for n in range(start) if _is_word(tokens[n], "CONSTRUCT")), None)
    if word is None or start == len(tokens):
        return text
    end = _close(tokens, start)
    if word + 1 == start:
        opens = next((n for n in range(end + 1, len(tokens)) if tokens[n].text == "{"), None)
    else:
        opens = start  # CONSTRUCT WHERE { T }: T is both
    if opens is None:
        return text
    triples = list(_list_triples(tokens[start + 1 : end], file))
    if not triples:
        raise _refuse("CONSTRUCT of no triple", "write a triple in its braces", tokens[word], file)
    closes = _close(tokens, opens)
    used = {t.text[1:] for t in tokens if t.kind == "var"}
    bodies = [
        _write_body(text, tokens[opens + 1 : closes], triple, used, whole=number == 0)
        for number, triple in enumerate(triples)
    ]
    clauses = text[tokens[end].offset + 1 : tokens[opens].offset] if opens != start else " WHERE "
    shown = " ".join(f"?{role}" for role in _ROLES)
    union = bodies[0] if len(bodies) == 1 else " UNION ".join(f"{{ {body} }}" for body in bodies)
    repeated = next((t for t in triples if len({*t} - _constants(t)) < _variables(t)), None)
    if repeated is not None and len(bodies) > 1:
        fix = f"write a CONSTRUCT of its own for {' '.join(repeated)}"
        raise _refuse("a triple of one variable twice, beside others", fix, tokens[word], file)
    return (
        f"{text[: tokens[word].offset]}SELECT DISTINCT {shown}{clauses}{{ {union} }}"
        f"{text[tokens[closes].offset + 1 :]}"
    )


def _constants(triple: tuple[str, str, str]) -> set[str]:
    return {term for term in triple if term[:1] not in "?$"}


def _variables(triple: tuple[str, str, str]) -> int:
    return sum(term[:1] in "?$" for term in triple)


def _is_word(token: SparqlToken, text: str) -> bool:
    return token.kind == "word" and token.text.upper() == text


def _close(tokens: Sequence[SparqlToken], opens: int) -> int:
    depth = 0
    for n in range(opens, len(tokens)):
        depth += {"{": 1, "}": -1}.get(tokens[n].text, 0)
        if depth == 0:
            return n
    return len(tokens) - 1


def _list_triples(tokens: Sequence[SparqlToken], file: str) -> Iterator[tuple[str, str, str]]:
    """The triples of a template, as texts of terms."""
    terms: list[str] = []
    n = 0
    while n < len(tokens):
        token = tokens[n]
        if token.text in ("[", "]", "(", ")") or token.text.startswith("_:"):
            fix = "write an IRI, or a variable: each solution would have a blank node of its own"
            raise _refuse("a blank node, or a list, in CONSTRUCT", fix, token, file)
        if token.text in (".", ";", ","):
            terms = terms[: {".": 0, ";": 1, ",": 2}[token.text]]
            n += 1
            continue
        text, n = _read_term(tokens, n)
        terms.append(text)
        if len(terms) == 3:
            yield terms[0], terms[1], terms[2]


def _read_term(tokens: Sequence[SparqlToken], n: int) -> tuple[str, int]:
    """The text of a term, and the place after it."""
    text = tokens[n].text
    if text == "a" and tokens[n].kind == "word":
        return _TYPE, n + 1
    if text in ("-", "+") and n + 1 < len(tokens):
        return text + tokens[n + 1].text, n + 2
    following = tokens[n + 1].text if n + 1 < len(tokens) else ""
    if tokens[n].kind == "string" and following in ("^^", "@"):
        stop = n + 3
        while following == "@" and stop + 1 < len(tokens) and tokens[stop].text == "-":
            stop += 2  # "…"@en-GB
        return "".join(t.text for t in tokens[n:stop]), stop
    return text, n + 1


def _write_body(
    text: str,
    tokens: Sequence[SparqlToken],
    triple: tuple[str, str, str],
    used: set[str],
    *,
    whole: bool,
) -> str:
    """The pattern of one triple; `whole`: on its lines."""
    named: dict[str, str] = {}
    binds = []
    for role, term in zip(_ROLES, triple, strict=True):
        if term[:1] in "?$" and term[1:] not in named:
            named[term[1:]] = role
        elif term[:1] in "?$":
            binds.append(f"BIND(?{named[term[1:]]} AS ?{role})")
        else:
            binds.append(f"BIND({term} AS ?{role})")
    for role in _ROLES:  # what is called so, and is something else
        if role in used and role not in named:
            other = f"{role}_"
            while other in used:
                other += "_"
            named[role] = other
    made, last = [], tokens[0].offset if tokens else 0
    for token in tokens:
        gap = text[last : token.offset]
        made.append(gap if whole or not ("\n" in gap or "#" in gap) else " ")
        name = named.get(token.text[1:]) if token.kind == "var" else None
        made.append(token.text if name is None else f"?{name}")
        last = token.offset + len(token.text)
    body = "".join(made)
    if tokens and _is_word(tokens[0], "SELECT"):
        body = f"{{ {body} }}"
    return " ".join([body, *binds])


def _refuse(what: str, fix: str, token: SparqlToken, file: str) -> QueryError:
    return QueryError(
        what,
        why="CONSTRUCT is read as a SELECT DISTINCT of the triples of its template",
        fix=fix,
        source=Source(file, token.line),
    )
