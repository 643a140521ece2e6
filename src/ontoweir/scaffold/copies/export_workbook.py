"""The sheets of a workbook of Excel as Parquet files, which a project reads."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ontoweir.errors import DataError, Source, UsageError
from ontoweir.mappings.model.catalog import DataSource
from ontoweir.runtime.text.csv_dialect import name_columns, read_dialect

if TYPE_CHECKING:
    import pyarrow as pa

SUFFIXES = (".xlsx", ".xlsm")
"""How workbooks are called that are read here."""
_ERRORS = {"#N/A", "#NAME?", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NULL!"}
"""What cells show that have no value."""
_Row: TypeAlias = tuple[Any, ...]


def export_workbook(file: Path, folder: Path) -> list[Path]:
    """Write each sheet that has rows to a Parquet file; which, in order. The value of a formula is
    what it gave when the workbook was saved.

    Args:
        file: the workbook, which is only read.
        folder: for the files.

    Raises:
        UsageError: there is no such file, no sheet has rows, or openpyxl is not installed.
        DataError: it is no workbook.
    """
    import pyarrow.parquet as pq

    if find_spec("openpyxl") is None:
        raise UsageError(
            f"{file} is read with openpyxl, which is not installed",
            why="it is optional for ontoweir",
            fix="pip install 'ontoweir[excel]', or pip install openpyxl; or save its sheets as CSV",
            source=Source(str(file)),
        )
    if not file.is_file():
        raise UsageError(
            f"there is no {file}",
            why="it is a workbook by its name",
            fix="name a file of Excel",
            source=Source(str(file)),
        )
    found = [(name, table) for name, rows in _read_sheets(file) if (table := _make_table(rows))]
    if not found:
        raise UsageError(
            "no sheet has rows below the names of columns",
            why="a project is made of tables",
            fix="name another file",
            source=Source(str(file)),
        )
    made = []
    for name, table in found:
        called = file.stem if len(found) == 1 else name
        made.append(folder / f"{called.replace('/', '_')}.parquet")
        pq.write_table(table, made[-1])
    return made


def _read_sheets(file: Path) -> Iterator[tuple[str, list[_Row]]]:
    """The rows of each sheet that have cells."""
    from openpyxl import load_workbook

    try:
        opened = load_workbook(file, read_only=True, data_only=True)
        try:
            for sheet in opened.worksheets:
                sheet.reset_dimensions()  # some programs write them wrongly
                rows = [tuple(map(_plain, row)) for row in sheet.iter_rows(values_only=True)]
                yield sheet.title, [row for row in rows if any(c is not None for c in row)]
        finally:
            opened.close()
    except Exception as error:  # of a broken one, whatever its parsers raise
        raise DataError(
            f"the workbook cannot be read: {next(iter(str(error).splitlines()), '')[:200]}",
            why="its sheets are copied into the project",
            fix="save it again as .xlsx, or its sheets as CSV, and name those",
            source=Source(str(file)),
        ) from error


def _plain(cell: Any) -> Any:
    """A cell's value (None: it has none)."""
    if isinstance(cell, str):
        text = cell.strip()
        return None if not text or text in _ERRORS else text
    if isinstance(cell, timedelta):
        return str(cell)
    return cell.isoformat() if isinstance(cell, time) else cell


def _make_table(rows: Sequence[_Row]) -> "pa.Table | None":
    """The rows below the first that is all texts, and half as wide as those below it, or more: what
    is above is a title (None: there are no rows)."""
    import pyarrow as pa

    head = next((n for n, row in enumerate(rows[:-1]) if _is_header(row, rows[n + 1 :])), None)
    if head is None:
        return None
    width = max(len(row) for row in rows[head:])
    wide = [(*row, *[None] * (width - len(row))) for row in rows[head:]]
    columns = {
        place: cells
        for place, cells in enumerate(zip(*wide[1:], strict=True))
        if wide[0][place] is not None or any(c is not None for c in cells)
    }
    dialect = read_dialect(DataSource("csv", None, (("header", "true"),)))
    names = name_columns([name or "" for name in wide[0]], dialect)
    return pa.table({names[place]: _to_array(cells) for place, cells in columns.items()})


def _is_header(row: _Row, below: Sequence[_Row]) -> bool:
    """Whether a row has the names of columns."""
    names = [cell for cell in row if cell is not None]
    filled = max(sum(c is not None for c in other) for other in below[:10])
    plain = bool(names) and all(isinstance(name, str) for name in names)
    return plain and 2 * len(names) > filled and (len(names) > 1 or filled < 2)


def _to_array(cells: _Row) -> "pa.Array":
    """A column of one type: numbers of both kinds are floating, days among times begin them, and
    others that are mixed are text."""
    import pyarrow as pa

    kinds = {type(cell) for cell in cells if cell is not None}
    if not kinds:
        return pa.nulls(len(cells), pa.string())
    if kinds == {int, float}:
        return pa.array([None if c is None else float(c) for c in cells], pa.float64())
    if kinds == {datetime, date}:
        days = [
            c if c is None or isinstance(c, datetime) else datetime(*c.timetuple()[:3])
            for c in cells
        ]
        return pa.array(days, pa.timestamp("us"))
    if len(kinds) > 1 or kinds <= {str}:
        return pa.array([None if c is None else str(c) for c in cells], pa.string())
    try:
        return pa.array(cells, pa.timestamp("us") if kinds == {datetime} else None)
    except (pa.ArrowInvalid, OverflowError):  # whole numbers of more than 64 bits
        return pa.array([None if c is None else str(c) for c in cells], pa.string())
