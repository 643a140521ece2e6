"""Patterns of the next row, where it does not matter that none is between: one is if any is."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from ontoweir.rewriter.clauses.list_items import Item, ItemKind, close_of, list_items
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken

_WORDS = ("a", "true", "false")
_IMPLIED = {">": (">", ">="), ">=": (">=",)}
_TURNED = {"<": ">", "<=": ">="}
_Limit = tuple[SparqlToken, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    """`GRAPH ?time { block } FILTER(limits)`, and what must be absent beside it."""

    time: str
    block: tuple[SparqlToken, ...]
    limits: tuple[_Limit, ...]
    absent: Item | None


def drop_between(tokens: Sequence[SparqlToken], opens: int, outer: Set[str]) -> Item | None:
    """Of `GRAPH ?u { Q } FILTER(?u > ?t && …) FILTER NOT EXISTS { GRAPH ?x { R } FILTER(?x > ?t &&
    ?x < ?u) }` the NOT EXISTS, without which there is a match beside the same solutions.

    A row of which R is true is one of which Q is, where R says what Q does, in variables of its
    own; so the first of the rows of Q has none before it. What else FILTER says of ?u is how late
    it may be, which is true of earlier rows too (None: anything else is said).

    Args:
        tokens: those of a query.
        opens: the place of the brace before these patterns.
        outer: the names of the variables of the solutions.
    """
    row = _read(tokens, opens)
    if row is None or row.absent is None:
        return None
    between = _read(tokens, row.absent.braces[0][0])
    if between is None or between.absent is not None or not _is_alike(row, between, outer):
        return None
    after = [low for one in row.limits if (low := _read_low(one, row.time, outer)) is not None]
    late = [one for one in row.limits if _read_low(one, row.time, outer) is None]
    there = [low for one in between.limits if (low := _read_low(one, between.time, outer))]
    ends = [one for one in between.limits if _read_low(one, between.time, outer) is None]
    if len(after) != 1 or len(there) != 1 or len(ends) != 1:
        return None
    ((op, start),), ((own, its),) = after, there
    before = [t.text.replace("$", "?") for t in ends[0]]
    ordered = (
        [f"?{between.time}", "<", f"?{row.time}"],
        [f"?{row.time}", ">", f"?{between.time}"],
    )
    said = before in ordered and start == its and op in _IMPLIED[own]
    return row.absent if said and all(_is_end(one, row.time, outer) for one in late) else None


def _read(tokens: Sequence[SparqlToken], opens: int) -> _Row | None:
    """A row, its limits and what is absent beside it (None: something else is in the group)."""
    block: tuple[SparqlToken, ...] = ()
    limits, absent, time = list[_Limit](), list[Item](), ""
    for item in list_items(tokens, opens):
        if item.kind is ItemKind.GRAPH and not time and tokens[item.first + 1].kind == "var":
            time, (first, last) = _name(tokens[item.first + 1]), item.braces[0]
            block = tuple(tokens[first + 1 : last])
        elif item.kind is ItemKind.FILTER and tokens[item.first + 1].text == "(":
            if close_of(tokens, item.first + 1) != item.last:
                return None
            limits += _split(tokens[item.first + 2 : item.last])
        elif item.kind is ItemKind.ABSENT:
            absent.append(item)
        else:
            return None
    plain = all(t.kind != "word" or t.text in _WORDS for t in block)
    if not time or not plain or any(t.text in "{}" for t in block) or len(absent) > 1:
        return None
    return _Row(time, block, tuple(limits), absent[0] if absent else None)


def _split(tokens: Sequence[SparqlToken]) -> list[_Limit]:
    """The conditions of a FILTER that hold together; one with parentheses, || or ! is none that is
    known."""
    found, one = list[_Limit](), list[SparqlToken]()
    for token in tokens:
        if token.text == "&&":
            found.append(tuple(one))
            one = []
        else:
            one.append(token)
    return [*found, tuple(one)]


def _is_alike(row: _Row, between: _Row, outer: Set[str]) -> bool:
    """Whether the block of what is between says the same, in variables that are not of the
    solutions; and the times are variables of their own."""
    if len(row.block) != len(between.block):
        return False
    renamed: dict[str, str] = {}
    for mine, its in zip(row.block, between.block, strict=True):
        if mine.kind != its.kind or (mine.kind != "var" and mine.text != its.text):
            return False
        if mine.kind != "var":
            continue
        name, other = _name(mine), _name(its)
        if name in outer and name != other:
            return False
        if renamed.setdefault(name, other) != other:
            return False
    named = {*outer, *renamed, *renamed.values()}
    return row.time != between.time and not {row.time, between.time} & named


def _read_low(limit: _Limit, time: str, outer: Set[str]) -> tuple[str, str] | None:
    """What a time is after, a variable of the solutions, and whether at it (None: it says no such
    thing)."""
    if len(limit) != 3 or limit[0].kind != "var" or limit[2].kind != "var":
        return None
    left, op, right = _name(limit[0]), limit[1].text, _name(limit[2])
    if op in _TURNED:
        left, op, right = right, _TURNED[op], left
    return (op, right) if left == time and op in _IMPLIED and right in outer else None


def _is_end(limit: _Limit, time: str, outer: Set[str]) -> bool:
    """Whether a condition says how late a time is at most: `?u <= …`, or `?u - ?t <= …`."""
    if not limit or limit[0].kind != "var" or _name(limit[0]) != time:
        return False
    if any(t.text in ("(", ")", "||", "!", "=", "!=", ">", ">=") for t in limit):
        return False
    if any(t.kind == "var" and _name(t) not in outer for t in limit[1:]):
        return False
    if sum(t.text in ("<", "<=") for t in limit) != 1:
        return False
    return limit[1].text in ("<", "<=") or (
        len(limit) > 4 and limit[1].text == "-" and limit[3].text in ("<", "<=")
    )


def _name(token: SparqlToken) -> str:
    return token.text[1:]
