"""The latest rows of a stream that is LEFT JOINed with static relations, as a subquery."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Relation, Stream
from ontoweir.rewriter.beside.put_columns import list_beside
from ontoweir.rewriter.differences.name_columns import qualify
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.read_latest import equals_one, named_windows

if TYPE_CHECKING:
    from sqlglot import exp


def nest_outer(tree: "exp.Select", catalog: Catalog) -> "exp.Select":
    """SELECT … FROM (SELECT … FROM s QUALIFY RANK() … = 1) AS s LEFT JOIN r ON … for SELECT … FROM
    s LEFT JOIN r ON … QUALIFY RANK() … = 1, where all that is said besides is of s; ROW_NUMBER()
    too, where r is joined by a declared key. Another query as it is.

    Args:
        tree: the query.
        catalog: the tables.
    """
    from sqlglot import exp

    found, joins = tree.args.get("qualify"), tree.args.get("joins")
    start, where = tree.args.get("from_"), tree.args.get("where")
    if found is None or start is None or not joins or not list_beside(tree, catalog):
        return tree
    if {k for k, v in tree.args.items() if v} - {*_READ}:
        return tree
    windows = named_windows(tree)
    window, scope = equals_one(found.this, windows), list_tables(tree, catalog)
    own = start.this.alias_or_name
    stream = scope.tables.get(own)
    if window is None or not isinstance(start.this, exp.Table) or not isinstance(stream, Stream):
        return tree
    said = [] if where is None else list(split_conjuncts(where.this))
    if any(c.find(exp.Query) for c in said):
        return tree
    mine = [qualify(e, scope) for e in (window, *said)]
    if any(m is None or any(c.table != own for c in m.find_all(exp.Column)) for m in mine):
        return tree
    if isinstance(window.this, exp.RowNumber) and not all(
        _is_single(j, scope.tables[j.this.alias_or_name]) for j in joins
    ):
        return tree
    names = [stream.timestamp, *(c.name for c in stream.columns)]
    shown = [exp.alias_(exp.column(n, own, quoted=True), n, quoted=True) for n in names]
    inner = exp.Select(expressions=shown, from_=start.copy())
    kept = [m for m in mine[1:] if m is not None]
    inner = inner.where(*kept, copy=False) if kept else inner
    one = exp.EQ(this=mine[0], expression=exp.Literal.number(1))
    inner.set("qualify", exp.Qualify(this=one))
    made = tree.copy()
    made.set("qualify", None)
    made.set("where", None)
    made.set("expressions", [e for e in made.expressions if e.alias.lower() not in windows])
    made.set("from_", exp.From(this=inner.subquery(exp.to_identifier(own, quoted=True))))
    return made


_READ = ("expressions", "from_", "joins", "where", "qualify", "distinct")


def _is_single(join: "exp.Join", relation: object) -> bool:
    """Whether a static relation is joined by a declared key of it."""
    from sqlglot import exp

    alias = join.this.alias_or_name.lower()
    equal = {
        side.name.lower()
        for c in split_conjuncts(join.args["on"])
        if isinstance(c, exp.EQ)
        for side, other in ((c.this, c.expression), (c.expression, c.this))
        if isinstance(side, exp.Column) and side.table.lower() == alias
        if all(o.table.lower() not in ("", alias) for o in other.find_all(exp.Column))
    }
    keys = relation.keys if isinstance(relation, Relation) else ()
    return any({c.lower() for c in key} <= equal for key in keys)
