"""The year, month and day of a time compared with those of NOW(): comparisons of its buckets."""

from typing import TYPE_CHECKING

from ontoweir.rewriter.windows.read_sql_windows import is_now

if TYPE_CHECKING:
    from sqlglot import exp

_PARTS = {
    "YEAR": "Y",
    "QUARTER": "Q",
    "MONTH": "M",
    "DAY": "D",
    "DAYOFMONTH": "D",
    "DAY_OF_MONTH": "D",
    "HOUR": "h",
    "MINUTE": "m",
}
_BUCKETS = (
    ("minute", "YMDhm"),
    ("hour", "YMDh"),
    ("day", "YMD"),
    ("month", "YM"),
    ("quarter", "YQ"),
    ("year", "Y"),
)
"""Buckets of time, from the shortest, and the parts of a time that say which one it is."""


def spell_parts(tree: "exp.Query") -> "exp.Query":
    """A query where `YEAR(ts) = YEAR(NOW()) AND MONTH(ts) = MONTH(NOW())`, also by EXTRACT and
    DATE_PART, is `date_trunc('month', ts) = date_trunc('month', NOW())`, with days and hours
    likewise, and `YEAR(ts) >= YEAR(NOW()) - 1` a comparison of years; it is changed in place.

    Parts that say no bucket, as the month alone, stay.

    Args:
        tree: the query, with names as they were written.
    """
    from sqlglot import exp

    if not any(is_now(n) or isinstance(n, exp.CurrentDate) for n in tree.walk()):
        return tree
    found: dict[tuple[int, exp.Expr, exp.Expr], dict[str, exp.Expr]] = {}
    for node in list(tree.find_all(exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE)):
        read = _read(node)
        if read is None:
            continue
        part, time, now, years = read
        if isinstance(node, exp.EQ) and not years:
            for one in str(part):
                found.setdefault((id(_above(node)), time, now), {})[one] = node
        elif part == "Y":
            node.replace(_compare(node, "year", time, now, years))
    for (_, time, now), by_part in found.items():
        unit, parts = next((b for b in _BUCKETS if set(b[1]) <= set(by_part)), ("", ""))
        if not unit:
            continue
        first, *others = dict.fromkeys(by_part[p] for p in parts)
        for other in others:
            _leave_out(other)
        first.replace(_compare(first, unit, time, now, 0))
    return tree


def _read(node: "exp.Expr") -> "tuple[str, exp.Expr, exp.Expr, int] | None":
    """Which parts of a time are compared with those of which NOW(), so many years later (None: it
    is another comparison)."""
    from sqlglot import exp

    later, right = 0, node.expression.unnest()
    if isinstance(right, (exp.Add, exp.Sub)) and isinstance(right.expression, exp.Literal):
        number = right.expression
        if number.is_string or not number.name.isdigit():
            return None
        later = int(number.name) * (1 if isinstance(right, exp.Add) else -1)
        right = right.this.unnest()
    one, other = _read_part(node.this.unnest()), _read_part(right)
    if one is None or other is None or one[0] != other[0]:
        return None
    if later == 0 and _says_now(one[1]) and isinstance(node, exp.EQ):
        one, other = other, one
    (part, time), now = one, other[1]
    if not isinstance(time, exp.Column) or not _says_now(now):
        return None
    if isinstance(now, exp.CurrentDate) and "h" not in part and "m" not in part:
        now = exp.Anonymous(this="NOW")
    return part, time, now, later


def _read_part(node: "exp.Expr") -> "tuple[str, exp.Expr] | None":
    """The parts of a time that an expression is, and the time."""
    from sqlglot import exp

    name, time = node.key.upper(), node.this
    if isinstance(node, exp.Extract):
        name, time = node.this.name.upper(), node.expression
    elif isinstance(node, exp.Anonymous) and node.name.upper() in ("DATE_PART", "DATEPART"):
        if len(node.expressions) != 2:
            return None
        name, time = node.expressions[0].name.upper(), node.expressions[1]
    elif isinstance(node, exp.CurrentDate):
        return ("YMD", node) if node.this is None else None
    elif isinstance(node, (exp.Cast, exp.TryCast)) and node.to.is_type("date"):
        return "YMD", _bare(node.this)
    elif isinstance(node, (exp.Date, exp.TsOrDsToDate)):
        return ("YMD", _bare(node.this)) if node.this is not None else None
    part = _PARTS.get(name)
    return None if part is None else (part, _bare(time))


def _bare(time: "exp.Expr") -> "exp.Expr":
    """A time without what sqlglot puts around it."""
    from sqlglot import exp

    while isinstance(time, (exp.TsOrDsToDate, exp.Paren)):
        time = time.this
    return time


def _says_now(node: "exp.Expr") -> bool:
    from sqlglot import exp

    return any(is_now(n) or isinstance(n, exp.CurrentDate) for n in node.walk())


def _compare(
    node: "exp.Expr", unit: str, time: "exp.Expr", now: "exp.Expr", years: int
) -> "exp.Expr":
    """The same comparison, of the buckets of times."""
    from sqlglot import exp

    of = exp.Var(this=unit.upper())
    start: exp.Expr = exp.TimestampTrunc(this=now.copy(), unit=of.copy())
    if years:
        length = exp.Interval(
            this=exp.Literal.string(str(abs(years))), unit=exp.Var(this=unit.upper())
        )
        start = (exp.Add if years > 0 else exp.Sub)(this=start, expression=length)
    return type(node)(this=exp.TimestampTrunc(this=time.copy(), unit=of), expression=start)


def _above(node: "exp.Expr") -> "exp.Expr":
    """The whole conjunction of which it is a conjunct (itself: it is none)."""
    from sqlglot import exp

    whole, above = node, node.parent
    while isinstance(above, (exp.And, exp.Paren)):
        whole = above if isinstance(above, exp.And) else whole
        above = above.parent
    return whole


def _leave_out(node: "exp.Expr") -> None:
    """A conjunct, which is not needed, is taken away."""
    from sqlglot import exp

    inner: exp.Expr = node
    while isinstance(inner.parent, exp.Paren):
        inner = inner.parent
    both = inner.parent
    assert isinstance(both, exp.And)
    both.replace(both.right if both.left is inner else both.left)
