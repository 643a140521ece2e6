"""The columns of a query that may be NULL in its answers: those that an outer join makes NULL."""

from typing import TYPE_CHECKING

from ontoweir.mappings.expressions.may_be_null import may_be_null
from ontoweir.mappings.model.catalog import Catalog, Relation, Stream
from ontoweir.mappings.model.expression import fields_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.read_select import read_from

if TYPE_CHECKING:
    from sqlglot import exp


def is_always_null(table: Stream | Relation, name: str) -> bool:
    """Whether a column is NULL in every row: it has no values."""
    column = table.column(name)
    return column is not None and column.enum == ()


def shows_null(table: Stream | Relation, name: str) -> bool:
    """Whether a column is NULL in every row, or is computed of such columns and may be NULL."""
    column = table.column(name)
    if column is None or column.expression is None:
        return is_always_null(table, name)
    read = fields_of(column.expression).keys()
    valued = {n for n in read if not is_always_null(table, n)}
    return len(valued) < len(read) and may_be_null(column.expression, valued)


def list_nullable(tree: "exp.Query", catalog: Catalog) -> frozenset[int]:
    """The places in SELECT where some part of a UNION shows what is NULL in every row, or what is
    computed of it and may be NULL."""
    from sqlglot import exp

    if not any(c.enum == () for s in catalog.streams.values() for c in s.columns):
        return frozenset()
    places: set[int] = set()
    for select in tree.find_all(exp.Select):
        try:
            scope, _, _ = read_from(select.copy(), catalog)
        except SqlRefusal:  # said where it is read
            continue
        for place, item in enumerate(select.expressions):
            column = item.unalias()
            if not isinstance(column, exp.Column) or not column.table:
                continue
            table = scope.tables.get(column.table)
            if table is not None and shows_null(table, column.name):
                places.add(place)
    return frozenset(places)
