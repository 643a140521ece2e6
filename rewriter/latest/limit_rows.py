"""ORDER BY … LIMIT n, as rows that are chosen by their number."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal, column_names, find_name
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.latest.join_around import list_statics
from ontoweir.rewriter.latest.read_limit import read_size, whole_number

if TYPE_CHECKING:
    from sqlglot import exp

_READ = {"expressions", "from_", "joins", "where", "order", "limit", "offset"}


def limit_rows(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """QUALIFY ROW_NUMBER() OVER (ORDER BY …) BETWEEN 1 AND n for ORDER BY … LIMIT n, also with
    OFFSET, of the rows of one stream, with static relations, also in the subquery of FROM; RANK()
    for FETCH FIRST n ROWS WITH TIES; else the query as it is.

    Args:
        tree: the query, with names as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    start = tree.args.get("from_") if isinstance(tree, exp.Select) else None
    if start is not None and isinstance(start.this, exp.Subquery):
        inside = start.this.this
        if isinstance(inside, exp.Select) and inside.args.get("limit"):
            inside.replace(_limit(inside, catalog))
    return _limit(tree, catalog)


def _limit(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    from sqlglot import exp

    if not isinstance(tree, exp.Select) or {k for k, v in tree.args.items() if v} - _READ:
        return tree
    order, limit, start = (tree.args.get(k) for k in ("order", "limit", "from_"))
    if order is None or limit is None or list_statics(tree, catalog) is None or start is None:
        return tree
    if not isinstance(start.this, exp.Table):
        return tree
    table = list_tables(tree, catalog).tables.get(start.this.alias_or_name)
    if not isinstance(table, Stream) or any(e.find(exp.Query) for e in tree.expressions):
        return tree
    size = read_size(tree)
    if size is None:
        return tree
    named = {e.alias.lower(): e.unalias() for e in tree.expressions if e.alias}
    ordered = []
    for item in order.expressions:
        made, by = item.copy(), item.this
        if isinstance(by, exp.Literal):
            place = whole_number(by)
            if place is None or not 1 <= place <= len(tree.expressions):
                return tree
            made.set("this", tree.expressions[place - 1].unalias().copy())
        elif isinstance(by, exp.Column) and not by.table and by.name.lower() in named:
            made.set("this", named[by.name.lower()].copy())
        else:
            _refuse_other(by, named, column_names(table))
        ordered.append(made)
    if any(o.find(exp.AggFunc, exp.Window, exp.Query) for o in (*ordered, *tree.expressions)):
        return tree
    inner = tree.copy()
    for key in ("order", "limit", "offset"):
        inner.set(key, None)
    number = exp.Window(
        this=exp.Rank() if size.ties else exp.RowNumber(), order=exp.Order(expressions=ordered)
    )
    least, most = (exp.Literal.number(n) for n in (size.least, size.limit))
    inner.set("qualify", exp.Qualify(this=exp.Between(this=number, low=least, high=most)))
    return inner


def _refuse_other(by: "exp.Expr", named: "dict[str, exp.Expr]", columns: Sequence[str]) -> None:
    """Raise SqlRefusal for an order by an expression of what SELECT calls like another column of
    the table: some take the one, some the other."""
    from sqlglot import exp

    for column in by.find_all(exp.Column):
        shown = named.get(column.name.lower())
        if column.table or shown is None or find_name(column.name, list(columns)) is None:
            continue
        if not isinstance(shown, exp.Column) or shown.name.lower() != column.name.lower():
            raise SqlRefusal(
                f"ORDER BY {show_sql(by)}, where {column.name} is a column and the name of "
                "another value",
                why="Spark takes what SELECT calls so, DuckDB and PostgreSQL the column",
                fix="call the value otherwise, with AS",
                line=line_of(by),
            )
