"""Comparisons with all values of a subquery, with any of them, and with their number."""

from dataclasses import replace
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_condition import turn_comparison
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal, find_name
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.latest_rows import lacks_values
from ontoweir.rewriter.joins.list_tables import list_tables

if TYPE_CHECKING:
    from sqlglot import exp

_ALONE = {"expressions", "from_", "where", "joins"}


def compare_all(select: "exp.Select", catalog: Catalog) -> None:
    """NOT IN for `<> ALL`, IN for `= ANY`, EXISTS for other comparisons with ANY; NOT EXISTS for
    other ones with ALL, and NOT of those with ANY, of what the comparison is false of, or NULL;
    EXISTS and NOT EXISTS for a COUNT that is compared with 0; in place, in the conditions of WHERE.

    Args:
        select: the query, or a part of it.
        catalog: the tables.

    Raises:
        SqlRefusal: tables of both have one name.
    """
    where = select.args.get("where")
    for conjunct in [] if where is None else list(split_conjuncts(where.this)):
        made = _read_number(conjunct) or _read_quantified(conjunct, select, catalog)
        if made is not None:
            conjunct.replace(made)


def _read_quantified(
    condition: "exp.Expr | None", select: "exp.Select", catalog: Catalog
) -> "exp.Expr | None":
    from sqlglot import exp

    opposite = _list_opposites()
    condition = _negate(condition.this.unnest()) if isinstance(condition, exp.Not) else condition
    if not isinstance(condition, exp.Binary):
        return None
    value, quantified = condition.this, condition.expression
    if not isinstance(quantified, (exp.All, exp.Any)):
        return None
    inner = quantified.this.unnest()
    if isinstance(inner, exp.Subquery):
        inner = inner.this
    if not isinstance(inner, exp.Select) or len(inner.expressions) != 1:
        return None
    every = isinstance(quantified, exp.All)
    if isinstance(condition, exp.NEQ if every else exp.EQ):
        made: exp.Expr = exp.In(this=value.copy(), query=exp.Subquery(this=inner.copy()))
        return exp.Not(this=made) if every else made
    kind: type[exp.Expr] = type(condition)
    if kind not in opposite or {k for k, v in inner.args.items() if v} - _ALONE:
        return None
    made, other = inner.copy(), inner.expressions[0].unalias()
    outer = _name_columns(value, select, inner, catalog)
    if outer is None:
        raise SqlRefusal(
            f"{show_sql(condition)}, whose tables have one name, or none",
            why="it is read as EXISTS, with the comparison inside of the subquery",
            fix="give the tables different aliases, and write them before the columns",
            line=line_of(inner),
        )
    compared: exp.Expr = (opposite[kind] if every else kind)(this=outer, expression=other.copy())
    sides = ((value, select, outer), (other, inner, other)) if every else ()
    for side, rows, said in sides:
        if not _has_value(side, rows, catalog):  # then the comparison is not false, nor true
            unknown = exp.Is(this=said.copy(), expression=exp.Null())
            compared = exp.Or(this=compared, expression=unknown)
    compared = exp.paren(compared) if isinstance(compared, exp.Or) else compared
    made.set("expressions", [exp.Literal.number(1)])
    found = exp.Exists(this=made.where(compared, copy=False))
    return exp.Not(this=found) if every else found


def _list_opposites() -> "dict[type[exp.Expr], type[exp.Expr]]":
    """The comparison that is true where another one is false."""
    from sqlglot import exp

    pairs = ((exp.GTE, exp.LT), (exp.GT, exp.LTE), (exp.EQ, exp.NEQ))
    return {a: b for pair in pairs for a, b in (pair, pair[::-1])}


def _negate(condition: "exp.Expr") -> "exp.Expr | None":
    """The negation of a comparison with all values, or with any: with any, or with all."""
    from sqlglot import exp

    kind = _list_opposites().get(type(condition))
    if kind is None or not isinstance(condition, exp.Binary):
        return None
    many = {exp.All: exp.Any, exp.Any: exp.All}.get(type(condition.expression))
    if many is None:
        return None
    values = many(this=condition.expression.this.copy())
    return kind(this=condition.this.copy(), expression=values)


def _name_columns(
    value: "exp.Expr", select: "exp.Select", inner: "exp.Select", catalog: Catalog
) -> "exp.Expr | None":
    """A value whose columns say of which table of a SELECT they are, where no table of a subquery
    has that name (None: one does, or it is not known)."""
    from sqlglot import exp

    made = exp.Paren(this=value.copy())
    mine, theirs = list_tables(select, catalog).tables, list_tables(inner, catalog).tables
    hidden = {t.alias_or_name.lower() for t in inner.find_all(exp.Table, exp.Subquery)}
    several = bool(select.args.get("joins"))
    for column in made.find_all(exp.Column):
        if not column.table:
            if several or len(mine) != 1:
                return None
            column.set("table", exp.to_identifier(next(iter(mine))))
        if column.table.lower() in hidden or not theirs:
            return None
    shown: exp.Expr = made.this
    return shown


def _has_value(tree: "exp.Expr", select: "exp.Select", catalog: Catalog) -> bool:
    """Whether it is the timestamp of a stream that a SELECT reads, or a column of which WHERE wants
    a value: what is not declared `nullable` may be NULL in rows, which no condition is true of."""
    from sqlglot import exp

    if not isinstance(tree, exp.Column):
        return False
    tables = list_tables(select, catalog).tables
    named = {a: t for a, t in tables.items() if not tree.table or a.lower() == tree.table.lower()}
    ((alias, table), *others) = named.items() or [("", None)]
    if not isinstance(table, Stream) or others:
        return False
    name = find_name(tree.name, [table.timestamp, *(c.name for c in table.columns)])
    if name is None or name == table.timestamp:
        return name is not None
    null = replace(table, columns=tuple(replace(c, nullable=True) for c in table.columns))
    return not lacks_values(null, alias, [name], select, list_tables(select, catalog))


def _read_number(condition: "exp.Expr") -> "exp.Expr | None":
    """Whether there are rows, for a comparison of how many there are."""
    from sqlglot import exp

    if not isinstance(condition, exp.Binary):
        return None
    kind: type[exp.Expr] = type(condition)
    left, right = condition.this, condition.expression
    if isinstance(left, exp.Literal):
        left, right, kind = right, left, turn_comparison(kind)
    query = left.this if isinstance(left, exp.Subquery) else None
    if not isinstance(query, exp.Select) or not isinstance(right, exp.Literal) or right.is_string:
        return None
    if {k for k, v in query.args.items() if v} - _ALONE or len(query.expressions) != 1:
        return None
    counted = query.expressions[0].unalias()
    if not isinstance(counted, exp.Count) or counted.expressions:
        return None
    none = {(exp.EQ, "0"), (exp.LT, "1"), (exp.LTE, "0")}
    some = {(exp.GT, "0"), (exp.GTE, "1"), (exp.NEQ, "0")}
    said = (kind, str(right.this))
    if said not in none | some:
        return None
    made = query.copy()
    made.set("expressions", [exp.Literal.number(1)])
    if isinstance(counted.this, exp.Column):
        there = exp.Not(this=exp.Is(this=counted.this.copy(), expression=exp.Null()))
        made.where(there, copy=False)
    elif not isinstance(counted.this, exp.Star):
        return None
    found = exp.Exists(this=made)
    return exp.Not(this=found) if said in none else found
