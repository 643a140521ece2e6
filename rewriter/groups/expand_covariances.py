"""Covariance, correlation and regression of SQL, as expressions over exact sums."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, DecimalType, FloatType, IntType
from ontoweir.mappings.model.column_types import name_column_type
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.read_select import read_from
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.mappings.sql_expressions.read_row_expression import read_row_expression

if TYPE_CHECKING:
    from sqlglot import exp

_DIGITS = 38


def expand_covariances(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """The query with expressions over n, Σx, Σy, Σxy, Σx² and Σy², of the rows in which both have
    a value, in the place of COVAR_POP, COVAR_SAMP, CORR, REGR_SLOPE and REGR_INTERCEPT.

    Of whole numbers and decimals the sums, and n · Σxy - Σx · Σy, are exact: the same in any order
    of the rows. Those of doubles, and of columns of two tables, are made of COVAR_POP and REGR_SXX
    of doubles, each of which is exact, and rounded once, where groups are
    (runtime/results/exact_sums.py). Where a divisor is 0, there is no value.

    Args:
        tree: without subqueries.
        catalog: its tables.

    Raises:
        SqlRefusal: it is of what is no number.
    """
    from sqlglot import exp

    exact = (exp.Corr, exp.CovarPop, exp.CovarSamp, exp.RegrSlope, exp.RegrIntercept)
    more = (exp.RegrR2, exp.RegrSxx, exp.RegrSyy, exp.RegrSxy, exp.RegrAvgx, exp.RegrAvgy)
    kinds = (*exact, *more, exp.RegrCount)
    if not isinstance(tree, exp.Select) or not tree.find(*kinds):
        return tree
    tree = tree.copy()
    scope, _, _ = read_from(tree.copy(), catalog)
    for call in list(tree.find_all(*kinds)):
        kinds_of = [read_row_expression(s.copy(), scope).type for s in (call.this, call.expression)]
        for kind in kinds_of:
            if not isinstance(kind, IntType | DecimalType | FloatType):
                raise SqlRefusal(
                    f"{show_sql(call)} of {name_column_type(kind)}",
                    why="it is computed of numbers",
                    fix="write columns of numbers in it",
                    line=line_of(call),
                )
        name, shown = call.sql("spark"), call.parent is tree and call.arg_key == "expressions"
        floats = any(isinstance(kind, FloatType) for kind in kinds_of)
        tables = {scope.resolve(c.table or None, c.name).alias for c in call.find_all(exp.Column)}
        if floats or len(tables) > 1 or not isinstance(call, exact):
            made = _expand_doubles(call)
        else:
            y, x = (k.scale if isinstance(k, DecimalType) else 0 for k in kinds_of)
            made = _Sums(call.this, call.expression, y, x).expand(call)
        call.replace(exp.alias_(made, name, quoted=True) if shown else made)
    return tree


def _expand_doubles(call: "exp.Expr") -> "exp.Expr":
    """What a call is of COVAR_POP(y, x), REGR_SYY, REGR_AVGY and REGR_COUNT, in which x may be y
    and y x: of the rows that have both."""
    from sqlglot import exp

    def of(kind: "type[exp.AggFunc]", y: "exp.Expr", x: "exp.Expr") -> "exp.Expr":
        made = kind(this=_double(y), expression=_double(x))
        made.meta["line"] = line_of(call) or 1
        return made

    y, x = call.this, call.expression
    both, count = of(exp.CovarPop, y, x), of(exp.RegrCount, y, x)
    wide, high = of(exp.RegrSyy, x, y), of(exp.RegrSyy, y, x)
    mean, other = of(exp.RegrAvgy, y, x), of(exp.RegrAvgy, x, y)
    product = _times(both, count)
    slope = _divide(product, wide)
    relation = _divide(product, _times(exp.Sqrt(this=wide), exp.Sqrt(this=high)))
    made: dict[type[exp.Expr], exp.Expr] = {
        exp.CovarPop: both,
        exp.CovarSamp: _divide(product, _minus(_double(count), exp.Literal.number(1))),
        exp.Corr: relation,
        exp.RegrSlope: slope,
        exp.RegrIntercept: _minus(mean, _times(slope, other)),
        exp.RegrR2: _times(relation, relation),
        exp.RegrSxx: wide,
        exp.RegrSyy: high,
        exp.RegrSxy: product,
        exp.RegrAvgx: other,
        exp.RegrAvgy: mean,
        exp.RegrCount: count,
    }
    return made[type(call)]


def _divide(above: "exp.Expr", below: "exp.Expr") -> "exp.Expr":
    from sqlglot import exp

    return exp.Paren(this=exp.Div(this=above, expression=below))


class _Sums:
    """The sums of two expressions, called as in REGR_SLOPE(y, x)."""

    def __init__(self, y: "exp.Expr", x: "exp.Expr", y_scale: int, x_scale: int) -> None:
        from sqlglot import exp

        both = exp.And(this=_is_there(y), expression=_is_there(x))

        def total(value: "exp.Expr", places: int) -> "exp.Expr":
            chosen = exp.Case(ifs=[exp.If(this=both.copy(), true=value)])
            called = exp.Sum(this=chosen) if places >= 0 else exp.Count(this=chosen)
            return _cast(called, f"DECIMAL({_DIGITS}, {max(places, 0)})")

        self.n = total(exp.Literal.number(1), -1)
        self.y, self.x = total(y.copy(), y_scale), total(x.copy(), x_scale)
        self.xy = total(_times(x, y), x_scale + y_scale)
        self.xx, self.yy = total(_times(x, x), 2 * x_scale), total(_times(y, y), 2 * y_scale)

    def expand(self, call: "exp.Expr") -> "exp.Expr":
        """What a call is of the sums."""
        from sqlglot import exp

        both = _double(_minus(_times(self.n, self.xy), _times(self.x, self.y)))
        wide = _double(_minus(_times(self.n, self.xx), _times(self.x, self.x)))
        if isinstance(call, exp.Corr):
            high = _double(_minus(_times(self.n, self.yy), _times(self.y, self.y)))
            below = _times(exp.Sqrt(this=wide), exp.Sqrt(this=high))
        elif isinstance(call, exp.RegrSlope):
            below = wide
        elif isinstance(call, exp.RegrIntercept):
            both = _double(_minus(_times(self.y, self.xx), _times(self.x, self.xy)))
            below = wide
        else:
            one = exp.Literal.number(1)
            less = _minus(self.n, one) if isinstance(call, exp.CovarSamp) else self.n
            below = _double(_times(self.n, less))
        return exp.Paren(this=exp.Div(this=both, expression=below))


def _is_there(value: "exp.Expr") -> "exp.Expr":
    from sqlglot import exp

    return exp.Not(this=exp.Is(this=exp.Paren(this=value.copy()), expression=exp.Null()))


def _times(left: "exp.Expr", right: "exp.Expr") -> "exp.Expr":
    from sqlglot import exp

    sides = [exp.Paren(this=side.copy()) for side in (left, right)]
    return exp.Paren(this=exp.Mul(this=sides[0], expression=sides[1]))


def _minus(left: "exp.Expr", right: "exp.Expr") -> "exp.Expr":
    from sqlglot import exp

    return exp.Paren(this=exp.Sub(this=left.copy(), expression=right.copy()))


def _double(value: "exp.Expr") -> "exp.Expr":
    return _cast(value, "DOUBLE")


def _cast(value: "exp.Expr", kind: str) -> "exp.Expr":
    from sqlglot import exp

    return exp.Cast(this=value.copy(), to=exp.DataType.build(kind))
