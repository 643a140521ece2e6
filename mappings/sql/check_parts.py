"""The parts of a UNION have the same columns, by number and type."""

from collections.abc import Sequence

from ontoweir.mappings.model.assertion import SourceColumn
from ontoweir.mappings.model.catalog import DecimalType, Scalar
from ontoweir.mappings.model.column_types import name_column_type
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.read_select import SelectShape


def check_parts(selects: Sequence[SelectShape]) -> None:
    """Nothing, if all parts have as many columns as the first, of the same types: Spark would cast
    them, and answers keep their types. Decimals of all sizes are one type: their texts are
    canonical.

    Raises:
        SqlRefusal: they have not.
    """
    first = selects[0]
    width = len(first.projections)
    for select in selects:
        if len(select.projections) != width:
            raise SqlRefusal(
                f"a UNION of {width} and {len(select.projections)} columns",
                why="its parts must have the same number of columns",
                fix="select as many columns in every part",
                line=select.line or 1,
            )
    for other in selects:
        for (name, a), (_, b) in zip(first.projections, other.projections, strict=True):
            left, right = _type_name(a, first), _type_name(b, other)
            if left != right:
                raise SqlRefusal(
                    f"a UNION of {left} and {right} in the column {name}",
                    why="an answer keeps its type: 1 and 1.0 are different answers here, and one "
                    "in SQL, which casts them",
                    fix="write a constant as one of the other type, 2.0 for a decimal, 2e0 for a "
                    "double; CAST a column; or declare both with one type in the catalog",
                    line=other.line or 1,
                )


def _type_name(value: SourceColumn | Scalar, select: SelectShape) -> str:
    if isinstance(value, SourceColumn):
        kind = select.scope.type_of(value)
        return "decimal" if isinstance(kind, DecimalType) else name_column_type(kind)
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, float):
        return "double"
    return "int" if isinstance(value, int) else "decimal"
