"""The columns of a query that may be NULL in its answers: those that an outer join makes NULL."""

from collections.abc import Set
from typing import TYPE_CHECKING, assert_never

from ontoweir.mappings.expressions.may_be_null import may_be_null
from ontoweir.mappings.model.catalog import Catalog, Relation, Stream
from ontoweir.mappings.model.expression import (
    Call,
    Case,
    Expression,
    Field,
    Function,
    UserCall,
    Value,
    fields_of,
)
from ontoweir.mappings.model.never_null import never_null
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.read_select import read_from

if TYPE_CHECKING:
    from sqlglot import exp


def is_always_null(table: Stream | Relation, name: str) -> bool:
    """Whether a column is NULL in every row: it has no values, or is computed so that it is NULL
    whatever the row holds."""
    column = table.column(name)
    if column is None or column.enum == ():
        return column is not None
    return column.expression is not None and _is_null(column.expression, never_null(table))


def _is_null(expression: Expression, present: Set[str]) -> bool:
    """Whether it is NULL in every row whose columns `present` are not."""
    match expression:
        case Value(value=value):
            return value is None
        case Case(branches=branches, otherwise=otherwise):
            for condition, chosen in branches:
                holds = _decide(condition, present)
                if holds or (holds is None and not _is_null(chosen, present)):
                    return _is_null(chosen, present)
            return _is_null(otherwise, present)
        case Field() | Call() | UserCall():
            return False
        case _:
            assert_never(expression)


def _decide(condition: Expression, present: Set[str]) -> bool | None:
    """Whether a condition is true in every row, or in none (None: neither is known)."""
    match condition:
        case Call(function=Function.IS_NULL, arguments=(Field(column=column),)):
            return False if column in present else None
        case Call(function=Function.EQUAL, arguments=(Field(column=column) as left, right)):
            return True if left == right and column in present else None
        case _:
            return None


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
