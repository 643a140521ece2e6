"""Which columns can hold timestamps that are written in a format."""

import pyarrow as pa

from ontoweir.mappings.catalog.time_pattern import EPOCHS
from ontoweir.mappings.model.catalog import TimeFormat
from ontoweir.runtime.columnar.convert_column import plain_type

_TEXT = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
_NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)


def holds_written(there: pa.DataType, written: TimeFormat) -> bool:
    """Whether a column of an Arrow type can hold timestamps that are written in a format, or one of
    the columns that they are in."""
    kind = plain_type(there)
    tests = [pa.types.is_null, *_TEXT]
    if written.format in EPOCHS:
        tests += _NUMBERS
    elif len(written.columns) > 1:
        tests += (pa.types.is_integer, pa.types.is_date, pa.types.is_time)
    elif written.format == "iso":
        tests += (pa.types.is_timestamp, pa.types.is_date)
    else:
        tests.append(pa.types.is_integer)
    return any(test(kind) for test in tests)
