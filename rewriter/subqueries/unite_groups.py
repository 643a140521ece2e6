"""UNION ALL of groups, as one of the rows of subqueries."""

from typing import TYPE_CHECKING

from ontoweir.rewriter.joins.is_set import aggregates

if TYPE_CHECKING:
    from sqlglot import exp


def unite_groups(tree: "exp.Query") -> "exp.Query":
    """A query of which a part of UNION has groups as a SELECT of all that the UNION in FROM shows,
    which reads groups that are final; any other query as it is."""
    from sqlglot import exp

    if not isinstance(tree, exp.Union) or not any(map(aggregates, _list_parts(tree))):
        return tree
    inside = exp.Subquery(this=tree, alias=exp.TableAlias(this=exp.to_identifier("groups")))
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=inside))


def _list_parts(tree: "exp.Expr") -> "list[exp.Select]":
    """The SELECTs under UNION."""
    from sqlglot import exp

    if isinstance(tree, exp.Union):
        return [*_list_parts(tree.this), *_list_parts(tree.expression)]
    if isinstance(tree, exp.Subquery):
        return _list_parts(tree.this)
    return [tree] if isinstance(tree, exp.Select) else []
