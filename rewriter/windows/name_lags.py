"""How long a row is after another one, as SQL measures it, as a comparison of their times."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Literal

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_condition import turn_comparison
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.mappings.sql.read_select import read_from
from ontoweir.mappings.sql_expressions.read_date_function import UNITS_US
from ontoweir.rewriter.windows.read_sql_time import read_sql_time

if TYPE_CHECKING:
    from sqlglot import exp

_MOST_US = 10**15
"""Beyond that, about 30 years, a double in which seconds are divided may not tell times apart."""
_Op = Literal["<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class _Lag:
    """How much later a time is than another, in a unit (µs); `whole`: without what is less than one
    unit, towards 0."""

    later: "exp.Expr"
    earlier: "exp.Expr"
    unit_us: Fraction
    whole: bool


def name_lags(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A query in whose conditions `TIMESTAMPDIFF(MINUTE, a.ts, b.ts) < 5`, `EXTRACT(EPOCH FROM b.ts
    - a.ts) / 60 < 5`, a difference of UNIX_TIMESTAMP of streams with steps of whole seconds, and
    ABS of these, compared with numbers, are comparisons of the times, which hold of the same rows,
    and which limit how far the rows are apart.

    Args:
        tree: a query without subqueries.
        catalog: the tables.

    Raises:
        SqlRefusal: DATEDIFF with a unit, which is not the same in every SQL.
    """
    from sqlglot import exp

    kinds = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.EQ, exp.Between)
    tree = tree.copy()
    for select in list(tree.find_all(exp.Select)):
        where = select.args.get("where")
        places = [] if where is None else [where]
        places += [j for j in select.args.get("joins") or () if j.args.get("on") is not None]
        for place in places:
            _refuse_unit(place)
        found = [n for p in places for n in p.find_all(*kinds) if _measures(n)]
        if not found:
            continue
        try:
            scope, _, _ = read_from(select.copy(), catalog)
        except SqlRefusal:  # said where it is read
            continue
        for node in found:
            made = _rewrite(node, scope)
            if made is not None:
                node.replace(exp.Paren(this=made))
    return tree


def _refuse_unit(place: "exp.Expr") -> None:
    from sqlglot import exp

    for call in place.find_all(exp.DateDiff):
        if (unit := call.args.get("unit")) is not None:
            raise SqlRefusal(
                f"DATEDIFF of {unit.name.lower()}s in a condition",
                why="some SQLs count whole units, others how often one begins",
                fix=f"write TIMESTAMPDIFF({unit.name.upper()}, a, b), which counts whole units",
                line=line_of(call),
            )


def _measures(node: "exp.Expr") -> bool:
    from sqlglot import exp

    calls = (exp.TimestampDiff, exp.Extract, exp.StrToUnix, exp.UnixSeconds)
    return node.find(*calls, exp.UnixMillis, exp.UnixMicros) is not None


def _rewrite(node: "exp.Expr", scope: Scope) -> "exp.Expr | None":
    """The comparison of times that a condition is (None: it is another one)."""
    from sqlglot import exp

    if isinstance(node, exp.Between):
        if node.args.get("symmetric"):
            return None
        low, high = node.args["low"], node.args["high"]
        both = [
            _rewrite(exp.GTE(this=node.this, expression=low), scope),
            _rewrite(exp.LTE(this=node.this, expression=high), scope),
        ]
        return None if None in both else exp.and_(*both, copy=False)
    measured, limit = node.this.unnest(), _read_number(node.expression)
    kind: type[exp.Expr] = type(node)
    if limit is None:
        measured, limit = node.expression.unnest(), _read_number(node.this)
        kind = turn_comparison(kind)
    if limit is None:
        return None
    absolute = isinstance(measured, exp.Abs)
    lag = _read_lag(measured.this.unnest() if absolute else measured, scope)
    if lag is None or abs(limit * lag.unit_us) > _MOST_US:
        return None
    ops: dict[type[exp.Expr], tuple[_Op, ...]] = {
        exp.LT: ("<",),
        exp.LTE: ("<=",),
        exp.GT: (">",),
        exp.GTE: (">=",),
        exp.EQ: ("<=", ">="),
    }
    if absolute:
        if kind not in (exp.LT, exp.LTE):
            return None
        least: _Op = ">" if kind is exp.LT else ">="
        ends = [(ops[kind][0], limit), (least, -limit)]
    else:
        ends = [(op, limit) for op in ops[kind]]
    return exp.and_(*(_compare(lag, op, of) for op, of in ends), copy=False)


def _compare(lag: _Lag, op: _Op, limit: Fraction) -> "exp.Expr":
    """`lag <op> limit` as a comparison of the times."""
    from sqlglot import exp

    if lag.whole:
        op, limit = _without_rest(op, limit)
    us = limit * lag.unit_us
    if us.denominator > 1:  # times are of whole microseconds
        op, us = (">=", Fraction(ceil(us))) if op in (">", ">=") else ("<=", Fraction(floor(us)))
    kinds = {"<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE}
    length = exp.Interval(this=exp.Literal.string(str(int(us))), unit=exp.var("MICROSECOND"))
    made = exp.Add(this=lag.earlier.copy(), expression=length)
    return kinds[op](this=lag.later.copy(), expression=made)


def _without_rest(op: _Op, limit: Fraction) -> tuple[_Op, Fraction]:
    """What `TRUNC(x) <op> limit` says of x, which is cut off towards 0."""
    match op:
        case "<" | "<=":  # TRUNC(x) <= most
            most = ceil(limit) - 1 if op == "<" else floor(limit)
            return ("<", Fraction(most + 1)) if most >= 0 else ("<=", Fraction(most))
        case _:  # TRUNC(x) >= least
            least = floor(limit) + 1 if op == ">" else ceil(limit)
            return (">", Fraction(least - 1)) if least <= 0 else (">=", Fraction(least))


def _read_lag(tree: "exp.Expr", scope: Scope) -> _Lag | None:
    """What measures how much later a time is than another."""
    from sqlglot import exp

    tree = tree.unnest()
    if isinstance(tree, exp.Div):
        number, lag = _read_number(tree.expression), _read_lag(tree.this, scope)
        if lag is None or lag.whole or number is None or number <= 0:
            return None
        return _Lag(lag.later, lag.earlier, lag.unit_us * number, False)
    if isinstance(tree, exp.TimestampDiff):
        unit = UNITS_US.get(_unit_name(tree))
        sides, whole = (tree.this, tree.expression), True
    elif isinstance(tree, exp.Extract) and tree.this.name.upper() == "EPOCH":
        inner = tree.expression.unnest()
        if not isinstance(inner, exp.Sub):
            return None
        sides, whole, unit = (inner.this, inner.expression), False, 1_000_000
    elif isinstance(tree, exp.Sub):
        made = [_read_since(side) for side in (tree.this, tree.expression)]
        if made[0] is None or made[1] is None or made[0][1:] != made[1][1:]:
            return None
        sides, whole, unit = (made[0][0], made[1][0]), False, made[0][1]
        if made[0][2] and not all(_is_of_units(side, unit, scope) for side in sides):
            return None
    else:
        return None
    later, earlier = (side.unnest() for side in sides)
    if unit is None or not all(_find(side, scope) for side in (later, earlier)):
        return None
    return _Lag(later, earlier, Fraction(unit), whole)


def _unit_name(tree: "exp.Expr") -> str:
    unit = tree.args.get("unit")
    return "" if unit is None else unit.name.upper().rstrip("S")


def _read_since(tree: "exp.Expr") -> "tuple[exp.Expr, int, bool] | None":
    """The time that is measured since 1970, in which unit, and whether the rest is cut off."""
    from sqlglot import exp

    tree = tree.unnest()
    units: dict[type[exp.Expr], int] = {
        exp.StrToUnix: 1_000_000,
        exp.UnixSeconds: 1_000_000,
        exp.UnixMillis: 1_000,
        exp.UnixMicros: 1,
    }
    if isinstance(tree, exp.Extract) and tree.this.name.upper() == "EPOCH":
        return tree.expression, 1_000_000, False
    return (tree.this, units[type(tree)], True) if type(tree) in units else None


def _is_of_units(tree: "exp.Expr", unit_us: int, scope: Scope) -> bool:
    """Whether it is the timestamp of a stream whose steps are whole units long."""
    found = _find(tree.unnest(), scope)
    return found is not None and found[1].step_us % unit_us == 0 and found[2] % unit_us == 0


def _find(tree: "exp.Expr", scope: Scope) -> tuple[str, Stream, int] | None:
    try:
        return read_sql_time(tree, scope)
    except SqlRefusal:  # said where it is read
        return None


def _read_number(tree: "exp.Expr") -> Fraction | None:
    """A constant number."""
    from sqlglot import exp

    tree = tree.unnest()
    if isinstance(tree, exp.Neg):
        number = _read_number(tree.this)
        return None if number is None else -number
    if not isinstance(tree, exp.Literal) or tree.is_string:
        return None
    return Fraction(tree.this)
