"""LAG, LEAD, running aggregates, and those of rows that are counted, in SQL."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    Stream,
    StringType,
    TimestampType,
)
from ontoweir.mappings.model.expression import Expression, Field
from ontoweir.mappings.model.preceding import Counted, CountedFunction, OrderBy, Preceding
from ontoweir.mappings.sql.read_literal import line_of, read_literal
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.mappings.sql_expressions.read_row_expression import read_row_expression
from ontoweir.rewriter.earlier.declare_preceding import declare_preceding, name_column
from ontoweir.rewriter.earlier.expand_stars import expand_stars
from ontoweir.rewriter.earlier.read_frame import (
    WHY,
    Frame,
    has_moment,
    is_of_rows,
    read_frame,
)
from ontoweir.rewriter.earlier.require_values import require_all, require_values
from ontoweir.rewriter.earlier.tell_apart import find_key, list_named, require_order
from ontoweir.rewriter.groups.read_sql_aggregate import name_aggregates
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.own_nodes import is_number, list_windows
from ontoweir.rewriter.windows.read_sql_grid import is_grid, name_value_grid
from ontoweir.rewriter.windows.read_sql_windows import is_now

if TYPE_CHECKING:
    from sqlglot import exp

_DIGITS = 19


def is_over_stream(select: "exp.Select", catalog: Catalog) -> bool:
    """Whether a SELECT is over declared tables alone, without subqueries."""
    from sqlglot import exp

    items = [select.args.get("from_"), *(select.args.get("joins") or ())]
    known = list_tables(select, catalog).tables
    read = [item.this for item in items if item is not None]
    return all(isinstance(t, exp.Table) and t.alias_or_name in known for t in read)


def read_counted(
    select: "exp.Select", catalog: Catalog, *, merged: bool = False, alike: bool = False
) -> Catalog:
    """Read windows of rows that are counted as columns of a stream that takes the place of the
    table, in place, those of one key at a time; the catalog with these streams.

    Args:
        select: without what is in its subqueries.
        catalog: the tables.
        merged: its subqueries have been merged; the numbers of rows by which some are chosen
            (read_latest) have been read.
        alike: what is asked of rows of one key and time, that may be several, is the same of all.

    Raises:
        SqlRefusal: they are of several tables, of all rows, or not in the order of time.
    """

    while True:
        windows = list_windows(select)
        found = [w for w in windows if is_of_rows(w, select) or has_moment(w, select, catalog)]
        unread = [w for w in windows if merged or not is_number(w)]
        unread = [w for w in unread if not any(w is f for f in found)]
        if unread and not found:
            ranks = "ORDER BY the time, or PARTITION BY it; the latest row of each key is QUALIFY "
            ranks += "ROW_NUMBER() OVER (PARTITION BY key ORDER BY ts DESC) = 1 of a stream"
            fix = ranks if is_number(unread[0]) else "write one of these"
            raise _refuse(unread[0], show_sql(unread[0]), fix)
        if not found:
            return catalog
        others = [w for w in windows if not any(w is f for f in found)]
        if any(merged or not is_number(w) for w in others):
            other = others[0]
            fix = "write a query for each"
            what = f"{show_sql(other)} beside {show_sql(found[0])}"
            raise _refuse(other, what, fix)
        catalog = _read_one(select, catalog, found, alike)


def _read_one(
    select: "exp.Select", catalog: Catalog, found: "list[exp.Expr]", any_order: bool
) -> Catalog:
    """Read the windows by one key."""
    from sqlglot import exp

    expand_stars(select, catalog, show_sql(found[0]))
    rows = _read_rows(select, catalog, found[0])
    found = [*found, *_open_names(select, rows.stream)]
    for window in found:
        name_aggregates(window)
    frames = [read_frame(window, select, rows.stream, rows.scope, WHY) for window in found]
    first, apart, within, run = (f := frames[0]).key, f.ties, f.within, f.run
    mine = [
        (w, f)
        for w, f in zip(found, frames, strict=True)
        if (f.key, f.ties, f.within, f.run) == (first, apart, within, run)
    ]
    named = [list_named(frame, rows.stream, rows.scope, found[0]) for frame in frames]
    every = dict.fromkeys(name for names in named for name in names)
    some = [name for name in every if any(name not in names for names in named)]
    require_all(select, rows.stream, some, found[0], WHY)
    constants = [c for c in rows.constants if c not in first]
    key = (*first, *constants)
    for window, frame in mine:
        alike = frame.peers and not frame.known and _name_function(frame) != "first"
        if not alike and not frame.order and not any_order:
            require_order(frame, rows.stream, rows.scope, key, window)
    told = [n for _, frame in mine for n in list_named(frame, rows.stream, rows.scope, found[0])]
    numbered = [f for _, f in mine if f.is_numbered]
    if numbered:
        apart_by = find_key(rows.stream, found[0])
        last = tuple(exp.Ordered(this=exp.column(n), nulls_first=True) for n in apart_by)
        mine = [(w, replace(f, order=(*f.order, *last)) if f in numbered else f) for w, f in mine]
    require_values(select, rows.stream, tuple(dict.fromkeys((*key, *told))), found[0], WHY)
    only = None
    if (where := select.args.get("where")) is not None:
        held = where.this.copy()
        for read in held.find_all(exp.Column):
            read.set("table", None)
        only = read_row_expression(held, Scope(catalog, {rows.stream.name: rows.stream}))
    columns = _Columns(rows, catalog)
    ties = columns.order(apart)
    shown = [columns.read(w, f) for w, f in mine]
    after = max(0, *(-c.last for c in columns.made))
    if after and any(c.order for c in columns.made):
        raise _refuse(found[0], "a rank beside rows that follow", "write a query for each")
    made, catalog = declare_preceding(
        Preceding(
            rows.stream.name,
            rows.stream.timestamp,
            key,
            only,
            tuple(columns.made),
            after,
            ties,
            within,
            tuple(map(columns.read_value, run)),
        ),
        catalog,
    )
    for (window, _), tree in zip(mine, shown, strict=True):
        window.replace(tree)
    _put(select, rows.alias, made)
    return catalog


@dataclass(frozen=True, slots=True)
class _Rows:
    """What windows are over: the rows of a stream; `constants`: columns that conditions say have
    one value."""

    alias: str
    stream: Stream
    scope: Scope
    constants: tuple[str, ...]


def _read_rows(select: "exp.Select", catalog: Catalog, place: "exp.Expr") -> _Rows:
    from sqlglot import exp

    scope = list_tables(select, catalog)
    tables = list(scope.tables.items())
    more = [k for k in ("joins", "group", "having", "distinct") if select.args.get(k)]
    plain = len(tables) == 1 and isinstance(tables[0][1], Stream) and not tables[0][1].versions
    if more or not plain:
        what = "several tables, groups or DISTINCT" if more else "no stream"
        fix = "write it in a subquery over the stream alone, and join or group that"
        raise _refuse(place, f"{show_sql(place)} over {what}", fix)
    where = select.args.get("where")
    if where is not None and where.find(exp.Select) is not None:
        fix = "write it in a subquery over the stream alone, and the condition around it"
        raise _refuse(place, f"{show_sql(place)} beside a subquery in WHERE", fix)
    ((alias, stream),) = tables
    assert isinstance(stream, Stream)
    if where is not None and any(map(is_now, where.walk())):
        fix = "write it in a subquery, and the condition with NOW() around it"
        raise _refuse(place, f"{show_sql(place)} beside NOW() in WHERE", fix)
    constants: dict[str, None] = {}
    for conjunct in [] if where is None else split_conjuncts(where.this):
        one = conjunct.unnest()
        if isinstance(one, exp.EQ):
            for column, value in ((one.this, one.expression), (one.expression, one.this)):
                if isinstance(column, exp.Column) and read_literal(value) is not None:
                    found = scope.resolve(column.table or None, column.name, line_of(column)).column
                    constants |= {found: None} if found != stream.timestamp else {}
    return _Rows(alias, stream, scope, tuple(constants))


def _open_names(select: "exp.Select", stream: Stream) -> "list[exp.Expr]":
    """Write what is selected in the place of its names in QUALIFY; the windows there are of it."""
    from sqlglot import exp

    if (qualify := select.args.get("qualify")) is None:
        return []
    own = {c.name.lower() for c in stream.columns} | {stream.timestamp.lower()}
    named = {e.alias.lower(): e.this for e in select.expressions if isinstance(e, exp.Alias)}
    made: list[exp.Expr] = []
    for column in list(qualify.find_all(exp.Column)):
        name = column.name.lower()
        if not column.args.get("table") and name in named.keys() - own:
            value = exp.Paren(this=named[name].copy())
            column.replace(value)
            made += value.find_all(exp.Window)
    return made


@dataclass(slots=True)
class _Columns:
    """The columns that windows are."""

    rows: _Rows
    catalog: Catalog
    made: list[Counted] = field(default_factory=list)

    def read(self, window: "exp.Expr", frame: Frame) -> "exp.Expr":
        """The column that a window is, or an expression of some."""
        from sqlglot import exp

        call, argument = frame.call, None
        if frame.order:
            return self._rank(frame)
        tree = call.this
        counts = isinstance(call, (exp.RowNumber, exp.Rank, exp.DenseRank))
        if isinstance(call, exp.Count) and (isinstance(tree, exp.Distinct) or call.expressions):
            raise _refuse(window, show_sql(window), "count one column, or *")
        if not counts and not isinstance(tree, exp.Star):
            argument = self._read_argument(tree)
        function = "known" if frame.known else _name_function(frame)
        kind = self._type(function, argument, window)
        ends = frame.first, frame.last
        made = Counted("", function, argument, *ends, kind, frame.span_us)
        column = self._add(replace(made, peers=frame.peers, until_us=frame.until_us))
        default = call.args.get("default")
        if default is None:
            return column
        if isinstance(call, exp.Lead):
            return column  # of the last row of a key, whose next one has not come
        stamp = Field(self.rows.stream.timestamp, TimestampType())
        since = self._add(Counted("", "first", stamp, frame.first, frame.last, TimestampType()))
        none = exp.Is(this=since, expression=exp.Null())
        return exp.Paren(
            this=exp.Case(ifs=[exp.If(this=none, true=default.copy())], default=column)
        )

    def order(self, trees: "Sequence[exp.Expr]") -> tuple[OrderBy, ...]:
        """The keys of an order."""
        return tuple(
            OrderBy(
                self._read_argument(tree.this),
                bool(tree.args.get("desc")),
                bool(tree.args.get("nulls_first")),
            )
            for tree in trees
        )

    def _rank(self, frame: Frame) -> "exp.Expr":
        """The place of a row among those of its time, or the first value there."""
        from sqlglot import exp

        order, function = self.order(frame.order), _RANKS[type(frame.call).__name__.lower()]
        made = Counted("", function, None, None, 0, IntType(), order=order)
        if function == "first":
            argument = self._read_argument(frame.call.this)
            made = replace(made, argument=argument, type=argument.type)
        elif function in ("percent", "share"):
            made = replace(made, type=FloatType())
        elif isinstance(frame.call, exp.Ntile):
            made = replace(made, parts=int(frame.call.this.name))
        return self._add(made)

    def read_value(self, tree: "exp.Expr") -> Expression:
        """A column, or a bucket of a time that is a value."""
        return self._read_argument(name_value_grid(tree) if is_grid(tree) else tree)

    def _read_argument(self, tree: "exp.Expr") -> Expression:
        from sqlglot import exp

        made = exp.Paren(this=tree.copy())
        for column in made.find_all(exp.Column):
            self.rows.scope.resolve(column.table or None, column.name, line_of(column))
            column.set("table", None)
        stream = self.rows.stream
        return read_row_expression(made.this, Scope(self.catalog, {stream.name: stream}))

    def _type(
        self, function: CountedFunction, argument: Expression | None, window: "exp.Expr"
    ) -> ColumnType:
        if function == "count":
            return IntType()
        if argument is None:
            raise _refuse(window, show_sql(window), "aggregate a column")
        kind = argument.type
        ordered = isinstance(kind, IntType | DecimalType | FloatType)
        if function in ("min", "max"):
            ordered = ordered or isinstance(kind, DateType | TimestampType)
        varies = function in ("var_pop", "var_samp")
        if (varies or function in ("min", "max", "sum", "avg")) and not ordered:
            raise _refuse(window, f"{show_sql(window)}, of {_say(kind)}", "aggregate a number")
        if function == "avg" or varies:
            return FloatType()
        if function == "sum" and isinstance(kind, DecimalType):
            return DecimalType(max(kind.precision, _DIGITS), kind.scale)
        return kind

    def _add(self, counted: Counted) -> "exp.Expr":
        from sqlglot import exp

        taken = {c.name for c in self.rows.stream.columns} | {self.rows.stream.timestamp}
        for known in self.made:
            if replace(known, name="") == counted:
                return exp.column(known.name, self.rows.alias, quoted=True)
        taken |= {c.name for c in self.made}
        name = name_column(counted)
        while name in taken:
            name += "'"
        self.made.append(replace(counted, name=name))
        return exp.column(name, self.rows.alias, quoted=True)


_RANKS: dict[str, CountedFunction] = {
    "rank": "rank",
    "denserank": "dense",
    "rownumber": "number",
    "percentrank": "percent",
    "cumedist": "share",
    "ntile": "part",
    "firstvalue": "first",
    "first": "first",
}
_FUNCTIONS: dict[str, CountedFunction] = {
    "lag": "first",
    "lead": "first",
    "firstvalue": "first",
    "first": "first",
    "lastvalue": "first",
    "last": "first",
    "count": "count",
    "sum": "sum",
    "avg": "avg",
    "min": "min",
    "max": "max",
    "variance": "var_samp",
    "variancepop": "var_pop",
}
"""By the names of sqlglot's classes. Of LAST_VALUE the rows begin with the last one."""


def _name_function(frame: Frame) -> CountedFunction:
    """Of the numbers of rows: how many there are until a row."""
    return _FUNCTIONS.get(type(frame.call).__name__.lower(), "count")


def _say(kind: ColumnType) -> str:
    match kind:
        case StringType():
            return "a text"
        case BooleanType():
            return "true or false"
        case _:
            return "a time"


def _put(select: "exp.Select", alias: str, made: Stream) -> None:
    """Read the stream in the place of the table."""
    from sqlglot import exp

    select.set("windows", None)
    qualify = select.args.get("qualify")
    if qualify is not None and not list_windows(select):
        select.set("qualify", None)
        select.where(qualify.this, copy=False)
    table = select.args["from_"].this
    named = exp.Table(this=exp.to_identifier(made.name, quoted=True))
    named.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
    table.replace(named)


def _refuse(tree: "exp.Expr", what: str, fix: str) -> SqlRefusal:
    return SqlRefusal(
        f"{what} is outside what is read of windows of rows", why=WHY, fix=fix, line=line_of(tree)
    )
