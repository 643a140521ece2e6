"""What is asked of the latest row of each key, in SQL: which of them are told."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.joins.latest_rows import is_plain
from ontoweir.rewriter.joins.read_latest import named_windows, read_latest
from ontoweir.rewriter.standing.nest_latest import nest_latest, says_which
from ontoweir.rewriter.standing.standing_rows import KEY, StandingRows

if TYPE_CHECKING:
    from sqlglot import exp


def read_over_latest(tree: "exp.Query", catalog: Catalog) -> StandingRows | None:
    """SELECT … FROM (the latest row of each key) WHERE …: the latest row ends the earlier ones of
    its key whether it is told or not.

    None: it is something else, or nothing but the latest rows themselves.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.

    Raises:
        SqlRefusal: a column is none of the subquery.
    """
    from sqlglot import exp

    if not isinstance(tree, exp.Select):
        return None
    tree = nest_latest(tree)
    start = tree.args.get("from_")
    inside = None if start is None else start.this
    beyond = [k for k in ("joins", "qualify", "laterals", "with_") if tree.args.get(k)]
    if not isinstance(inside, exp.Subquery) or not isinstance(inside.this, exp.Select) or beyond:
        return None
    if not is_plain(inside) or says_which(tree):
        return None
    where = tree.args.get("where")
    if named_windows(inside.this):
        return None
    if any(e.find(exp.Window, exp.Subquery, exp.Exists) for e in tree.expressions):
        return None
    if where is not None and where.find(exp.Window, exp.Subquery, exp.Exists, exp.Select):
        return None
    latest = read_latest(inside.this, catalog)
    if latest.key is None or not isinstance(latest.tree, exp.Select):
        return None
    rows = latest.tree
    named = {e.alias_or_name.lower(): e.unalias() for e in rows.expressions}
    own = inside.alias_or_name.lower()
    key = [rows.expressions[place].unalias() for place in latest.key]

    put = _Put(named, own)
    told = rows.copy()
    if where is not None:
        told.where(*(put(c) for c in split_conjuncts(where.this)), copy=False)
    items: list[exp.Expr] = []
    for item in tree.expressions:
        if item.is_star:
            items += [exp.alias_(e.unalias().copy(), n, quoted=True) for n, e in named.items()]
        else:
            plain = item.alias or isinstance(item, exp.Column)
            name = item.alias_or_name if plain else item.sql("spark")
            items.append(exp.alias_(put(item.unalias()), name, quoted=True))
    keyed = [exp.alias_(e.copy(), f"{KEY} {n + 1}", quoted=True) for n, e in enumerate(key)]
    groups = aggregates(tree)
    if groups:
        for part in ("group", "having"):
            told.set(part, put(of) if (of := tree.args.get(part)) is not None else None)
    counted = [
        exp.alias_(exp.Count(this=e.copy()), f"{KEY} {n + 1}", quoted=True)
        for n, e in enumerate(key)
    ]
    told.set("expressions", [*items, *(counted if groups else keyed)])
    enders = rows.copy()
    enders.set("expressions", [e.copy() for e in keyed])
    distinct = tree.args.get("distinct") is not None
    return StandingRows(
        told,
        enders,
        len(key),
        tuple(range(len(key))),
        distinct=distinct,
        nulls=True,
        groups=groups,
        over=True,
    )


class _Put:
    """What a subquery shows in the place of its columns; `own`: how it is called."""

    def __init__(self, named: "dict[str, exp.Expr]", own: str) -> None:
        self.named, self.own = named, own

    def __call__(self, item: "exp.Expr") -> "exp.Expr":
        made: exp.Expr = item.copy().transform(self._replace)
        return made

    def _replace(self, node: "exp.Expr") -> "exp.Expr":
        from sqlglot import exp

        if not isinstance(node, exp.Column):
            return node
        of = self.named.get(node.name.lower())
        if of is None or node.table.lower() not in ("", self.own):
            raise SqlRefusal(
                f"the column {show_sql(node)} is none of the subquery",
                why="what is told of the latest rows are columns that it selects",
                fix="select it there",
                line=line_of(node),
            )
        return of.copy() if isinstance(of, exp.Column) else exp.Paren(this=of.copy())
