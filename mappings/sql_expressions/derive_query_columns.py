"""Puts derived columns in the place of the expressions of a query: in SELECT, WHERE, ON, GROUP BY
and the arguments of aggregates, in SELECT and HAVING."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ontoweir.mappings.expressions.write_expression import write_expression
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.expression import Expression
from ontoweir.mappings.sql.read_select import read_from
from ontoweir.mappings.sql_expressions.derive_columns import ColumnDeriver

if TYPE_CHECKING:
    from sqlglot import exp


def derive_query_columns(
    tree: exp.Query, catalog: Catalog, *, mapping: bool = False
) -> tuple[exp.Query, Catalog, tuple[tuple[str, Expression], ...]]:
    """A query of columns, the catalog with those that are derived, and these, by their tables.

    Args:
        tree: the query.
        catalog: the tables.
        mapping: it is a mapping's: texts made from columns stay, and alternatives exclude each
            other (read_select_tree).

    Raises:
        SqlRefusal: an expression is not read, or of several rows.
    """
    from sqlglot import exp

    tree = tree.copy()
    derived: dict[tuple[str, Expression], None] = {}
    for select in list(tree.find_all(exp.Select)):
        if isinstance(select.parent, (exp.In, exp.Exists)) or not _has_expressions(select):
            continue
        scope, _, _ = read_from(select.copy(), catalog)
        deriver = ColumnDeriver(scope, mapping=mapping)
        _derive(select, deriver)
        derived |= deriver.derived
        catalog = deriver.catalog
    used = {c.name for c in tree.find_all(exp.Column)}
    derived = {d: None for d in derived if write_expression(d[1]) in used}
    return tree, catalog, tuple(derived)


def _has_expressions(select: exp.Select) -> bool:
    """Whether anything is computed: columns and constants are not, nor are comparisons of them,
    but where they are a value."""
    from sqlglot import exp

    plain = (
        exp.Select,
        exp.From,
        exp.Table,
        exp.TableAlias,
        exp.Identifier,
        exp.Column,
        exp.Star,
        exp.Literal,
        exp.Alias,
        exp.Where,
        exp.Join,
        exp.Group,
        exp.And,
        exp.Paren,
        exp.EQ,
        exp.NEQ,
        exp.LT,
        exp.LTE,
        exp.GT,
        exp.GTE,
        exp.Distinct,
        exp.Boolean,
    )
    compared = (exp.And, exp.Paren, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
    group = select.args.get("group")
    values = (*select.expressions, *(() if group is None else group.expressions))
    return any(not isinstance(node, plain) for node in select.walk()) or any(
        isinstance(node, compared) for value in values for node in value.walk()
    )


def _derive(select: exp.Select, deriver: ColumnDeriver) -> None:
    from sqlglot import exp

    items: list[exp.Expr] = []
    for item in select.expressions:
        name = item.alias_or_name or item.sql("spark")
        made = deriver.replace_values(item.unalias())
        if isinstance(item, exp.Alias):
            item.set("this", made)
            made = item
        elif made is not item or (item.find(exp.AggFunc) and not isinstance(item, exp.AggFunc)):
            made = exp.alias_(made, name, quoted=True)
        items.append(made)
    select.set("expressions", items)
    if (group := select.args.get("group")) is not None:
        several = (exp.Rollup, exp.Cube, exp.GroupingSets)
        group.set(
            "expressions",
            [e if isinstance(e, several) else deriver.replace_values(e) for e in group.expressions],
        )
    if (having := select.args.get("having")) is not None:
        for call in list(having.find_all(exp.AggFunc)):
            deriver.replace_values(call)
    if (where := select.args.get("where")) is not None:
        where.set("this", deriver.replace_condition(where.this))
    for join in select.args.get("joins") or ():
        if (on := join.args.get("on")) is not None:
            join.set("on", deriver.replace_condition(on))
    deriver.settle_choices(select, bag=not _is_set(select))


def _is_set(select: exp.Select) -> bool:
    """Whether its duplicates are removed, here or in a UNION around it."""
    from sqlglot import exp

    above = select.parent
    while above is not None:
        if isinstance(above, exp.Union) and above.args.get("distinct"):
            return True
        above = above.parent
    return select.args.get("distinct") is not None
