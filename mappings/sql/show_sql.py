"""SQL in messages, in words that people write."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def show_sql(tree: "exp.Expr") -> str:
    """A piece of SQL as Spark's, but for what Spark has other words for: EXCLUDE, AT TIME ZONE,
    TIME, and plain names, which have no quotes.

    What is written otherwise is put into a copy of the tree as text, from the leaves up: a sqlglot
    that is compiled (`sqlglot[c]`) has no generator that could be inherited from.

    Args:
        tree: the piece.
    """
    from sqlglot import exp

    whole = exp.Paren(this=tree.copy())  # so that the piece itself can be put in, too
    for node in reversed(list(whole.this.dfs())):
        written = _write(node)
        if written is not None:
            node.replace(exp.Var(this=written))
    text: str = whole.this.sql("spark")
    return text


def _write(node: "exp.Expr") -> str | None:
    """The text of a node whose parts have been written; None: as Spark writes it (a name is quoted
    or not in place)."""
    from sqlglot import exp

    match node:
        case exp.Identifier():
            node.set("quoted", not (node.name.isascii() and node.name.isidentifier()))
        case exp.DataType() if node.this == exp.DataType.Type.TIME:
            return "TIME"  # no type of Spark's
        case exp.Ordered():
            return f"{node.this.sql('spark')}{' DESC' if node.args.get('desc') else ''}"
        case exp.AtTimeZone():
            return f"{node.this.sql('spark')} AT TIME ZONE {node.args['zone'].sql('spark')}"
        case exp.WindowSpec() if node.args.get("exclude") is not None:
            excluded = node.text("exclude")
            node.set("exclude", None)
            return f"{node.sql('spark')} EXCLUDE {excluded}"
    return None
