"""QUALIFY of a subquery, said around it."""

from typing import TYPE_CHECKING

from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.latest_rows import is_plain
from ontoweir.rewriter.joins.own_nodes import is_number
from ontoweir.rewriter.latest.read_limit import read_limits

if TYPE_CHECKING:
    from sqlglot import exp

_NUMBER = "of the first: number"
"""What a number is called that the subquery does not show."""


def number_around(tree: "exp.Select") -> "exp.Select":
    """SELECT … FROM (SELECT *, RANK() OVER … AS n …) WHERE n <= 3 AND … for SELECT … FROM (SELECT *
    … QUALIFY RANK() OVER … <= 3) WHERE …, where QUALIFY says nothing else; else the query as it is.
    """
    from sqlglot import exp

    start = tree.args.get("from_")
    inside = None if start is None else start.this
    if not isinstance(inside, exp.Subquery) or not isinstance(inside.this, exp.Select):
        return tree
    inner = inside.this
    if inner.args.get("qualify") is None:
        return tree
    windows = name_windows(inner)
    found = read_limits(list(split_conjuncts(inner.args["qualify"].this)), windows)
    if found is None or found.rest or inner.args.get("distinct") or not is_plain(inside):
        return tree
    shown = _list_shown(tree, inside)
    if shown is None:
        return tree
    made = tree.copy()
    made.set("expressions", shown)
    rows = made.args["from_"].this.this
    rows.set("qualify", None)
    name = next((n for n, w in windows.items() if w == found.window), None)
    if name is None:
        name = _NUMBER
        number = exp.alias_(found.window.copy(), name, quoted=True)
        rows.set("expressions", [*rows.expressions, number])
    least, most = (exp.Literal.number(n) for n in (found.least, found.limit))
    number = exp.column(name, inside.alias_or_name or None, quoted=True)
    chosen: exp.Expr = exp.Between(this=number, low=least, high=most)
    if found.least == found.limit:
        chosen = exp.EQ(this=number, expression=most)
    return made.where(chosen, copy=False)


def name_windows(select: "exp.Select") -> "dict[str, exp.Window]":
    """The windows that number rows, to which a SELECT gives names, by these in lower case."""
    from sqlglot import exp

    return {
        e.alias.lower(): w
        for e in select.expressions
        if isinstance(w := e.unalias(), exp.Window) and is_number(w)
    }


def _list_shown(tree: "exp.Select", inside: "exp.Expr") -> "list[exp.Expr] | None":
    """What is selected, with the columns of a subquery in the place of * (None: they are not
    known)."""
    from sqlglot import exp

    made: list[exp.Expr] = []
    inner = inside.this
    for item in tree.expressions:
        if not item.is_star:
            made.append(item.copy())
            continue
        names = [e.alias_or_name for e in inner.expressions]
        known = all(names) and not any(e.is_star for e in inner.expressions)
        plain = isinstance(item, exp.Star) and not {k for k, v in item.args.items() if v}
        if not known or not plain or tree.args.get("joins"):
            return None
        made += [exp.column(n, inside.alias_or_name or None, quoted=True) for n in names]
    return made
