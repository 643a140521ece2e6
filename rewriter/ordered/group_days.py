"""Groups by the day of an hour that a subquery groups by: `GROUP BY CAST(hour AS DATE)`."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.mean_group import find_named, mean_group
from ontoweir.rewriter.windows.read_sql_grid import is_grid, read_grid_or_day

if TYPE_CHECKING:
    from sqlglot import exp


def group_days(select: "exp.Select", catalog: Catalog) -> None:
    """`date_trunc('day', hour)` for `CAST(hour AS DATE)` in GROUP BY, where a subquery shows a
    bucket of time as hour: the day in which it lies; SELECT shows it as a date; in place.

    Args:
        select: the query, or a part of it.
        catalog: the tables.
    """
    from sqlglot import exp

    group, scope = select.args.get("group"), list_tables(select, catalog)
    for item in list(group.expressions) if group is not None else ():
        meant = mean_group(item, select, scope).unnest()
        read = None if is_grid(meant) else read_grid_or_day(meant)
        if read is None or not isinstance(read[0], exp.Column) or not _is_bucket(read[0], select):
            continue
        given = [exp.Literal.string("day"), read[0].copy()]
        begin = exp.Anonymous(this="DATE_TRUNC", expressions=given)
        for shown in [n for e in select.expressions for n in e.walk() if n == meant]:
            cast: exp.Expr = exp.Cast(this=begin.copy(), to=exp.DataType.build("date"))
            if shown.parent is select:
                cast = exp.alias_(cast, shown.sql("spark"), quoted=True)
            shown.replace(cast)
        item.replace(begin.copy())


def _is_bucket(column: "exp.Column", select: "exp.Select") -> bool:
    """Whether a subquery shows a bucket of time by this name."""
    from sqlglot import exp

    start = select.args.get("from_")
    items = [] if start is None else [start.this, *(j.this for j in select.args.get("joins") or ())]
    for item in items:
        if column.table.lower() not in ("", item.alias_or_name.lower()):
            continue
        named = find_named(item, select) if isinstance(item, exp.Table) else None
        inner = named.this if named is not None else item.this
        if isinstance(inner, exp.Select):
            shown = {e.alias_or_name.lower(): e.unalias() for e in inner.expressions}
            if (found := shown.get(column.name.lower())) is not None:
                return is_grid(found)
    return False
