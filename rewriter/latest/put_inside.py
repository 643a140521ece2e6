"""What WITH names, in FROM."""

from typing import TYPE_CHECKING

from ontoweir.rewriter.joins.latest_rows import is_plain

if TYPE_CHECKING:
    from sqlglot import exp


def put_inside(tree: "exp.Select") -> "exp.Select":
    """SELECT … FROM (SELECT …) AS name for WITH name AS (SELECT …) SELECT … FROM name, where it is
    all that WITH has and is named once; else the query as it is."""
    from sqlglot import exp

    named, start = tree.args.get("with_"), tree.args.get("from_")
    item = None if start is None else start.this
    if named is None or named.args.get("recursive") or not isinstance(item, exp.Table):
        return tree
    if len(named.expressions) != 1 or item.name.lower() != named.expressions[0].alias.lower():
        return tree
    if not is_plain(item):
        return tree
    (cte,) = named.expressions
    if cte.args["alias"].args.get("columns") or not isinstance(cte.this, exp.Select):
        return tree
    uses = [t for t in tree.find_all(exp.Table) if t.name.lower() == cte.alias.lower()]
    if len(uses) != 1:
        return tree
    made = tree.copy()
    made.set("with_", None)
    made.args["from_"].set("this", cte.this.copy().subquery(item.alias_or_name))
    return made
