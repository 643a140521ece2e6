"""Aggregates over all rows, or over those of a key, beside each row of what comes and goes."""

from typing import TYPE_CHECKING

from ontoweir.rewriter.joins.own_nodes import list_own

if TYPE_CHECKING:
    from sqlglot import exp

_NAMES = ("Count", "Sum", "Avg", "Min", "Max")
_KEPT = ("qualify", "order", "limit", "offset", "distinct")
_ROWS = "rows of totals"


def join_totals(tree: "exp.Query") -> "exp.Query":
    """`SELECT k, SUM(x) / SUM(SUM(x)) OVER () … GROUP BY k` as a join of the groups with what they
    add up to, and likewise of the rows of windows; another query as it is.

    A total of `PARTITION BY p` is of the rows whose p is equal, or NULL as well. Where SELECT
    groups, its HAVING, and else its WHERE, comes before the totals, as in SQL.

    Args:
        tree: the query, whose names are as they were written, and its subqueries.
    """
    from sqlglot import exp

    made = tree.copy()
    for select in reversed(list(made.find_all(exp.Select))):
        if not any(map(_is_total, list_own(select, exp.Window))) or select.args.get("with_"):
            continue
        if any(e.is_star or not e.alias_or_name for e in select.expressions):
            continue
        if _has_two_meanings(select):
            continue
        joined = _Totals(select).join()
        if select is made:
            made = joined
        else:
            select.replace(joined)
    return made


def _has_two_meanings(select: "exp.Select") -> bool:
    """Whether QUALIFY reads a name that SELECT gives, and that may be a column's too: which of them
    is meant differs from SQL to SQL."""
    from sqlglot import exp

    qualify = select.args.get("qualify")
    read = [] if qualify is None else qualify.find_all(exp.Column)
    names = {column.name.lower() for column in read if not column.table}
    given = {e.alias.lower(): e.unalias() for e in select.expressions if e.alias}
    columns = {c.name.lower() for item in given.values() for c in item.find_all(exp.Column)}
    return any(given[name].name.lower() != name for name in names & given.keys() & columns)


def _is_total(window: "exp.Expr") -> bool:
    """Whether it is an aggregate over all rows of a partition, of no distinct values."""
    from sqlglot import exp

    more = {name for name, value in window.args.items() if value} - {"this", "partition_by", "over"}
    plain = type(window.this).__name__ in _NAMES and window.this.find(exp.Distinct) is None
    return plain and not more


class _Totals:
    """Writes the join."""

    def __init__(self, tree: "exp.Select") -> None:
        from sqlglot import exp

        self.tree = tree.copy()
        self.grouped = tree.args.get("group") is not None
        start = tree.args["from_"].this if tree.args.get("from_") is not None else None
        said = {name for name, value in tree.args.items() if value} - {"expressions", "from_"}
        inner = start.this if isinstance(start, exp.Subquery) and not said - {*_KEPT} else None
        self.inner = inner if isinstance(inner, exp.Select) else None
        self.names: dict[exp.Expr, str] = {}

    def join(self) -> "exp.Select":
        """The query around the rows, and what they add up to."""
        from sqlglot import exp

        items = self.tree.expressions
        named = [exp.alias_(e.unalias().copy(), e.alias_or_name, quoted=True) for e in items]
        outer = exp.Select(expressions=named)
        for name in _KEPT:
            if (held := self.tree.args.get(name)) is not None:
                outer.set(name, held.copy())
        self._open_names(outer)
        joins: list[exp.Join] = []
        for window in [w for w in list_own(outer, exp.Window) if _is_total(w)]:
            keys = [k.copy() for k in window.args.get("partition_by") or ()]
            number = len(joins)
            joins.append(self._write_join(window.this.copy(), keys, f"total {number}"))
            window.replace(exp.column("total", f"total {number}", quoted=True))
        self._read_rows(outer, _ROWS)
        held = outer.args.get("qualify")
        if held is not None and held.find(exp.Window) is None:
            outer.set("qualify", None)
            outer.where(held.this, copy=False)
        first = self._subquery(self._write_rows(), _ROWS)
        outer.set("from_", exp.From(this=first))
        for join in joins:
            outer.append("joins", join)
        for join in joins:
            of = join.this.this.args["from_"].this
            of.set("this", self._write_rows())
        return outer

    def _open_names(self, outer: "exp.Select") -> None:
        """What ORDER BY and QUALIFY call as SELECT does, as what it is."""
        from sqlglot import exp

        called = {e.alias.lower(): e.unalias() for e in self.tree.expressions if e.alias}
        for name in ("qualify", "order"):
            held = outer.args.get(name)
            for column in [] if held is None else list(held.find_all(exp.Column)):
                if not column.table and column.name.lower() in called:
                    column.replace(exp.paren(called[column.name.lower()].copy()))

    def _write_join(self, call: "exp.Expr", keys: "list[exp.Expr]", name: str) -> "exp.Join":
        """The totals of a key, joined by it."""
        from sqlglot import exp

        inner = f"{name} rows"
        if not isinstance(call.this, exp.Star):
            of = exp.Select(expressions=[call.this.copy()])
            self._read_rows(of, inner)
            call.set("this", of.expressions[0])
        total = exp.Select(expressions=[exp.alias_(call, "total", quoted=True)])
        for number, key in enumerate(keys):
            total.append("expressions", exp.alias_(key.copy(), f"by {number}", quoted=True))
        if keys:
            total.set("group", exp.Group(expressions=[k.copy() for k in keys]))
        for part in [*total.expressions[1:], *(total.args["group"].expressions if keys else ())]:
            self._read_rows(part, inner)
        total.set("from_", exp.From(this=self._subquery(exp.Select(), inner)))
        mine = [exp.column(f"by {n}", name, quoted=True) for n in range(len(keys))]
        on = [exp.NullSafeEQ(this=k.copy(), expression=m) for k, m in zip(keys, mine, strict=True)]
        table = self._subquery(total, name)
        if not on:
            return exp.Join(this=table, kind="CROSS")
        said = exp.Select(expressions=on)
        self._read_rows(said, _ROWS)
        return exp.Join(this=table, on=exp.and_(*said.expressions))

    def _read_rows(self, tree: "exp.Expr", table: str) -> None:
        """Put columns of the rows for what is read of them, in place: columns, and of groups their
        keys and aggregates."""
        from sqlglot import exp

        group = self.tree.args.get("group")
        keys = [] if group is None else list(group.expressions)
        inside = tree.walk(prune=lambda n: self._is_read(n, keys))
        for node in [n for n in list(inside) if self._is_read(n, keys)]:
            own = node.name if self.inner is not None else f"read {len(self.names)}"
            name = self.names.setdefault(node.copy(), own)
            node.replace(exp.column(name, table, quoted=self.inner is None))

    def _is_read(self, node: "exp.Expr", keys: "list[exp.Expr]") -> bool:
        from sqlglot import exp

        if isinstance(node, exp.Column) and node.table.startswith("total "):
            return False
        if not self.grouped:
            return isinstance(node, exp.Column)
        return node in keys or (
            isinstance(node, exp.AggFunc) and not isinstance(node.parent, exp.Window)
        )

    def _write_rows(self) -> "exp.Select":
        """The rows, or groups: those of one subquery as they are."""
        from sqlglot import exp

        if self.inner is not None:
            return self.inner.copy()
        made = self.tree.copy()
        for name in _KEPT:
            made.set(name, None)
        shown = [exp.alias_(e.copy(), n, quoted=True) for e, n in self.names.items()]
        made.set("expressions", shown or [exp.alias_(exp.Literal.number(1), "read", quoted=True)])
        return made

    def _subquery(self, select: "exp.Select", name: str) -> "exp.Subquery":
        from sqlglot import exp

        alias = exp.TableAlias(this=exp.to_identifier(name, quoted=True))
        return exp.Subquery(this=select, alias=alias)
