"""The first and the last value of a group, beside other aggregates."""

from typing import TYPE_CHECKING

from ontoweir.mappings.expressions.may_be_null import may_be_null
from ontoweir.mappings.model.catalog import Catalog, ColumnType, DecimalType, IntType, Stream
from ontoweir.mappings.model.never_null import never_null
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal, find_name
from ontoweir.mappings.sql_expressions.read_row_expression import read_row_expression
from ontoweir.rewriter.joins.latest_rows import lacks_values, resolve
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.mean_group import mean_group
from ontoweir.rewriter.ordered.write_value import write_value

if TYPE_CHECKING:
    from sqlglot import exp

_PLACES = 37
"""So many decimal places are read in texts."""
_LAST_US = 4_102_444_800_000_000
"""The year 2100, in µs since 1970: until then numbers do not exceed 64 bits; then a run stops."""


def number_values(select: "exp.Select", catalog: Catalog) -> None:
    """MAX of numbers that are greater for later rows, and tell the value, in the place of
    ARG_MAX(x, ts) and LAST(x ORDER BY ts), and MIN in that of ARG_MIN and FIRST, in a SELECT that
    groups; in place.

    The number of a row is its step times n and its value, counted from 0: so one number of a group
    is kept, as of any MAX. It is of whole numbers with declared limits and of decimals, where these
    and the steps are few enough for 64 bits; of other values one text of a group is kept
    (write_value). One row of a group has a time, by a key of the stream. Others stay as they are,
    and are refused where they are read.

    Args:
        select: the query, or a part of it.
        catalog: the tables.
    """
    from sqlglot import exp

    group, having = select.args.get("group"), select.args.get("having")
    if group is None or select.args.get("joins"):
        return
    scope = list_tables(select, catalog)
    streams = [t for t in scope.tables.values() if isinstance(t, Stream)]
    if len(scope.tables) != 1 or not streams:
        return
    meant = [mean_group(item, select, scope) for item in group.expressions]
    keys = {m.name.lower() for m in meant if isinstance(m, exp.Column)}
    (stream,) = streams
    if len(keys) == len(group.expressions) and _is_latest(select, stream, scope):
        return
    known = {*keys, stream.timestamp.lower()}
    if not any({c.lower() for c in key} <= known for key in stream.keys):
        return
    calls = (exp.ArgMax, exp.ArgMin, exp.First, exp.Last)
    for item in list(select.expressions):
        if not isinstance(item, exp.Alias) and item.find(*calls):
            item.replace(exp.alias_(item.copy(), item.sql("spark"), quoted=True))
    for part in [*select.expressions, *([] if having is None else [having])]:
        for call in list(part.find_all(*calls)):
            if (made := _read(call, stream, scope)) is not None:
                call.replace(made)


def _is_latest(select: "exp.Select", stream: Stream, scope: Scope) -> bool:
    """Whether only the latest row of each key is asked for, which needs no numbers: values of one
    column, as each passes over rows without its value."""
    from sqlglot import exp

    calls = [c for e in select.expressions for c in e.find_all(exp.ArgMax, exp.ArgMin)]
    if len({c.this for c in calls}) > 1:
        return False
    read = [at for c in calls if (at := resolve(scope, c.this)) is not None]
    if any(lacks_values(stream, alias, [name], select, scope) for alias, name in read):
        return False  # a key without values is a group all the same
    kinds = {type(c) for e in select.expressions for c in e.find_all(exp.AggFunc)}
    times = [c for e in select.expressions for c in e.find_all(exp.Max, exp.Min)]
    timed = all(find_name(c.this.name, [stream.timestamp]) is not None for c in times)
    return (timed and kinds <= {exp.ArgMax, exp.Max}) or kinds <= {exp.ArgMin, exp.Min}


def _read(call: "exp.Expr", stream: Stream, scope: Scope) -> "exp.Expr | None":
    """A call over numbers, or texts; None: it is not of a time."""
    from sqlglot import exp

    value, time, late = call.this, call.args.get("expression"), isinstance(call, exp.ArgMax)
    passes = not isinstance(call, (exp.First, exp.Last))
    if not passes:
        if not isinstance(value, exp.Order) or len(value.expressions) != 1:
            return None
        (order,), value = value.expressions, value.this
        time = order.this
        late = isinstance(call, exp.Last) != bool(order.args.get("desc"))
    if not isinstance(time, exp.Column) or find_name(time.name, [stream.timestamp]) is None:
        return None
    if call.args.get("count") or isinstance(call.parent, exp.Filter):
        return None
    try:
        typed = read_row_expression(value.copy(), scope)
    except SqlRefusal:
        return None  # said where it is read
    if isinstance(typed.type, DecimalType) and typed.type.scale > _PLACES:
        return None
    missing = not passes and may_be_null(typed, never_null(stream))
    numbered = _of_number(value, typed.type, stream, missing=missing)
    if numbered is None:
        return write_value(value, time, typed.type, late=late, passes=passes)
    return _number(value, time, (stream.step_us, *numbered), late=late, missing=missing)


def _of_number(
    value: "exp.Expr", kind: ColumnType, stream: Stream, *, missing: bool
) -> tuple[int, int, int] | None:
    """The places of a decimal, the least value, and how many there can be, in units of the places;
    None: there are too many for numbers of 64 bits, or values are none. Where a value may be
    `missing`, one less than the least stands for it."""
    from sqlglot import exp

    scale, least, most = 0, 0, 0
    match kind:
        case DecimalType(precision=precision, scale=scale):
            least, most = -(10**precision), 10**precision
        case IntType():
            found = stream.column(value.name) if isinstance(value, exp.Column) else None
            if found is None or not isinstance(found.minimum, int):
                return None
            if not isinstance(found.maximum, int):
                return None
            least, most = found.minimum, found.maximum
        case _:
            return None
    least -= missing
    size = most - least + 1
    if (_LAST_US // stream.step_us + 1) * size >= 1 << 63 or abs(least) >= 1 << 62:
        return None
    return scale, least, size


def _number(
    value: "exp.Expr",
    time: "exp.Expr",
    of: tuple[int, int, int, int],
    *,
    late: bool,
    missing: bool,
) -> "exp.Expr":
    """The value that the greatest, or the least, number of a group tells. `of`: the µs of a step,
    the places of a decimal, the least value, and how many there can be, in units of the places;
    `missing`: the least of them stands for NULL."""
    from sqlglot import exp

    step_us, scale, least, size = of

    def number(n: int) -> "exp.Expr":
        made = exp.Literal.number(abs(n))
        return exp.Paren(this=exp.Neg(this=made)) if n < 0 else made

    def paren(made: "exp.Expr") -> "exp.Expr":
        return exp.Paren(this=made)

    units = paren(value.copy())
    if scale:
        scaled = exp.Mul(this=units, expression=number(10**scale))
        units = exp.Floor(this=scaled)  # a whole number already
    above: exp.Expr = paren(exp.Sub(this=units, expression=number(least)))
    if missing:
        above = exp.Coalesce(this=above, expressions=[number(0)])
    steps = exp.IntDiv(this=exp.UnixMicros(this=time.copy()), expression=number(step_us))
    whole = exp.Add(
        this=paren(exp.Mul(this=paren(steps), expression=number(size))), expression=above
    )
    best = exp.Max(this=whole) if late else exp.Min(this=whole)
    rest: exp.Expr = exp.Mod(this=paren(best), expression=number(size))
    rest = exp.Mod(this=paren(exp.Add(this=rest, expression=number(size))), expression=number(size))
    if missing:
        rest = exp.Nullif(this=rest, expression=number(0))
    told: exp.Expr = exp.Add(this=paren(rest), expression=number(least))
    if scale:
        unit = exp.Literal.number(f"0.{'0' * (scale - 1)}1")
        told = exp.Mul(this=paren(told), expression=unit)
    return paren(told)
