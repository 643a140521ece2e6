"""The parts of a UNION have as many columns, and of the same types."""

from collections.abc import Sequence

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.assertion import SourceColumn
from ontoweir.mappings.model.catalog import DecimalType, Scalar
from ontoweir.mappings.model.column_types import name_column_type
from ontoweir.mappings.sql.read_select import SelectShape


def refuse_other_columns(selects: Sequence[SelectShape], names: tuple[str, ...], file: str) -> None:
    """Raise QueryError where the parts of a UNION have other columns than the first, which are
    called `names`."""
    _refuse_widths(selects, len(names), file)
    for select in selects:
        _refuse_types(selects[0], select, names, file)


def _refuse_widths(selects: Sequence[SelectShape], width: int, file: str) -> None:
    """Raise QueryError where the parts of a UNION have different numbers of columns."""
    for select in selects:
        if len(select.projections) != width:
            raise QueryError(
                f"a UNION of {width} and {len(select.projections)} columns",
                why="its parts must have the same number of columns",
                fix="select as many columns in every part",
                source=Source(file, select.line or 1),
            )


def _refuse_types(
    first: SelectShape, other: SelectShape, names: tuple[str, ...], file: str
) -> None:
    """Raise QueryError where a UNION mixes types: Spark would cast, and answers keep their types.

    Decimals of all sizes are one type: their texts are canonical.
    """
    for name, (_, a), (_, b) in zip(names, first.projections, other.projections, strict=True):
        left, right = _type_name(a, first), _type_name(b, other)
        if left != right:
            raise QueryError(
                f"a UNION of {left} and {right} in the column {name}",
                why="an answer keeps its type: 1 and 1.0 are different answers here, and one in "
                "SQL, which casts them",
                fix="declare both columns with one type in the catalog, or write one query for "
                "each",
                source=Source(file, other.line or 1),
            )


def _type_name(value: SourceColumn | Scalar, select: SelectShape) -> str:
    if isinstance(value, SourceColumn):
        kind = select.scope.type_of(value)
        return "decimal" if isinstance(kind, DecimalType) else name_column_type(kind)
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    return "int" if isinstance(value, int) else "decimal"
