"""Reads functions of texts in expressions of SQL."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ontoweir.mappings.expressions import build
from ontoweir.mappings.model.catalog import BooleanType, IntType, StringType
from ontoweir.mappings.model.expression import Call, Expression, Function, Value

if TYPE_CHECKING:
    from sqlglot import exp


def read_text_function(
    tree: exp.Expr, read: Callable[[exp.Expr], Expression], refuse: Callable[..., Exception]
) -> Expression | None:
    """The function of texts that is written; None: it is none.

    Raises:
        SqlRefusal: a pattern, place or length that is no constant, or that SQLs read differently.
    """
    from sqlglot import exp

    def text(inner: exp.Expr) -> Expression:
        made = read(inner)
        build.require(made, StringType(), f"an argument of {tree.key.upper()}")
        return build.cast(made, StringType())

    def constant(inner: exp.Expr, kind: type) -> Any:
        made = read(inner)
        if not isinstance(made, Value) or not isinstance(made.value, kind):
            raise refuse(tree, why="its pattern, place and length are constants")
        return made.value

    simple: dict[type, Function] = {
        exp.Upper: Function.UPPER,
        exp.Lower: Function.LOWER,
        exp.Length: Function.LENGTH,
    }
    tests: dict[type, Function] = {
        exp.StartsWith: Function.STARTS_WITH,
        exp.EndsWith: Function.ENDS_WITH,
        exp.Contains: Function.CONTAINS,
        exp.Like: Function.LIKE,
        exp.ILike: Function.ILIKE,
        exp.RegexpLike: Function.MATCHES,
    }
    if isinstance(tree, (exp.Concat, exp.DPipe)) and not isinstance(tree, exp.ConcatWs):
        parts = tree.expressions if isinstance(tree, exp.Concat) else [tree.this, tree.expression]
        given = tuple(_as_text(read(p)) for p in parts)
        return Call(Function.CONCAT, given, StringType())
    if type(tree) in simple:
        function = simple[type(tree)]
        kind = IntType() if function is Function.LENGTH else StringType()
        return Call(function, (text(tree.this),), kind)
    given_test = tests.get(type(tree))
    if isinstance(tree, exp.Anonymous) and tree.name.upper() == "REGEXP_MATCHES":
        if len(tree.expressions) != 2:
            raise refuse(tree)
        subject, regex = tree.expressions
        _check_regex(constant(regex, str), tree, refuse)
        return _test(Function.MATCHES, text(subject), constant(regex, str))
    if given_test is not None:
        if _given(tree) - {"this", "expression", "negate", "safe"}:
            raise refuse(tree)
        pattern = constant(tree.expression, str)
        if given_test in (Function.LIKE, Function.ILIKE) and "\\" in pattern:
            raise refuse(tree, why="a backslash in LIKE is read differently")
        if given_test is Function.MATCHES:
            _check_regex(pattern, tree, refuse)
        made = _test(given_test, text(tree.this), pattern)
        return Call(Function.NOT, (made,), BooleanType()) if tree.args.get("negate") else made
    made_text = _read_made(tree, read, text, constant, refuse)
    return made_text or _read_piece(tree, text, constant, refuse)


def _read_made(
    tree: exp.Expr,
    read: Callable[[exp.Expr], Expression],
    text: Callable[[exp.Expr], Expression],
    constant: Callable[[exp.Expr, type], Any],
    refuse: Callable[..., Exception],
) -> Expression | None:
    """Functions that make a text of others, with constants."""
    from sqlglot import exp

    def call(function: Function, subject: exp.Expr, *rest: int | str) -> Expression:
        values = (Value(r, IntType() if isinstance(r, int) else StringType()) for r in rest)
        return Call(function, (text(subject), *values), StringType())

    match tree:
        case exp.Reverse():
            return call(Function.REVERSE, tree.this)
        case exp.MD5() | exp.SHA():
            return call(Function.MD5 if isinstance(tree, exp.MD5) else Function.SHA1, tree.this)
        case exp.SHA2():
            if constant(tree.args["length"], int) != 256:
                raise refuse(tree, why="of SHA2, 256 bits are read")
            return call(Function.SHA256, tree.this)
        case exp.Pad():
            function = Function.LEFT_PAD if tree.args.get("is_left") else Function.RIGHT_PAD
            fill = tree.args.get("fill_pattern")
            by = " " if fill is None else constant(fill, str)
            length = constant(tree.expression, int)
            if length < 0 or len(by) != 1:
                raise refuse(tree, why="it is padded by one character, to a length of 0 or more")
            return call(function, tree.this, length, by)
        case exp.Repeat():
            times = constant(tree.args["times"], int)
            if times < 0:
                raise refuse(tree, why="it is repeated 0 times or more")
            return call(Function.REPEAT, tree.this, times)
        case exp.SplitPart():
            by = constant(tree.args["delimiter"], str)
            part = constant(tree.args["part_index"], int)
            if not by or part < 1:
                raise refuse(tree, why="parts are counted from 1, and what is between them is read")
            return call(Function.SPLIT_PART, tree.this, by, part)
        case exp.ConcatWs():
            between, *parts = tree.expressions
            by = Value(constant(between, str), StringType())
            given = tuple(_as_text(read(p)) for p in parts)
            return Call(Function.CONCAT_WS, (by, *given), StringType())
        case exp.RegexpExtract():
            if _given(tree) - {"this", "expression", "group", "null_if_pos_overflow"}:
                raise refuse(tree)
            pattern = constant(tree.expression, str)
            _check_regex(pattern, tree, refuse)
            if "(?" in pattern:
                raise refuse(tree, why="plain groups are read")
            number = tree.args.get("group")
            group = 1 if number is None else constant(number, int)
            if not 0 <= group <= re.compile(pattern).groups:
                raise refuse(tree, why=f"the pattern has no group {group}")
            return call(Function.REGEX_EXTRACT, tree.this, pattern, group)
        case _:
            return None


def _read_piece(
    tree: exp.Expr,
    text: Callable[[exp.Expr], Expression],
    constant: Callable[[exp.Expr, type], Any],
    refuse: Callable[..., Exception],
) -> Expression | None:
    from sqlglot import exp

    match tree:
        case exp.Trim():
            if tree.args.get("expression") or tree.args.get("collation"):
                raise refuse(tree, why="spaces are trimmed, not other characters")
            sides = {"LEADING": Function.LTRIM, "TRAILING": Function.RTRIM}
            side = sides.get(str(tree.args.get("position") or ""), Function.TRIM)
            return Call(side, (text(tree.this),), StringType())
        case exp.Substring() | exp.Left():
            start = constant(tree.args["start"], int) if isinstance(tree, exp.Substring) else 1
            size = tree.args.get("length") if isinstance(tree, exp.Substring) else tree.expression
            length = None if size is None else constant(size, int)
            if start < 1 or (length is not None and length < 0):
                raise refuse(tree, why="the first character is at place 1, and no length is < 0")
            numbers = (start,) if length is None else (start, length)
            places = tuple(Value(n, IntType()) for n in numbers)
            return Call(Function.SUBSTRING, (text(tree.this), *places), StringType())
        case exp.Right():
            length = constant(tree.expression, int)
            if length < 1:
                raise refuse(tree, why="a length of 1 at least is read")
            return Call(Function.RIGHT, (text(tree.this), Value(length, IntType())), StringType())
        case exp.Replace() | exp.RegexpReplace():
            old, new = constant(tree.expression, str), constant(tree.args["replacement"], str)
            known = {"this", "expression", "replacement"}
            if _given(tree) - known:
                raise refuse(tree)
            if isinstance(tree, exp.Replace):
                if not old:
                    raise refuse(tree, why="nothing to replace is read differently")
                function = Function.REPLACE
            else:
                _check_regex(old, tree, refuse)
                if "\\" in new or "$" in new:
                    raise refuse(tree, why="groups in a replacement are written differently")
                if re.search(old, "") is not None:
                    raise refuse(tree, why="a pattern that matches nothing is replaced differently")
                function = Function.REGEX_REPLACE
            pair = (Value(old, StringType()), Value(new, StringType()))
            return Call(function, (text(tree.this), *pair), StringType())
        case exp.StrPosition():
            if _given(tree) - {"this", "substr"}:
                raise refuse(tree)
            needle = Value(constant(tree.args["substr"], str), StringType())
            return Call(Function.POSITION, (text(tree.this), needle), IntType())
        case _:
            return None


def _given(tree: exp.Expr) -> set[str]:
    return {name for name, value in tree.args.items() if value}


def _test(function: Function, subject: Expression, pattern: str) -> Expression:
    return Call(function, (subject, Value(pattern, StringType())), BooleanType())


def _as_text(part: Expression) -> Expression:
    """A part of a concatenation: a text, or a whole number as one."""
    if isinstance(part.type, IntType):
        return Call(Function.TRY_CAST, (part,), StringType())
    build.require(part, StringType(), "a part of a concatenation")
    return build.cast(part, StringType())


def _check_regex(pattern: str, tree: exp.Expr, refuse: Callable[..., Exception]) -> None:
    """Raise SqlRefusal for a pattern that is no regular expression of RE2."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        pc.match_substring_regex(pa.array([""]), pattern)
        re.compile(pattern)
    except (pa.ArrowInvalid, re.error) as error:
        raise refuse(tree, why=str(error).splitlines()[0]) from None
