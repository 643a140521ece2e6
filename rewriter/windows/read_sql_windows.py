"""Sliding windows in SQL: `ts > NOW() - INTERVAL '10' SECOND`.

NOW() is the time of evaluation. A row of a window is shown from its time on, until the window has
left it behind; rows are in one answer while all of them are shown.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Column, Stream
from ontoweir.mappings.model.parse_duration import parse_duration
from ontoweir.mappings.model.time_bucket import CalendarBuckets, TimeBucket
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.mappings.sql.read_select import read_from
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.buckets.make_column import make_column
from ontoweir.rewriter.windows.read_sql_grid import is_grid, read_months, read_sql_grid
from ontoweir.rewriter.windows.window import BEGINS, ENDS, Grid, Shown, meet_us

if TYPE_CHECKING:
    from sqlglot import exp

_WHY = (
    "a window is a condition that every answer meets: a stream's timestamp is later than NOW() "
    "minus a duration"
)
_MOST_MONTHS = 12 * 9_999
_FIX = (
    "write e.g. s.ts > NOW() - INTERVAL '10' MINUTE, joined to the other conditions by AND; for "
    "what nothing has come of for an hour: a row a with NOT EXISTS (SELECT 1 FROM s b WHERE b.k = "
    "a.k AND b.ts > a.ts AND b.ts <= a.ts + INTERVAL '1' HOUR)"
)


@dataclass(frozen=True, slots=True)
class SqlWindows:
    """A query without NOW(), whose windows are conditions on timestamps and columns.

    `columns`: when rows leave their windows, and begin to be shown, with their streams; `ends`,
    `begins`: the variables of these.
    """

    tree: "exp.Query"
    catalog: Catalog
    columns: tuple[tuple[str, Column], ...]
    ends: tuple[str, ...]
    begins: tuple[str, ...]


def read_sql_windows(tree: "exp.Query", catalog: Catalog) -> SqlWindows:
    """Read the windows of a query.

    Raises:
        SqlRefusal: NOW() elsewhere than in a comparison with a stream's timestamp; a window in some
            parts of a UNION only.
    """
    from sqlglot import exp

    if not any(is_now(node) for node in tree.walk()):
        return SqlWindows(tree, catalog, (), (), ())
    tree = tree.copy()
    made: dict[tuple[str, Column], None] = {}
    selects = [
        select
        for select in tree.find_all(exp.Select)
        if not isinstance(select.parent, (exp.In, exp.Exists))
    ]
    read = [_read_select(select, catalog) for select in selects]
    for node in tree.walk():
        if is_now(node):
            raise _refuse(node, "NOW()")
    if not any(any(w.edges("ends")) or any(w.edges("begins")) for w in read):
        return SqlWindows(tree, catalog, (), (), ())  # all that is said of NOW() always holds
    names: dict[str, tuple[str, ...]] = {}
    for kind, prefix in (("ends", ENDS), ("begins", BEGINS)):
        shown = [list(windows.edges(kind)) for windows in read]
        most = max(map(len, shown))
        if most and not all(shown):
            raise SqlRefusal(
                f"a part of the UNION has no {'window' if kind == 'ends' else 'delay'}",
                why="its answers hold for ever, and those of the others end"
                if kind == "ends"
                else "its answers begin at once, and those of the others later",
                fix="write one in each part, or one query for each",
                line=line_of(selects[next(i for i, edges in enumerate(shown) if not edges)]),
            )
        for select, windows, edges in zip(selects, read, shown, strict=True):
            for n, (alias, bucket) in enumerate([*edges, *edges[-1:] * (most - len(edges))], 1):
                column = make_column(bucket)
                made[windows.scope.tables[alias].name, column] = None
                item = exp.column(column.name, alias, quoted=True)
                select.append("expressions", exp.alias_(item, f"{prefix}{n}", quoted=True))
        names[kind] = tuple(f"{prefix}{n}" for n in range(1, most + 1))
    for select, windows in zip(selects, read, strict=True):
        _add_conditions(select, windows)
    streams = dict(catalog.streams)
    for name, column in made:
        if streams[name].column(column.name) is None:
            streams[name] = replace(streams[name], columns=(*streams[name].columns, column))
    changed = replace(catalog, streams=streams)
    return SqlWindows(tree, changed, tuple(made), names["ends"], names["begins"])


@dataclass(slots=True)
class _Windows:
    """The windows of one SELECT: how long the rows of each alias are shown."""

    scope: Scope
    shown: dict[str, Shown] = field(default_factory=lambda: defaultdict(Shown))

    def stream(self, alias: str) -> Stream:
        table = self.scope.tables[alias]
        assert isinstance(table, Stream)
        return table

    def edges(self, kind: str) -> Iterator[tuple[str, TimeBucket]]:
        """Every time at which rows end, or begin, to be shown, with its alias."""
        for alias, shown in self.shown.items():
            for bucket in dict.fromkeys(shown.ends if kind == "ends" else shown.begins):
                yield alias, bucket


def _read_select(select: "exp.Select", catalog: Catalog) -> _Windows:
    """The windows of a SELECT, whose conditions with NOW() are taken out."""
    from sqlglot import exp

    scope, _, _ = read_from(select.copy(), catalog)
    windows = _Windows(scope)
    if (where := select.args.get("where")) is not None:
        rest = _take(where.this, windows)
        if rest is None:
            where.pop()
        else:
            where.set("this", rest)
    for join in select.args.get("joins") or ():
        if (on := join.args.get("on")) is not None:
            join.set("on", _take(on, windows) or exp.true())
    return windows


def _take(condition: "exp.Expr", windows: _Windows) -> "exp.Expr | None":
    """A condition without its conjuncts that are windows; None: nothing is left."""
    from sqlglot import exp

    rest: list[exp.Expr] = []
    waiting = [condition]
    while waiting:
        node = waiting.pop()
        inner = node.unnest()
        if not any(is_now(part) for part in inner.walk()):
            rest.append(node)
        elif isinstance(inner, exp.And):
            waiting += [inner.right, inner.left]
        elif isinstance(inner, exp.Not) and isinstance(
            inner.this.unnest(), (exp.GT, exp.GTE, exp.LT, exp.LTE)
        ):
            waiting.append(_opposite(inner.this.unnest()))
        elif isinstance(inner, exp.Between):
            waiting += [
                exp.LTE(this=inner.this.copy(), expression=inner.args["high"]),
                exp.GTE(this=inner.this.copy(), expression=inner.args["low"]),
            ]
        else:
            _read_window(inner, windows)
    return exp.and_(*rest, copy=False) if rest else None


def _opposite(node: "exp.Expr") -> "exp.Expr":
    """The comparison that holds where another one does not: a timestamp is never NULL."""
    from sqlglot import exp

    opposite: dict[type, type[exp.Expr]] = {
        exp.GT: exp.LTE,
        exp.GTE: exp.LT,
        exp.LT: exp.GTE,
        exp.LTE: exp.GT,
    }
    return opposite[type(node)](this=node.args["this"], expression=node.args["expression"])


def _read_window(node: "exp.Expr", windows: _Windows) -> None:
    """Note the window that a comparison with NOW() is."""
    from sqlglot import exp

    kinds: dict[type, tuple[bool, bool]] = {  # whether it is `left > right`, and strict
        exp.GT: (True, True),
        exp.GTE: (True, False),
        exp.LT: (False, True),
        exp.LTE: (False, False),
    }
    if type(node) not in kinds:
        raise _refuse(node, show_sql(node))
    greater, strict = kinds[type(node)]
    total = _Linear(windows.scope)
    total.add(node.args["this"], 1 if greater else -1)
    total.add(node.args["expression"], -1 if greater else 1)
    # total > 0 (or >= 0), where total = a time - NOW() + a duration, or the other way round
    times = {alias: sign for alias, sign in total.times.items() if sign}
    if len(times) != 1 or total.now != -sum(times.values()) or abs(total.now) != 1:
        raise _refuse(node, show_sql(node))
    alias = next(iter(times))
    shown, text = windows.shown[alias], node.sql("spark")
    if total.months:
        _note_months(shown, total, node, strict=strict)
    elif total.now == 1:  # NOW() - time + us > 0: so long after it
        shown.begin(-total.us, total.grid, strict=strict)
    else:
        shown.end(total.us, total.grid, strict=strict)
    if shown.is_empty:
        raise _refuse(node, f"the window {text}, which shows nothing,")


def _note_months(shown: Shown, total: "_Linear", node: "exp.Expr", *, strict: bool) -> None:
    """Note a window of months: of NOW() so many months ago, with nothing else added."""
    months = -total.months * total.now
    grid = total.grid
    if total.us or not 0 < months <= _MOST_MONTHS:
        raise _refuse(node, f"the window {show_sql(node)}, of months and other lengths,")
    if not isinstance(grid, CalendarBuckets) or grid.zone != "UTC":
        raise SqlRefusal(
            f"{show_sql(node)} is not read",
            why="months before a time of day go back and forth: a month before 31 March, 1:00 is "
            "28 February, 1:00, and that before 30 March, 2:00 is an hour later",
            fix=f"write CURRENT_DATE - INTERVAL '{months}' MONTH, from the day on; or a number of "
            f"days, NOW() - INTERVAL '{30 * months}' DAY",
            line=line_of(node),
        )
    if total.now == 1:
        shown.begin_months(months, grid, strict=strict)
    else:
        shown.end_months(months, grid, strict=strict)


@dataclass(slots=True)
class _Linear:
    """A sum of timestamps, by their aliases, NOW(), on a grid, and durations (µs, and months)."""

    scope: Scope
    times: dict[str, int] = field(default_factory=dict)
    now: int = 0
    us: int = 0
    months: int = 0
    grid: Grid | None = None

    def add(self, tree: "exp.Expr", sign: int) -> None:
        from sqlglot import exp

        inner = tree.unnest()
        if isinstance(inner, (exp.Add, exp.Sub)):
            self.add(inner.this, sign)
            if (months := read_months(inner.expression)) is not None:
                own = inner.this.unnest()
                if not is_now(own) and not is_grid(own):  # days are cut off where they are added
                    raise _refuse(inner, f"months that are added to {show_sql(own)}")
                self.months = sign * months * (1 if isinstance(inner, exp.Add) else -1)
                return
            self.add(inner.expression, sign if isinstance(inner, exp.Add) else -sign)
        elif is_now(inner):
            self.now += sign
        elif is_grid(inner) and is_now((call := read_sql_grid(inner)).time.unnest()):
            if call.ends or self.now:
                raise _refuse(inner, show_sql(inner))
            self.now, self.grid = sign, call.grid
        elif isinstance(inner, exp.Interval):
            unit = inner.args.get("unit")
            amount = inner.this.name if inner.this is not None else ""
            duration = parse_duration(f"{amount} {unit.name if unit is not None else ''}")
            if duration is None:
                raise _refuse(inner, f"the duration {show_sql(inner)}")
            self.us += sign * duration
        elif isinstance(inner, exp.Column):
            found = self.scope.resolve(inner.table or None, inner.name, line_of(inner))
            if self.scope.step_of(found) is None:
                raise _refuse(
                    inner, f"NOW() compared with {show_sql(inner)}, no timestamp of a stream,"
                )
            self.times[found.alias] = self.times.get(found.alias, 0) + sign
        else:
            raise _refuse(inner, f"NOW() beside {show_sql(inner)}")


def _add_conditions(select: "exp.Select", windows: _Windows) -> None:
    """Two rows meet if each begins before the other one ends."""
    from sqlglot import exp

    conditions = []
    streams = [a for a, table in windows.scope.tables.items() if isinstance(table, Stream)]
    for begins, ends in permutations(streams, 2):
        within = meet_us(windows.shown[begins], windows.shown[ends])
        if within is None:
            continue
        first, second = (
            exp.column(windows.stream(a).timestamp, a, quoted=True) for a in (begins, ends)
        )
        length = exp.Interval(
            this=exp.Literal.string(str(abs(within))), unit=exp.Var(this="MICROSECOND")
        )
        moved = exp.Add if within >= 0 else exp.Sub
        conditions.append(exp.LT(this=first, expression=moved(this=second, expression=length)))
    if conditions:
        select.where(*conditions, copy=False)


def is_now(node: "exp.Expr") -> bool:
    """Whether it is NOW(), or what is the same."""
    from sqlglot import exp

    if isinstance(node, exp.Anonymous):
        return node.name.upper() == "NOW" and not node.expressions
    return isinstance(node, (exp.CurrentTimestamp, exp.Localtimestamp))


def _refuse(node: "exp.Expr", what: str) -> SqlRefusal:
    return SqlRefusal(f"{what} is not read", why=_WHY, fix=_FIX, line=line_of(node))
