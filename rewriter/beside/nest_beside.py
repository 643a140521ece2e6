"""The latest row beside each row of static relations, as a LEFT JOIN of a subquery."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.rewriter.beside.lead_stream import lead_stream
from ontoweir.rewriter.beside.nest_chosen import nest_chosen
from ontoweir.rewriter.beside.nest_correlated import nest_lateral, nest_values
from ontoweir.rewriter.beside.nest_greatest import nest_conditions, nest_greatest
from ontoweir.rewriter.beside.nest_numbered import nest_numbered, open_around
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.latest_rows import is_plain
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.own_nodes import is_number
from ontoweir.rewriter.joins.read_latest import equals_one, named_windows
from ontoweir.rewriter.joins.split_outer import turn_outer

if TYPE_CHECKING:
    from sqlglot import exp


def nest_beside(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """SELECT … FROM r LEFT JOIN (SELECT … FROM s QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY
    ts DESC) = 1) AS l ON l.k = r.k, for

    - the same that WITH names, whose number ON says to be 1, or as a RIGHT JOIN;
    - LATERAL (SELECT … FROM s WHERE s.k = r.k ORDER BY ts DESC LIMIT 1), and such a subquery, or
      MAX(ts), as a value;
    - LEFT JOIN s ON s.k = r.k AND s.ts = (SELECT MAX(x.ts) …), or AND NOT EXISTS (a later one);
    - LEFT JOIN (SELECT k, MAX(ts) …), alone, and with the rows of that time beside it;
    - rows of r LEFT JOIN s that are numbered, by QUALIFY, around a subquery and by DISTINCT ON;
    - ARG_MAX(s.x, s.ts) of groups of these.

    Of numbered rows of inner joins the stream is the first table. Another query as it is.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    if not isinstance(tree, exp.Select) or not _may_be(tree, catalog):
        return tree
    made = _put_named(tree.copy())
    if not any(e.is_star for e in made.expressions):
        made = turn_outer(made)
    made = open_around(made, catalog)
    if not _reads_statics(made, catalog):
        lead_stream(made := tree.copy(), catalog)
        return made
    before = made.copy()
    for nest in (nest_lateral, nest_values, nest_greatest, nest_conditions):
        made = nest(made, catalog)
    for choose in (nest_numbered, nest_chosen, _choose):
        made = choose(made, catalog)
    lead_stream(made, catalog)
    return made if made != before or _is_beside(made) else tree


def _may_be(tree: "exp.Select", catalog: Catalog) -> bool:
    """Whether static relations and streams are read, and something is joined or a value."""
    from sqlglot import exp

    names = {t.name.lower() for t in tree.find_all(exp.Table)}
    relations = {n.lower() for n, t in catalog.relations.items()}
    streams = {n.lower() for n in catalog.streams}
    return bool(names & relations) and bool(names & streams)


def _put_named(tree: "exp.Select") -> "exp.Select":
    """What WITH names and one join, or FROM, reads in its place."""
    from sqlglot import exp

    head = tree.args.get("with_")
    if head is None or head.args.get("recursive"):
        return tree
    for cte in reversed(list(head.expressions)):
        read = [t for t in tree.find_all(exp.Table) if t.name.lower() == cte.alias.lower()]
        if len(read) != 1 or cte.args["alias"].args.get("columns") or not is_plain(read[0]):
            return tree
        alias = exp.TableAlias(this=exp.to_identifier(read[0].alias_or_name, quoted=True))
        read[0].replace(exp.Subquery(this=cte.this.copy(), alias=alias))
        cte.pop()
    tree.set("with_", None)
    return tree


def _reads_statics(tree: "exp.Select", catalog: Catalog) -> bool:
    """Whether FROM begins with a static relation."""
    from sqlglot import exp

    start, tables = tree.args.get("from_"), list_tables(tree, catalog).tables
    first = None if start is None else start.this
    table = tables.get(first.alias_or_name) if isinstance(first, exp.Table) else None
    return table is not None and not isinstance(table, Stream)


def _is_beside(tree: "exp.Select") -> bool:
    from sqlglot import exp

    return any(
        str(j.args.get("side") or "").upper() == "LEFT" and isinstance(j.this, exp.Subquery)
        for j in tree.args.get("joins") or ()
    )


def _is_late(window: "exp.Window") -> bool:
    """Whether rows are numbered from the greatest one on."""
    order = window.args.get("order")
    return order is not None and bool(order.expressions[0].args.get("desc"))


def _choose(tree: "exp.Select", catalog: Catalog) -> "exp.Select":
    """The number of a row, which the subquery of a LEFT JOIN shows and ON says to be 1, as its
    QUALIFY."""
    from sqlglot import exp

    for join in tree.args.get("joins") or ():
        inside, on = join.this, join.args.get("on")
        plain = isinstance(inside, exp.Subquery) and isinstance(inside.this, exp.Select)
        left = str(join.args.get("side") or "").upper() == "LEFT"
        if not left or not plain or on is None or inside.this.args.get("qualify"):
            continue
        inner, alias = inside.this, inside.alias_or_name.lower()
        windows = named_windows(inner)
        chosen = [
            (c, w)
            for c in split_conjuncts(on)
            if all(n.table.lower() in ("", alias) for n in c.find_all(exp.Column))
            and (w := equals_one(c, windows)) is not None
            and _is_late(w)
        ]
        rest = [c for c in split_conjuncts(on) if not any(c is one for one, _ in chosen)]
        if len(chosen) != 1 or not rest:
            continue
        kept = [e for e in inner.expressions if not is_number(e.unalias())]
        inner.set("expressions", kept)
        one = exp.EQ(this=chosen[0][1].copy(), expression=exp.Literal.number(1))
        inner.set("qualify", exp.Qualify(this=one))
        join.set("on", exp.and_(*(c.copy() for c in rest)))
    return tree
