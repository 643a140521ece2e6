"""Functions of Flink SQL and of the SQL standard, in the words that are read."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

_SIZES = {"TUMBLE": 1, "HOP": 2}
"""The place of a window's length among the arguments, by its kind."""
_ANY = r"(.|\n)"
_LITERAL = re.compile(r"[.^$\\]")


def read_flink_functions(tree: "exp.Query") -> "exp.Query":
    """A query with functions in other words; changed in place.

    `TUMBLE_ROWTIME`, `HOP_ROWTIME` and `SESSION_ROWTIME` are the last millisecond of a window.
    `SPLIT_INDEX(x, text, n)` is the part n, counted from 0; NULL where there are fewer. `SIMILAR
    TO` matches a whole text by the standard's patterns. Where a query groups by TUMBLE or HOP and
    computes something of where the window begins or ends, it groups by where it begins.
    """
    from sqlglot import exp

    for node in list(tree.find_all(exp.Anonymous)):
        kind, _, part = node.name.upper().rpartition("_")
        if part == "ROWTIME" and kind in (*_SIZES, "SESSION"):
            end = exp.Anonymous(this=f"{kind}_END", expressions=node.expressions)
            node.replace(exp.paren(exp.Sub(this=end, expression=_length("0.001")), copy=False))
        elif node.name.upper() == "SPLIT_INDEX" and (made := _split(node)) is not None:
            node.replace(made)
    for similar in list(tree.find_all(exp.SimilarTo)):
        pattern = similar.expression
        if isinstance(pattern, exp.Literal) and pattern.is_string and "\\" not in pattern.name:
            regex = exp.Literal.string(_as_regex(pattern.name))
            similar.replace(exp.RegexpLike(this=similar.this, expression=regex))
    for select in tree.find_all(exp.Select):
        _begin_windows(select)
    return tree


def _length(seconds: str) -> "exp.Interval":
    from sqlglot import exp

    return exp.Interval(this=exp.Literal.string(seconds), unit=exp.var("SECOND"))


def _split(node: "exp.Anonymous") -> "exp.Expr | None":
    """SPLIT_INDEX as SPLIT_PART, where the text has so many parts (None: it has others than a text
    between parts, and a number)."""
    from sqlglot import exp

    if len(node.expressions) != 3:
        return None
    text, between, place = node.expressions
    if not (isinstance(between, exp.Literal) and between.is_string and between.name):
        return None
    if not (isinstance(place, exp.Literal) and place.is_int):
        return None
    whole = exp.Length(this=text.copy())
    without = exp.Replace(this=text.copy(), expression=between.copy(), replacement=_text(""))
    rest = exp.Length(this=without)
    enough = exp.GTE(
        this=exp.Sub(this=whole, expression=rest),
        expression=exp.Literal.number(int(place.name) * len(between.name)),
    )
    there = exp.GT(this=whole.copy(), expression=exp.Literal.number(0))
    part = exp.SplitPart(
        this=text.copy(),
        delimiter=between.copy(),
        part_index=exp.Literal.number(int(place.name) + 1),
    )
    return exp.Case(ifs=[exp.If(this=exp.and_(there, enough, copy=False), true=part)])


def _text(value: str) -> "exp.Literal":
    from sqlglot import exp

    return exp.Literal.string(value)


def _as_regex(pattern: str) -> str:
    """A pattern of SIMILAR TO as a regular expression of a whole text."""
    made, inside = [], False
    for char in pattern:
        inside = char == "[" or (inside and char != "]")
        if inside:
            made.append(char)
        elif char == "%":
            made.append(f"{_ANY}*")
        else:
            made.append(_ANY if char == "_" else _LITERAL.sub(r"\\\g<0>", char))
    return f"^({''.join(made)})$"


def _begin_windows(select: "exp.Select") -> None:
    """Group by where windows begin, if something is computed of that, or of where they end."""
    from sqlglot import exp

    group = select.args.get("group")
    if group is None:
        return
    for item in list(group.expressions):
        kind = item.name.upper().removesuffix("_START") if isinstance(item, exp.Anonymous) else ""
        if kind not in _SIZES or len(item.expressions) <= _SIZES[kind]:
            continue
        given = item.expressions
        ends = _calls(group.expressions, f"{kind}_END", given)
        clauses = map(select.args.get, ("having", "qualify", "order"))
        shown = [*select.expressions, *(c for c in clauses if c is not None)]
        begun = _calls(shown, f"{kind}_START", given)
        ended = _calls(shown, f"{kind}_END", given)
        if ends or not any(_is_computed(call, select) for call in (*begun, *ended)):
            continue
        begin = exp.Anonymous(this=f"{kind}_START", expressions=given)
        item.replace(begin.copy())
        for call in ended:
            size = given[_SIZES[kind]].copy()
            call.replace(exp.paren(exp.Add(this=begin.copy(), expression=size), copy=False))


def _calls(
    trees: "Sequence[exp.Expr]", name: str, given: "list[exp.Expr]"
) -> "list[exp.Anonymous]":
    from sqlglot import exp

    return [
        call
        for tree in trees
        for call in tree.find_all(exp.Anonymous)
        if call.name.upper() == name and call.expressions == given
    ]


def _is_computed(call: "exp.Anonymous", select: "exp.Select") -> bool:
    """Whether a call is more than a column of the result."""
    from sqlglot import exp

    above = call.parent.parent if isinstance(call.parent, exp.Alias) else call.parent
    return above is not select
