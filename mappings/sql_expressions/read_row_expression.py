"""Reads an expression over the columns of one row: arithmetic, CASE, CAST, functions.

The SQL is Spark's, as everywhere here: a division by 0, and a CAST of what its type does not hold,
is NULL. Results are those of DuckDB; where these two, or others, disagree it is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from ontoweir.mappings.expressions import build
from ontoweir.mappings.model.catalog import (
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    StringType,
    TimestampType,
)
from ontoweir.mappings.model.column_types import name_column_type
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
from ontoweir.mappings.sql_expressions.read_cast import read_cast
from ontoweir.mappings.sql_expressions.read_text_function import read_text_function

if TYPE_CHECKING:
    from sqlglot import exp

Reader: TypeAlias = "Callable[[exp.Expr], Expression]"

_IGNORED = frozenset({"safe", "coalesce", "ignore_nulls", "big_int", "typed"})
"""Arguments of sqlglot's that say what Spark does anyway."""


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
        raise SqlRefusal(
            f"{tree.sql('spark')} mixes types: {clash}",
            why="numbers go with numbers, texts with texts, times with times",
            fix="write a CAST, or declare the column's type correctly",
            line=line_of(tree),
        ) from None


def refuse_expression(tree: exp.Expr, why: str = "", fix: str = "") -> SqlRefusal:
    """The refusal of an expression by its name."""
    return SqlRefusal(
        f"the expression {tree.sql('spark')} is outside the SQL read here",
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
        case exp.Case() | exp.If() | exp.Coalesce() | exp.Nullif() | exp.Greatest() | exp.Least():
            return _read_choice(tree, read)
        case exp.Anonymous() if (
            tree.name.upper() == "ROUND_RELATIVE" and len(tree.expressions) == 1
        ):
            return build.double_of(Function.ROUND_RELATIVE, read(tree.expressions[0]))
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
    made = _read_arithmetic(tree, read) or _read_predicate(tree, read) or _read_date(tree, read)
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
        return build.arithmetic(plain[type(tree)], read(tree.this), read(tree.expression))
    match tree:
        case exp.Div():
            return build.double_of(Function.DIVIDE, read(tree.this), read(tree.expression))
        case exp.Pow():
            return build.double_of(Function.POWER, read(tree.this), read(tree.expression))
        case exp.Sqrt():
            return build.double_of(Function.SQRT, read(tree.this))
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
        case exp.If():
            last = tree.args.get("false")
            pair = (read(tree.this), read(tree.args["true"]))
            return build.choose([pair], None if last is None else read(last))
        case exp.Nullif():
            left, right = read(tree.this), read(tree.expression)
            equal = build.compare(Function.EQUAL, left, right)
            return build.choose([(equal, build.null(left.type))], left)
        case _:
            return _read_several(tree, read)


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
            subject = read(tree.this)
            low = build.compare(Function.AT_LEAST, subject, read(tree.args["low"]))
            high = build.compare(Function.AT_MOST, subject, read(tree.args["high"]))
            return Call(Function.AND, (low, high), BooleanType())
        case exp.In() if tree.expressions:
            require_plain(tree, "this", "expressions")
            subject = read(tree.this)
            members = map(read, tree.expressions)
            return _balance(
                Function.OR, [build.compare(Function.EQUAL, subject, m) for m in members]
            )
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


def _read_date(tree: exp.Expr, read: Reader) -> Expression | None:
    from sqlglot import exp

    parts: dict[type, Function] = {
        exp.Year: Function.YEAR,
        exp.Quarter: Function.QUARTER,
        exp.Month: Function.MONTH,
        exp.WeekOfYear: Function.WEEK,
        exp.Day: Function.DAY,
        exp.DayOfMonth: Function.DAY,
        exp.DayOfYear: Function.DAY_OF_YEAR,
        exp.Hour: Function.HOUR,
        exp.Minute: Function.MINUTE,
        exp.Second: Function.SECOND,
    }
    names = {f.value: f for f in parts.values()} | {
        "WEEK": Function.WEEK,
        "DOY": Function.DAY_OF_YEAR,
        "DAYOFWEEK_ISO": Function.DAY_OF_WEEK,
    }
    if isinstance(tree, exp.Extract):
        function, inner = names.get(tree.this.name.upper()), tree.expression
    else:
        function, inner = parts.get(type(tree)), tree.this
        if function is None:
            return None
    if function is None:
        raise refuse_expression(tree, why="this part of a time is not the same in every SQL")
    while isinstance(inner, exp.TsOrDsToDate):
        inner = inner.this
    subject = read(inner)
    if not isinstance(subject.type, DateType | TimestampType):
        raise build.TypeClash(f"{function.value} of {name_column_type(subject.type)}")
    if function in (Function.HOUR, Function.MINUTE, Function.SECOND):
        subject = build.cast(subject, TimestampType())
    return Call(function, (subject,), IntType())
