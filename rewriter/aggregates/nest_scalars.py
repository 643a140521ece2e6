"""Aggregates of windows by a subquery that is a value, as groups that are joined."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_scope import Scope
from ontoweir.rewriter.aggregates.chooses_rows import chooses_rows, is_numbered
from ontoweir.rewriter.aggregates.nest_groups import nest_groups
from ontoweir.rewriter.differences.name_columns import is_known, name_tables
from ontoweir.rewriter.groups.read_sql_aggregate import name_aggregates
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.joins.latest_rows import resolve
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.phrasings.name_conditions import name_conditions
from ontoweir.rewriter.ranked.open_with import open_with
from ontoweir.rewriter.windows.rows_leave import rows_leave

if TYPE_CHECKING:
    from sqlglot import exp

_READ = {"expressions", "from_", "joins", "where"}
_ALIAS, _KEY, _VALUE = "value of a window", "key", "value"


@dataclass(frozen=True, slots=True)
class _Nested:
    """`join`: what is joined; `value`: what takes the place of the subquery."""

    join: "exp.Join"
    value: "exp.Expr"


def nest_scalars(tree: "exp.Query", catalog: Catalog, *, ever: bool = False) -> "exp.Query":
    """JOIN (SELECT AVG(x) … WHERE ts > NOW() - …) for such a subquery as a value, in SELECT or in
    WHERE; LEFT JOIN (SELECT k, AVG(x) … GROUP BY k) ON k = … for one that says which k it is of.
    Where there is no row, COUNT is 0. Another subquery stays as it is.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
        ever: also of all rows so far, if it says which k it is of.
    """
    from sqlglot import exp

    tree = nest_groups(open_with(tree), catalog)
    if not isinstance(tree, exp.Select):
        return tree
    where, made = tree.args.get("where"), tree.copy()
    places = [*made.expressions, *([] if where is None else [made.args["where"]])]
    joined: dict[exp.Expr, _Nested] = {}
    for node in [n for p in places for n in p.find_all(exp.Subquery)]:
        several = isinstance(node.parent, (exp.In, exp.All, exp.Any, exp.Exists))
        if node.find_ancestor(exp.Select) is not made or several:
            continue
        found = joined.get(node) or _read(
            node.this, f"{_ALIAS} {len(joined) + 1}", catalog, ever=ever
        )
        if found is None:
            continue
        joined.setdefault(node.copy(), found)
        item = node.parent
        value = found.value.copy()
        if item is made and not node.alias:
            value = exp.alias_(value, node.sql("spark"), quoted=True)
        elif item is made:
            value = exp.alias_(value, node.alias, quoted=True)
        node.replace(value)
    if joined:
        _name_stars(made)
    for one in joined.values():
        made.append("joins", one.join)
    return made if joined else tree


def _name_stars(select: "exp.Select") -> None:
    """Say in SELECT * of which tables it is; in place."""
    from sqlglot import exp

    start, joins = select.args.get("from_"), select.args.get("joins") or ()
    items = [] if start is None else [start.this, *(j.this for j in joins)]
    shown: list[exp.Expr] = []
    for item in select.expressions:
        bare = isinstance(item, exp.Star) and not any(item.args.values())
        names = [exp.to_identifier(i.alias_or_name, quoted=True) for i in items] if bare else []
        shown += [exp.Column(this=exp.Star(), table=n) for n in names] if bare else [item]
    select.set("expressions", shown)


def _read(inner: "exp.Expr", alias: str, catalog: Catalog, *, ever: bool) -> _Nested | None:
    """The join that takes the place of a subquery (None: it is something else)."""
    from sqlglot import exp

    if not isinstance(inner, exp.Select) or len(inner.expressions) != 1:
        return None
    if {k for k, v in inner.args.items() if v} - _READ or not aggregates(inner):
        return None
    leave = any(rows_leave(s) or chooses_rows(s) for s in inner.find_all(exp.Select))
    if (
        not aggregates(inner)
        or not (leave or ever)
        or not is_numbered(inner)
        or chooses_rows(inner)
    ):
        return None
    made = inner.copy()
    name_conditions(made)
    made = name_aggregates(made)
    mine = list_tables(made, catalog)
    keys: list[tuple[exp.Expr, exp.Expr]] = []
    said: list[exp.Expr] = []
    where = made.args.get("where")
    for conjunct in [] if where is None else split_conjuncts(where.this):
        sides = _split_key(conjunct, mine)
        if sides is None:
            said.append(conjunct.copy())
        else:
            keys.append(sides)
    if not leave and not keys:
        return None
    made.set("where", exp.Where(this=exp.and_(*said)) if said else None)
    item = made.expressions[0].unalias()
    calls = list(dict.fromkeys(c.copy() for c in item.find_all(exp.AggFunc)))
    shown = [exp.alias_(key.copy(), f"{_KEY} {n}", quoted=True) for n, (key, _) in enumerate(keys)]
    shown += [exp.alias_(call, f"{_VALUE} {n}", quoted=True) for n, call in enumerate(calls)]
    made.set("expressions", shown)
    name_tables(made, mine)
    own = {name.lower() for name in mine.tables}
    if made.find(exp.Subquery) is not None:  # of what is around, nothing is read there
        known = not keys
    else:
        outside = any(c.table.lower() not in own for c in made.find_all(exp.Column))
        known = is_known(made, mine) and not outside
    if not known:
        return None
    value = item.copy()
    for call in [c for c in value.find_all(exp.AggFunc) if c in calls]:
        column: exp.Expr = exp.column(f"{_VALUE} {calls.index(call)}", alias, quoted=True)
        if keys and isinstance(call, exp.Count):
            column = exp.Coalesce(this=column, expressions=[exp.Literal.number(0)])
        if call is value:
            value = column
        else:
            call.replace(column)
    if any(c.table != alias for c in value.find_all(exp.Column)):
        return None
    if not keys:
        return _Nested(exp.Join(this=made.subquery(alias), kind="CROSS"), value)
    group: list[exp.Expr] = [e.unalias().copy() for e in made.expressions[: len(keys)]]
    made.set("group", exp.Group(expressions=group))
    on = [
        exp.EQ(this=exp.column(f"{_KEY} {n}", alias, quoted=True), expression=other.copy())
        for n, (_, other) in enumerate(keys)
    ]
    return _Nested(exp.Join(this=made.subquery(alias), side="LEFT", on=exp.and_(*on)), value)


def _split_key(condition: "exp.Expr", scope: Scope) -> "tuple[exp.Expr, exp.Expr] | None":
    """A column, and what of a row around the subquery it equals (None: it is another condition)."""
    from sqlglot import exp

    one = condition.unnest()
    if not isinstance(one, exp.EQ):
        return None
    for side, other in ((one.this, one.expression), (one.expression, one.this)):
        mine, theirs = side.unnest(), list(other.find_all(exp.Column))
        if not isinstance(mine, exp.Column) or resolve(scope, mine) is None:
            continue
        if theirs and not other.find(exp.Query) and not any(resolve(scope, c) for c in theirs):
            return mine, other
    return None


def split_keys(
    select: "exp.Select", catalog: Catalog
) -> "tuple[list[exp.Expr], list[exp.Expr]] | None":
    """What groups are asked for by a subquery that says WHERE k = x, of a row around it: columns
    that it groups by, and what each equals; in its WHERE that is not said any more (None: it is
    grouped by something else, or not).

    Args:
        select: the subquery; in place.
        catalog: the tables.
    """
    from sqlglot import exp

    scope = list_tables(select, catalog)
    where, group = select.args.get("where"), select.args.get("group")
    if group is None or where is None or {k for k, v in group.args.items() if v} - {"expressions"}:
        return None
    found: list[tuple[exp.Expr, exp.Expr]] = []
    said: list[exp.Expr] = []
    for conjunct in split_conjuncts(where.this):
        sides = _split_key(conjunct, scope)
        if sides is None:
            said.append(conjunct.copy())
        else:
            found.append(sides)
    grouped = {resolve(scope, g) for g in group.expressions}
    if not found or not all(resolve(scope, key) in grouped for key, _ in found):
        return None
    select.set("where", exp.Where(this=exp.and_(*said)) if said else None)
    return [key.copy() for key, _ in found], [other.copy() for _, other in found]
