"""Reads texts that a mapping's SELECT list makes: `'a/' || id`, CONCAT, CAST AS STRING."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.mappings.model.assertion import SourceColumn
from ontoweir.mappings.model.catalog import IntType, Scalar, StringType
from ontoweir.mappings.sql.read_literal import line_of, read_literal
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class SourceText:
    """A character string: texts and columns in turn; NULL when a column is NULL."""

    parts: tuple[str | SourceColumn, ...]


def read_expression(tree: exp.Expr, scope: Scope) -> SourceText | None:
    """The text that an expression makes; None when it is not a concatenation and no CAST AS STRING.

    Exact for columns of type string and int, whose text in SQL is that in RDF, and for constants.

    Raises:
        SqlRefusal: a concatenation of other columns, or of more than columns and constants.
    """
    from sqlglot import exp

    while isinstance(tree, exp.Paren):
        tree = tree.this
    if not is_text(tree):
        if read_literal(tree) is not None and _read_exactly(tree) is None:
            raise SqlRefusal(
                f"the constant {show_sql(tree)} in SELECT",
                why="only strings, whole numbers and booleans are the same in SQL and in RDF",
                fix="write rr:constant with a datatype in the term map",
                line=line_of(tree),
            )
        return None
    parts: list[str | SourceColumn] = []
    for part in _read_parts(tree, scope):
        if isinstance(part, str) and parts and isinstance(parts[-1], str):
            parts[-1] += part
        elif part != "":
            parts.append(part)
    return SourceText(tuple(parts))


def _read_exactly(tree: exp.Expr) -> Scalar | None:
    """A constant whose type is plain: no cast, no DATE '…', no 1.0 and no 1e3."""
    from sqlglot import exp

    inner = tree
    while isinstance(inner, (exp.Paren, exp.Neg)):
        inner = inner.this
    if not isinstance(inner, (exp.Literal, exp.Boolean)):
        return None
    if isinstance(inner, exp.Literal) and not inner.is_string and not str(inner.this).isdigit():
        return None
    return read_literal(tree)


def is_text(tree: exp.Expr) -> bool:
    """Whether it is a concatenation, or CAST AS STRING."""
    from sqlglot import exp

    return isinstance(tree, (exp.Concat, exp.DPipe)) or _is_text_cast(tree)


def _is_text_cast(tree: exp.Expr) -> bool:
    from sqlglot import exp

    return (
        isinstance(tree, exp.Cast)
        and not isinstance(tree.this, exp.Literal)
        and tree.to.this in (exp.DataType.Type.TEXT, exp.DataType.Type.VARCHAR)
        and not tree.to.expressions
    )


def _read_parts(tree: exp.Expr, scope: Scope) -> list[str | SourceColumn]:
    from sqlglot import exp

    if isinstance(tree, exp.Paren) or _is_text_cast(tree):
        return _read_parts(tree.this, scope)
    if isinstance(tree, exp.Concat):
        return [p for e in tree.expressions for p in _read_parts(e, scope)]
    if isinstance(tree, exp.DPipe):
        return [*_read_parts(tree.this, scope), *_read_parts(tree.expression, scope)]
    if isinstance(tree, exp.Column) and not tree.is_star:
        column = scope.resolve(tree.table or None, tree.name, line_of(tree))
        plain = isinstance(scope.type_of(column), (IntType, StringType))
        if not plain or scope.step_of(column) is not None:
            raise SqlRefusal(
                f"the text of {show_sql(tree)} in SELECT",
                why="only columns of type string and int have the same text in SQL and in RDF",
                fix="declare the column as string, or use it alone in a term map",
                line=line_of(tree),
            )
        return [column]
    constant = _read_exactly(tree)
    if constant is not None and not isinstance(constant, bool):
        return [str(constant)]
    raise SqlRefusal(
        f"{show_sql(tree)} in a concatenation in SELECT",
        why="texts are made from columns and constants",
        fix="select the columns it is computed from",
        line=line_of(tree),
    )
