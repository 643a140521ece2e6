"""A page of rows: chosen, sorted, and as text for a table."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.answers.choose_rows import Wanted, choose_rows
from ontoweir.answers.read_answers import find_answers, table_form
from ontoweir.answers.show_rows import show_type
from ontoweir.answers.write_rows import plain_cell
from ontoweir.errors import Source, UsageError
from ontoweir.files.name_formats import OUTPUTS

if TYPE_CHECKING:
    import pyarrow as pa

PAGE, MOST = 50, 1000
"""Rows of a page; the most that can be asked for at once."""
FAR = 1_000_000
"""The last row that a page may show: those before it are held while they are sorted."""


@dataclass(frozen=True, slots=True)
class Look:
    """What is looked at: rows that meet `where` (SQL), in the order of `sort` (a column, with DESC
    after it from the greatest down), of which `skip` are left out and `limit` shown; `chart`: the
    column of numbers that is charted (None: as guessed)."""

    where: str | None = None
    sort: str | None = None
    skip: int = 0
    limit: int = PAGE
    chart: str | None = None


@dataclass(frozen=True, slots=True)
class RowPage:
    """`rows`: those of the page; `total`: how many there are; `met`: how many meet the condition;
    `sort`: the order that they are in (None: that in which they were written)."""

    rows: "pa.Table"
    total: int
    met: int
    sort: str | None

    @staticmethod
    def none() -> "RowPage":
        """A page where there are no rows."""
        import pyarrow as pa

        return RowPage(pa.table({}), 0, 0, None)

    def describe(self) -> dict[str, Any]:
        """The same as JSON has it."""
        columns = [{"name": f.name, "type": show_type(f.type)} for f in self.rows.schema]
        cells = [[plain_cell(v) for v in row.values()] for row in self.rows.to_pylist()]
        return {
            "columns": columns,
            "rows": cells,
            "total": self.total,
            "met": self.met,
            "sort": self.sort,
        }


def read_look(arguments: Mapping[str, str]) -> Look:
    """What a request asks to look at.

    Raises:
        UsageError: a number is none, or too great.
    """
    limit = _number(arguments, "limit", PAGE, MOST)
    skip = _number(arguments, "skip", 0, FAR - limit)
    names = ("where", "sort", "chart")
    where, sort, chart = (arguments.get(name, "").strip() or None for name in names)
    return Look(where, sort, skip, limit, chart)


def page_rows(folder: Path, look: Look) -> RowPage:
    """The rows of a page.

    Without an order of their own, answers are shown the latest first.

    Args:
        folder: of files of rows.
        look: what is asked for.

    Raises:
        UsageError: there is no such column, or the condition is none.
        DataError: a file cannot be read.
    """
    tables = _read(folder)
    first = next(tables, None)
    if first is None:
        return RowPage.none()
    latest = "at DESC" if "at" in first.column_names else None
    sort = latest if look.sort is None else look.sort
    order = () if sort is None else (sort,)
    wanted = Wanted(look.where, order, look.skip + look.limit)
    chosen = choose_rows(chain([first], tables), wanted)
    return RowPage(chosen.rows.slice(look.skip), chosen.total, chosen.met, sort)


def all_rows(folder: Path, look: Look) -> Iterator["pa.Table"]:
    """All rows that meet the condition of a look, portion by portion, in the order in which they
    were written.

    Raises:
        UsageError: the condition is none.
        DataError: a file cannot be read.
    """
    for table in _read(folder):
        yield choose_rows([table], Wanted(look.where)).rows


def _read(folder: Path) -> "Iterator[pa.Table]":
    """All rows of a folder; none where it has no file yet."""
    if list_parts(folder):
        yield from find_answers(folder).read()


def list_parts(folder: Path) -> list[Path]:
    """The files that a run has written into a folder, the oldest first; a file is itself, and so
    is a table of Delta."""
    if folder.is_file() or table_form(folder) is not None:
        return [folder]
    return sorted(p for p in folder.glob("part-*") if p.suffix in OUTPUTS)


def _number(arguments: Mapping[str, str], name: str, usual: int, most: int) -> int:
    text = arguments.get(name, "")
    if not text:
        return usual
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) <= most):
        raise UsageError(
            f"{name}={text!r} is not a number of rows",
            why=f"it is a whole number, at most {most:,}",
            fix=f"write e.g. {name}={usual}, or narrow the rows by a condition",
            source=Source(name),
        )
    return int(text)
