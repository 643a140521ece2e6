"""Compare the values of rows with what is declared of their columns."""

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import Column, FloatType
from ontoweir.runtime.columnar.check_domain import check_domain, lies_inside
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.sources.history import History


def check_values(history: History, table: pa.Table) -> list[tuple[str, Array]]:
    """Which rows have values in the domains of their columns, where not all do; and the reason why
    others are rejected. Nothing is said of references and keys.

    Args:
        history: whose rows they are.
        table: the rows, with all columns that the history reads.

    Raises:
        DataError: a column is of a type that its domain cannot be compared with.
    """
    checks: list[tuple[str, Array]] = []
    for name in history.columns:
        column = history.stream.column(name)
        if column is not None:
            checks.extend(_column_checks(history.stream.name, column, table.column(name)))
    return checks


def _column_checks(
    stream: str, column: Column, values: "pa.ChunkedArray"
) -> list[tuple[str, Array]]:
    failed: list[tuple[str, Array]] = []
    if pa.types.is_null(values.type):
        return failed
    if isinstance(column.type, FloatType) or pa.types.is_floating(values.type):
        nan = pc.is_nan(values.cast(pa.float64()))
        if pc.any(nan).as_py():
            failed.append((f"{stream}.{column.name} is NaN", ~pc.fill_null(nan, False).to_numpy()))
    if column.enum is not None or column.minimum is not None or column.maximum is not None:
        try:
            if lies_inside(values, column):
                return failed
            inside = check_domain(values, column).to_numpy()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise DataError(
                f"column {column.name} of {stream} holds {values.type}",
                why=str(error).splitlines()[0],
                fix="declare the type the data has, or correct the data",
            ) from error
        failed.append((f"{stream}.{column.name} is outside its declared domain", inside))
    return failed
