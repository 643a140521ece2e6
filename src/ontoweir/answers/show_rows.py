"""Show rows of answers as a table in a terminal, or as CSV or JSON lines."""

from typing import TYPE_CHECKING, Literal, TextIO, TypeAlias, assert_never

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ontoweir.answers.choose_rows import Chosen
from ontoweir.answers.write_rows import show_cell, write_rows

if TYPE_CHECKING:
    import pyarrow as pa

_WIDE = 250
Form: TypeAlias = Literal["text", "csv", "jsonl"]


def show_rows(chosen: Chosen, form: Form, out: TextIO) -> None:
    """Print rows.

    Args:
        chosen: the rows.
        form: "text": a table with types, and a line that says how many there are.
        out: where to.
    """
    match form:
        case "text":
            # what is not read in a terminal is not folded
            console = Console(file=out, highlight=False, width=None if out.isatty() else _WIDE)
            console.print(_table(chosen.rows))
            console.print(_count(chosen), markup=False)
        case "csv" | "jsonl":
            write_rows(chosen.rows, form, out)
        case _:
            assert_never(form)


def _table(rows: "pa.Table") -> Table:
    table = Table(box=SIMPLE_HEAD)
    for field in rows.schema:
        right = not any(word in str(field.type) for word in ("string", "timestamp", "date"))
        title = Text.assemble(field.name, "\n", (show_type(field.type), "dim"))
        table.add_column(title, justify="right" if right else "left", overflow="fold")
    for row in rows.to_pylist():
        table.add_row(
            *(Text("NULL", "dim") if v is None else Text(show_cell(v)) for v in row.values())
        )
    return table


def show_type(kind: "pa.DataType") -> str:
    """The type of a column, in a word."""
    shown = str(kind)
    named = {"int64": "int", "double": "double", "string": "text", "bool": "boolean"}
    if shown.startswith("timestamp"):
        return "time, UTC"
    return named.get(shown, shown)


def _count(chosen: Chosen) -> str:
    shown = f"{chosen.rows.num_rows:,}"
    if chosen.met != chosen.total:
        return f"{shown} of {chosen.met:,} rows that meet the condition, of {chosen.total:,}"
    if chosen.rows.num_rows == chosen.total:
        return f"{shown} row{'' if chosen.total == 1 else 's'}"
    return f"{shown} of {chosen.total:,} rows"
