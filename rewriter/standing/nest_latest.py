"""The latest rows of a query as a subquery of their own, however they are written."""

from typing import TYPE_CHECKING

from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.joins.latest_rows import is_plain
from ontoweir.rewriter.joins.read_latest import equals_one, named_windows
from ontoweir.rewriter.latest.put_inside import put_inside

if TYPE_CHECKING:
    from sqlglot import exp


def nest_latest(tree: "exp.Select") -> "exp.Select":
    """A query over the latest rows as SELECT … FROM (SELECT … QUALIFY … = 1) WHERE …: what WITH
    names is put in its place, the number of a row that WHERE says to be 1 is said in the subquery,
    and what QUALIFY says besides is said around it; else as it is.

    Args:
        tree: the query, whose names are as they were written.
    """
    return _number_inside(_split_qualify(put_inside(tree)))


def says_which(select: "exp.Select") -> bool:
    """Whether it has DISTINCT ON, which chooses among rows."""
    distinct = select.args.get("distinct")
    return distinct is not None and bool(distinct.args.get("on"))


def _split_qualify(tree: "exp.Select") -> "exp.Select":
    """What is said of the latest row besides, or that its key is not shown, around it."""
    from sqlglot import exp

    qualify, start = tree.args.get("qualify"), tree.args.get("from_")
    item = None if start is None else start.this
    if qualify is None or not isinstance(item, exp.Table) or tree.args.get("joins"):
        return tree
    if says_which(tree):
        return tree
    windows = named_windows(tree)
    if windows and any(e.is_star for e in tree.expressions):
        return tree
    chosen, rest = _find_number(qualify.this, windows)
    if len(chosen) != 1 or any(c.find(exp.Window) for c in rest):
        return tree
    shown = [e for e in tree.expressions if e.alias.lower() not in windows]
    names = {e.unalias().name.lower() for e in shown if isinstance(e.unalias(), exp.Column)}
    window = chosen[0][1]
    key = {k.name.lower() for k in window.args.get("partition_by") or ()}
    if not rest and (key <= names or any(e.is_star for e in shown)):
        return tree
    inner = tree.copy()
    alias = item.alias_or_name
    inner.set("expressions", [exp.Star()])
    inner.set("distinct", None)
    one = exp.EQ(this=window.copy(), expression=exp.Literal.number(1))
    inner.set("qualify", exp.Qualify(this=one))
    made = exp.select(*(e.copy() for e in shown)).from_(inner.subquery(alias))
    if tree.args.get("distinct") is not None:
        made = made.distinct()
    return made.where(*(c.copy() for c in rest)) if rest else made


def _number_inside(tree: "exp.Select") -> "exp.Select":
    """The number of a row, which a subquery shows and WHERE says to be 1, as its QUALIFY."""
    from sqlglot import exp

    start, where = tree.args.get("from_"), tree.args.get("where")
    inside = None if start is None else start.this
    if not isinstance(inside, exp.Subquery) or not isinstance(inside.this, exp.Select):
        return tree
    if not is_plain(inside):
        return tree
    windows = named_windows(inside.this)
    if where is None or not windows or inside.this.args.get("qualify"):
        return tree
    chosen, rest = _find_number(where.this, windows)
    if len(chosen) != 1 or not (rest or aggregates(tree) or tree.args.get("joins")):
        return tree
    made = tree.copy()
    inner = made.args["from_"].this.this
    inner.set("expressions", [e for e in inner.expressions if e.alias.lower() not in windows])
    one = exp.EQ(this=chosen[0][1].copy(), expression=exp.Literal.number(1))
    inner.set("qualify", exp.Qualify(this=one))
    made.set("where", exp.Where(this=exp.and_(*(c.copy() for c in rest))) if rest else None)
    return made


def _find_number(
    condition: "exp.Expr", windows: "dict[str, exp.Window]"
) -> "tuple[list[tuple[exp.Expr, exp.Window]], list[exp.Expr]]":
    """The conjuncts that say a row's number to be 1, with its window; and the others."""
    conjuncts = list(split_conjuncts(condition))
    chosen = [(c, w) for c in conjuncts if (w := equals_one(c, windows)) is not None]
    return chosen, [c for c in conjuncts if not any(c is one for one, _ in chosen)]
