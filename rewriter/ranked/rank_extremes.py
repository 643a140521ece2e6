"""Groups whose number of rows is the greatest, or the least, of all groups."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.joins.latest_rows import lacks_values, resolve
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.ranked.open_with import open_with
from ontoweir.rewriter.ranked.read_ranked import changes

if TYPE_CHECKING:
    from sqlglot import exp

_GROUPS = frozenset({"expressions", "from_", "joins", "where", "group", "having"})
_NUMBER = "number of groups"


@dataclass(frozen=True, slots=True)
class _Extreme:
    """What a value is compared with: `groups`, all of them; `counted`, of each; `greatest`, or the
    least, of these."""

    groups: "exp.Select"
    counted: "exp.Expr"
    greatest: bool


def rank_extremes(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """RANK() … = 1 for `COUNT(*) >= ALL (SELECT COUNT(*) … GROUP BY k)` in HAVING, for `n = (SELECT
    MAX(n) FROM (… GROUP BY k))` in HAVING or around the groups, and for a join with that MAX: where
    both are of the same groups, which change with every row. So for the least. COUNT is never NULL,
    nor are SUM, AVG, MIN and MAX of a column of a stream alone that never is, so that both are true
    of the same groups. Another query as it is.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.

    Raises:
        SqlRefusal: an aggregate may be NULL.
    """
    from sqlglot import exp

    made = open_with(tree)
    if not isinstance(made, exp.Select) or made.args.get("qualify") or made.args.get("distinct"):
        return tree
    made = made.copy()
    start = made.args.get("from_")
    inside = None if start is None else start.this
    if aggregates(made):
        ranked = _rank_having(made, catalog)
    elif isinstance(inside, exp.Subquery) and isinstance(inside.this, exp.Select):
        ranked = _rank_around(_join_as_where(made), inside, catalog)
    else:
        ranked = None
    base = None if ranked is None else ranked[0]
    return tree if ranked is None or base is None or not changes(base, catalog) else ranked[1]


def _rank_having(base: "exp.Select", catalog: Catalog) -> "tuple[exp.Select, exp.Select] | None":
    """The groups, and their query, where HAVING says that one of their values is the greatest."""
    from sqlglot import exp

    having = base.args.get("having")
    said = [] if having is None else list(split_conjuncts(having.this))
    named = {e.alias.lower(): e.unalias() for e in base.expressions if e.alias}
    for condition in said:
        found = _read(condition)
        if found is None:
            continue
        value, extreme = found
        if isinstance(value, exp.Column) and not value.table:
            value = named.get(value.name.lower(), value)
        rest = [c.copy() for c in said if c is not condition]
        made = base.copy()
        made.set("having", exp.Having(this=exp.and_(*rest)) if rest else None)
        if not _are_same(made, value, extreme, catalog):
            return None
        made.set("qualify", exp.Qualify(this=_first(value, extreme)))
        return base, made
    return None


def _rank_around(
    outer: "exp.Select", inside: "exp.Subquery", catalog: Catalog
) -> "tuple[exp.Select, exp.Select] | None":
    """The groups, and the query around them, where WHERE says that one of their columns is the
    greatest."""
    from sqlglot import exp

    groups, where, alias = inside.this, outer.args.get("where"), inside.alias
    if not aggregates(groups) or outer.args.get("joins") or where is None or not alias:
        return None
    shown = {e.alias_or_name.lower(): e.unalias() for e in groups.expressions}
    said = list(split_conjuncts(where.this))
    for condition in said:
        found = _read(condition)
        if found is None:
            continue
        column, extreme = found
        value = shown.get(column.name.lower()) if isinstance(column, exp.Column) else None
        if value is None or not _are_same(groups, value, extreme, catalog):
            continue
        rows = exp.select("*", exp.alias_(_rank(column, extreme), _NUMBER, quoted=True))
        rows = rows.from_(groups.copy().subquery(alias))
        rest = [c.copy() for c in said if c is not condition]
        number = exp.column(_NUMBER, quoted=True)
        made = outer.copy()
        made.args["from_"].set("this", rows.subquery(alias))
        one = exp.EQ(this=number, expression=exp.Literal.number(1))
        made.set("where", exp.Where(this=exp.and_(one, *rest)))
        names = [
            exp.column(n, alias, quoted=True) for n in (e.alias_or_name for e in groups.selects)
        ]
        made.set(
            "expressions", [i for e in made.expressions for i in (names if e.is_star else [e])]
        )
        return groups, made
    return None


def _join_as_where(outer: "exp.Select") -> "exp.Select":
    """`n = (SELECT MAX(n) …)` in WHERE for a join with the one row of that; else as it is."""
    from sqlglot import exp

    joins = outer.args.get("joins") or []
    if len(joins) != 1 or any(e.is_star for e in outer.expressions):
        return outer
    (join,) = joins
    side, kind = (str(join.args.get(k) or "").upper() for k in ("side", "kind"))
    more = {k for k, v in join.args.items() if v} - {"this", "on", "kind"}
    of = join.this
    one = of.this if isinstance(of, exp.Subquery) else None
    if more or side or kind not in ("", "INNER", "CROSS") or not isinstance(one, exp.Select):
        return outer
    if len(one.expressions) != 1 or not isinstance(
        one.expressions[0].unalias(), (exp.Max, exp.Min)
    ):
        return outer
    if one.args.get("group") or not of.alias or of.args["alias"].args.get("columns"):
        return outer
    name = one.expressions[0].alias_or_name.lower()
    made = outer.copy()
    made.set("joins", None)
    on = join.args.get("on")
    if on is not None:
        made.where(on.copy(), copy=False)
    columns = [
        c
        for c in made.find_all(exp.Column)
        if c.name.lower() == name and c.table.lower() == of.alias.lower()
    ]
    left = [c for c in made.find_all(exp.Column) if c.table.lower() == of.alias.lower()]
    if len(columns) != len(left) or len(columns) != 1:
        return outer  # its column is shown, or another one is meant
    columns[0].replace(exp.Subquery(this=one.copy()))
    return made


def _read(condition: "exp.Expr") -> "tuple[exp.Expr, _Extreme] | None":
    """What a condition says to be the greatest, or the least, and of what."""
    from sqlglot import exp

    condition = condition.unnest()
    if not isinstance(condition, (exp.EQ, exp.GTE, exp.LTE)):
        return None
    turned: dict[type[exp.Expr], type[exp.Expr]] = {exp.GTE: exp.LTE, exp.LTE: exp.GTE}
    kind: type[exp.Expr] = type(condition)
    value, other = condition.this.unnest(), condition.expression
    if isinstance(value, (exp.Subquery, exp.All)) or isinstance(condition.this, exp.Subquery):
        value, other, kind = other.unnest(), condition.this, turned.get(kind, kind)
    if isinstance(other, exp.All):
        inner = other.this.unnest()
        inner = inner.this if isinstance(inner, exp.Subquery) else inner
        if kind is exp.EQ or not isinstance(inner, exp.Select) or len(inner.expressions) != 1:
            return None
        greatest, item = kind is exp.GTE, inner.expressions[0].unalias()
        if aggregates(inner):
            return value, _Extreme(inner, item, greatest)
        return _of_groups(value, inner, item, greatest=greatest)
    inner = other.this if isinstance(other, exp.Subquery) else None
    if not isinstance(inner, exp.Select) or len(inner.expressions) != 1:
        return None
    call = inner.expressions[0].unalias()
    if not isinstance(call, (exp.Max, exp.Min)) or call.expressions:
        return None
    greatest = isinstance(call, exp.Max)
    if kind is not exp.EQ and greatest != (kind is exp.GTE):
        return None
    return _of_groups(value, inner, call.this, greatest=greatest)


def _of_groups(
    value: "exp.Expr", inner: "exp.Select", item: "exp.Expr", *, greatest: bool
) -> "tuple[exp.Expr, _Extreme] | None":
    """The same, of a column of groups in FROM."""
    from sqlglot import exp

    start = inner.args.get("from_")
    below = None if start is None else start.this
    if {k for k, v in inner.args.items() if v} - {"expressions", "from_"}:
        return None
    if not isinstance(below, exp.Subquery) or not isinstance(below.this, exp.Select):
        return None
    shown = {e.alias_or_name.lower(): e.unalias() for e in below.this.expressions}
    counted = shown.get(item.name.lower()) if isinstance(item, exp.Column) else None
    return None if counted is None else (value, _Extreme(below.this, counted, greatest))


def _are_same(groups: "exp.Select", value: "exp.Expr", extreme: _Extreme, catalog: Catalog) -> bool:
    """Whether the groups are those among which the greatest is, and the value is never NULL."""

    if not _is_counted(groups, extreme.groups):
        return False
    same = _plain(groups, value) == _plain(extreme.groups, extreme.counted)
    if same and changes(groups, catalog) and not _has_value(value, groups, catalog):
        which = "greatest" if extreme.greatest else "least"
        raise SqlRefusal(
            f"the groups with the {which} {show_sql(value)}, which may be NULL",
            why="NULL is passed over by MAX and MIN, and makes >= ALL unknown",
            fix="add WHERE … IS NOT NULL of what is aggregated; or write QUALIFY RANK() OVER "
            f"(ORDER BY {show_sql(value)}{' DESC' if extreme.greatest else ''} NULLS LAST) = 1",
            line=line_of(value),
        )
    return same


def _has_value(value: "exp.Expr", groups: "exp.Select", catalog: Catalog) -> bool:
    """Whether an aggregate is never NULL."""
    from sqlglot import exp

    if isinstance(value, exp.Count):
        return True
    scope = list_tables(groups, catalog)
    plain = isinstance(value, (exp.Sum, exp.Avg, exp.Min, exp.Max)) and not value.expressions
    if not plain or groups.args.get("joins") or len(scope.tables) != 1:
        return False
    ((alias, stream),) = scope.tables.items()
    found = resolve(scope, value.this)
    if not isinstance(stream, Stream) or found is None:
        return False
    return found[1] == stream.timestamp or not lacks_values(
        stream, alias, [found[1]], groups, scope
    )


def _is_counted(*groups: "exp.Select") -> bool:
    """Whether they are of groups by columns, and nothing more."""
    for one in groups:
        group = one.args.get("group")
        if {k for k, v in one.args.items() if v} - _GROUPS or group is None:
            return False
        if {k for k, v in group.args.items() if v} - {"expressions"} or not group.expressions:
            return False
    return True


def _plain(groups: "exp.Select", value: "exp.Expr") -> tuple[object, ...]:
    """Groups and a value of theirs, however they are called: of one table, without its alias."""
    from sqlglot import exp

    named = {e.alias.lower(): e.unalias() for e in groups.expressions if e.alias}
    keys = [_mean(key, groups, named) for key in groups.args["group"].expressions]
    where, having = groups.args.get("where"), groups.args.get("having")
    said = [] if where is None else [c.copy() for c in split_conjuncts(where.this)]
    for condition in [] if having is None else split_conjuncts(having.this):
        made = condition.copy()
        for column in [c for c in made.find_all(exp.Column) if c.name.lower() in named]:
            if column in keys or column is made:
                return (object(),)  # a column, or what is selected by its name
            column.replace(named[column.name.lower()].copy())
        said.append(made)
    table = groups.args["from_"].this.copy()
    parts = [*keys, *said, value.copy()]
    nested = any(p.find(exp.Query) for p in parts)
    if not groups.args.get("joins") and isinstance(table, exp.Table) and not nested:
        own = table.alias_or_name.lower()
        table.set("alias", None)
        for column in (c for p in parts for c in p.find_all(exp.Column)):
            if column.table.lower() in ("", own):
                column.set("table", None)
                column.this.set("quoted", None)
    joins = tuple(groups.args.get("joins") or ())
    number = len(keys)
    return (table, joins, frozenset(parts[:number]), frozenset(parts[number:-1]), parts[-1])


def _mean(key: "exp.Expr", groups: "exp.Select", named: "dict[str, exp.Expr]") -> "exp.Expr":
    """What is grouped by: a place or a name of what is selected, or an expression."""
    from sqlglot import exp

    of = key
    if isinstance(key, exp.Literal) and key.is_int and int(key.name) <= len(groups.expressions):
        of = groups.expressions[int(key.name) - 1].unalias()
    elif isinstance(key, exp.Column) and not key.table:
        of = named.get(key.name.lower(), key)
    return of.copy()


def _rank(value: "exp.Expr", extreme: _Extreme) -> "exp.Window":
    from sqlglot import exp

    by = exp.Ordered(this=value.copy(), desc=extreme.greatest, nulls_first=False)
    return exp.Window(this=exp.Rank(), order=exp.Order(expressions=[by]))


def _first(value: "exp.Expr", extreme: _Extreme) -> "exp.EQ":
    from sqlglot import exp

    return exp.EQ(this=_rank(value, extreme), expression=exp.Literal.number(1))
