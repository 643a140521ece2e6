"""Which rows before or after a row a window of SQL is over."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.model.time_bucket import TimeBucket
from ontoweir.mappings.sql.read_literal import line_of, read_literal
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.own_nodes import is_place, list_own
from ontoweir.rewriter.runs.is_in_order import is_in_order
from ontoweir.rewriter.runs.split_runs import split_runs
from ontoweir.rewriter.windows.read_sql_grid import read_grid_or_day, read_interval

if TYPE_CHECKING:
    from sqlglot import exp

WHY = (
    "LAG, LEAD, FIRST_VALUE, LAST_VALUE and aggregates OVER (PARTITION BY key ORDER BY ts ROWS "
    "BETWEEN n PRECEDING AND CURRENT ROW) are of the rows before or after a row of one stream, of "
    "the same key, of which there is one at a time"
)


@dataclass(frozen=True, slots=True)
class Frame:
    """The rows of a `key` from so many before a row (`first`), or so long (`span_us`; neither:
    the first of all), to so many (`last`, below 0: after it), or (`peers`) to all of its time, or
    to those that are so long before it, or longer (`until_us`);
    `call`: what is asked of them; `known`: the last value that is not NULL; `order`: the order in
    which a row has its place among those of its key and time; `ties`: what tells the rows of one
    time apart; `within`: the buckets of time in which all rows lie; `run`: values that they have in
    common, and no other rows of the key (`split_runs`)."""

    call: "exp.Expr"
    key: tuple[str, ...]
    first: int | None
    last: int
    known: bool = False
    span_us: int | None = None
    peers: bool = False
    order: "tuple[exp.Expr, ...]" = ()
    ties: "tuple[exp.Expr, ...]" = ()
    until_us: int = 0
    within: tuple[TimeBucket, ...] = ()
    run: "tuple[exp.Expr, ...]" = ()

    @property
    def is_numbered(self) -> bool:
        """Whether each row has its own place among those of its key and time."""
        from sqlglot import exp

        single = (exp.RowNumber, exp.Ntile, exp.FirstValue, exp.First)
        return bool(self.order) and isinstance(self.call, single)


def is_of_rows(window: "exp.Expr", select: "exp.Select") -> bool:
    """Whether a window is over rows that are counted, or all until a row: not over those of a span
    of time, nor the number of a row by which rows are chosen."""
    from sqlglot import exp

    call = _call_of(window)
    if isinstance(call, (exp.RowNumber, exp.Rank, exp.DenseRank)):
        order = window.args.get("order")
        late = order is None or bool(order.expressions[0].args.get("desc"))
        return not late and not _chooses_one(window, select)
    if isinstance(call, (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.First, exp.Last)):
        return True
    spec = window.args.get("spec")
    if not isinstance(call, (*_sums(), exp.Min, exp.Max, exp.Count)):
        return False
    if window.args.get("order") is None:
        return False
    if spec is None or str(spec.args.get("kind")).upper() != "RANGE":
        return True
    # rows of a span before each are kept for it alone, but not different values, nor matches
    spanned = isinstance(spec.args.get("start"), exp.Interval)
    return _is_past(spec) and not (spanned and (select.args.get("joins") or _counts_values(select)))


def _sums() -> "tuple[type[exp.Expr], ...]":
    """What is made of sums."""
    from sqlglot import exp

    return exp.Sum, exp.Avg, exp.Variance, exp.VariancePop


def _counts_values(select: "exp.Select") -> bool:
    """Whether some window counts different values."""
    from sqlglot import exp

    calls = [w.this for w in list_own(select, exp.Window)]
    return any(isinstance(c, exp.Count) and isinstance(c.this, exp.Distinct) for c in calls)


def _is_past(spec: "exp.Expr") -> bool:
    """Whether a RANGE ends with the row, or before it, and begins with the first row, or so long
    before."""
    from sqlglot import exp

    start, end = spec.args.get("start"), spec.args.get("end")
    if isinstance(end, exp.Interval) and isinstance(start, exp.Interval):
        until = read_interval(end)
        if spec.args.get("end_side") != "PRECEDING" or not until or until < 0:
            return False
    elif end is not None and str(end).upper() != "CURRENT ROW":
        return False
    if isinstance(start, exp.Interval):
        span = read_interval(start)
        return spec.args.get("start_side") == "PRECEDING" and span is not None and span >= 0
    return True


def _chooses_one(window: "exp.Expr", select: "exp.Select") -> bool:
    """Whether a condition says that the number of a row is 1: that is the first row of its key."""
    from sqlglot import exp

    names = {e.alias.lower() for e in select.expressions if e.unalias() is window}
    for condition in select.root().find_all(exp.EQ, exp.LTE):
        number, one = condition.this, condition.expression
        named = isinstance(number, exp.Column) and number.name.lower() in names
        if (number is window or named) and isinstance(one, exp.Literal) and str(one.this) == "1":
            return True
    return False


def read_frame(
    window: "exp.Expr", select: "exp.Select", stream: Stream, scope: Scope, why: str
) -> Frame:
    """The rows that a window is over.

    Raises:
        SqlRefusal: they are not counted from the row, or not in the order of time.
    """
    from sqlglot import exp

    def refuse(what: str, fix: str) -> SqlRefusal:
        return SqlRefusal(
            f"{what} is outside what is read of windows of rows",
            why=why,
            fix=fix,
            line=line_of(window),
        )

    order = window.args.get("order")
    ordered = [] if order is None else list(order.expressions)
    columns = []
    within: list[TimeBucket] = []
    parts = window.args.get("partition_by") or ()
    timed = any(_is_time(tree, stream, scope) for tree in parts)
    runs = None if timed else split_runs(parts, stream, scope)
    for tree in parts if runs is None else ():
        if _is_time(tree, stream, scope):
            continue
        if (bucket := _read_bucket(tree, stream, scope)) is not None:
            within.append(bucket)
            continue
        if not isinstance(tree, exp.Column):
            raise refuse(f"{show_sql(tree)} in a window", "name a column")
        columns.append(scope.resolve(tree.table or None, tree.name, line_of(tree)).column)
    if timed:
        return _read_moment(window, tuple(dict.fromkeys(columns)), refuse)
    if not ordered or ordered[0].args.get("desc"):
        raise refuse(f"the order of {show_sql(window)}", f"ORDER BY {stream.timestamp}")
    in_order = is_in_order(ordered[0], select, stream, scope)
    if in_order is None and not _is_time(ordered[0].this, stream, scope):
        raise refuse(f"ORDER BY {show_sql(ordered[0].this)}", f"ORDER BY {stream.timestamp}")
    key, run = (tuple(dict.fromkeys(columns)), ()) if runs is None else (runs.key, runs.run)
    made = replace(_read_rows(window, key, refuse), within=tuple(dict.fromkeys(within)), run=run)
    if (within or run) and made.last < 0:
        where = "bucket of time" if within else "run"
        raise refuse(
            f"{show_sql(window)}, of rows that follow in a {where},",
            "ask for the rows before, or leave it out and compare both values",
        )
    if in_order is not None and not in_order <= {*key}:
        raise refuse(f"the order of {show_sql(window)}", f"ORDER BY {stream.timestamp}")
    if not (ties := tuple(ordered[1:])) and in_order is None:
        return made
    if made.span_us is not None or made.until_us:
        raise refuse(f"{show_sql(window)}, of a time,", f"ORDER BY {stream.timestamp} alone")
    return replace(made, ties=ties, peers=False)


def _read_rows(
    window: "exp.Expr",
    key: tuple[str, ...],
    refuse: Callable[[str, str], SqlRefusal],
) -> Frame:
    """The rows of a key before and after a row."""
    from sqlglot import exp

    call = _call_of(window)
    known = _ignores_nulls(window)
    if known and not isinstance(call, (exp.Lag, exp.LastValue, exp.Last)):
        raise refuse(show_sql(window), "leave IGNORE NULLS out, or write LAST_VALUE")
    if known and call.args.get("default") is not None:
        raise refuse(show_sql(window), "write COALESCE(LAG(x) IGNORE NULLS OVER (…), default)")
    if isinstance(call, (exp.Lag, exp.Lead)):
        offset = call.args.get("offset")
        rows = 1 if offset is None else read_literal(offset)
        if not isinstance(rows, int) or isinstance(rows, bool) or rows < 0:
            raise refuse(f"{show_sql(window)} by no number of rows", "write LAG(x, 2)")
        if window.args.get("spec") is not None:
            raise refuse(show_sql(window), "leave ROWS or RANGE out")
        back = -rows if isinstance(call, exp.Lead) else rows
        if known and rows != 1:
            raise refuse(show_sql(window), "write LAG(x IGNORE NULLS), of one row before")
        return Frame(call, key, None if known else back, back, known)
    if isinstance(call, (exp.RowNumber, exp.Rank, exp.DenseRank)):
        return Frame(call, key, None, 0)
    spec = window.args.get("spec")
    groups = spec is not None and str(spec.args["kind"]).upper() == "GROUPS"
    if groups:
        raise refuse(show_sql(window), "write ROWS BETWEEN n PRECEDING AND CURRENT ROW")
    until = 0 if spec is None else _read_until(spec, window, refuse)
    if until and (known or not isinstance(call, (*_sums(), exp.Min, exp.Max, exp.Count))):
        raise refuse(f"{show_sql(window)} without its row", "ask for COUNT, SUM, AVG, MIN, MAX")
    if spec is None or str(spec.args["kind"]).upper() == "RANGE":
        start = None if spec is None else spec.args.get("start")
        span = read_interval(start) if isinstance(start, exp.Interval) else None
        plain = start is None or span is not None or str(start).upper() == "UNBOUNDED"
        if not plain and str(start).upper() != "CURRENT ROW":
            raise refuse(show_sql(window), "RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND …")
        span = 0 if not plain else span
        if isinstance(call, (exp.LastValue, exp.Last)) and not known:
            return Frame(call, key, 0, 0)
        return Frame(call, key, None, 0, known, span, peers=True, until_us=until)
    first = None if spec is None else _read_end(spec, "start", refuse)
    last = 0 if spec is None else _read_end(spec, "end", refuse)
    if last is None or (first is not None and first < last):
        raise refuse(f"{show_sql(window)}, of no row or all", "end the frame with CURRENT ROW")
    if isinstance(call, (exp.LastValue, exp.Last)) and not known:
        return Frame(call, key, last, last)
    return Frame(call, key, first, last, known)


def _read_until(
    spec: "exp.Expr", window: "exp.Expr", refuse: Callable[[str, str], SqlRefusal]
) -> int:
    """How long before a row the last rows of a frame are, in µs (0: of its time, too)."""
    from sqlglot import exp

    exclude, end = str(spec.args.get("exclude") or "NO OTHERS").upper(), spec.args.get("end")
    until = read_interval(end) if isinstance(end, exp.Interval) else None
    if exclude == "NO OTHERS":
        return until or 0
    if exclude == "GROUP" and str(spec.args["kind"]).upper() == "RANGE":
        return until or 1  # times are whole microseconds
    raise refuse(
        f"{show_sql(window)}, EXCLUDE {exclude},",
        "write RANGE BETWEEN … AND CURRENT ROW EXCLUDE GROUP, or ROWS … AND 1 PRECEDING",
    )


def _read_moment(
    window: "exp.Expr",
    key: tuple[str, ...],
    refuse: Callable[[str, str], SqlRefusal],
) -> Frame:
    """The rows of a key at one time."""
    from sqlglot import exp

    call, order = _call_of(window), window.args.get("order")
    if _ignores_nulls(window):
        raise refuse(show_sql(window), "leave IGNORE NULLS out")
    ordered = () if order is None else tuple(order.expressions)
    if ordered and (turned := _read_end_value(window, call)) is not None:
        first, down = turned
        return Frame(first, key, None, 0, order=tuple(map(_turn, ordered)) if down else ordered)
    if window.args.get("spec") is None:
        if isinstance(call, exp.Ntile) and not (call.this and _counts(call.this)):
            raise refuse(f"{show_sql(window)} into no number of parts", "write NTILE(4)")
        if is_place(window) and ordered:
            return Frame(call, key, None, 0, order=ordered)
        kinds = (exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Count)
        if isinstance(call, kinds) and not ordered:
            return Frame(call, key, None, 0, span_us=0, peers=True)
    raise refuse(
        f"{show_sql(window)} of the rows of one time",
        "write COUNT, SUM, AVG, MIN or MAX without ORDER BY, or with it RANK(), or FIRST_VALUE or "
        "LAST_VALUE of ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    )


def _counts(tree: "exp.Expr") -> bool:
    """Whether it is a number of parts."""
    parts = read_literal(tree)
    return isinstance(parts, int) and not isinstance(parts, bool) and parts > 0


def _read_end_value(window: "exp.Expr", call: "exp.Expr") -> "tuple[exp.Expr, bool] | None":
    """The first value of an order that is asked for, and whether of that order turned round; None:
    it is neither the first nor the last of all."""
    from sqlglot import exp

    spec = window.args.get("spec")
    ends = {} if spec is None else {e: str(spec.args.get(e) or "").upper() for e in _ENDS}
    side = "" if spec is None else str(spec.args.get("end_side") or "").upper()
    plain = spec is None or (ends["start"] == "UNBOUNDED" and not spec.args.get("exclude"))
    whole = spec is not None and plain and (ends["end"], side) == ("UNBOUNDED", "FOLLOWING")
    if isinstance(call, (exp.FirstValue, exp.First)) and plain:
        return (call, False) if whole or ends.get("end", "") in ("", "CURRENT ROW") else None
    if isinstance(call, (exp.LastValue, exp.Last)) and whole:
        return exp.FirstValue(this=call.this), True
    return None


def _turn(item: "exp.Expr") -> "exp.Expr":
    """An item of ORDER BY, the other way round."""
    turned = item.copy()
    turned.set("desc", not item.args.get("desc"))
    turned.set("nulls_first", not item.args.get("nulls_first"))
    return turned


_ENDS = ("start", "end")


def has_moment(window: "exp.Expr", select: "exp.Select", catalog: Catalog) -> bool:
    """Whether a window is of the rows of one time, of a stream or of the answers of a query."""
    tables = list_tables(select, catalog)
    streams = [t for t in tables.tables.values() if isinstance(t, Stream)]
    trees = window.args.get("partition_by") or ()
    if len(streams) != 1 or len(tables.tables) != 1:
        return False
    try:
        return any(_is_time(tree, streams[0], tables) for tree in trees)
    except SqlRefusal:
        return False


def _is_time(tree: "exp.Expr", stream: Stream, scope: Scope) -> bool:
    """Whether it is the time of a row, or rises with it."""
    column = _shifted(tree)
    if column is None:
        return False
    name = scope.resolve(column.table or None, column.name, line_of(column)).column
    rising = scope.catalog.rising.get(stream.name, frozenset())
    return name == stream.timestamp or (column is tree.unnest() and name in rising)


def _read_bucket(tree: "exp.Expr", stream: Stream, scope: Scope) -> TimeBucket | None:
    """The bucket of a row's time that an item of PARTITION BY is (None: it is none)."""
    from sqlglot import exp

    found = read_grid_or_day(tree)
    column = None if found is None else _shifted(found[0])
    if found is None or column is None:
        return None
    time, grid = found[0].unnest(), found[1]
    name = scope.resolve(column.table or None, column.name, line_of(column)).column
    shift = None if time is column else read_interval(time.expression)
    if name != stream.timestamp or (time is not column and shift is None):
        return None
    return TimeBucket(grid, behind_us=(shift or 0) * (1 if isinstance(time, exp.Sub) else -1))


def _read_end(spec: "exp.Expr", end: str, refuse: Callable[[str, str], SqlRefusal]) -> int | None:
    """How many rows before a row an end of a frame is (None: the first)."""
    at, side = spec.args.get(end), str(spec.args.get(f"{end}_side") or "").upper()
    if at is None or str(at).upper() == "CURRENT ROW":
        return 0
    if str(at).upper() == "UNBOUNDED":
        if side != "PRECEDING":
            raise refuse("a window of all rows after a row", "end the frame with CURRENT ROW")
        return None
    rows = at if isinstance(at, str) else read_literal(at)
    if not isinstance(rows, int) or isinstance(rows, bool) or rows < 0:
        raise refuse(f"a frame of {at} rows", "write a whole number")
    return rows if side == "PRECEDING" else -rows


def _shifted(tree: "exp.Expr") -> "exp.Column | None":
    """The column that a time is, or is so long before or after."""
    from sqlglot import exp

    tree = tree.unnest()
    if isinstance(tree, (exp.Sub, exp.Add)) and isinstance(tree.expression, exp.Interval):
        tree = tree.this.unnest()
    return tree if isinstance(tree, exp.Column) else None


def _call_of(window: "exp.Expr") -> "exp.Expr":
    from sqlglot import exp

    call: exp.Expr = window.this
    while isinstance(call, (exp.IgnoreNulls, exp.RespectNulls, exp.Filter)):
        call = call.this
    return call


def _ignores_nulls(window: "exp.Expr") -> bool:
    from sqlglot import exp

    call = window.this
    return isinstance(call, exp.IgnoreNulls) or isinstance(call.this, exp.IgnoreNulls)
