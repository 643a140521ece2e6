"""GROUP BY the parts of a time that make a bucket: its date, its year and month, or its seconds
since 1970 divided by a number and rounded down."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.parse_duration import parse_duration
from ontoweir.mappings.sql.read_scope import Scope
from ontoweir.rewriter.joins.is_time import is_time
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.mean_group import find_named, mean_group
from ontoweir.rewriter.windows.read_sql_grid import is_grid

if TYPE_CHECKING:
    from sqlglot import exp

_BUCKETS = (
    ("second", frozenset("YMDhms")),
    ("minute", frozenset("YMDhm")),
    ("hour", frozenset("YMDh")),
    ("day", frozenset("YMD")),
    ("month", frozenset("YM")),
    ("quarter", frozenset("YQ")),
    ("year", frozenset("Y")),
)
"""Buckets of time, from the shortest, and the parts of a time that tell them apart."""
_FORMATS = {"%Y": "Y", "%m": "M", "%d": "D", "%H": "h", "%M": "m", "%S": "s"}
_LETTERS = {"yyyy": "Y", "MM": "M", "dd": "D", "HH": "h", "mm": "m", "ss": "s"}
_SPANS = {"Y": 9999, "Q": 3, "M": 11, "D": 30, "h": 23, "m": 59}
"""How far apart the values of a part are at most."""
_PARTS = {"YEAR": "Y", "QUARTER": "Q", "MONTH": "M", "DAY": "D", "HOUR": "h", "MINUTE": "m"}


def group_parts(select: "exp.Select", catalog: Catalog) -> None:
    """Where a SELECT groups by parts of a timestamp that tell buckets of time apart, let it group
    by the bucket, and compute the parts of it, which are the same; in place.

    So the groups are final when the bucket is over. Parts that make no bucket, as the hour of the
    day alone, stay.
    """
    from sqlglot import exp

    group = select.args.get("group")
    if group is None or any(v for k, v in group.args.items() if k != "expressions"):
        return
    scope = list_tables(select, catalog)
    names = {stream.timestamp.lower() for stream in catalog.streams.values()}
    meant = [_mean(item, select, scope) for item in group.expressions]

    def is_known(time: "exp.Column") -> bool:
        """Whether it is a stream's timestamp; of what is computed, whether it is called so; beside
        what follows it, a row's time is one before that at which it is given."""
        if _has_lead(select):
            return False
        known = is_time(time, select, catalog)
        return time.name.lower() in names if known is None else known

    for place, item in enumerate(meant):
        divided = _read_quotient(item)
        if divided is None:
            continue
        time, seconds = divided
        if not is_known(time):
            continue
        width = exp.Interval(this=exp.Literal.string(str(seconds)), unit=exp.var("SECOND"))
        meant[place] = exp.Anonymous(this="TUMBLE", expressions=[time.copy(), width])
        _replace(select, [item], meant[place])
        group.set("expressions", [one.copy() for one in meant])
    read = [(item, *found) for item in meant if (found := _read_parts(item)) is not None]
    for time in dict.fromkeys(time for _, time, _ in read):
        if not is_known(time):
            continue
        mine = [(item, parts) for item, of, parts in read if of == time]
        every = frozenset[str]().union(*(parts for _, parts in mine))
        unit, told = next((b for b in _BUCKETS if b[1] <= every), ("", frozenset[str]()))
        known = [item for item, parts in mine if parts <= told]
        if not unit or all(map(is_grid, known)):
            continue
        bucket = exp.Anonymous(this="DATE_TRUNC", expressions=[exp.Literal.string(unit), time])
        _replace(select, known, bucket)
        rest = [item for item in meant if item not in known]
        group.set("expressions", [bucket.copy(), *(item.copy() for item in rest)])
        meant = [bucket, *rest]


def _has_lead(select: "exp.Select") -> bool:
    """Whether rows in FROM are given with others after them."""
    from sqlglot import exp

    start = select.args.get("from_")
    if start is None:
        return False
    named = find_named(start.this, select) if isinstance(start.this, exp.Table) else None
    return (start.this if named is None else named.this).find(exp.Lead) is not None


def _replace(select: "exp.Select", known: "Sequence[exp.Expr]", bucket: "exp.Expr") -> None:
    """Compute what is grouped by of the bucket, wherever it is written."""
    from sqlglot import exp

    for item in list(select.expressions):
        inner = item.unalias()
        if not isinstance(item, exp.Alias) and any(n in known for n in inner.walk()):
            item.replace(exp.alias_(inner.copy(), item.alias_or_name or item.sql("spark")))
    having = select.args.get("having")
    for place in [*select.expressions, *([] if having is None else [having])]:
        for node in [n for n in place.walk() if n in known and not n.find_ancestor(exp.AggFunc)]:
            if node == bucket:
                continue
            made = node.copy()
            for column in list(made.find_all(exp.Column)):
                column.replace(exp.AnyValue(this=bucket.copy()))
            node.replace(made)


def _read_quotient(item: "exp.Expr") -> "tuple[exp.Column, int] | None":
    """The time, and the number, of FLOOR(UNIX_TIMESTAMP(ts) / 300)."""
    from sqlglot import exp

    if not isinstance(item, exp.Floor) or item.args.get("to") or item.args.get("decimals"):
        return None
    inner = item.this.unnest()
    if not isinstance(inner, exp.Div) or not isinstance(inner.expression, exp.Literal):
        return None
    seconds, number = inner.this.unnest(), inner.expression
    if isinstance(seconds, exp.Extract) and seconds.this.name.upper() == "EPOCH":
        time = seconds.expression
    elif isinstance(seconds, (exp.UnixSeconds, exp.StrToUnix)):
        time = seconds.this
    else:
        return None
    if number.is_string or not parse_duration(f"{number.name} seconds"):
        return None
    if not number.name.isdigit():
        return None
    return (time, int(number.name)) if isinstance(time, exp.Column) else None


def _read_parts(item: "exp.Expr") -> "tuple[exp.Column, frozenset[str]] | None":
    """The time that an expression is computed of, and which parts of it tell its values apart."""
    from sqlglot import exp

    found: tuple[exp.Expr, str] | None = None
    if isinstance(item, (exp.Cast, exp.TryCast)) and item.to.is_type("text"):
        return _read_parts(item.this.unnest())
    if isinstance(item, (exp.Cast, exp.TryCast)) and item.to.is_type("date"):
        found = item.this, "YMD"
    elif isinstance(item, exp.TsOrDsToDate) or _is_call(item, "DATE", 1):
        found = (item.this if isinstance(item, exp.TsOrDsToDate) else item.expressions[0]), "YMD"
    elif isinstance(item, exp.Extract):
        found = item.expression, _PARTS.get(item.this.name.upper(), "")
    elif is_grid(item) and len(item.expressions) == 2 and _is_call(item, "DATE_TRUNC", 2):
        told = dict(_BUCKETS).get(item.expressions[0].name.lower(), frozenset())
        found = item.expressions[1], "".join(told)
    elif isinstance(item, exp.TimeToStr):
        found = item.this, _read_format(item.args.get("format"))
    elif item.key.upper() in _PARTS:
        found = item.this, _PARTS[item.key.upper()]
    elif isinstance(item, (exp.Add, exp.Mul, exp.Sub)):
        found = _read_number(item)
    if found is None or not found[1]:
        return None
    time = _bare(found[0])
    return (time, frozenset(found[1])) if isinstance(time, exp.Column) else None


def _read_number(item: "exp.Expr") -> "tuple[exp.Expr, str] | None":
    """Of a number that is made of parts of one time, as YEAR(ts) * 10000 + MONTH(ts) * 100 +
    DAY(ts), the time and the parts, if each number is made of one choice of them only."""
    terms = _list_terms(item, 1)
    if not terms:
        return None
    time = terms[0][0]
    below = 0
    for of, part, weight in sorted(terms, key=lambda term: term[2]):
        if of != time or weight <= below:
            return None
        below += weight * _SPANS[part]
    return time, "".join(part for _, part, _ in terms)


def _list_terms(item: "exp.Expr", weight: int) -> "list[tuple[exp.Expr, str, int]] | None":
    """The parts of times that are added up, each with what it is multiplied by; None: it is no such
    sum. What is added to it alike for every row is passed over."""
    from sqlglot import exp

    item = item.unnest()
    if isinstance(item, exp.Literal):
        return [] if _read_whole(item) is not None else None
    if isinstance(item, exp.Mul):
        left, right = item.left.unnest(), item.right.unnest()
        factor, other = (left, right) if isinstance(left, exp.Literal) else (right, left)
        times = _read_whole(factor)
        return _list_terms(other, weight * times) if times else None
    if isinstance(item, (exp.Add, exp.Sub)):
        before, after = _list_terms(item.left, weight), _list_terms(item.right, weight)
        if before is None or after is None or (isinstance(item, exp.Sub) and after):
            return None
        return [*before, *after]
    if isinstance(item, exp.Extract):
        part, time = _PARTS.get(item.this.name.upper(), ""), item.expression
    else:
        part, time = _PARTS.get(item.key.upper(), ""), item.this
    return [(_bare(time), part, weight)] if part else None


def _bare(time: "exp.Expr") -> "exp.Expr":
    """A time without what sqlglot puts around it."""
    from sqlglot import exp

    while isinstance(time, (exp.TsOrDsToDate, exp.TimeStrToTime, exp.Paren)):
        time = time.this
    return time


def _read_whole(item: "exp.Expr") -> int | None:
    """A whole number, as it is written (None: it is none)."""
    from sqlglot import exp

    known = isinstance(item, exp.Literal) and not item.is_string and item.name.isdigit()
    return int(item.name) if known else None


def _is_call(item: "exp.Expr", name: str, count: int) -> bool:
    from sqlglot import exp

    called = isinstance(item, exp.Anonymous) and item.name.upper() == name
    return called and len(item.expressions) == count


def _read_format(text: "exp.Expr | None") -> str:
    """The parts that a format of time writes; "": it may write others, or runs them together."""
    from sqlglot import exp

    if not isinstance(text, exp.Literal) or not text.is_string:
        return ""
    written, parts = str(text.this).replace("strict", ""), ""  # sqlglot's
    written = written.replace("'T'", " ")
    for mark, part in {**_FORMATS, **_LETTERS}.items():
        if mark in written:
            parts += part
            written = written.replace(mark, " ", 1)
    return parts if not any(c.isalpha() or c == "%" for c in written) else ""


def _mean(item: "exp.Expr", select: "exp.Select", scope: Scope) -> "exp.Expr":
    """What is grouped by; a name that is given to a column stays."""
    from sqlglot import exp

    meant = mean_group(item, select, scope)
    return item if isinstance(item, exp.Column) and isinstance(meant, exp.Column) else meant
