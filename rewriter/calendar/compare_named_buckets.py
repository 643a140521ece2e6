"""Comparisons of the bucket of a time with where one begins, in SPARQL."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from ontoweir.mappings.model.column_types import XSD, epoch_us, parse_instant
from ontoweir.mappings.model.time_bucket import CalendarBuckets, FixedBuckets
from ontoweir.rewriter.buckets.read_width import read_width
from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.list_items import close_of
from ontoweir.rewriter.model.query import Literal
from ontoweir.rewriter.syntax.group_binds import expand_name, list_prefixes
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken

_TUMBLE = "urn:ontoweir:tumble"
_FLIP = {"<": ">", "<=": ">=", "=": "=", ">=": "<=", ">": "<"}
_BEFORE, _AFTER = ("(", "&&", "||"), (")", "&&", "||")
_MODIFIERS = ("GROUP", "ORDER", "HAVING", "LIMIT", "OFFSET")
_WITHIN = ("FILTER", "HAVING", "BIND")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_Grid = FixedBuckets | CalendarBuckets


@dataclass(frozen=True, slots=True)
class Call:
    """`ow:tumble(?t, …)`: its time as it is written, its buckets, its width as it is written, and
    the places of its first and last token."""

    time: str
    grid: _Grid
    width: str
    first: int
    last: int


def compare_named_buckets(text: str) -> str:
    """`ow:tumble(?t, W) = X` as `(?t >= X && ?t < X + W)`, and so with <, <=, > and >=, on its
    lines; X is a dateTime, or a variable that is where such a bucket begins: of which nothing is
    said but `(ow:tumble(?u, W) AS ?x)`. Other texts are as they were.

    A dateTime at which no bucket begins equals none: two limits that no time meets are left.
    """
    if "tumble" not in text:
        return text
    edit = Edit(text)
    tokens = edit.tokens
    names = list_prefixes(tokens)
    for n in range(len(tokens)):
        call = read_call(tokens, n, names)
        if call is None:
            continue
        found = _read_other(tokens, call)
        if found is None:
            continue
        op, (low, high), first, last = found
        made = _limit(tokens, call, op, (low, high), names)
        if made is None:
            continue
        edit.blank(first, last)
        edit.before(first, made)
    return edit.finish()


def read_call(tokens: Sequence[SparqlToken], n: int, names: dict[str, str]) -> Call | None:
    """The call of ow:tumble at a place, of a variable and literals."""
    if expand_name(tokens[n], names) != _TUMBLE or n + 1 >= len(tokens):
        return None
    if tokens[n + 1].text != "(":
        return None
    last = close_of(tokens, n + 1)
    commas = [k for k in range(n + 2, last) if tokens[k].text == ","]
    if len(commas) not in (1, 2) or commas[0] != n + 3 or tokens[n + 2].kind != "var":
        return None
    given = [_read_literal(tokens, a + 1, b - 1, names) for a, b in pairwise([*commas, last])]
    grid = read_width(given[0], given[1] if len(given) == 2 else None)
    if grid is None or None in given:
        return None
    end = commas[1] if len(commas) == 2 else last
    width = "".join(t.text for t in tokens[commas[0] + 1 : end])
    return Call(tokens[n + 2].text, grid, width, n, last)


def _read_literal(
    tokens: Sequence[SparqlToken], first: int, last: int, names: dict[str, str]
) -> Literal | None:
    """The literal that some tokens are, with or without a datatype."""
    if first > last or tokens[first].kind != "string" or tokens[first].text[:3] in ('"""', "'''"):
        return None
    lexical = tokens[first].text[1:-1]
    if "\\" in lexical:
        return None
    if first == last:
        return Literal(lexical, f"{XSD}string")
    if last != first + 2 or tokens[first + 1].text != "^^":
        return None
    datatype = expand_name(tokens[last], names)
    return None if datatype is None else Literal(lexical, datatype)


def _read_other(
    tokens: Sequence[SparqlToken], call: Call
) -> tuple[str, tuple[int, int], int, int] | None:
    """What a call is compared with: the operator, its first and last token, and those of the whole
    comparison, which stands by itself between brackets and connectives."""
    after, before = call.last + 1, call.first - 1
    if after < len(tokens) and tokens[after].text in _FLIP:
        low, high = after + 1, _end_of(tokens, after + 1)
        op, first, last = tokens[after].text, call.first, high
    elif before > 0 and tokens[before].text in _FLIP:
        low, high = _begin_of(tokens, before - 1), before - 1
        op, first, last = _FLIP[tokens[before].text], low, call.last
    else:
        return None
    if first < 1 or last + 1 >= len(tokens):
        return None
    if tokens[first - 1].text not in _BEFORE or tokens[last + 1].text not in _AFTER:
        return None
    return op, (low, high), first, last


def _end_of(tokens: Sequence[SparqlToken], n: int) -> int:
    """The last token of the variable or literal that begins at a place."""
    return n + 2 if n + 2 < len(tokens) and tokens[n + 1].text == "^^" else n


def _begin_of(tokens: Sequence[SparqlToken], n: int) -> int:
    """The first token of the variable or literal that ends at a place."""
    return n - 2 if n >= 2 and tokens[n - 1].text == "^^" else n


def _limit(
    tokens: Sequence[SparqlToken],
    call: Call,
    op: str,
    other: tuple[int, int],
    names: dict[str, str],
) -> str | None:
    """The limits of the time that a comparison means (None: it is not known what is meant)."""
    low, high = other
    if low == high and tokens[low].kind == "var":
        if call.grid.even is None or not _is_start(tokens, tokens[low].text[1:], call, names):
            return None
        begin = tokens[low].text
        width = call.width.replace('"P1W"', '"P7D"').replace("'P1W'", "'P7D'")
        return _write(call.time, op, begin, f"{begin} + {width}", begin)
    literal = _read_literal(tokens, low, high, names)
    if literal is None or literal.datatype != f"{XSD}dateTime":
        return None
    try:
        time = epoch_us(parse_instant(literal.lexical))
        start = call.grid.start(time)
        begin, end, least = map(
            _write_instant, (time, call.grid.end(start), _next_start(call.grid, time))
        )
    except (ValueError, OverflowError):
        return None
    if op == "=" and start != time:
        return f"({call.time} < {begin} && {call.time} > {begin})"
    return _write(call.time, op, begin, end, least)


def _next_start(grid: _Grid, time: int) -> int:
    """Where the first bucket begins that begins then or later."""
    start = grid.start(time)
    return start if start == time else grid.end(start)


def _write(time: str, op: str, begin: str, end: str, least: str) -> str:
    """The limits of a time whose bucket is compared; `begin` and `end`: of the bucket that is
    compared with; `least`: where the first one begins that is not before it."""
    match op:
        case "=":
            return f"({time} >= {begin} && {time} < {end})"
        case "<":
            return f"{time} < {least}"
        case ">=":
            return f"{time} >= {least}"
        case "<=":
            return f"{time} < {end}"
        case _:
            return f"{time} >= {end}"


def _write_instant(time_us: int) -> str:
    moment = (_EPOCH + timedelta(microseconds=time_us)).isoformat().replace("+00:00", "Z")
    return f'"{moment}"^^<{XSD}dateTime>'


def _is_start(tokens: Sequence[SparqlToken], name: str, call: Call, names: dict[str, str]) -> bool:
    """Whether a variable is where a bucket of the call's begins, wherever it has a value: each AS
    before it is of such a call, and it is in no pattern and no VALUES."""
    named = False
    for n, token in enumerate(tokens):
        if token.kind != "var" or token.text[1:] != name:
            continue
        if tokens[n - 1].text.upper() == "AS":
            opens = _opening(tokens, n, "(")
            made = None if opens is None else read_call(tokens, opens + 1, names)
            if made is None or made.last != n - 2 or made.grid.even != call.grid.even:
                return False
            named = True
        elif not _is_asked(tokens, n):
            return False
    return named


def _is_asked(tokens: Sequence[SparqlToken], n: int) -> bool:
    """Whether a variable is in the head of a SELECT, after the braces of one, or in a FILTER, a
    HAVING or a BIND: where it is read, and nothing is said of it."""
    outer, opens = None, _opening(tokens, n, "(")
    while opens is not None:
        outer, opens = opens, _opening(tokens, opens, "(")
    if outer is not None:
        before = [t.text.upper() for t in tokens[max(outer - 2, 0) : outer]]
        if any(word in _WITHIN for word in before):
            return True
    place = n if outer is None else outer
    for token in reversed(tokens[:place]):
        word = token.text.upper()
        if word in ("{", "}", ".", "VALUES"):
            return False
        if token.kind == "word" and word in ("SELECT", *_MODIFIERS):
            return True
    return False


def _opening(tokens: Sequence[SparqlToken], n: int, bracket: str) -> int | None:
    """Where the bracket opens that is around a place, within the same braces."""
    depth = 0
    for k in range(n - 1, -1, -1):
        text = tokens[k].text
        if tokens[k].kind == "op" and text in ("{", "}"):
            return None
        depth += {")": 1, bracket: -1}.get(text, 0)
        if depth < 0:
            return k
    return None
