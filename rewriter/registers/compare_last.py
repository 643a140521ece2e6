"""Groups whose latest row is so long ago: HAVING MAX(ts) < NOW() - INTERVAL '10' MINUTE."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_condition import turn_comparison
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal, column_names
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.differences.name_columns import is_known, name_tables
from ontoweir.rewriter.differences.since_first import never_leaves
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.registers.check_calls import (
    check_call,
    is_mark,
    list_calls,
    list_plain_counts,
)
from ontoweir.rewriter.registers.group_sides import GroupSide, count_marked, group_sides, mark
from ontoweir.rewriter.windows.rows_leave import has_now, rows_leave

if TYPE_CHECKING:
    from sqlglot import exp

_LATER = "later row"
_HERE = "row"


@dataclass(frozen=True, slots=True)
class LateGroups:
    """Groups in whose HAVING no NOW() is left: it looks at marks, of which each says whether there
    is a row in the window of that name (`windows`)."""

    select: "exp.Select"
    windows: "Mapping[str, exp.Expr]"

    def marks(self, own: str | None = None) -> dict[str, int]:
        """The marks of rows that are in a window, or of all rows (None)."""
        return {name: int(name == own) for name in self.windows}


def compare_last(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """Groups of rows of one stream of all time (with static relations) whose HAVING compares their
    latest time with NOW(), as groups of these rows, which stay, and of those in a window; another
    query as it is."""
    from sqlglot import exp

    having = tree.args.get("having")
    if having is None or not isinstance(tree, exp.Select) or not has_now(having):
        return tree
    scope = list_tables(tree, catalog)
    streams = [(a, t) for a, t in scope.tables.items() if isinstance(t, Stream)]
    joins = tree.args.get("joins") or ()
    if not is_known(tree, scope) or len(streams) != 1 or any(j.args.get("side") for j in joins):
        return tree
    (alias, stream), made = streams[0], tree.copy()
    name_tables(made, scope)
    time = exp.column(stream.timestamp, alias, quoted=True)
    late = read_late(_count_here(made, time), alias, stream)
    hidden = frozenset((a, c) for a, t in scope.tables.items() for c in column_names(t))
    for call in list_calls(late.select):
        if not is_mark(call):
            check_call(call, hidden)
    bare = made.copy()
    for key in ("group", "having", "distinct"):
        bare.set(key, None)
    rows = bare if rows_leave(bare) else bare.copy().where(never_leaves(time))
    read = {
        (c.table, c.name)
        for call in list_calls(late.select)
        for c in call.find_all(exp.Column)
        if c.table in scope.tables
    }
    group = late.select.args.get("group")
    kept = {(c.table, c.name) for c in ([] if group is None else group.find_all(exp.Column))}
    sides = [GroupSide(rows, time, frozenset(), {_HERE: 1, **late.marks()})]
    for name, window in late.windows.items():
        recent = bare.copy().where(window.copy())
        marks = {_HERE: 0, **late.marks(name)}
        sides.append(GroupSide(recent, time, frozenset(read - kept), marks))
    return group_sides(late.select, sides, scope, ("group", "having", "distinct"))


def read_late(select: "exp.Select", alias: str, stream: Stream) -> LateGroups:
    """Groups in whose HAVING a comparison of the latest time with NOW() is one of how many rows
    there are in a window.

    Raises:
        SqlRefusal: NOW() is compared with something else.
    """
    from sqlglot import exp

    having = select.args.get("having")
    if having is None or not has_now(having):
        return LateGroups(select, {})
    made, windows = select.copy(), dict[str, exp.Expr]()
    kinds = (exp.LT, exp.LTE, exp.GT, exp.GTE)
    for node in [n for n in made.args["having"].find_all(*kinds) if has_now(n)]:
        left, right, kind = node.this, node.expression, type(node)
        if has_now(left):
            left, right, kind = right, left, turn_comparison(kind)
        latest = left.unnest()
        column = latest.this if isinstance(latest, exp.Max) else None
        place = (column.table, column.name) if isinstance(column, exp.Column) else None
        if place != (alias, stream.timestamp) or node.find_ancestor(exp.Not):
            raise _refuse(node)
        strict = kind in (exp.LT, exp.GTE)  # a row that is not earlier is in the window
        compares = exp.GTE if strict else exp.GT
        name = f"{_LATER} {len(windows) + 1}"
        windows[name] = compares(this=latest.this.copy(), expression=right.copy())
        seen = exp.Max(this=mark(name))
        if kind in (exp.GT, exp.GTE):
            node.replace(exp.paren(exp.GT(this=seen, expression=exp.Literal.number(0))))
            continue
        there = exp.Not(this=exp.Is(this=latest.copy(), expression=exp.Null()))
        none = exp.LT(this=seen, expression=exp.Literal.number(1))
        node.replace(exp.paren(exp.and_(there, none)))
    if has_now(made.args["having"]):
        raise _refuse(made.args["having"].this)
    return LateGroups(made, windows)


def _count_here(select: "exp.Select", time: "exp.Column") -> "exp.Select":
    """COUNT(*), and COUNT of the rows' time, as the sum of what marks the rows that count."""
    from sqlglot import exp

    made = select.copy()
    for call in list_plain_counts(made):
        if isinstance(call.this, exp.Star) or call.this == time:
            call.replace(count_marked(_HERE))
    return made


def _refuse(node: "exp.Expr") -> SqlRefusal:
    from sqlglot import exp

    if node.find(exp.Query) is not None:
        return SqlRefusal(
            f"{show_sql(node)} in HAVING, of groups of a sliding window",
            why="which groups have the greatest value is told of the same groups, by an aggregate "
            "that is never NULL",
            fix="write QUALIFY RANK() OVER (ORDER BY …) = 1; or compare COUNT(*), or an aggregate "
            "of a column that is not nullable, with that of the same groups: HAVING SUM(x) >= ALL "
            "(SELECT SUM(x) FROM … WHERE … GROUP BY …)",
            line=line_of(node),
        )
    return SqlRefusal(
        f"{show_sql(node)} in HAVING",
        why="of groups, NOW() is compared with the latest timestamp of their rows",
        fix="write MAX(ts) < NOW() - INTERVAL '10' MINUTE, or with <=, > or >=, joined to the "
        "other conditions by AND and OR",
        line=line_of(node),
    )
