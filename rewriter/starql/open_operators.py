"""Operators that a text of STARQL defines, as what they stand for ([ÖMN], section 4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from ontoweir.errors import Source
from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.list_items import close_of
from ontoweir.rewriter.rsp.window import refuse
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens

_QUANTIFIERS = ("EXISTS", "FORALL")
_BEGINS = ("CREATE", "PREFIX", "BASE", "SELECT", "CONSTRUCT")


@dataclass(frozen=True, slots=True)
class _Operator:
    """The tokens of its name, its parameters, and the condition that it stands for."""

    name: tuple[str, ...]
    parameters: tuple[str, ...]
    body: tuple[SparqlToken, ...]


def open_operators(text: str, file: str) -> str:
    """The text with the conditions of CREATE AGGREGATE OPERATOR in the place of their names, on the
    lines of these; what they quantify has names of its own. One that reads another one comes after
    it.

    Args:
        text: of STARQL.
        file: where it is.

    Raises:
        QueryError: an operator is not defined, or asked for, as it should be.
    """
    fresh = count(1)
    while True:
        tokens = Tokens(text).tokens
        words = [t.text.upper() for t in tokens]
        starts = (n for n in range(len(words)) if words[n : n + 2] == ["CREATE", "AGGREGATE"])
        start = next(starts, None)
        if start is None:
            return text
        operator, end = _read_operator(tokens, start, file)
        edit = Edit(text)
        edit.blank(start, end - 1)
        _replace_calls(edit, tokens, end, operator, fresh, file)
        text = edit.finish()


def _read_operator(tokens: Sequence[SparqlToken], start: int, file: str) -> tuple[_Operator, int]:
    """The operator that is defined from a token on, and where what follows it begins."""
    place = Source(file, tokens[start].line)
    opens = next((n for n in range(start, len(tokens)) if tokens[n].text == "("), len(tokens))
    name = tuple(t.text for t in tokens[start + 3 : opens])
    closes = close_of(tokens, opens) if opens < len(tokens) else opens
    given = [t.text for t in tokens[opens + 1 : closes]]
    plain = all((text == ",") == bool(n % 2) for n, text in enumerate(given))
    told = closes + 1 < len(tokens) and tokens[closes + 1].text.upper() == "AS"
    if not name or not plain or not told or tokens[start + 2].text.upper() != "OPERATOR":
        raise refuse(
            f"CREATE AGGREGATE OPERATOR {''.join(name[:3])}",
            "it has a name, parameters in parentheses, and a condition",
            "write CREATE AGGREGATE OPERATOR rises($x, seq) AS FORALL i, j IN seq ?v, ?w ( … )",
            place,
        )
    first = closes + 2 + (tokens[closes + 2].text.upper() == "HAVING")
    end = first
    while end < len(tokens) and tokens[end].text.upper() not in _BEGINS:
        end = close_of(tokens, end) + 1 if tokens[end].text in ("(", "{") else end + 1
    return _Operator(name, tuple(given[::2]), tuple(tokens[first:end])), end


def _replace_calls(
    edit: Edit,
    tokens: Sequence[SparqlToken],
    start: int,
    operator: _Operator,
    fresh: "count[int]",
    file: str,
) -> None:
    """Put the condition in the place of each call behind a token."""
    size = len(operator.name)
    n = start
    while n < len(tokens):
        called = tuple(t.text for t in tokens[n : n + size]) == operator.name
        opens = n + size
        if not called or opens >= len(tokens) or tokens[opens].text != "(":
            n += 1
            continue
        closes = close_of(tokens, opens)
        given = _list_arguments(tokens[opens + 1 : closes])
        if len(given) != len(operator.parameters):
            raise refuse(
                f"{''.join(operator.name)} of {len(given)} arguments",
                f"it has {len(operator.parameters)} parameters",
                "write one for each",
                Source(file, tokens[n].line),
            )
        names = dict(zip(operator.parameters, given, strict=True))
        edit.blank(n, closes)
        edit.before(n, f"( {_write_body(operator, names, next(fresh))} )")
        n = closes + 1


def _list_arguments(tokens: Sequence[SparqlToken]) -> list[str]:
    """The texts between commas."""
    made = [list[str]()]
    for token in tokens:
        if token.text == ",":
            made.append([])
        else:
            made[-1].append(token.text)
    return [" ".join(words) for words in made if words]


def _write_body(operator: _Operator, names: Mapping[str, str], number: int) -> str:
    """The condition with arguments for parameters, and names of its own for what it quantifies."""
    own = {t.text for t in operator.body if t.kind == "var"}
    for place, token in enumerate(operator.body):
        if token.text.upper() in _QUANTIFIERS:
            rest = operator.body[place + 1 :]
            closes = next((k for k, t in enumerate(rest) if t.text.upper() == "IN"), 0)
            own |= {t.text for t in rest[:closes] if t.kind in ("word", "var")}
    own -= {*names}
    made = []
    for token in operator.body:
        text = names.get(token.text, token.text)
        made.append(f"{text}_{number}_" if token.text in own else text)
    return " ".join(made)
