"""Groups of runs, as the last row of each, with what was counted of the rows before it."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.earlier.read_counted import read_counted
from ontoweir.rewriter.groups.read_sql_aggregate import name_aggregates
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.mean_group import mean_group
from ontoweir.rewriter.joins.own_nodes import list_own, list_windows
from ontoweir.rewriter.runs.split_runs import Runs, split_runs
from ontoweir.rewriter.windows.read_sql_grid import is_grid, name_value_grid
from ontoweir.rewriter.windows.read_sql_windows import is_now

if TYPE_CHECKING:
    from sqlglot import exp

_READ = {"expressions", "from_", "where", "group", "having"}


def read_windows(select: "exp.Select", catalog: Catalog, *, alone: bool) -> Catalog:
    """Read the windows of a SELECT whose subqueries have been merged, and its groups of runs, in
    place; the catalog with the streams that these make.

    `SELECT k, day, SUM(x) FROM s GROUP BY k, day`, where the days of a key's rows never fall, is
    the last row of each day of a key, with `SUM(x) OVER (PARTITION BY k, day ORDER BY ts)`; it is
    known to be the last when the next row of the key has another day.

    Args:
        select: with names that are resolved.
        catalog: the tables.
        alone: no other SELECT has rows of its groups, as those of the parts of a UNION have.

    Raises:
        SqlRefusal: as `read_counted`; or runs are asked for what is not known of the rows so far.
    """
    catalog = read_counted(select, catalog, merged=True)
    found = _find_runs(select, catalog) if alone else None
    if found is None:
        return catalog
    made = select.copy()
    known = _Groups(made, catalog, *found).read()
    if known is None:
        return catalog  # what is wrong with it is said as of other groups
    for key in ("expressions", "from_", "where", "group", "having"):
        select.set(key, made.args.get(key))
    return known


def _find_runs(
    select: "exp.Select", catalog: Catalog
) -> "tuple[Stream, list[exp.Expr], Runs] | None":
    """The stream that is grouped, by what, and what of it stands in runs (None: nothing)."""
    from sqlglot import exp

    group, start = select.args.get("group"), select.args.get("from_")
    where = select.args.get("where")
    if group is None or start is None or {k for k, v in select.args.items() if v} - _READ:
        return None
    if len(group.args) != 1 or list_windows(select) or not isinstance(start.this, exp.Table):
        return None
    if where is not None and (where.find(exp.Query) or any(map(is_now, where.walk()))):
        return None
    scope = list_tables(select, catalog)
    tables = list(scope.tables.values())
    if len(tables) != 1 or not isinstance(stream := tables[0], Stream):
        return None
    keys = [mean_group(k, select, scope).unnest() for k in group.expressions]
    if any(k.find(exp.AggFunc) or isinstance(k, exp.Literal) for k in keys):
        return None
    runs = split_runs(keys, stream, scope)
    return None if runs is None else (stream, keys, runs)


class _Groups:
    """A SELECT of groups of runs, that is changed."""

    def __init__(
        self,
        select: "exp.Select",
        catalog: Catalog,
        stream: Stream,
        keys: "list[exp.Expr]",
        runs: Runs,
    ) -> None:
        self.select, self.catalog, self.stream = select, catalog, stream
        self.keys, self.runs = keys, runs
        self.alias = select.args["from_"].this.alias_or_name

    def read(self) -> Catalog | None:
        """Let the SELECT be of the last rows of runs, in place; the catalog with these (None: it
        shows what is not grouped by)."""
        from sqlglot import exp

        select = self.select
        having = select.args.get("having")
        shown = [e.unalias() for e in select.expressions]
        if not all(map(self._is_grouped, shown)):
            return None
        names = {e.alias.lower(): e.unalias() for e in select.expressions if e.alias}
        holder = exp.Select(expressions=[exp.Paren(this=tree.copy()) for tree in shown])
        if having is not None:
            said = exp.Paren(this=having.this.copy())
            for column in [*said.find_all(exp.Column)]:
                if not column.table and column.name.lower() in names:
                    column.replace(exp.Paren(this=names[column.name.lower()].copy()))
            holder.append("expressions", said)
        name_aggregates(holder)
        for counts in list(holder.find_all(exp.CountIf)):
            one = exp.Case(ifs=[exp.If(this=counts.this.copy(), true=exp.Literal.number(1))])
            counts.replace(exp.Count(this=one))
        for call in _outermost(holder):
            if self._has_one_value(call):
                call.replace(exp.Paren(this=call.this.copy()))
        calls = dict.fromkeys(_outermost(holder))
        rows = self._number_rows(list(calls))
        try:
            catalog = read_counted(rows, self.catalog, merged=True, alike=self.runs.alike)
        except SqlRefusal as error:
            raise self._refuse(list(calls), error) from None
        values = rows.expressions
        counted = dict(zip(calls, values, strict=False))
        later = values[len(calls) :]
        for call in _outermost(holder):
            call.replace(exp.Paren(this=counted[call].unalias().copy()))
        made = [paren.this.copy() for paren in holder.expressions]
        items = [
            exp.alias_(tree, item.alias_or_name, quoted=True) if item.alias_or_name else tree
            for tree, item in zip(made, select.expressions, strict=False)
        ]
        select.set("expressions", items)
        select.set("from_", rows.args["from_"])
        select.set("where", rows.args.get("where"))
        select.set("group", None)
        select.set("having", None)
        ends = [
            exp.NullSafeNEQ(this=tree.copy(), expression=one.unalias().copy())
            for tree, one in zip(map(_as_value, self.runs.run), later, strict=True)
        ]
        select.where(exp.or_(*ends), copy=False)
        if having is not None:
            select.where(made[-1], copy=False)
        return catalog

    def _number_rows(self, calls: "list[exp.Expr]") -> "exp.Select":
        """The rows, with what is counted of those of their run so far, and the run of the next row
        of the key."""
        from sqlglot import exp

        time = exp.column(self.stream.timestamp, self.alias, quoted=True)
        order = exp.Order(expressions=[exp.Ordered(this=time, nulls_first=True)])
        kind = "RANGE" if self.runs.alike else "ROWS"
        spec = exp.WindowSpec(
            kind=kind, start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW"
        )
        windows: list[exp.Expr] = [
            exp.Window(
                this=call.copy(),
                partition_by=[key.copy() for key in self.keys],
                order=order.copy(),
                spec=spec.copy(),
            )
            for call in calls
        ]
        near = [exp.column(name, self.alias, quoted=True) for name in self.runs.key]
        for value in self.runs.run:
            lead = exp.Lead(this=_as_value(value))
            windows.append(exp.Window(this=lead, partition_by=near, order=order.copy()))
        named = [exp.alias_(w.copy(), f"column {n}", quoted=True) for n, w in enumerate(windows)]
        rows = exp.Select(expressions=named)
        rows.set("from_", self.select.args["from_"].copy())
        if (where := self.select.args.get("where")) is not None:
            rows.set("where", where.copy())
        return rows

    def _has_one_value(self, call: "exp.Expr") -> bool:
        """Whether an aggregate is of what is the same in all rows of a run."""
        from sqlglot import exp

        of = call.this.unnest() if isinstance(call.this, exp.Expr) else None
        if isinstance(call, exp.AnyValue) and of in self.keys:
            return True
        plain = isinstance(call, (exp.AnyValue, exp.Min, exp.Max, exp.First, exp.Last))
        return plain and isinstance(of, exp.Column) and of.name in self.runs.told

    def _is_grouped(self, tree: "exp.Expr") -> bool:
        """Whether something shows nothing but what is grouped by, and aggregates."""
        from sqlglot import exp

        if tree in self.keys or tree.unnest() in self.keys or isinstance(tree, exp.AggFunc):
            return True
        return not isinstance(tree, exp.Column) and all(
            map(self._is_grouped, tree.iter_expressions())
        )

    def _refuse(self, calls: "list[exp.Expr]", error: SqlRefusal) -> SqlRefusal:
        shown = ", ".join(map(show_sql, calls))
        return SqlRefusal(
            f"{shown} of rows that follow each other is outside the SQL read here: {error}",
            why="a group of such rows is over when the next one of its key begins; until then what "
            "is shown of it is counted with each row, in the order of time",
            fix="show COUNT, SUM, AVG, MIN or MAX of numbers or times, without DISTINCT",
            line=error.line,
        )


def _outermost(select: "exp.Select") -> "list[exp.Expr]":
    """The aggregates of a SELECT."""
    from sqlglot import exp

    found = list_own(select, exp.AggFunc)
    return [f for f in found if f.find_ancestor(exp.AggFunc) is None]


def _as_value(tree: "exp.Expr") -> "exp.Expr":
    return name_value_grid(tree) if is_grid(tree) else tree.copy()
