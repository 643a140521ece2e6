"""Views as common table expressions."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.model.spj import (
    Attribute,
    Constant,
    IriOutput,
    TextColumn,
    View,
    ViewBranch,
    ViewColumn,
)
from ontoweir.rewriter.sql.print_condition import (
    needs_quotes,
    print_column,
    print_literal,
    print_output,
)
from ontoweir.rewriter.sql.print_select import name_column, print_select
from ontoweir.rewriter.sql.unite_filters import Selection, list_conjuncts

if TYPE_CHECKING:
    from sqlglot import exp


def print_views(views: Sequence[View], catalog: Catalog, *, dialect: str, comments: bool) -> str:
    """WITH, and each view as the union of its branches.

    Args:
        views: at least one.
        catalog: the tables, the views among them.
        dialect: a dialect of sqlglot.
        comments: say above each what it is.
    """
    printed = [_print(view, catalog, dialect, comments) for view in views]
    return "WITH " + ",\n".join(printed) + "\n"


def _print(view: View, catalog: Catalog, dialect: str, comments: bool) -> str:
    selects = [_branch(view, b, catalog, dialect) for b in view.branches]
    union = "\nUNION\n" if view.distinct else "\nUNION ALL\n"
    body = union.join(selects)
    if view.without:
        body = _except(view, body, catalog, dialect)
    note = f"  -- {' '.join(view.why.split())}\n" if comments and view.why else ""
    name = f'"{view.name}"' if needs_quotes(view.name) else view.name
    return f"{name} AS (\n{note}{indent(body, '  ')}\n)"


def _except(view: View, body: str, catalog: Catalog, dialect: str) -> str:
    """The rows that no static branch has."""
    always = "\nUNION\n".join(_branch(view, b, catalog, dialect) for b in view.without)
    equal = " AND ".join(
        f"made.{name} = always.{name}"
        for name in (f'"{c.name}"' if needs_quotes(c.name) else c.name for c in view.table.columns)
    )
    return (
        f"SELECT *\nFROM (\n{indent(body, '  ')}\n) AS made\nWHERE NOT EXISTS (\n  SELECT 1\n"
        f"  FROM (\n{indent(always, '    ')}\n  ) AS always\n  WHERE {equal or 'TRUE'}\n)"
    )


def _branch(view: View, branch: ViewBranch, catalog: Catalog, dialect: str) -> str:

    types = Types(catalog, branch.occurrences)
    given: list[tuple[str, ViewColumn]] = [
        (declared.name, column)
        for declared, column in zip(view.table.columns, branch.columns, strict=True)
    ]
    kinds = {declared.name: declared.type for declared in view.table.columns}
    if branch.time is not None and isinstance(view.table, Stream):
        given.append((view.table.timestamp, branch.time))
    columns: list[exp.Expr] = []
    for name, column in given:
        match column:
            case Attribute():
                value: exp.Expr = print_column(column)
            case Constant(value=constant):
                value = print_literal(constant, kinds[name], dialect)
            case TextColumn(parts=parts):
                value = print_output(IriOutput(parts), types)
        columns.append(name_column(value, name))
    distinct = view.distinct and len(view.branches) == 1
    selection = Selection(branch.query, list_conjuncts(branch.query, catalog))
    tree = print_select(selection, columns, catalog, distinct=distinct, dialect=dialect)
    return tree.sql(dialect=dialect, pretty=True, copy=False)
