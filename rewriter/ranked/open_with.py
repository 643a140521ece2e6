"""What WITH names, in the place of its names."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def open_with(tree: "exp.Query") -> "exp.Query":
    """A query with subqueries in the place of what WITH names; as it is where that is recursive, or
    names columns anew."""
    from sqlglot import exp

    if tree.args.get("with_") is None:
        return tree
    named = tree.args["with_"]
    columns = any(c.args["alias"].args.get("columns") for c in named.expressions)
    if named.args.get("recursive") or columns or any(c.this.find(exp.With) for c in named):
        return tree
    made = tree.copy()
    parts = made.args["with_"].expressions
    made.set("with_", None)
    for n, part in enumerate(parts):
        for other in (*(p.this for p in parts[n + 1 :]), made):
            for table in list(other.find_all(exp.Table)):
                more = {k for k, v in table.args.items() if v} - {"this", "alias"}
                if table.name.lower() == part.alias.lower() and not more:
                    table.replace(part.this.copy().subquery(table.alias_or_name))
    return made
