"""UNPIVOT: a row for each of some columns, which are values of one kind.

`FROM wide UNPIVOT (value FOR sensor IN (t1, t2 AS 'inlet'))` is the union of `SELECT …, 't1' AS
sensor, t1 AS value FROM wide WHERE t1 IS NOT NULL` and of the same for the others. What the columns
are called is computed of each row, though all rows have the same: groups may be told apart by it.
"""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal, find_name, find_table
from ontoweir.mappings.sql.refuse_clauses import refuse_sql
from ontoweir.rewriter.reshaped.vary_constants import vary_constants

if TYPE_CHECKING:
    from sqlglot import exp

_FIX = "write FROM wide UNPIVOT (value FOR name IN (a, b AS 'label'))"


def read_unpivots(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """The query without UNPIVOT, and with constants that tell the parts of a UNION ALL apart as
    values (`vary_constants`).

    Args:
        tree: as it is written.
        catalog: the tables.

    Raises:
        SqlRefusal: UNPIVOT of what is no table of the catalog, or of several values at once; or
            PIVOT.
    """
    from sqlglot import exp

    turned = [table for table in tree.find_all(exp.Table, exp.Subquery) if table.args.get("pivots")]
    if not turned:
        return vary_constants(tree, catalog)
    tree = vary_constants(tree.copy(), catalog)
    for table in [t for t in tree.find_all(exp.Table, exp.Subquery) if t.args.get("pivots")]:
        table.replace(_unite(table, catalog))
    return tree


def _unite(table: "exp.Expr", catalog: Catalog) -> "exp.Expr":
    """The rows of a table, one for each column, as a subquery."""
    from sqlglot import exp

    pivot, *more = table.args["pivots"]
    if not pivot.args.get("unpivot"):
        fix = "GROUP BY, with an aggregate for each column: MAX(x) FILTER (WHERE name = 'a') AS a"
        raise refuse_sql(table, "PIVOT", fix)
    if more or not isinstance(table, exp.Table) or table.args.get("joins"):
        raise refuse_sql(table, "UNPIVOT of a subquery", "name the table itself before UNPIVOT")
    listed = list(pivot.args["fields"])
    values = pivot.expressions
    plain = [type(one) is exp.Identifier for one in (*values, *(f.this for f in listed))]
    if len(values) != 1 or len(listed) != 1 or not all(plain):
        raise refuse_sql(table, "UNPIVOT of several values at once", _FIX)
    held = find_table(table.name, catalog, line_of(table))
    named = [_name(one, held.name, [c.name for c in held.columns]) for one in listed[0].expressions]
    rest = [c.name for c in held.columns if c.name not in {name for name, _ in named}]
    if isinstance(held, Stream):
        rest.insert(0, held.timestamp)
    parts = []
    for name, label in named:
        column = exp.column(exp.to_identifier(name, quoted=True))
        text = exp.Literal.string(label)
        case = exp.Case(ifs=[exp.If(this=column.copy().is_(exp.null()), true=text)], default=text)
        part = exp.select(
            *(exp.column(exp.to_identifier(n, quoted=True)) for n in rest),
            exp.alias_(case, listed[0].this.copy()),
            exp.alias_(column, values[0].copy()),
        ).from_(exp.Table(this=table.this.copy()))
        if not pivot.args.get("include_nulls"):
            part = part.where(exp.Not(this=column.copy().is_(exp.null())))
        parts.append(part)
    whole: exp.Query = parts[0]
    for part in parts[1:]:
        whole = exp.Union(this=whole, expression=part, distinct=False)
    alias = pivot.alias or table.alias or table.name
    return exp.Subquery(this=whole, alias=exp.TableAlias(this=exp.to_identifier(alias)))


def _name(item: "exp.Expr", table: str, known: list[str]) -> tuple[str, str]:
    """A column, and what its rows are called.

    Raises:
        SqlRefusal: it is no column of the table, but for its timestamp.
    """
    from sqlglot import exp

    label = item.args["alias"].name if isinstance(item, exp.PivotAlias) else None
    column = item.this if isinstance(item, exp.PivotAlias) else item
    name = find_name(column.name, known) if isinstance(column, exp.Column) else None
    if name is None:
        raise SqlRefusal(
            f"UNPIVOT of {column.sql('spark')}, which is no column of {table} with values",
            why="it makes a row of each column that it lists",
            fix=_FIX,
            line=line_of(item),
        )
    return name, label if label is not None else name
