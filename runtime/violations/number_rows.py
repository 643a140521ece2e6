"""The numbers by which the rows of a local text file are named."""

from typing import IO

import numpy as np
import pyarrow as pa

from ontoweir.mappings.model.catalog import DataSource
from ontoweir.runtime.text.csv_dialect import number_first
from ontoweir.runtime.text.open_packed import BLOCK, open_packed
from ontoweir.runtime.violations.quote_rows import list_lines


def number_rows(data: DataSource, file: str, count: int) -> pa.Array:
    """Of each row of a file the line where it begins; of rows that are within lines, or are made of
    changes, their number, from 1. NULL, where the lines do not show which are rows.

    Args:
        data: format and options: CSV, or lines of JSON.
        file: a local one.
        count: of its rows.

    Raises:
        OSError: it cannot be read.
    """
    first = number_first(data)
    nested = data.unnest is not None or data.envelope is not None
    if nested or _count_lines(file) == first - 1 + count:  # each has at least one
        return pa.array(np.arange(first, first + count, dtype=np.int64))
    lines = list_lines(data, file)
    return pa.array(lines, pa.int64()) if len(lines) == count else pa.nulls(count, pa.int64())


def _count_lines(file: str) -> int:
    lines, last = 0, b""
    opened: IO[bytes]
    with open_packed(file) as opened:
        while block := opened.read(BLOCK):
            lines += block.count(b"\n")
            last = block[-1:]
    return lines + (last not in (b"", b"\n"))
