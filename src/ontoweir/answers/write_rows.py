"""Write rows of answers as CSV or JSON lines."""

import csv
import json
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Literal, TextIO

if TYPE_CHECKING:
    import pyarrow as pa


def write_rows(
    rows: "pa.Table", form: Literal["csv", "jsonl"], out: TextIO, *, head: bool = True
) -> None:
    """Write rows; NULL is an empty cell of CSV, `null` of JSON; a text without letters is `""`.

    Args:
        rows: what is written.
        form: as what.
        out: where to.
        head: whether CSV begins with the names of the columns.
    """
    if form == "jsonl":
        for row in rows.to_pylist():
            print(json.dumps({k: plain_cell(v) for k, v in row.items()}), file=out)
        return
    writer = csv.writer(out, lineterminator="\n")
    if head:
        writer.writerow(rows.column_names)
    for row in rows.to_pylist():
        cells = ["" if v is None else show_cell(v) for v in row.values()]
        if "" in row.values() and len(cells) > 1:  # which is not NULL
            shown = (
                _quote(c) if v is not None else "" for v, c in zip(row.values(), cells, strict=True)
            )
            out.write(",".join(shown) + "\n")
        else:
            writer.writerow(cells)


def _quote(cell: str) -> str:
    """A cell of CSV, which says that it is not NULL."""
    return '"{}"'.format(cell.replace('"', '""'))


def show_cell(value: object) -> str:
    """A value that is not NULL as text."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(sep=" ")
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def plain_cell(value: object) -> object:
    """A value as JSON has it: decimals, dates, times and infinities as text."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat()
    if isinstance(value, date | Decimal) or (isinstance(value, float) and not isfinite(value)):
        return str(value)
    return value
