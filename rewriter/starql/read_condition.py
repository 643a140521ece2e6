"""Read the condition of HAVING."""

from ontoweir.errors import QueryError
from ontoweir.rewriter.rsp.window import refuse
from ontoweir.rewriter.starql.condition import (
    Both,
    Compared,
    Condition,
    Denied,
    Quantified,
    State,
)
from ontoweir.rewriter.starql.read_head import StarqlReader
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken

_COMPARE = ("<", "<=", "=", ">=", ">", "!=")
_SIGNS = (*_COMPARE, "+", "-", "*", "/")
_WORDS = ("AND", "OR", "THEN", "GROUP", "HAVING", "USING", "SEQUENCE")


def read_condition(reader: StarqlReader) -> Condition:
    """The condition that is next: AND, OR, NOT, IF … THEN, EXISTS, FORALL, GRAPH, comparisons.

    Raises:
        QueryError: what is not read, by its name and place.
    """
    parts = [_read_all(reader)]
    while _is_next(reader, "OR"):
        reader.take()
        parts.append(_read_all(reader))
    return parts[0] if len(parts) == 1 else Both(tuple(parts), any=True)


def _read_all(reader: StarqlReader) -> Condition:
    parts = [_read_one(reader)]
    while _is_next(reader, "AND"):
        reader.take()
        parts.append(_read_one(reader))
    return parts[0] if len(parts) == 1 else Both(tuple(parts))


def _read_one(reader: StarqlReader) -> Condition:
    if reader.is_word("NOT"):
        return Denied(part=_read_one_after(reader), token=reader.tokens.tokens[reader.at - 1])
    if reader.is_word("EXISTS", "FORALL"):
        return _read_quantified(reader)
    if reader.is_word("GRAPH"):
        return _read_state(reader)
    if reader.is_word("IF"):
        raise refuse(
            "IF … THEN outside of FORALL",
            "what it says of values that nothing bounds is not safe",
            "write FORALL i IN SEQ ?x (IF … THEN …), or NOT a OR b",
            reader.place(),
        )
    if reader.token.text == "(" and not _is_value(reader):
        reader.take()
        made = read_condition(reader)
        reader.need_text(")")
        return made
    return _read_comparison(reader)


def _read_one_after(reader: StarqlReader) -> Condition:
    reader.take()
    return _read_one(reader)


def _read_state(reader: StarqlReader) -> State:
    reader.take()
    index = reader.take()
    if index.kind != "word" or index.text.upper() == "NOW":
        raise refuse(
            f"GRAPH {index.text}",
            "a state is named by an index that EXISTS or FORALL quantifies",
            "write EXISTS i IN SEQ ( GRAPH i { … } )",
            reader.place(index),
        )
    if reader.token.text != "{":
        raise reader.unexpected("{")
    made: list[SparqlToken] = []
    while True:
        if made and (reader.token.text == "{" or reader.is_word("FILTER", "OPTIONAL", "UNION")):
            raise refuse(
                f"{reader.token.text} inside of GRAPH",
                "a state is asked for triples",
                "write comparisons, AND, OR and NOT around GRAPH",
                reader.place(),
            )
        made.append(reader.take())
        if made[-1].text == "}":
            return State(index, tuple(made))


def _read_quantified(reader: StarqlReader) -> Quantified:
    token = reader.take()
    indices: list[SparqlToken] = []
    while reader.token.kind == "word" and not reader.is_word("IN"):
        indices.append(reader.take())
        if reader.token.text == ",":
            reader.take()
    if indices:
        reader.need("IN")
        reader.take()  # the sequence, of which there is one
    variables: list[SparqlToken] = []
    while reader.token.kind == "var":
        variables.append(reader.take())
        if reader.token.text == ",":
            reader.take()
    reader.need_text("(")
    if token.text.upper() == "EXISTS":
        made = Quantified(token, tuple(indices), tuple(variables), read_condition(reader))
    else:
        given, body = _read_rule(reader, token)
        made = Quantified(token, tuple(indices), tuple(variables), body, given, all=True)
    reader.need_text(")")
    return made


def _read_rule(reader: StarqlReader, token: SparqlToken) -> tuple[Condition, Condition]:
    """`IF a THEN b`, which NOT a OR b says, too."""
    opened = 0
    while reader.token.text == "(" and reader.ahead(1, "IF"):
        reader.take()
        opened += 1
    if reader.is_word("IF"):
        reader.take()
        given = read_condition(reader)
        reader.need("THEN")
        body = read_condition(reader)
    else:
        given, body = _turn(read_condition(reader), reader, token)
    for _ in range(opened):
        reader.need_text(")")
    return given, body


def _turn(said: Condition, reader: StarqlReader, token: SparqlToken) -> tuple[Condition, Condition]:
    match said:
        case Both(parts=(Denied(part=given), *rest), any=True) if rest:
            return given, rest[0] if len(rest) == 1 else Both(tuple(rest), any=True)
        case Denied(part=given):
            return given, Both((), any=True)
        case _:
            raise _refuse_unsafe(reader, token)


def _refuse_unsafe(reader: StarqlReader, token: SparqlToken) -> QueryError:
    return refuse(
        f"{token.text} without IF … THEN",
        "what holds of all values is said of those that a state has: else it is not safe",
        "write FORALL i IN SEQ ?x (IF GRAPH i { … } THEN …)",
        reader.place(token),
    )


def _read_comparison(reader: StarqlReader) -> Compared:
    start, depth = reader.at, 0
    while True:
        token = reader.token
        stops = reader.is_word(*_WORDS) or token.text in (")", "}", "{", ",")
        if not depth and stops:
            break
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        reader.take()
        if reader.at == len(reader.tokens.tokens):
            break
    made = reader.tokens.tokens[start : reader.at]
    if sum(t.text in _COMPARE for t in made) != 1:
        reader.at = start
        raise reader.unexpected("a comparison, GRAPH, EXISTS, FORALL or NOT")
    return Compared(made)


def _is_value(reader: StarqlReader) -> bool:
    """Whether the parentheses that are next are around a value: a sign follows."""
    depth, tokens = 0, reader.tokens.tokens
    for n in range(reader.at, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[n].text, 0)
        if not depth:
            return n + 1 < len(tokens) and tokens[n + 1].text in _SIGNS
    return False


def _is_next(reader: StarqlReader, word: str) -> bool:
    return reader.at < len(reader.tokens.tokens) and reader.is_word(word)
