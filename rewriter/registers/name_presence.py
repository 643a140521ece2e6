"""SEMI and ANTI JOIN, IN, NOT IN and LEFT JOIN … IS NULL of static relations, as EXISTS; and that
LEFT JOIN of streams as an ANTI JOIN."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Relation, Stream
from ontoweir.mappings.sql.read_scope import Scope, column_names
from ontoweir.rewriter.differences.name_columns import is_known, name_tables, qualify
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.split_outer import reads, split_outer, turn_outer
from ontoweir.rewriter.windows.rows_leave import has_now, rows_leave

if TYPE_CHECKING:
    from sqlglot import exp


def name_presence(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A SELECT of rows of static relations with EXISTS and NOT EXISTS of rows of streams in the
    place of SEMI and ANTI JOIN, of IN and NOT IN, and of a LEFT JOIN whose partners are NULL; of
    rows of streams, with an ANTI JOIN in the place of such a LEFT JOIN, and in windows with EXISTS
    and NOT EXISTS in the place of IN and NOT IN; another query as it is. A LEFT JOIN that tells
    rows with and without partners stays.

    NOT IN has SQL's rule: a row of which the value, or a value that it is compared with, is NULL is
    no answer while there is any of these.

    Raises:
        SqlRefusal: a condition on what a LEFT JOIN makes NULL is no comparison.
    """
    from sqlglot import exp

    if not isinstance(tree, exp.Select):
        return tree
    if not tree.find(exp.Star):  # which shows the columns in the order of the tables
        turned = turn_outer(tree)
        tree = turned if is_register(turned, catalog) else tree
    if not is_register(tree, catalog):
        return _name_anti(_name_in(_name_tests(tree, catalog), catalog), catalog)
    tree = tree.copy()
    _name_stars(tree, catalog)
    scope = list_tables(tree, catalog)
    name_tables(tree, scope)
    _move_joins(tree)
    where = tree.args.get("where")
    if where is not None:
        conjuncts = [r for c in split_conjuncts(where.this) for r in _read_in(c, catalog)]
        tree.set("where", exp.Where(this=exp.and_(*conjuncts, copy=False)))
    if sum(1 for j in tree.args.get("joins") or () if j.args.get("side")) != 1:
        return tree
    outer = split_outer(tree, scope)
    if outer is None or (outer.inner is not None and outer.without is not None):
        return tree
    if outer.without is None:
        return tree if outer.inner is None else outer.inner
    _move_joins(outer.without)
    return outer.without


def _name_tests(select: "exp.Select", catalog: Catalog) -> "exp.Select":
    """A SELECT with EXISTS and NOT EXISTS in the place of SEMI and ANTI joins with rows in
    windows."""
    kinds = ("SEMI", "ANTI")
    joins = select.args.get("joins") or ()
    joins = [j for j in joins if str(j.args.get("kind") or "").upper() in kinds]
    scope = list_tables(select, catalog)
    windows = any(has_now(on) for j in joins if (on := j.args.get("on")) is not None)
    if not windows or not rows_leave(select) or not is_known(select, scope):
        return select
    made = select.copy()
    name_tables(made, scope)
    _move_joins(made)
    return made


def _name_in(select: "exp.Select", catalog: Catalog) -> "exp.Select":
    """A SELECT of rows in windows, with EXISTS and NOT EXISTS in the place of IN and NOT IN of rows
    in windows."""
    from sqlglot import exp

    where = select.args.get("where")
    if where is None or not rows_leave(select):
        return select
    scope, made = list_tables(select, catalog), list[exp.Expr]()
    for conjunct in split_conjuncts(where.this):
        one = conjunct.copy()
        asked = one
        while isinstance(asked, (exp.Not, exp.Paren)):
            asked = asked.this
        query = asked.args.get("query") if isinstance(asked, exp.In) else None
        value = qualify(asked.this, scope) if query is not None and has_now(asked) else None
        tables = (
            [] if query is None else [t.alias_or_name.lower() for t in query.find_all(exp.Table)]
        )
        if value is None or not {a.lower() for a in scope.tables}.isdisjoint(tables):
            made.append(conjunct.copy())
            continue
        asked.set("this", value)
        made += _read_in(one, catalog)
    told = select.copy()
    told.set("where", exp.Where(this=exp.and_(*made, copy=False)))
    return told


def _name_anti(select: "exp.Select", catalog: Catalog) -> "exp.Select":
    """A SELECT with an ANTI JOIN in the place of its one LEFT JOIN, where it is of rows without a
    partner alone, and shows nothing of these."""
    outer_joins = [j for j in select.args.get("joins") or () if j.args.get("side")]
    if len(outer_joins) != 1 or select.args.get("where") is None:
        return select
    if not _is_left(outer_joins[0]):
        return select
    scope, made = list_tables(select, catalog), select.copy()
    names = [table.name for table in scope.tables.values()]
    if not is_known(select, scope) or len(set(names)) < len(names):
        return select  # of one table: the latest, and the first, are read as such
    name_tables(made, scope)
    outer = split_outer(made, scope)
    if outer is None or outer.inner is not None or outer.without is None:
        return select
    without = outer.without
    if any(item.is_star for item in select.expressions):
        return select
    beyond = [k for k, v in without.args.items() if v and k not in ("from_", "joins", "where")]
    for key in beyond:
        of = without.args[key]
        if any(reads(t, outer.alias) for t in (of if isinstance(of, list) else [of])):
            return select
    without.set("expressions", [item.copy() for item in select.expressions])
    return _name_tests(without, catalog)


def _is_left(join: "exp.Expr") -> bool:
    """Whether it is a plain LEFT JOIN … ON."""
    beyond = any(join.args.get(k) for k in ("kind", "method", "using"))
    return str(join.args.get("side") or "").upper() == "LEFT" and not beyond


def is_register(select: "exp.Select", catalog: Catalog) -> bool:
    """Whether the rows of a SELECT are of static relations, and rows of streams are asked for
    beside them: by outer, SEMI and ANTI joins or in subqueries."""
    from sqlglot import exp

    scope = list_tables(select, catalog)
    if not is_known(select, scope):
        return False
    own = {a.lower(): t for a, t in scope.tables.items()}
    beside = {j.this.alias_or_name.lower() for j in select.args.get("joins") or () if _tests(j)}
    if not all(isinstance(t, Relation) for a, t in own.items() if a not in beside):
        return False
    if any(isinstance(t, Stream) and t.versions for t in own.values()):
        return False
    inside = [q for q in select.find_all(exp.Select) if q is not select]
    tables = [t for q in inside for t in list_tables(q, catalog).tables.values()]
    return any(isinstance(t, Stream) for t in [*own.values(), *tables])


def _tests(join: "exp.Expr") -> bool:
    """Whether it is a LEFT, SEMI or ANTI join."""
    kind = str(join.args.get("kind") or "").upper()
    return kind in ("SEMI", "ANTI") or str(join.args.get("side") or "").upper() == "LEFT"


def _name_stars(select: "exp.Select", catalog: Catalog) -> None:
    """Columns by name in the place of `*` and `t.*`; in place."""
    from sqlglot import exp

    scope, items = list_tables(select, catalog), list[exp.Expr]()
    shown = {
        a: t
        for a, t in scope.tables.items()
        if not any(
            j.this.alias_or_name == a and str(j.args.get("kind") or "").upper() in ("SEMI", "ANTI")
            for j in select.args.get("joins") or ()
        )
    }
    for item in select.expressions:
        star = isinstance(item, exp.Star) and not any(item.args.values())
        of = isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
        if not star and not of:
            items.append(item)
            continue
        aliases = [a for a in shown if star or a.lower() == item.table.lower()]
        items += [
            exp.column(c, a, quoted=True) for a in aliases for c in column_names(scope.tables[a])
        ]
    select.set("expressions", items)


def _move_joins(select: "exp.Select") -> None:
    """EXISTS and NOT EXISTS in WHERE in the place of SEMI and ANTI joins; in place."""
    from sqlglot import exp

    kept = []
    for join in select.args.get("joins") or ():
        kind = str(join.args.get("kind") or "").upper()
        if kind not in ("SEMI", "ANTI") or join.args.get("using"):
            kept.append(join)
            continue
        rows = exp.Select(
            expressions=[exp.Literal.number(1)], from_=exp.From(this=join.this.copy())
        )
        if (on := join.args.get("on")) is not None:
            rows.set("where", exp.Where(this=on.copy()))
        found: exp.Expr = exp.Exists(this=rows)
        select.where(exp.Not(this=found) if kind == "ANTI" else found, copy=False)
    select.set("joins", kept)


def _read_in(condition: "exp.Expr", catalog: Catalog) -> "list[exp.Expr]":
    """EXISTS in the place of IN of a SELECT of one column; of NOT IN, NOT EXISTS of an equal row,
    of one with NULL, and of any where the value is NULL."""
    from sqlglot import exp

    negated, inner = False, condition
    while isinstance(inner, (exp.Not, exp.Paren)):
        negated ^= isinstance(inner, exp.Not)
        inner = inner.this
    if isinstance(inner, exp.Exists):  # NOT (NOT (…)) too
        return [exp.Not(this=inner.copy()) if negated else inner.copy()]
    query = inner.args.get("query") if isinstance(inner, exp.In) else None
    rows = None if query is None else query.unnest()
    if not isinstance(rows, exp.Select) or len(rows.expressions) != 1:
        return [condition]
    if {k for k, v in rows.args.items() if v} - {"expressions", "from_", "where", "joins"}:
        return [condition]
    if rows.find(exp.AggFunc) is not None or isinstance(inner.this, exp.Tuple):
        return [condition]
    rows, scope = rows.copy(), list_tables(rows, catalog)
    name_tables(rows, scope)
    left, right = inner.this, rows.expressions[0].unalias()
    rows.set("expressions", [exp.Literal.number(1)])
    conditions: list[exp.Expr] = [exp.EQ(this=right.copy(), expression=left.copy())]
    if negated:
        conditions += [
            exp.Is(this=side.copy(), expression=exp.Null())
            for side in (right, left)
            if not _has_value(side, scope)
        ]
    made = [exp.Exists(this=rows.copy().where(one, copy=False)) for one in conditions]
    return [exp.Not(this=one) if negated else one for one in made]


def _has_value(tree: "exp.Expr", scope: Scope) -> bool:
    """Whether it is never NULL: a constant, or a stream's timestamp."""
    from sqlglot import exp

    if isinstance(tree, exp.Literal):
        return True
    table = scope.tables.get(tree.table) if isinstance(tree, exp.Column) else None
    return isinstance(table, Stream) and tree.name == table.timestamp
