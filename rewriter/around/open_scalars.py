"""SELECT of values alone, each of a query of its own, as a join of these."""

from typing import TYPE_CHECKING

from ontoweir.rewriter.joins.is_set import aggregates

if TYPE_CHECKING:
    from sqlglot import exp


def open_scalars(tree: "exp.Query") -> "exp.Query":
    """`SELECT (SELECT COUNT(*) FROM a …) AS x, (SELECT COUNT(*) FROM b …) AS y` as a join of both
    queries, each of which has one row; another query as it is.

    Args:
        tree: the query, whose names are as they were written.
    """
    from sqlglot import exp

    if not isinstance(tree, exp.Select) or tree.args.get("from_") is not None:
        return tree
    made, parts = tree.copy(), list[exp.Subquery]()
    for query in [q for e in made.expressions for q in _list_values(e)]:
        name = f"value {len(parts)}"
        inner = query.this.copy()
        value = inner.expressions[0].unalias()
        inner.set("expressions", [exp.alias_(value, "value", quoted=True)])
        alias = exp.TableAlias(this=exp.to_identifier(name, quoted=True))
        parts.append(exp.Subquery(this=inner, alias=alias))
        query.replace(exp.column("value", name, quoted=True))
    if not parts:
        return tree
    first, *others = parts
    made.set("from_", exp.From(this=first))
    for one in others:
        made.append("joins", exp.Join(this=one, kind="CROSS"))
    return made


def _list_values(tree: "exp.Expr") -> "list[exp.Subquery]":
    """The queries of one value, and one row, that an expression reads."""
    from sqlglot import exp

    inside = list(tree.walk(prune=lambda n: isinstance(n, exp.Subquery)))
    return [n for n in inside if isinstance(n, exp.Subquery) and _is_one(n.this)]


def _is_one(inner: "exp.Expr") -> bool:
    """Whether it is a SELECT of one aggregate that is not grouped, which has one row."""
    from sqlglot import exp

    if not isinstance(inner, exp.Select) or len(inner.expressions) != 1:
        return False
    more = {name for name, value in inner.args.items() if value}
    return more <= {"expressions", "from_", "joins", "where"} and aggregates(inner)
