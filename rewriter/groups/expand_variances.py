"""Variances and standard deviations of SQL, as expressions over exact sums."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, DecimalType, FloatType, IntType
from ontoweir.mappings.model.column_types import name_column_type
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.read_select import read_from
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.mappings.sql_expressions.read_row_expression import read_row_expression
from ontoweir.rewriter.groups.read_sql_aggregate import WHY

if TYPE_CHECKING:
    from sqlglot import exp

_DIGITS = 38


def expand_variances(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """The query with (n · Σx² - (Σx)²) / n² in the place of VAR_POP(x), / (n · (n - 1)) in that of
    VAR_SAMP(x), and their square roots in those of STDDEV_POP(x) and STDDEV_SAMP(x).

    Of whole numbers and decimals the sums are exact, and the quotient is rounded once: the same in
    any order of the rows. The variances of doubles stay, whose squares are added up exactly where
    groups are (runtime/results/exact_sums.py).

    Args:
        tree: without subqueries.
        catalog: its tables.

    Raises:
        SqlRefusal: it is of what is no number.
    """
    from sqlglot import exp

    kinds = (exp.Variance, exp.VariancePop, exp.Stddev, exp.StddevPop, exp.StddevSamp)
    calls = list(tree.find_all(*kinds)) if isinstance(tree, exp.Select) else []
    if not calls:
        return tree
    tree = tree.copy()
    assert isinstance(tree, exp.Select)
    scope, _, _ = read_from(tree.copy(), catalog)
    for call in list(tree.find_all(*kinds)):
        if isinstance(call.this, exp.Distinct):
            continue  # it is refused where it is read
        made = read_row_expression(call.this.copy(), scope)
        if not isinstance(made.type, IntType | DecimalType | FloatType):
            raise SqlRefusal(
                f"{show_sql(call)} of {name_column_type(made.type)}",
                why=WHY,
                fix="take the variance of a number",
                line=line_of(call),
            )
        population = isinstance(call, (exp.VariancePop, exp.StddevPop))
        scale = made.type.scale if isinstance(made.type, DecimalType) else 0
        root = not isinstance(call, (exp.Variance, exp.VariancePop))
        name, shown = call.sql("spark"), call.parent is tree and call.arg_key == "expressions"
        if isinstance(made.type, FloatType):
            expanded = _keep(call, population=population, root=root)
        else:
            expanded = _expand(call.this, scale, population=population, root=root)
        call.replace(exp.alias_(expanded, name, quoted=True) if shown else expanded)
    return tree


def _keep(call: "exp.Expr", *, population: bool, root: bool) -> "exp.Expr":
    """A variance itself, or its root."""
    from sqlglot import exp

    kind = exp.VariancePop if population else exp.Variance
    made = kind(this=call.this.copy())
    if (line := line_of(call)) is not None:
        made.meta["line"] = line
    return exp.Sqrt(this=made) if root else made


def _expand(value: "exp.Expr", scale: int, *, population: bool, root: bool) -> "exp.Expr":
    from sqlglot import exp

    def total(inner: "exp.Expr", places: int) -> "exp.Expr":
        kind = exp.DataType.build(f"DECIMAL({_DIGITS}, {places})")
        return exp.Cast(this=inner, to=kind)

    def times(left: "exp.Expr", right: "exp.Expr") -> "exp.Expr":
        return exp.Paren(this=exp.Mul(this=left, expression=right))

    one = exp.Paren(this=value.copy())
    count = total(exp.Count(this=value.copy()), 0)
    of = total(exp.Sum(this=value.copy()), scale)
    squares = total(exp.Sum(this=times(one, one.copy())), 2 * scale)
    above = exp.Sub(this=times(count, squares), expression=times(of, of.copy()))
    rest = count.copy()
    if not population:
        rest = exp.Paren(this=exp.Sub(this=count.copy(), expression=exp.Literal.number(1)))
    double = exp.DataType.build("DOUBLE")
    made: exp.Expr = exp.Div(
        this=exp.Cast(this=exp.Paren(this=above), to=double),
        expression=exp.Cast(this=times(count.copy(), rest), to=double.copy()),
    )
    return exp.Sqrt(this=made) if root else exp.Paren(this=made)
