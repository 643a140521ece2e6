"""The parts of a UNION ALL in a subquery have the same columns."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, DecimalType
from ontoweir.mappings.model.column_types import name_column_type
from ontoweir.mappings.sql.read_literal import line_of, read_literal
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.mappings.sql.read_select import read_from
from ontoweir.mappings.sql_expressions.read_row_expression import read_row_expression

if TYPE_CHECKING:
    from sqlglot import exp


def refuse_mixed_union(parts: "Sequence[exp.Select]", catalog: Catalog) -> None:
    """Refuse parts of different widths, or types.

    Args:
        parts: SELECTs over tables.
        catalog: the tables.

    Raises:
        SqlRefusal: they differ: SQL would cast one to the type of the other, and values keep their
            types here.
    """
    first = parts[0]
    types = _list_types(first, catalog)
    for part in parts[1:]:
        if len(part.expressions) != len(first.expressions):
            raise SqlRefusal(
                f"a UNION of {len(first.expressions)} and {len(part.expressions)} columns",
                why="its parts must have the same number of columns",
                fix="select as many columns in every part",
                line=line_of(part),
            )
        for item, left, right in zip(
            first.expressions, types, _list_types(part, catalog), strict=True
        ):
            if None not in (left, right) and left != right:
                raise SqlRefusal(
                    f"a UNION of {left} and {right} in the column {item.alias}",
                    why="a value keeps its type: 1 and 1.0 are different values here, and one in "
                    "SQL, which casts them",
                    fix="cast one of them, or declare both columns with one type in the catalog",
                    line=line_of(part),
                )


def _list_types(select: "exp.Select", catalog: Catalog) -> list[str | None]:
    """The types of its columns; None: it is not an expression of one row, or of no row, and what it
    is is said where it is read."""
    scope, _, _ = read_from(select.copy(), catalog)
    return [_name_type(item.unalias(), scope) for item in select.expressions]


def _name_type(tree: "exp.Expr", scope: Scope) -> str | None:
    from sqlglot import exp

    if isinstance(tree, exp.Column):
        found = scope.resolve(tree.table or None, tree.name, line_of(tree))
        kind = scope.type_of(found)
    else:
        constant = read_literal(tree)
        if isinstance(constant, str) and not isinstance(tree, exp.Cast):
            return "string"
        try:
            kind = read_row_expression(tree, scope).type
        except SqlRefusal:
            return None
    return "decimal" if isinstance(kind, DecimalType) else name_column_type(kind)
