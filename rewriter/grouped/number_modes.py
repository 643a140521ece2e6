"""The value that most rows of a group have: the first of the values, by how many have it."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.joins.latest_rows import resolve
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.mean_group import mean_group
from ontoweir.rewriter.ties.choose_rows import find_stream

if TYPE_CHECKING:
    from sqlglot import exp

_READ = {"expressions", "from_", "joins", "where", "group"}
_COUNT = "rows of a value"


def number_modes(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """`SELECT k, x FROM (SELECT k, x, COUNT(*) AS n … GROUP BY k, x) QUALIFY ROW_NUMBER() OVER
    (PARTITION BY k ORDER BY n DESC, x) = 1` for `SELECT k, MODE(x) … GROUP BY k` of a column of a
    stream that is not declared `nullable`, also as MODE() WITHIN GROUP (ORDER BY x): of values that
    as many rows have, SQL lets it be any. Other queries are as they are.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    for select in list(tree.find_all(exp.Select)):
        if select.find(exp.Mode) is not None and (made := _number(select, catalog)) is not None:
            if select is tree:
                tree = made
            else:
                select.replace(made)
    return tree


def _number(select: "exp.Select", catalog: Catalog) -> "exp.Select | None":
    from sqlglot import exp

    group, scope = select.args.get("group"), list_tables(select, catalog)
    if group is None or {k for k, v in select.args.items() if v} - _READ:
        return None
    if {k for k, v in group.args.items() if v} != {"expressions"}:
        return None
    keys = [mean_group(k, select, scope) for k in group.expressions]
    shown = [(e.alias_or_name or e.sql("spark"), e.unalias()) for e in select.expressions]
    values = {_read_mode(item) for _, item in shown if item not in keys}
    value = values.pop() if len(values) == 1 else None
    found, read = None if value is None else resolve(scope, value), find_stream(select, scope)
    if value is None or found is None or read is None or found[0] != read[0]:
        return None  # a group without rows of an outer join has NULL
    column = read[1].column(found[1])
    if column is None or column.nullable:
        return None
    names = {key: f"key {n} of a value" for n, key in enumerate(keys)}
    items = [exp.alias_(key.copy(), name, quoted=True) for key, name in names.items()]
    items.append(exp.alias_(value.copy(), "value", quoted=True))
    items.append(exp.alias_(exp.Count(this=exp.Star()), _COUNT, quoted=True))
    inner = select.copy()
    inner.set("expressions", items)
    inner.set("group", exp.Group(expressions=[k.copy() for k in (*names, value)]))
    inner.where(exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null())), copy=False)
    outer = [
        exp.alias_(exp.column(names.get(item, "value"), quoted=True), name, quoted=True)
        for name, item in shown
    ]
    order = [
        exp.Ordered(this=exp.column(_COUNT, quoted=True), desc=True),
        exp.Ordered(this=exp.column("value", quoted=True), nulls_first=True),
    ]
    number = exp.Window(
        this=exp.RowNumber(),
        partition_by=[exp.column(name, quoted=True) for name in names.values()],
        order=exp.Order(expressions=order),
    )
    made = exp.Select(expressions=outer).from_(
        exp.Subquery(
            this=inner, alias=exp.TableAlias(this=exp.to_identifier("values", quoted=True))
        )
    )
    one = exp.EQ(this=number, expression=exp.Literal.number(1))
    made.set("qualify", exp.Qualify(this=one))
    return made


def _read_mode(item: "exp.Expr") -> "exp.Expr | None":
    """The column of which it is the mode (None: it is none)."""
    from sqlglot import exp

    if isinstance(item, exp.WithinGroup) and isinstance(item.this, exp.Mode):
        ordered = item.expression.expressions
        return ordered[0].this if len(ordered) == 1 and item.this.this is None else None
    value = item.this if isinstance(item, exp.Mode) else None
    return value if isinstance(value, exp.Column) else None
