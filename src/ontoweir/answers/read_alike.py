"""Read two results, one of which has types and the other is text, by the types of the former."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.answers.read_answers import Answers, output_form

if TYPE_CHECKING:
    import pyarrow as pa

_TEXT = ("csv", "jsonl")
"""Formats of answers that do not say what type a column is of."""


def read_alike(one: Answers, other: Answers) -> "tuple[Iterator[pa.Table], Iterator[pa.Table]]":
    """The rows of both, some at a time. Where one has types, and the other is CSV or JSON lines,
    the latter's cells are read as values of these: `1.50` of a decimal is no double, `007` of a
    text no number; what is none stays a text.

    Raises:
        DataError: a file is not what its name says.
    """
    if _is_text(one) == _is_text(other):
        return one.read(), other.read()
    if _is_text(one):
        typed, text = read_alike(other, one)
        return text, typed
    rows = one.read()
    first = next(rows, None)
    if first is None:
        return iter(()), other.read()
    return chain([first], rows), _read_text(other, first.schema)


def _is_text(answers: Answers) -> bool:
    return all(_form(file) in _TEXT for file in answers.files)


def _form(file: Path) -> str:
    return "" if file.is_dir() else output_form(file) or ""


def _read_text(answers: Answers, schema: "pa.Schema") -> "Iterator[pa.Table]":
    import pyarrow as pa

    kinds = {f.name: _plain(f.type) for f in schema}
    for file in answers.files:
        wanted = kinds if _form(file) == "csv" else {n: _in_json(k) for n, k in kinds.items()}
        texts = {n: k if _form(file) != "csv" else pa.string() for n, k in wanted.items()}
        for table in Answers((file,)).read(texts):
            columns = [
                _convert(table.column(name), kinds[name]) if name in kinds else table.column(name)
                for name in table.column_names
            ]
            yield pa.table(columns, names=table.column_names)


def _plain(kind: "pa.DataType") -> "pa.DataType":
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _in_json(kind: "pa.DataType") -> "pa.DataType":
    """As what JSON has values of a type: numbers and truths are such, the rest is text."""
    import pyarrow as pa

    own = pa.types.is_integer(kind), pa.types.is_floating(kind), pa.types.is_boolean(kind)
    return kind if any(own) else pa.string()


def _convert(column: "pa.ChunkedArray", kind: "pa.DataType") -> "pa.ChunkedArray":
    """Texts as values of a type (where one is none, all as they are)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from ontoweir.runtime.columnar.decode_times import decode_times

    if pa.types.is_string(kind) or not pa.types.is_string(column.type):
        return column
    none = pa.scalar(None, pa.string())
    cells = pc.if_else(pc.equal(column, ""), none, column)
    try:
        if pa.types.is_timestamp(kind):
            times, timed = decode_times(cells)
            known = pc.is_valid(cells).combine_chunks().to_numpy(zero_copy_only=False)
            if (timed != known).any():
                return column
            made = pa.array(times, pa.int64(), mask=~known).cast(pa.timestamp("us"))
            return pa.chunked_array([made])
        return cells.cast(kind)
    except pa.ArrowInvalid:
        return column
