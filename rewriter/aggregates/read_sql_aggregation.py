"""Read GROUP BY, aggregates and HAVING of plain SQL: `check --sql`."""

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, cast

from ontoweir.errors import Source
from ontoweir.mappings.model.assertion import SourceColumn
from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.model.time_bucket import Moments, TimeBucket
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal, column_names, find_name
from ontoweir.mappings.sql.read_select import read_from
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.aggregates.read_group_row import GroupTrees
from ontoweir.rewriter.buckets.make_column import make_column
from ontoweir.rewriter.differences.count_rows import MULTIPLICITY, ONE_EACH
from ontoweir.rewriter.groups.find_closed_groups import list_closing
from ontoweir.rewriter.groups.read_sql_aggregate import WHY, read_sql_aggregate
from ontoweir.rewriter.model.aggregation import (
    Aggregate,
    AggregateFunction,
    AggregateKey,
    Aggregation,
)
from ontoweir.rewriter.phrasings.group_distinct import TIMED
from ontoweir.rewriter.sessions.read_sessions import SqlSession
from ontoweir.rewriter.syntax.name_items import write_name
from ontoweir.rewriter.windows.read_sql_time import read_sql_time
from ontoweir.rewriter.windows.window import BEGINS, ENDS

if TYPE_CHECKING:
    from sqlglot import exp


def read_sql_aggregation(
    tree: "exp.Query", catalog: Catalog, file: str, session: SqlSession | None = None
) -> "tuple[exp.Query, Aggregation | None, GroupTrees]":
    """The characteristic query of an aggregate query ([A] Th. 8.4), what is aggregated, and what is
    computed of the groups.

    A column that is grouped or aggregated may be NULL in a match. Any other query comes back as
    it is.
    `session`: its groups are of sessions.
    As in Spark, GROUP BY takes columns, names that SELECT gives to columns, and positions there;
    HAVING takes names that SELECT gives, too.

    Raises:
        SqlRefusal: it groups or aggregates something that is not a column.
    """
    from sqlglot import exp

    if not isinstance(tree, exp.Select) or not (
        tree.args.get("group")
        or tree.args.get("having")
        or any(e.find(exp.AggFunc) for e in tree.expressions)
    ):
        return tree, None, GroupTrees()
    if tree.args.get("distinct"):
        raise _beyond(tree, "DISTINCT with aggregates", "leave DISTINCT out: groups are distinct")
    ends = [e for e in tree.expressions if e.alias.startswith((ENDS, BEGINS))]
    tree = tree.copy()
    tree.set("expressions", [e for e in tree.expressions if not e.alias.startswith((ENDS, BEGINS))])
    reader = _Reader(tree, catalog, file, session)
    made = reader.read(slides=bool(ends))
    names = {**reader.names, **reader.arguments}
    return _characteristic(tree, names, made, ends), made, reader.trees


class _Reader:
    """One SELECT; `names`: of the grouped columns in the results; `arguments`: of the columns that
    are aggregated in the matches; `again`: the columns that show a grouped column once more."""

    def __init__(
        self, tree: "exp.Select", catalog: Catalog, file: str, session: SqlSession | None
    ) -> None:
        self.tree, self.session = tree, session
        self.source = Source(file, line_of(tree) or 1)
        self.scope, _, _ = read_from(tree, catalog)
        self.grouped = _grouped(tree, self.scope)
        self.names: dict[SourceColumn, str] = {}
        self.arguments: dict[SourceColumn, str] = {}
        self.again = set[str]()
        self.columns: list[str] = []
        self.aggregates: list[Aggregate] = []
        self.known: dict[AggregateKey, str] = {}
        self.trees = GroupTrees()
        self.taken = {_name_of(e).lower() for e in tree.expressions}
        self.free = (f"of_{n}" for n in count(1) if f"of_{n}" not in self.taken)

    def read(self, *, slides: bool) -> Aggregation:
        from sqlglot import exp

        for item in self.tree.expressions:
            self._name_column(item)
        final = self.session is not None or any(map(self._is_bucket, self.grouped))
        # rows of windows that say how often they are answers come and go as bags do
        final |= slides and MULTIPLICITY in self.taken
        for key, text in self.grouped.items():
            if key not in self.names and final:
                self.names[key] = next(self.free)
            elif key not in self.names:
                raise SqlRefusal(
                    f"GROUP BY {text} that is not selected is outside the SQL read here",
                    why="results are updates of groups, which the grouped columns tell apart",
                    fix=f"select {text} too",
                    line=line_of(self.tree),
                )
        computed: dict[str, exp.Expr] = {}
        for name, item in zip(self.columns, self.tree.expressions, strict=True):
            inner = item.unalias()
            if isinstance(inner, exp.AggFunc) and not isinstance(inner, exp.AnyValue):
                made = self._aggregate(name, inner)
                self.aggregates.append(made)
                self.known.setdefault(made.key, name)
            elif inner.find(exp.AggFunc) or name in self.again or self._is_of_group(inner):
                computed[name] = inner
            elif not isinstance(inner, exp.Column):
                what = f"{show_sql(inner)} in SELECT"
                raise _beyond(inner, what, "aggregate columns themselves")
        for name, inner in computed.items():
            self.trees.computed[name] = self._over_row(inner)
        if (having := self.tree.args.get("having")) is not None:
            self.trees.having = self._over_row(having.this, aliases=True)
        if not self.aggregates and not final and not self.tree.meta.get(TIMED):
            what = "GROUP BY without an aggregate"
            raise _beyond(self.tree, what, "write SELECT DISTINCT instead")
        if not self.aggregates:  # a group is there when it has a row
            self._name_aggregate(exp.Count(this=exp.Star()))
        group = tuple(self.names[key] for key in self.grouped)
        each = bool(self.tree.meta.get(ONE_EACH))
        rows = Aggregation(group, tuple(self.aggregates), tuple(self.columns), one_each=each)
        if self.session is None:
            return rows
        behind, gap = self._read_behind(self.session), self.session.gap_us
        return replace(rows, session_us=gap, session_behind_us=behind)

    def _read_behind(self, given: SqlSession) -> int:
        """How long before a row is there the time is that its sessions are by, in µs."""
        found = read_sql_time(given.time, self.scope)
        if found is None:
            raise SqlRefusal(
                f"sessions by {show_sql(given.time)}, which is not when rows are there",
                why="a session is over a gap after its last row, and rows must come in order of "
                "the time that it is by",
                fix="make sessions of the time of rows; of matches of several rows, of the time of "
                "the last one, as in … AND b.ts <= a.ts GROUP BY …, session_window(a.ts, …); of "
                "sessions and groups, of the time at which they end",
                line=line_of(given.time),
            )
        return found[2]

    def _name_column(self, item: "exp.Expr") -> None:
        """Note a column of the results, and that of the group which it shows."""
        from sqlglot import exp

        inner, name = item.unalias(), _name_of(item)
        if name.lower() in map(str.lower, self.columns):
            raise _beyond(item, f"two columns called {name}", "name them apart with AS")
        self.columns.append(name)
        if not isinstance(inner, exp.Column) or inner.is_star:
            return
        key = _resolve(inner, self.scope)
        if key not in self.grouped:
            raise _ungrouped(inner, key, self.scope)
        if key in self.names:
            self.again.add(name)
        else:
            self.names[key] = name

    def _is_of_group(self, inner: "exp.Expr") -> bool:
        """Whether it is a constant, or computed of what is grouped by alone."""
        from sqlglot import exp

        if _is_constant(inner):
            return True
        columns = list(inner.find_all(exp.Column))
        if isinstance(inner, exp.Column) or not columns or inner.find(exp.Query, exp.Star):
            return False
        return all(self._meant(_resolve(c, self.scope)) in self.grouped for c in columns)

    def _aggregate(self, name: str, call: "exp.Expr") -> Aggregate:
        function, column, fraction, second, listing = read_sql_aggregate(call)
        of = None if column is None else _resolve(column, self.scope)
        if of is None or (second is None and _is_counted_time(function, of, self.scope)):
            return Aggregate(name, function, None, self.source)
        other = None if second is None else self._argument(_resolve(second, self.scope))
        argument = self._argument(of)
        return Aggregate(name, function, argument, self.source, fraction, other, listing)

    def _argument(self, of: SourceColumn) -> str:
        """The variable of a column that is aggregated."""
        if of in self.grouped:
            return self.names[of]
        if of not in self.arguments:
            self.arguments[of] = next(self.free)
        return self.arguments[of]

    def _over_row(self, tree: "exp.Expr", *, aliases: bool = False) -> "exp.Expr":
        """An expression over the row of a group; `aliases`: names that SELECT gives are known."""
        from sqlglot import exp

        if (inner := tree.find(exp.Select)) is not None:
            raise _beyond(inner, "a subquery over groups", "write its tables in FROM")

        def replaced(node: "exp.Expr") -> "exp.Expr":
            if isinstance(node, exp.AnyValue):  # of what is grouped by (group_parts)
                column = node.this if isinstance(node.this, exp.Column) else None
                of = None if column is None else self._meant(_resolve(column, self.scope))
                if of not in self.names:
                    raise _beyond(node, show_sql(node), "write ANY_VALUE(column)")
                return _column(self.names[of], node)
            if isinstance(node, exp.AggFunc):
                return _column(self._name_aggregate(node), node)
            if not isinstance(node, exp.Column):
                return node
            if aliases and not node.table and not _is_known(node.name, self.scope):
                given = next((c for c in self.columns if c.lower() == node.name.lower()), None)
                if given in self.trees.computed:
                    return exp.Paren(this=self.trees.computed[given].copy())
                if given is not None:
                    return _column(given, node)
            key = self._meant(_resolve(node, self.scope))
            if key not in self.grouped:
                raise _ungrouped(node, key, self.scope)
            return _column(self.names[key], node)

        return tree.copy().transform(replaced, copy=False)

    def _meant(self, key: SourceColumn) -> SourceColumn:
        """The time of a row, by which it may be grouped, for a stream's timestamp."""
        moment = SourceColumn(key.alias, make_column(TimeBucket(Moments())).name)
        return moment if self.scope.step_of(key) is not None and moment in self.grouped else key

    def _is_bucket(self, key: SourceColumn) -> bool:
        """Whether it is a bucket of time, or a day, an hour … of a time that answers show: groups
        by it are final, so that no row takes the place of another one, and what they are grouped by
        need not be shown."""
        table = self.scope.tables[key.alias]
        column = table.column(key.column)
        if isinstance(table, Stream) and any(
            rule.width_us is not None and rule.columns == (key.column,)
            for rule in list_closing(table)
        ):
            return True
        return column is not None and column.bucket is not None

    def _name_apart(self, name: str) -> str:
        while name.lower() in self.taken:
            name += "_"
        return name

    def _name_aggregate(self, call: "exp.Expr") -> str:
        """The name of an aggregate in an expression: it is not shown, where no column shows it."""
        name = self._name_apart(call.sql("spark"))
        made = self._aggregate(name, call)
        known = self.known.setdefault(made.key, name)
        if known == name and made.name not in {a.name for a in self.aggregates}:
            self.taken.add(name.lower())
            self.aggregates.append(made)
        return known


def _name_of(item: "exp.Expr") -> str:
    """The name of a column of the results: its alias, or what it is, as it is written."""
    from sqlglot import exp

    if item.alias or isinstance(item, exp.Column):
        return item.alias_or_name
    return write_name(item)


def _column(name: str, node: "exp.Expr") -> "exp.Expr":
    """A column of a group's row, in the place of a piece of SQL."""
    from sqlglot import exp

    made = exp.column(name, quoted=True)
    line = line_of(node)
    if line is not None:
        made.this.meta["line"] = line
    return made


def _is_constant(tree: "exp.Expr") -> bool:
    from sqlglot import exp

    return not tree.find(exp.Column, exp.Func, exp.Star)


def _is_known(name: str, scope: Scope) -> bool:
    return any(find_name(name, column_names(t)) for t in scope.tables.values())


def _ungrouped(column: "exp.Column", key: SourceColumn, scope: Scope) -> SqlRefusal:
    """Of a stream's timestamp: what may be meant by it."""
    table = scope.tables[key.alias]
    found = table.column(key.column)
    bucket = None if found is None else found.bucket
    if isinstance(table, Stream) and (bucket or scope.step_of(key) is not None):
        time = table.timestamp if len(scope.tables) == 1 else f"{key.alias}.{table.timestamp}"
        fix = (
            f"leave it out: `at` says since when a row holds; write MAX({time}) for the time of a "
            f"group's latest row; or add it to GROUP BY, for groups of each {time}"
        )
        return _beyond(column, f"{time} neither grouped nor aggregated", fix)
    shown = column.sql() if column.name.isidentifier() else column.name
    return _beyond(column, f"{shown} neither grouped nor aggregated", "add it to GROUP BY")


def _is_counted_time(function: AggregateFunction, column: SourceColumn, scope: Scope) -> bool:
    """Whether it is COUNT of a stream's timestamp, which is never NULL: all matches count."""
    return function is AggregateFunction.COUNT and scope.step_of(column) is not None


def _resolve(column: "exp.Column", scope: Scope) -> SourceColumn:
    return scope.resolve(column.table or None, column.name, line_of(column))


def _grouped(tree: "exp.Select", scope: Scope) -> dict[SourceColumn, str]:
    """The grouped columns, and how they are written."""
    from sqlglot import exp

    group = tree.args.get("group")
    if group is None:
        return {}
    several = any(
        isinstance(e, (exp.GroupingSets, exp.Cube, exp.Rollup)) for e in group.expressions
    )
    for key in ("grouping_sets", "cube", "rollup", "totals", "all"):
        if several or group.args.get(key):
            raise _beyond(tree, "GROUP BY of several groupings", "write one query for each")
    grouped: dict[SourceColumn, str] = {}
    for item in group.expressions:
        column = _meant(item, tree, scope)
        if not isinstance(column, exp.Column) or column.is_star:
            raise _beyond(item, "GROUP BY an expression", "group by a column")
        grouped[_resolve(column, scope)] = column.sql("spark")
    return grouped


def _meant(item: "exp.Expr", tree: "exp.Select", scope: Scope) -> "exp.Expr":
    """What a position in SELECT, or a name that SELECT gives and no table has, stands for."""
    from sqlglot import exp

    if isinstance(item, exp.Literal) and not item.is_string and str(item.this).isdigit():
        position = int(str(item.this))
        if not 1 <= position <= len(tree.expressions):
            raise _beyond(tree, f"GROUP BY position {position}", "group by a column's name")
        return cast("exp.Expr", tree.expressions[position - 1].unalias())
    if isinstance(item, exp.Column) and not item.table:
        known = _is_known(item.name, scope)
        given = [e for e in tree.expressions if e.alias.lower() == item.name.lower()]
        if not known and len(given) == 1:
            return cast("exp.Expr", given[0].unalias())
    return item


def _characteristic(
    tree: "exp.Select",
    names: dict[SourceColumn, str],
    aggregation: Aggregation,
    ends: "list[exp.Expr]",
) -> "exp.Select":
    """The query of the matches: the grouped columns, the aggregated ones, and `ends`, when rows
    enter and leave their windows."""
    from sqlglot import exp

    order = {name: exp.column(key.column, key.alias, quoted=True) for key, name in names.items()}
    made = tree.copy()
    made.set("group", None)
    made.set("having", None)
    selected = [exp.alias_(order[v], v, quoted=True) for v in aggregation.variables]
    selected += [e.copy() for e in ends]
    made.set("expressions", selected or [exp.alias_(exp.Literal.number(1), "matched")])
    if not aggregation.duplicate_sensitive and not ends:
        made = made.distinct()
    return made


def _beyond(tree: "exp.Expr", what: str, fix: str) -> SqlRefusal:
    return SqlRefusal(f"{what} is outside the SQL read here", why=WHY, fix=fix, line=line_of(tree))
