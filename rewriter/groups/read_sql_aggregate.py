"""Which aggregate a call of SQL is: dialects have several phrasings of one."""

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.groups.name_list import listing_of, name_list
from ontoweir.rewriter.groups.read_fraction import read_fraction
from ontoweir.rewriter.model.aggregation import AggregateFunction, Listing

if TYPE_CHECKING:
    from fractions import Fraction

    from sqlglot import exp

Tree = TypeVar("Tree", bound="exp.Expr")

WHY = (
    "an aggregate query is SELECT columns, COUNT, SUM, AVG, MIN, MAX, COUNT(DISTINCT …), MEDIAN, "
    "QUANTILE or PERCENTILE_CONT of columns … GROUP BY those columns"
)
_DISC = ("QUANTILE_DISC", "PERCENTILE_DISC")
_BETWEEN = ("QUANTILE_CONT", "PERCENTILE_CONT", "PERCENTILE")
_SKETCHES = ("APPROX_QUANTILE", "APPROX_PERCENTILE", "PERCENTILE_APPROX", "APPROX_MEDIAN")


class SqlAggregate(NamedTuple):
    """A call: its function, its column (None: COUNT of all matches), of quantiles the fraction
    of values, of COVAR_POP the second column, and of lists how they are written."""

    function: AggregateFunction
    column: "exp.Column | None"
    fraction: "Fraction | None" = None
    second: "exp.Column | None" = None
    listing: Listing | None = None


def name_quantiles(tree: Tree) -> Tree:
    """The query where quantiles that are only names to the parser (QUANTILE_CONT(x, p)) are
    aggregates (name_aggregates), so that whoever looks for aggregates sees them; one that is not
    read stays as it is."""
    from sqlglot import exp

    for node in list(tree.find_all(exp.Anonymous)):
        if (made := _name_quantile(node, _name(node))) is not None:
            node.replace(made)
    return tree


def name_aggregates(tree: Tree) -> Tree:
    """The query with QUANTILE(x, p) in the place of QUANTILE_DISC(x, p), and of PERCENTILE_DISC(p)
    WITHIN GROUP (ORDER BY x); PERCENTILE_CONT(x, p), in the same way, in that of QUANTILE_CONT and
    PERCENTILE; QUANTILE(ROUND_RELATIVE(x), p) in that of APPROX_QUANTILE(x, p); and CASE in that of
    FILTER.

    Raises:
        SqlRefusal: an aggregate is not read so.
    """
    from sqlglot import exp

    for node in list(
        tree.find_all(exp.WithinGroup, exp.Anonymous, exp.Quantile, exp.ApproxQuantile)
    ):
        name = _name(node)
        if name not in (*_DISC, *_BETWEEN, *_SKETCHES):
            continue
        if (made := _name_quantile(node, name)) is None:
            raise _beyond(node, show_sql(node), "write QUANTILE(x, 0.9) of a column")
        node.replace(made)
    for listed in list(tree.find_all(exp.GroupConcat)):
        name_list(listed)
    for call in list(tree.find_all(exp.Filter)):
        call.replace(_choose_matches(call))
    for asked in tree.find_all(exp.AggFunc, exp.ApproxDistinct, exp.List):
        if (fix := _instead_of(asked)) is not None:
            raise _beyond(asked, show_sql(asked), fix)
    return tree


def _instead_of(call: "exp.Expr") -> str | None:
    """What to write instead of an aggregate that is not read (None: it may be)."""
    from sqlglot import exp

    match call:
        case exp.ApproxDistinct():
            return "write COUNT(DISTINCT x), which is exact"
        case exp.ArrayAgg() | exp.List():
            return (
                "a list has no limit: select the rows, which come in the order of time, and put "
                "them together in the results; or write STRING_AGG(x, ', '), of a bucket of time"
            )
        case exp.Mode():
            return (
                "of a column of one stream it is read, which is not declared nullable, beside no "
                "other aggregate, of groups by columns and buckets of the timestamp; else count "
                "each value by itself, GROUP BY it and a bucket of time, and rank the counts: "
                "QUALIFY RANK() OVER (PARTITION BY date_trunc('hour', ts) ORDER BY COUNT(*) DESC) "
                "= 1"
            )
        case exp.First() | exp.Last() if not call.find_ancestor(exp.Window):
            return (
                "write ARG_MIN(x, ts), or ARG_MAX(x, ts), for the first and the last one: beside "
                "other aggregates of decimals, and of whole numbers with min and max, by a key; "
                "they pass over NULL, which FIRST and LAST do not"
            )
    return None


def _choose_matches(node: "exp.Filter") -> "exp.Expr":
    """SUM(CASE WHEN c THEN x END) for SUM(x) FILTER (WHERE c): NULL is not aggregated."""
    from sqlglot import exp

    call, condition = node.this, node.expression.this
    ranks = (exp.Median, exp.Quantile, exp.PercentileCont)
    kinds = (exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Count, exp.GroupConcat, *ranks)
    if not isinstance(call, kinds) or call.args.get("expressions"):
        raise _beyond(call, show_sql(node), "aggregate CASE WHEN … THEN x END")
    argument = call.this
    inner = argument.expressions[0] if isinstance(argument, exp.Distinct) else argument
    if isinstance(argument, exp.Distinct) and len(argument.expressions) != 1:
        raise _beyond(call, show_sql(node), "aggregate CASE WHEN … THEN x END")
    value = exp.Literal.number(1) if isinstance(inner, exp.Star) else inner.copy()
    chosen = exp.Case(ifs=[exp.If(this=condition.copy(), true=value)])
    inner.replace(chosen)
    return call


def read_sql_aggregate(call: "exp.Expr") -> SqlAggregate:
    """What a call is.

    Raises:
        SqlRefusal: it is no aggregate that is read, or not of a column.
    """
    from sqlglot import exp

    kinds: dict[type, AggregateFunction] = {
        exp.Sum: AggregateFunction.SUM,
        exp.Avg: AggregateFunction.AVG,
        exp.Min: AggregateFunction.MIN,
        exp.Max: AggregateFunction.MAX,
        exp.Median: AggregateFunction.MEDIAN,
        exp.Quantile: AggregateFunction.QUANTILE,
        exp.PercentileCont: AggregateFunction.PERCENTILE,
        exp.Count: AggregateFunction.COUNT,
        exp.VariancePop: AggregateFunction.VAR_POP,
        exp.Variance: AggregateFunction.VAR_SAMP,
        exp.CovarPop: AggregateFunction.COVAR_POP,
        exp.RegrSyy: AggregateFunction.REGR_SXX,
        exp.RegrAvgy: AggregateFunction.AVG,
        exp.RegrCount: AggregateFunction.COUNT,
        exp.GroupConcat: AggregateFunction.LIST,
    }
    function = kinds.get(type(call))
    if function is None:
        fix = "aggregate columns themselves"
        if isinstance(call.parent, exp.Window):
            fix = "of numbers of groups say up to which, QUALIFY RANK() OVER (…) <= 10; or group "
            fix += "by a bucket of time too, whose groups are final, and number those of each"
        elif isinstance(call, (exp.First, exp.Last, exp.FirstValue, exp.LastValue)):
            least = "MIN" if isinstance(call, (exp.First, exp.FirstValue)) else "MAX"
            fix = f"write {least}_BY({show_sql(call.this)}, ts), of the stream's timestamp ts"
        elif isinstance(call, (exp.ArgMin, exp.ArgMax)):
            fix = "take it of the rows of one stream alone, or with inner joins of static "
            fix += "relations; the latest row of another one is joined by ASOF LEFT JOIN"
        raise _beyond(call, f"{show_sql(call)} in SELECT", fix)
    argument = call.this
    if isinstance(argument, exp.Distinct):
        argument = argument.expressions[0] if len(argument.expressions) == 1 else argument
        if function is AggregateFunction.COUNT:
            function = AggregateFunction.COUNT_DISTINCT
        elif function is AggregateFunction.SUM:
            function = AggregateFunction.SUM_DISTINCT
        elif function is AggregateFunction.AVG:
            function = AggregateFunction.AVG_DISTINCT
        elif function is AggregateFunction.LIST:
            function = AggregateFunction.LIST_DISTINCT
        elif function not in (AggregateFunction.MIN, AggregateFunction.MAX):
            fix = (
                f"take the distinct values first: SELECT h, {call.key.upper()}(x) FROM (SELECT "
                "DISTINCT date_trunc('hour', ts) AS h, x FROM …) AS d GROUP BY h"
            )
            raise _beyond(call, show_sql(call), fix)
    if function is AggregateFunction.COUNT and isinstance(argument, (exp.Star, exp.Literal)):
        return SqlAggregate(function, None)
    if not isinstance(argument, exp.Column) or call.args.get("expressions"):
        raise _beyond(call, show_sql(call), "aggregate one column itself")
    if isinstance(call, exp.CovarPop | exp.RegrSyy | exp.RegrAvgy | exp.RegrCount):
        second = call.expression
        assert isinstance(second, exp.Column)  # derive_query_columns made one
        return SqlAggregate(function, argument, second=second)
    if not function.takes_fraction:
        return SqlAggregate(function, argument, listing=listing_of(call))
    given = call.args.get("quantile" if isinstance(call, exp.Quantile) else "expression")
    fraction = read_fraction(given.name) if isinstance(given, exp.Literal) else None
    if fraction is None:
        raise _beyond(call, show_sql(call), "write a number from 0 to 1, as in QUANTILE(x, 0.9)")
    return SqlAggregate(function, argument, fraction)


def _name(node: "exp.Expr") -> str:
    """How a call is named, as far as it may be a quantile."""
    from sqlglot import exp

    match node:
        case exp.WithinGroup(this=exp.PercentileDisc()):
            return "PERCENTILE_DISC"
        case exp.WithinGroup(this=exp.PercentileCont()):
            return "PERCENTILE_CONT"
        case exp.Anonymous():
            return node.name.upper()
        case exp.ApproxQuantile():
            return "APPROX_QUANTILE"
        case exp.Quantile() if "line" not in node.meta:  # Spark's, which is read as the same
            return "PERCENTILE"
    return ""


def _name_quantile(node: "exp.Expr", name: str) -> "exp.Expr | None":
    """The quantile that a call of this name is (None: it is none that is read)."""
    if name in _SKETCHES:
        return _approximate(node, name)
    return _quantile(node, between=name in _BETWEEN) if name in (*_DISC, *_BETWEEN) else None


def _quantile(node: "exp.Expr", *, between: bool) -> "exp.Expr | None":
    """QUANTILE(x, p), or PERCENTILE_CONT(x, p); None: it is written in no such way."""
    from sqlglot import exp

    if isinstance(node, exp.Quantile):
        value, fraction = node.this, node.args.get("quantile")
    elif isinstance(node, exp.Anonymous):
        value, fraction = node.expressions if len(node.expressions) == 2 else (None, None)
    else:
        fraction = node.this.this
        orders = node.expression.expressions if isinstance(node.expression, exp.Order) else []
        (order,) = orders if len(orders) == 1 else (None,)
        value = None if order is None or order.args.get("desc") else order.this
    if value is None or fraction is None:
        return None
    made: exp.Expr
    if between:
        made = exp.PercentileCont(this=value, expression=fraction)
    else:
        made = exp.Quantile(this=value, quantile=fraction)
    made.meta["line"] = line_of(node) or 1
    return made


def _approximate(node: "exp.Expr", name: str) -> "exp.Quantile | None":
    """The quantile of values that are rounded by less than 1 %; None: another accuracy is asked
    for, or there is no fraction."""
    from sqlglot import exp

    given = list(node.expressions)
    if isinstance(node, exp.ApproxQuantile):
        more = [node.args.get(key) for key in ("quantile", "accuracy", "weight")]
        given = [node.this, *(part for part in more if part is not None)]
    if name == "APPROX_MEDIAN":
        given.append(exp.Literal.number("0.5"))
    if len(given) != 2:
        return None
    rounded = exp.Anonymous(this="ROUND_RELATIVE", expressions=[given[0]])
    made = exp.Quantile(this=rounded, quantile=given[1])
    rounded.meta["line"] = made.meta["line"] = line_of(node) or 1
    return made


def _beyond(tree: "exp.Expr", what: str, fix: str) -> SqlRefusal:
    return SqlRefusal(f"{what} is outside the SQL read here", why=WHY, fix=fix, line=line_of(tree))
