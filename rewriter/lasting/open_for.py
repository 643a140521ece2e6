"""Rows that have been open for some time: what came so long before NOW(), and is not ended yet."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import SqlRefusal, column_names
from ontoweir.rewriter.differences.name_apart import name_apart
from ontoweir.rewriter.differences.name_columns import name_tables
from ontoweir.rewriter.joins.find_absence import PartKind, find_absence, split_conjuncts
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.own_nodes import list_own
from ontoweir.rewriter.lasting.read_delay import read_delay
from ontoweir.rewriter.subqueries.column_names import free_name
from ontoweir.rewriter.windows.read_sql_windows import is_now

if TYPE_CHECKING:
    from sqlglot import exp

    from ontoweir.mappings.sql.read_scope import Scope

ReadRows = Callable[["exp.Select", Catalog, str], tuple["exp.Select", Catalog] | None]
"""A SELECT of a stream with NOT EXISTS, as one over a stream of the rows beside which there is
none, each at the time when that is final; and the catalog with it (None: it is none)."""


def open_for(
    tree: "exp.Query", catalog: Catalog, read: ReadRows
) -> "tuple[exp.Query, Catalog] | None":
    """`FROM (s without t until 30 minutes later) WHERE NOT EXISTS (t later than that)` for `FROM s
    WHERE s.ts <= NOW() - INTERVAL '30' MINUTE AND NOT EXISTS (t later than s)`; and the catalog
    with the streams of the former (None: there is none of the latter).

    A row that is not ended within the time is one from then on, until it is ended.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
        read: makes the stream.

    Raises:
        SqlRefusal: what it is made of is not read.
    """
    from sqlglot import exp

    made, before = tree.copy(), catalog
    for select in list(made.find_all(exp.Select)):
        if (found := _find(select, catalog)) is not None and found.is_later():
            catalog = found.split(catalog, read)
    return None if catalog is before else (made, catalog)


def _find(select: "exp.Select", catalog: Catalog) -> "_Open | None":
    """What a SELECT says of rows that come long before NOW(), and others do not end."""
    where, scope = select.args.get("where"), list_tables(select, catalog)
    streams = {a: t for a, t in scope.tables.items() if isinstance(t, Stream) and not t.versions}
    sides = [
        j for j in select.args.get("joins") or () if j.args.get("side") or j.args.get("method")
    ]
    if where is None or len(streams) != 1 or sides:
        return None
    ((alias, stream),) = streams.items()
    said = list(split_conjuncts(where.this))
    late = [c for c in said if any(map(is_now, c.walk()))]
    after = read_delay(late, alias, stream, catalog) if late else None
    try:
        _, parts = find_absence(select)
    except SqlRefusal:
        return None
    several = len(parts) != 1 or len(parts[0].rows) != 1
    if after is None or several or parts[0].kind is not PartKind.ABSENT or parts[0].compared:
        return None
    rows = parts[0].rows[0]
    inner = list_tables(rows, catalog)
    theirs = [a for a, t in inner.tables.items() if isinstance(t, Stream) and not t.versions]
    if len(theirs) != 1 or rows.args.get("group") or rows.args.get("limit") or not select.selects:
        return None
    _, named = name_apart(select.expressions[0], rows, scope, inner)
    _name_outer(named, scope)
    inner = list_tables(named, catalog)
    (other,) = (a for a, t in inner.tables.items() if isinstance(t, Stream))
    absent = [c for c in said if _is_absence(c)]
    kept = [c for c in said if c not in late and c not in absent]
    return _Open(select, scope, (alias, stream), kept, after, named, (other, inner))


def _is_absence(condition: "exp.Expr") -> bool:
    from sqlglot import exp

    return condition.find(exp.Exists) is not None


def _name_outer(rows: "exp.Select", scope: "Scope") -> None:
    """Let the columns of a subquery that are of tables around it say of which; in place."""
    from sqlglot import exp

    for column in list_own(rows, exp.Column):
        if isinstance(column, exp.Column) and not column.table:
            holder = exp.Select(expressions=[column.copy()])
            name_tables(holder, scope)
            column.replace(holder.expressions[0])


class _Open:
    """A SELECT of rows of one stream that came so long before NOW(), beside which none is later."""

    def __init__(
        self,
        select: "exp.Select",
        scope: "Scope",
        mine: tuple[str, Stream],
        said: "list[exp.Expr]",
        after_us: int,
        rows: "exp.Select",
        theirs: "tuple[str, Scope]",
    ) -> None:
        self.select, self.scope, self.said, self.after_us = select, scope, said, after_us
        self.alias, self.stream = mine
        self.rows, (self.other, self.inner) = rows, theirs

    def split(self, catalog: Catalog, read: ReadRows) -> Catalog:
        """Let the SELECT be over the rows that are not ended within the time; in place."""
        from sqlglot import exp

        name_tables(self.select, self.scope)
        own = [c for c in self.said if self._is_of_rows(c)]
        names = [c for c in column_names(self.stream) if c != self.stream.timestamp]
        time = free_name("when the row came", names)
        items = [exp.alias_(self._column(c), c, quoted=True) for c in names]
        items.append(exp.alias_(self._column(self.stream.timestamp), time, quoted=True))
        table = exp.Table(this=exp.to_identifier(self.stream.name, quoted=True))
        table.set("alias", exp.TableAlias(this=exp.to_identifier(self.alias, quoted=True)))
        within = self.rows.copy()
        late = exp.Interval(
            this=exp.Literal.string(str(self.after_us)), unit=exp.Var(this="MICROSECOND")
        )
        last = exp.Add(this=self._column(self.stream.timestamp), expression=late)
        within.where(exp.LTE(this=self._their_time(), expression=last), copy=False)
        absent = exp.Not(this=exp.Exists(this=within))
        asked = exp.Select(expressions=items).from_(table).where(*own, absent)
        found = read(asked, catalog, self.stream.name)
        if found is None:
            return catalog
        flat, catalog = found
        made = catalog.streams[flat.args["from_"].this.name]
        values = {e.alias: e.unalias() for e in flat.expressions}
        values[self.stream.timestamp] = values.pop(time)
        for value in values.values():
            for column in [*value.find_all(exp.Column)]:
                column.set("table", exp.to_identifier(self.alias, quoted=True))
        later = self.rows.copy()
        self._substitute(later, values)
        outer = [c.copy() for c in self.said if c not in own]
        mine = exp.column(made.timestamp, self.alias, quoted=True)
        conditions = [c for c in self._list_said(self.rows) if not self._compares_times(c)]
        holder = exp.Select(expressions=[exp.Paren(this=c.copy()) for c in conditions])
        self._substitute(holder, values)
        later.set("where", None)
        later.where(*(p.this for p in holder.expressions), copy=False)
        later.where(exp.GT(this=self._their_time(), expression=mine), copy=False)
        self.select.set("where", None)
        for item in list(self.select.expressions):
            if isinstance(item, exp.Column):
                item.replace(exp.alias_(item.copy(), item.name, quoted=True))
        self._substitute(self.select, values)
        self.select.where(*outer, exp.Not(this=exp.Exists(this=later)), copy=False)
        stand = exp.Table(this=exp.to_identifier(made.name, quoted=True))
        stand.set("alias", exp.TableAlias(this=exp.to_identifier(self.alias, quoted=True)))
        for item in list_own(self.select, exp.Table):
            if item.alias_or_name == self.alias:
                item.replace(stand)
        return catalog

    def _is_of_rows(self, condition: "exp.Expr") -> bool:
        from sqlglot import exp

        holder = exp.Select(expressions=[condition.copy()])
        name_tables(holder, self.scope)
        columns = list(holder.find_all(exp.Column))
        return all(c.table == self.alias for c in columns) and not condition.find(exp.Query)

    def _list_said(self, rows: "exp.Select") -> "list[exp.Expr]":
        where = rows.args.get("where")
        return [] if where is None else list(split_conjuncts(where.this))

    def _compares_times(self, condition: "exp.Expr") -> bool:
        """Whether it compares the time of a row with that of the one around it."""
        from sqlglot import exp

        sides = [condition.this, condition.expression] if condition.key in _ORDERS else []
        mine, theirs = self._column(self.stream.timestamp), self._their_time()
        named = [(s.table, s.name) for s in sides if isinstance(s, exp.Column)]
        return sorted(named) == sorted((c.table, c.name) for c in (mine, theirs))

    def is_later(self) -> bool:
        """Whether what ends a row is said to be later, or not when."""
        for condition in self._list_said(self.rows):
            if self._compares_times(condition):
                first = condition.this if condition.key in ("gt", "gte") else condition.expression
                if first.table != self.other:
                    return False
        return True

    def _column(self, name: str) -> "exp.Column":
        from sqlglot import exp

        return exp.column(name, self.alias, quoted=True)

    def _their_time(self) -> "exp.Column":
        from sqlglot import exp

        stream = self.inner.tables[self.other]
        assert isinstance(stream, Stream)
        return exp.column(stream.timestamp, self.other, quoted=True)

    def _substitute(self, tree: "exp.Expr", values: "dict[str, exp.Expr]") -> None:
        """Put what they are in the place of the row's columns, in place."""
        from sqlglot import exp

        for column in list(tree.find_all(exp.Column)):
            if column.table == self.alias and column.name in values:
                column.replace(values[column.name].copy())


_ORDERS = ("gt", "gte", "lt", "lte")
