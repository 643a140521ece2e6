"""What a condition says of rows in which all columns of one table are NULL."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


class NotFoldedError(Exception):
    """A condition reads what is NULL in a way that is not looked into."""


def fold_nulls(tree: "exp.Expr", alias: str, *, holds: bool = True) -> "exp.Expr | bool":
    """The condition under which one is TRUE (or, not `holds`, FALSE) where all columns of `alias`
    are NULL, in SQL's three-valued logic; True: always, False: never.

    Raises:
        NotFoldedError: a part reads such a column by what may have a value where that is NULL, and
            is none of AND, OR, NOT, comparisons, IN, IS NULL and COALESCE.
    """
    from sqlglot import exp

    match tree:
        case exp.Paren(this=inner):
            return fold_nulls(inner, alias, holds=holds)
        case exp.Not(this=inner):
            return fold_nulls(inner, alias, holds=not holds)
        case exp.And(this=left, expression=right) | exp.Or(this=left, expression=right):
            both = isinstance(tree, exp.And) is holds
            sides = [fold_nulls(one, alias, holds=holds) for one in (left, right)]
            return _join(sides, both=both)
        case exp.Coalesce(this=inner, expressions=[exp.Boolean(this=otherwise)]):
            made = fold_nulls(inner, alias, holds=not otherwise)
            if isinstance(made, bool):
                return made is not (otherwise is holds)
            known = exp.Coalesce(this=made, expressions=[exp.false()])
            return _state(known, holds is not otherwise)
        case exp.Between(this=side) if tree.args.get("symmetric") is None:
            low = exp.GTE(this=side.copy(), expression=tree.args["low"].copy())
            high = exp.LTE(this=side.copy(), expression=tree.args["high"].copy())
            return fold_nulls(exp.And(this=low, expression=high), alias, holds=holds)
        case exp.Is(this=side, expression=exp.Null()):
            value = _value(side, alias)
            return (
                holds if value is None else _state(exp.Is(this=value, expression=exp.Null()), holds)
            )
        case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            compared = _apply(tree, alias)
            return False if compared is None else _state(compared, holds)
        case exp.In() if tree.expressions:
            return _list(tree, alias, holds=holds)
        case exp.Exists(this=exp.Select() as rows) if _reads(rows, alias):
            inner = _filter(rows, alias)
            return not holds if inner is None else _state(exp.Exists(this=inner), holds)
        case _ if _reads(tree, alias):
            _require_strict(tree)
            return False
        case _:
            return _state(tree.copy(), holds)


def _list(tree: "exp.In", alias: str, *, holds: bool) -> "exp.Expr | bool":
    """IN: where one of the values is NULL it may be TRUE, and is never FALSE."""
    value = _value(tree.this, alias)
    found = [_value(one, alias) for one in tree.expressions]
    left = [one for one in found if one is not None]
    if value is None or not left or (len(left) < len(found) and not holds):
        return False
    made = tree.copy()
    made.set("this", value)
    made.set("expressions", left)
    return _state(made, holds)


def _filter(rows: "exp.Select", alias: str) -> "exp.Select | None":
    """The rows of a subquery, of which only WHERE reads what is NULL; None: there are none.

    Raises:
        NotFoldedError: other parts read it, or it calls a table so, too.
    """
    from sqlglot import exp

    made = rows.copy()
    where = made.args.get("where")
    made.set("where", None)
    tables = {t.alias_or_name.lower() for t in rows.find_all(exp.Table, exp.Subquery)}
    if where is None or alias.lower() in tables or _reads(made, alias) or _has_group(rows):
        raise NotFoldedError
    left = fold_nulls(where.this, alias)
    if left is False:
        return None
    if left is not True:
        made.set("where", exp.Where(this=left))
    return made


def _has_group(rows: "exp.Select") -> bool:
    """Whether a subquery has a row where no row of its tables is left."""
    from sqlglot import exp

    return rows.args.get("group") is not None or rows.find(exp.AggFunc) is not None


def _require_strict(tree: "exp.Expr") -> None:
    """Raise NotFoldedError unless each part is NULL where a part of it is."""
    from sqlglot import exp

    values = (exp.Coalesce, exp.If, exp.Case, exp.Greatest, exp.Least, exp.Nvl2, exp.ConcatWs)
    truths = (exp.Is, exp.NullSafeEQ, exp.NullSafeNEQ, exp.And, exp.Or, exp.Not, exp.In)
    others: tuple[type[exp.Expr], ...] = (*values, *truths, exp.Exists, exp.Query, exp.Anonymous)
    if tree.find(*others) is not None:
        raise NotFoldedError


def _state(tree: "exp.Expr", holds: bool) -> "exp.Expr":
    from sqlglot import exp

    return tree if holds else exp.Not(this=exp.Paren(this=tree))


def _join(sides: "list[exp.Expr | bool]", *, both: bool) -> "exp.Expr | bool":
    """Both of two conditions, or any."""
    from sqlglot import exp

    if (not both) in sides:
        return not both
    left = [one for one in sides if not isinstance(one, bool)]
    if len(left) < len(sides):
        return left[0] if left else both
    kind = exp.And if both else exp.Or
    return exp.Paren(this=kind(this=left[0], expression=left[1]))


def _value(tree: "exp.Expr", alias: str) -> "exp.Expr | None":
    """An expression; None: it is NULL."""
    from sqlglot import exp

    match tree:
        case exp.Column() if tree.table.lower() == alias.lower():
            return None
        case exp.Null():
            return None
        case exp.Paren(this=inner):
            found = _value(inner, alias)
            return None if found is None else exp.Paren(this=found)
        case exp.Coalesce():
            values = (_value(one, alias) for one in (tree.this, *tree.expressions))
            left = [one for one in values if one is not None]
            if len(left) < 2:
                return left[0] if left else None
            return exp.Coalesce(this=left[0], expressions=left[1:])
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() | exp.Neg():
            return _apply(tree, alias)
        case exp.Case():
            return _choose(tree.args["ifs"], tree, alias)
        case exp.If():
            return _choose([tree], exp.Case(default=tree.args.get("false")), alias)
        case _ if _reads(tree, alias):
            _require_strict(tree)
            return None
        case _:
            return tree.copy()


def _choose(ifs: "list[exp.If]", case: "exp.Case", alias: str) -> "exp.Expr | None":
    """CASE without the cases that are none; None: it is NULL."""
    from sqlglot import exp

    made, otherwise, of = exp.Case(), case.args.get("default"), case.this
    for one in ifs:
        asked = one.this if of is None else exp.EQ(this=of.copy(), expression=one.this.copy())
        condition = fold_nulls(asked, alias)
        if condition is True:
            otherwise = one.args["true"]
            break
        if condition is not False:
            value = _value(one.args["true"], alias)
            made.append("ifs", exp.If(this=condition, true=value or exp.Null()))
    last = None if otherwise is None else _value(otherwise, alias)
    kept = made.args.get("ifs") or ()
    empty = last is None and all(isinstance(one.args["true"], exp.Null) for one in kept)
    if empty or not kept:
        return last
    made.set("default", last)
    return made


def _apply(tree: "exp.Expr", alias: str) -> "exp.Expr | None":
    """An operator that is NULL where an operand is."""
    made = tree.copy()
    for key in ("this", "expression"):
        if (side := tree.args.get(key)) is not None:
            if (value := _value(side, alias)) is None:
                return None
            made.set(key, value)
    return made


def _reads(tree: "exp.Expr", alias: str) -> bool:
    from sqlglot import exp

    return any(c.table.lower() == alias.lower() for c in tree.find_all(exp.Column))
