"""A SELECT that computes with columns of several rows, as one over the stream of its matches.

An expression is of one row, and a session of the rows of one stream. A match of several rows is one
row of the stream of all matches, each final when it is complete: of it everything is computed as of
any row.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ontoweir.mappings.expressions.may_be_null import is_nullable
from ontoweir.mappings.model.assertion import SourceColumn
from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_condition import read_condition
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import (
    Scope,
    SeveralRows,
    SqlRefusal,
    column_names,
    find_table,
)
from ontoweir.mappings.sql.read_select import read_from
from ontoweir.mappings.sql_expressions.derive_columns import ColumnDeriver
from ontoweir.rewriter.joins.absence_trees import TIME, AbsenceTrees, StreamColumns
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.mean_group import mean_group
from ontoweir.rewriter.subqueries.column_names import (
    ColumnNames,
    columns_of,
    name_text,
    substitute,
)
from ontoweir.rewriter.subqueries.join_inner import list_items
from ontoweir.rewriter.subqueries.qualify_names import Shown, qualify_names
from ontoweir.rewriter.windows.read_sql_grid import is_grid
from ontoweir.rewriter.windows.read_sql_windows import is_now

if TYPE_CHECKING:
    from sqlglot import exp

ReadMatches = Callable[[AbsenceTrees, Catalog, str], tuple[StreamColumns, Catalog]]
"""Makes a stream of the rows of a SELECT, which may be called so; and the catalog with it."""


def stack_rows(
    tree: "exp.Query", catalog: Catalog, read: ReadMatches, *, beside: bool = False
) -> "tuple[exp.Query, Catalog]":
    """A query whose SELECTs each compute with columns of one row; and the catalog with the streams
    of matches.

    Args:
        tree: a query without subqueries.
        catalog: the tables.
        read: makes the stream of a SELECT's matches.
        beside: other SELECTs have rows of the same groups: these may be final at other times.

    Raises:
        SqlRefusal: a match ends with a window; or its rows are of static relations alone.
    """
    from sqlglot import exp

    tree = tree.copy()
    for select in list(tree.find_all(exp.Select)):
        items = list_items(select)
        plain = all(isinstance(i, exp.Table) and isinstance(i.this, exp.Identifier) for i in items)
        if not plain or len(items) < 2:
            continue
        scope, _, _ = read_from(select.copy(), catalog)
        _qualify(select, catalog)
        _split_between(select)
        outside = _list_several(select, scope)
        computes = any(_computes(item, scope) for item in _items(select))
        if not outside and not computes and not _has_sessions(select, catalog):
            continue
        waits = beside or select is not tree
        until = _find_grouped(select, catalog) if waits else None
        made, catalog = _stack(select, outside, catalog, read, until)
        if select is tree:
            tree = made
        else:
            select.replace(made)
    return tree, catalog


def _has_sessions(select: "exp.Select", catalog: Catalog) -> bool:
    """Whether its groups are sessions of matches of several streams' rows."""
    from sqlglot import exp

    group = select.args.get("group")
    items = () if group is None else group.expressions
    tables = [find_table(i.name, catalog) for i in list_items(select)]
    sessions = any(isinstance(i, exp.Anonymous) and i.name == "SESSION" for i in items)
    return sessions and sum(isinstance(t, Stream) for t in tables) > 1


def _qualify(select: "exp.Select", catalog: Catalog) -> None:
    def list_columns(one: "exp.Select") -> dict[str, Shown]:
        tables = {i.alias_or_name: find_table(i.name, catalog) for i in list_items(one)}
        return {
            alias: Shown(
                column_names(table),
                frozenset({table.timestamp} if isinstance(table, Stream) else ()),
            )
            for alias, table in tables.items()
        }

    qualify_names(select, list_columns)


def _split_between(select: "exp.Select") -> None:
    """Two comparisons for BETWEEN, in place, one of which may be of columns of several rows."""
    from sqlglot import exp

    for condition in _conditions(select):
        if isinstance(condition, exp.Between) and not condition.args.get("symmetric"):
            value, low, high = (condition.args[k] for k in ("this", "low", "high"))
            least = exp.GTE(this=value.copy(), expression=low.copy())
            most = exp.LTE(this=value.copy(), expression=high.copy())
            condition.replace(exp.Paren(this=exp.And(this=least, expression=most)))


def _conditions(select: "exp.Select") -> "list[exp.Expr]":
    """The conjuncts of WHERE and of all joins."""
    where = select.args.get("where")
    trees = [] if where is None else [where.this]
    trees += [on for j in select.args.get("joins") or () if (on := j.args.get("on")) is not None]
    return [conjunct for tree in trees for conjunct in split_conjuncts(tree)]


def _items(select: "exp.Select") -> "list[exp.Expr]":
    """What SELECT shows, or groups by; of aggregates, their arguments."""
    group, having = select.args.get("group"), select.args.get("having")
    return [
        *(item.unalias() for item in select.expressions),
        *(() if group is None else group.expressions),
        *(() if having is None else [having.this]),
    ]


def _list_several(select: "exp.Select", scope: Scope) -> "list[exp.Expr]":
    """Conditions that are more than comparisons of rows: that compute with columns of several, or
    are an OR of several whose parts cannot exclude each other, where matches are counted."""
    deriver, several, made = ColumnDeriver(scope), [], []
    conditions = _conditions(select)
    for condition in conditions:
        try:
            made.append((condition, deriver.replace_condition(condition.copy())))
        except SeveralRows:
            several.append(condition)
        except SqlRefusal:
            continue  # it is said where it is read
    if _is_counted(select):
        known = _list_known(select, scope)
        plain = deriver.make_scope(known)
        whole = replace(plain, conjuncts=tuple(c for _, c in made if _is_read(c, plain)))
        several += [condition for condition, read in made if _overlaps(read, whole)]
    return [c for c in conditions if any(c is one for one in several)]


def _is_counted(select: "exp.Select") -> bool:
    """Whether duplicates count."""
    from sqlglot import exp

    outer: exp.Expr | None = select
    while outer is not None:
        if outer.args.get("distinct"):
            return False
        outer = outer.find_ancestor(exp.Union)
    return True


def _list_known(select: "exp.Select", scope: Scope) -> frozenset[SourceColumn]:
    """Columns that are not NULL in any answer: those that are selected."""
    from sqlglot import exp

    shown = [e.unalias() for e in select.expressions]
    if select.args.get("group") or any(e.find(exp.AggFunc) for e in shown):
        return frozenset()
    columns = [e for e in shown if isinstance(e, exp.Column) and not isinstance(e.this, exp.Star)]
    found = [scope.resolve(c.table or None, c.name, line_of(c)) for c in columns]
    return frozenset(c for c in found if not is_nullable(scope.tables[c.alias], c.column))


def _is_read(condition: "exp.Expr", scope: Scope) -> bool:
    try:
        read_condition(condition, scope, bag=False)
    except SqlRefusal:
        return False  # it is said where it is read
    return True


def _overlaps(condition: "exp.Expr", scope: Scope) -> bool:
    """Whether it is an OR of columns of several rows, no times, that cannot be read as parts that
    exclude each other."""
    from sqlglot import exp

    if condition.find(exp.Or, exp.And) is None or condition.find(exp.Select) is not None:
        return False
    try:
        columns = [scope.resolve(c.table or None, c.name) for c in condition.find_all(exp.Column)]
        if len({c.alias for c in columns}) < 2 or any(scope.step_of(c) for c in columns):
            return False
    except SqlRefusal:
        return False  # it is said where it is read
    if not _is_read(condition, scope):
        return False
    try:
        read_condition(condition, scope, bag=True)
    except SqlRefusal:
        return True
    return False


def _computes(item: "exp.Expr", scope: Scope) -> bool:
    from sqlglot import exp

    for part in [item, *item.find_all(exp.AggFunc)]:
        try:
            ColumnDeriver(scope).replace_values(part.copy())
        except SeveralRows:
            return True
        except SqlRefusal:
            continue
    return False


def _stack(
    select: "exp.Select",
    outside: "list[exp.Expr]",
    catalog: Catalog,
    read: ReadMatches,
    until: int | None,
) -> "tuple[exp.Select, Catalog]":
    """The SELECT over the stream of its matches; `outside`: its conditions on these; `until`: which
    of its times they wait for."""
    from sqlglot import exp

    conditions = _conditions(select)
    windows = [c for c in conditions if any(map(is_now, c.walk()))]
    outside = [c for c in conditions if any(c is one for one in (*outside, *windows))]
    inside = [c for c in conditions if not any(c is one for one in outside)]
    outer = select.copy()
    outer.set("joins", None)
    outer.set("where", exp.Where(this=exp.and_(*outside)) if outside else None)
    needed = ColumnNames({i.alias_or_name.lower() for i in list_items(select)})
    for column in columns_of(outer):
        needed.add(column, key=False)
    found = select.copy()
    for key in ("group", "having", "distinct", "order"):
        found.set(key, None)
    for join in found.args.get("joins") or ():
        join.set("on", None)
    found.set("where", exp.Where(this=exp.and_(*inside)) if inside else None)
    columns = [exp.alias_(c.copy(), n, quoted=True) for n, c in needed.columns.items()]
    stamps = _list_stamps(select, catalog)
    if not stamps:
        raise SqlRefusal(
            "an expression of several rows of static relations",
            why="a match is there at a time, which follows from those of its rows",
            fix="declare a relation with this SQL as its view",
            line=line_of(select),
        )
    times = [exp.alias_(c, f"{TIME} {n}", quoted=True) for n, c in enumerate(stamps)]
    found.set("expressions", [*columns, *times])
    names = tuple(t.alias for t in times)
    trees = AbsenceTrees(
        (found,),
        (*needed.columns, *names),
        names,
        (),
        (),
        True,
        line_of(select),
        until=None if until is None else names[until],
    )
    first, second, *_ = (i.alias_or_name for i in list_items(select))
    (stream, shown), catalog = read(trees, catalog, f"{first}_{second}")
    stamp = catalog.streams[stream].timestamp
    at_once = {needed.text(n) for n, behind in shown if behind == 0 and n in needed.columns}
    for window in windows:
        if any(name_text(column) not in at_once for column in columns_of(window)):
            raise _refuse_window(window)
    meaning = {needed.text(n): _meaning(n, behind, stream, stamp) for n, behind in shown}
    outer.set("from_", exp.From(this=exp.Table(this=exp.to_identifier(stream, quoted=True))))
    substitute(outer, meaning)
    return outer, catalog


def _refuse_window(window: "exp.Expr") -> SqlRefusal:
    return SqlRefusal(
        "NOW() beside an expression of several rows",
        why="when a match leaves a window does not follow from when it is complete",
        fix="compare the times of the rows, as in b.ts = a.ts; or select the columns, and compute "
        "with them in the results",
        line=line_of(window),
    )


def _list_stamps(select: "exp.Select", catalog: Catalog) -> "list[exp.Column]":
    """The timestamps of its streams."""
    from sqlglot import exp

    return [
        exp.column(table.timestamp, item.alias_or_name, quoted=True)
        for item in list_items(select)
        if isinstance(table := find_table(item.name, catalog), Stream)
    ]


def _find_grouped(select: "exp.Select", catalog: Catalog) -> int | None:
    """Which of the times of a match a SELECT groups by, or by a bucket of it (None: none)."""
    from sqlglot import exp

    stamps = [name_text(stamp) for stamp in _list_stamps(select, catalog)]
    group = select.args.get("group")
    scope = list_tables(select, catalog)
    for item in () if group is None else group.expressions:
        meant = mean_group(item, select, scope)
        if isinstance(meant, exp.Column) or is_grid(meant):
            read = [name_text(column) for column in meant.find_all(exp.Column)]
            if len(read) == 1 and read[0] in stamps:
                return stamps.index(read[0])
    return None


def _meaning(name: str, behind: int | None, stream: str, stamp: str) -> "exp.Expr":
    """The column of the stream, or its timestamp less some time."""
    from sqlglot import exp

    if behind is None:
        return exp.column(name, stream, quoted=True)
    made: exp.Expr = exp.column(stamp, stream, quoted=True)
    if not behind:
        return made
    length = exp.Interval(this=exp.Literal.string(str(behind)), unit=exp.Var(this="MICROSECOND"))
    return exp.Sub(this=made, expression=length)
