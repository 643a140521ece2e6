"""Reads an expression over the columns of one row: arithmetic, CASE, CAST, functions.

The SQL is Spark's, as everywhere here: a division by 0, and a CAST of what its type does not hold,
is NULL. Results are those of DuckDB; where these two, or others, disagree it is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from math import pi
from typing import TYPE_CHECKING, TypeAlias, cast

from ontoweir.mappings.expressions import build
from ontoweir.mappings.model.catalog import (
    BooleanType,
    DecimalType,
    FloatType,
    IntType,
    StringType,
    TimestampType,
)
from ontoweir.mappings.model.expression import (
    Call,
    Expression,
    Field,
    Function,
    UserFunction,
    Value,
    fields_of,
)
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal, find_name
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.mappings.sql_expressions.read_cast import read_cast
from ontoweir.mappings.sql_expressions.read_date_function import (
    read_date_function,
    read_day_times,
    read_spans,
)
from ontoweir.mappings.sql_expressions.read_sorted_text import SORTED_TEXT, read_sorted_text
from ontoweir.mappings.sql_expressions.read_text_function import read_text_function

if TYPE_CHECKING:
    from sqlglot import exp

Reader: TypeAlias = "Callable[[exp.Expr], Expression]"

_IGNORED = frozenset({"safe", "coalesce", "ignore_nulls", "big_int", "typed"})
"""Arguments of sqlglot's that say what Spark does anyway."""

_OF_DOUBLES = {
    f.value: f
    for f in (
        Function.SQRT,
        Function.CBRT,
        Function.EXP,
        Function.LN,
        Function.SIN,
        Function.COS,
        Function.TAN,
        Function.ASIN,
        Function.ACOS,
        Function.ATAN,
        Function.DEGREES,
        Function.RADIANS,
    )
}
"""By the names of sqlglot's classes, in capitals."""
_OF_WHOLE = {
    "intdiv": Function.INTEGER_DIVIDE,
    "bitwiseand": Function.BIT_AND,
    "bitwiseor": Function.BIT_OR,
}


def read_row_expression(tree: exp.Expr, scope: Scope) -> Expression:
    """The expression that is written, typed.

    Args:
        tree: SQL over the columns of one alias.
        scope: the columns.

    Raises:
        SqlRefusal: it has a function that is not read, or types that do not go together.
    """
    try:
        return _read(tree, scope)
    except build.TypeClash as clash:
        fix = "write a CAST, or declare the column's type correctly"
        if "of timestamp" in str(clash):
            fix = "write TIMESTAMPDIFF(SECOND, from, to) for how much later a time is than another"
        raise SqlRefusal(
            f"{show_sql(tree)} mixes types: {clash}",
            why="numbers go with numbers, texts with texts, times with times",
            fix=fix,
            line=line_of(tree),
        ) from None


def refuse_expression(tree: exp.Expr, why: str = "", fix: str = "") -> SqlRefusal:
    """The refusal of an expression by its name."""
    return SqlRefusal(
        f"the expression {show_sql(tree)} is outside the SQL read here",
        why=why or "docs/sql.md lists the operators and functions of one row that are read",
        fix=fix or "compute it before, as a column of the data, or in the results",
        line=line_of(tree),
    )


def _read(tree: exp.Expr, scope: Scope) -> Expression:
    from sqlglot import exp

    def read(inner: exp.Expr) -> Expression:
        return _read(inner, scope)

    match tree:
        case exp.Paren():
            return read(tree.this)
        case exp.Column() if not tree.is_star:
            return _read_column(tree, scope)
        case exp.Literal() | exp.Boolean() | exp.Null():
            return _read_constant(tree)
        case exp.Cast():
            return read_cast(tree, read, refuse_expression)
        case exp.Case() | exp.If() | exp.Nvl2() | exp.Nullif():
            return _read_choice(tree, read)
        case exp.Coalesce() | exp.Greatest() | exp.Least():
            return _read_several(tree, read)
        case exp.Anonymous() if (
            tree.name.upper() == "ROUND_RELATIVE" and len(tree.expressions) == 1
        ):
            return build.double_of(Function.ROUND_RELATIVE, read(tree.expressions[0]))
        case exp.Anonymous() if tree.name.upper() == "EXACT_TEXT" and len(tree.expressions) == 1:
            return Call(Function.EXACT_TEXT, (read(tree.expressions[0]),), StringType())
        case exp.Anonymous() if tree.name == SORTED_TEXT:
            return read_sorted_text(tree, scope, read, refuse_expression)
        case exp.Anonymous() if name := find_name(tree.name, scope.catalog.functions):
            return _call(scope.catalog.functions[name], tree, read)
        case _:
            made = _read_operation(tree, read)
    if made is None:
        raise refuse_expression(tree)
    return made


def _call(function: UserFunction, tree: exp.Expr, read: Reader) -> Expression:
    """A user's function."""
    try:
        made = build.call_user(function, [read(e) for e in tree.expressions])
    except build.TypeClash as clash:
        raise refuse_expression(
            tree, why=str(clash), fix="pass what it takes, or write a CAST"
        ) from None
    if not fields_of(made):
        raise refuse_expression(
            tree, why="it reads no column", fix="pass a column: it is a function of a row"
        )
    return made


def _read_operation(tree: exp.Expr, read: Reader) -> Expression | None:
    made = read_date_function(tree, read, refuse_expression)
    made = made or _read_arithmetic(tree, read) or _read_predicate(tree, read)
    return made or read_text_function(tree, read, refuse_expression)


def require_plain(tree: exp.Expr, *known: str) -> None:
    """Refuse arguments of a function that are not read."""
    for key, value in tree.args.items():
        if value and key not in (*known, *_IGNORED):
            raise refuse_expression(tree, why=f"its argument {key} is not read")


def _read_column(tree: exp.Column, scope: Scope) -> Expression:
    column = scope.resolve(tree.table or None, tree.name, line_of(tree))
    declared = scope.tables[column.alias].column(column.column)
    if declared is not None and declared.bucket is not None:
        raise refuse_expression(
            tree, why="a bucket of time closes groups: it is in GROUP BY by itself"
        )
    if declared is not None and declared.expression is not None:
        return declared.expression
    return Field(column.column, scope.type_of(column))


def _read_constant(tree: exp.Expr) -> Expression:
    from sqlglot import exp

    if isinstance(tree, exp.Null):
        return build.null(StringType())
    if isinstance(tree, exp.Boolean):
        return Value(bool(tree.this), BooleanType())
    text = str(tree.this)
    if tree.is_string:
        return Value(text, StringType())
    return number_constant(text, tree)


def number_constant(text: str, tree: exp.Expr) -> Expression:
    """A number as it is written: whole, decimal, or with an exponent a double."""
    number = Decimal(text)
    if "e" in text.lower():
        return Value(float(number), FloatType())
    if number == number.to_integral_value() and "." not in text and abs(number) < 2**63:
        return Value(int(number), IntType())
    places = max(-int(number.as_tuple().exponent), 0)
    digits = max(len(number.as_tuple().digits), places)
    if digits > build.DIGITS:
        raise refuse_expression(tree, why=f"a decimal has at most {build.DIGITS} digits")
    return Value(number, DecimalType(max(digits, 1), places))


def _read_arithmetic(tree: exp.Expr, read: Reader) -> Expression | None:
    from sqlglot import exp

    plain: dict[type, Function] = {
        exp.Add: Function.ADD,
        exp.Sub: Function.SUBTRACT,
        exp.Mul: Function.MULTIPLY,
        exp.Mod: Function.MODULO,
    }
    if type(tree) in plain:
        left, right = read(tree.this), read(tree.expression)
        if type(tree) is exp.Sub and {type(left.type), type(right.type)} == {TimestampType}:
            return build.seconds(build.difference_us(left, right))
        return build.arithmetic(plain[type(tree)], left, right)
    if tree.key.upper() in _OF_DOUBLES and tree.args.get("expression") is None:
        require_plain(tree, "this")
        return build.double_of(_OF_DOUBLES[tree.key.upper()], read(tree.this))
    if tree.key in ("bitwiseand", "bitwiseor", "intdiv"):
        function = _OF_WHOLE[tree.key]
        return build.whole_of(function, read(tree.this), read(tree.expression))
    match tree:
        case exp.Div():
            return build.double_of(Function.DIVIDE, read(tree.this), read(tree.expression))
        case exp.Pow():
            return build.double_of(Function.POWER, read(tree.this), read(tree.expression))
        case exp.Atan2():
            return build.double_of(Function.ATAN2, read(tree.this), read(tree.expression))
        case exp.Pi():
            return Value(pi, FloatType())
        case exp.Sign():
            return build.sign(read(tree.this))
        case exp.Log() if tree.expression is not None:
            return _read_logarithm(tree, read)
        case exp.Neg():
            return build.same_type(Function.NEGATE, read(tree.this))
        case exp.Abs():
            return build.same_type(Function.ABS, read(tree.this))
        case exp.Floor() | exp.Ceil():
            require_plain(tree, "this")
            function = Function.FLOOR if isinstance(tree, exp.Floor) else Function.CEIL
            return build.rounded(function, read(tree.this))
        case exp.Round():
            require_plain(tree, "this", "decimals")
            places = tree.args.get("decimals")
            count = Value(0, IntType()) if places is None else read(places)
            if not isinstance(count, Value) or not isinstance(count.value, int):
                raise refuse_expression(tree, why="the number of places is a constant")
            return build.rounded(Function.ROUND, read(tree.this), count.value)
        case _:
            return None


def _read_logarithm(tree: exp.Expr, read: Reader) -> Expression:
    """LOG(base, x), of a base that has a function."""
    base = read(tree.this)
    bases = {2: Function.LOG2, 10: Function.LOG10}
    function = bases.get(base.value) if isinstance(base, Value) else None  # type: ignore[arg-type]
    if function is None:
        raise refuse_expression(tree, fix="write LN(x) / LN(base)", why="its base is 2 or 10")
    return build.double_of(function, read(tree.expression))


def _read_choice(tree: exp.Expr, read: Reader) -> Expression:
    from sqlglot import exp

    match tree:
        case exp.Case():
            subject = None if tree.this is None else read(tree.this)
            branches = []
            for branch in tree.args["ifs"]:
                condition = read(branch.this)
                if subject is not None:
                    condition = build.compare(Function.EQUAL, subject, condition)
                branches.append((condition, read(branch.args["true"])))
            default = tree.args.get("default")
            return build.choose(branches, None if default is None else read(default))
        case exp.Nvl2():
            there = Call(Function.NOT, (build.is_null(read(tree.this)),), BooleanType())
            return _choose(tree, there, read)
        case exp.If():
            return _choose(tree, read(tree.this), read)
        case _:  # NULLIF
            left, right = read(tree.this), read(tree.expression)
            equal = build.compare(Function.EQUAL, left, right)
            return build.choose([(equal, build.null(left.type))], left)


def _choose(tree: exp.Expr, condition: Expression, read: Reader) -> Expression:
    """IF and NVL2."""
    last = tree.args.get("false")
    pair = (condition, read(tree.args["true"]))
    return build.choose([pair], None if last is None else read(last))


def _read_several(tree: exp.Expr, read: Reader) -> Expression:
    """COALESCE, GREATEST or LEAST."""
    from sqlglot import exp

    require_plain(tree, "this", "expressions")
    given = build.unify([read(tree.this), *map(read, tree.expressions)])
    functions: dict[type, Function] = {
        exp.Coalesce: Function.COALESCE,
        exp.Greatest: Function.GREATEST,
        exp.Least: Function.LEAST,
    }
    function = functions[type(tree)]
    if function is not Function.COALESCE and isinstance(given[0].type, StringType | BooleanType):
        raise refuse_expression(tree, why="it is read of numbers, dates and times")
    return given[0] if len(given) == 1 else Call(function, given, given[0].type)


def _read_predicate(tree: exp.Expr, read: Reader) -> Expression | None:
    from sqlglot import exp

    comparisons: dict[type, Function] = {
        exp.EQ: Function.EQUAL,
        exp.NEQ: Function.UNEQUAL,
        exp.LT: Function.LESS,
        exp.LTE: Function.AT_MOST,
        exp.GT: Function.GREATER,
        exp.GTE: Function.AT_LEAST,
    }
    if type(tree) in comparisons:
        spans = read_spans(cast("exp.Binary", tree), read, refuse_expression)
        spans = spans or read_day_times(cast("exp.Binary", tree), read, refuse_expression)
        if spans is not None:
            return build.compare(comparisons[type(tree)], *spans)
        return build.compare(comparisons[type(tree)], read(tree.this), read(tree.expression))
    match tree:
        case exp.And() | exp.Or():
            function = Function.AND if isinstance(tree, exp.And) else Function.OR
            sides = [read(side) for side in tree.flatten()]
            return _balance(function, [_truth(side) for side in sides])
        case exp.Not():
            return Call(Function.NOT, (_truth(read(tree.this)),), BooleanType())
        case exp.Is():
            require_plain(tree, "this", "expression")
            inner = read(tree.this)
            if isinstance(tree.expression, exp.Null):
                return Call(Function.IS_NULL, (inner,), BooleanType())
            if isinstance(tree.expression, exp.Boolean):
                wanted = Value(bool(tree.expression.this), BooleanType())
                equal = Call(Function.EQUAL, (_truth(inner), wanted), BooleanType())
                no = Value(value=False, type=BooleanType())
                return Call(Function.COALESCE, (equal, no), BooleanType())
            return None
        case exp.NullSafeEQ() | exp.NullSafeNEQ():
            left, right = build.unify([read(tree.this), read(tree.expression)])
            return _distinct(left, right, equal=isinstance(tree, exp.NullSafeEQ))
        case exp.Between():
            require_plain(tree, "this", "low", "high")
            low = read(exp.GTE(this=tree.this.copy(), expression=tree.args["low"].copy()))
            high = read(exp.LTE(this=tree.this.copy(), expression=tree.args["high"].copy()))
            return Call(Function.AND, (low, high), BooleanType())
        case exp.In() if tree.expressions:
            require_plain(tree, "this", "expressions")
            each = (exp.EQ(this=tree.this.copy(), expression=m.copy()) for m in tree.expressions)
            return _balance(Function.OR, [read(one) for one in each])
        case _:
            return None


def _balance(function: Function, sides: Sequence[Expression]) -> Expression:
    """AND or OR of many sides, no deeper than their number needs."""
    if len(sides) == 1:
        return sides[0]
    half = len(sides) // 2
    parts = _balance(function, sides[:half]), _balance(function, sides[half:])
    return Call(function, parts, BooleanType())


def _distinct(left: Expression, right: Expression, *, equal: bool) -> Expression:
    """IS [NOT] DISTINCT FROM: two NULLs are the same."""
    absent = [Call(Function.IS_NULL, (side,), BooleanType()) for side in (left, right)]
    both = Call(Function.AND, (absent[0], absent[1]), BooleanType())
    same = Call(Function.EQUAL, (left, right), BooleanType())
    known = Call(Function.COALESCE, (same, both), BooleanType())
    return known if equal else Call(Function.NOT, (known,), BooleanType())


def _truth(inner: Expression) -> Expression:
    build.require(inner, BooleanType(), "an operand of AND, OR and NOT")
    return build.null(BooleanType()) if inner.type != BooleanType() else inner
