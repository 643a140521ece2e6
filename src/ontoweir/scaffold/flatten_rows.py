"""Flatten what is nested in files into columns, each with the path that leads to it."""

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

_LETTERS = str.maketrans(
    {"ß": "ss", "ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "æ": "ae"}
    | {"ø": "oe", "å": "aa", "Æ": "Ae", "Ø": "Oe", "Å": "Aa", "œ": "oe", "ł": "l", "Ł": "L"}
)


def flatten_rows(
    rows: "pa.Table", leave: str | None = None
) -> "tuple[pa.Table, dict[str, str], str | None]":
    """The members of objects as columns of their own; the path of each, by its name; and the path
    of the array whose elements are rows (None: none is, or there are several arrays of objects).

    Args:
        rows: as Arrow reads them.
        leave: the path of an array that is left out.
    """
    import pyarrow.compute as pc

    table = _spread(rows)
    table = table if leave is None else table.drop_columns([leave])
    arrays = [f.name for f in table.schema if _is_array(f.type) and _is_object(f.type.value_type)]
    unnest = arrays[0] if len(arrays) == 1 else None
    if unnest is not None:
        lists = table.column(unnest).combine_chunks()
        table = table.take(pc.list_parent_indices(lists)).set_column(
            table.column_names.index(unnest), unnest, pc.list_flatten(lists)
        )
        table = _spread(table)
    names: dict[str, str] = {}
    for path in table.column_names:
        name = path if path in rows.column_names else make_name(path)
        while name in names:
            name += "_"
        names[name] = path
    paths = {n: p for n, p in names.items() if p not in rows.column_names}
    return table.rename_columns(list(names)), paths, unnest


def count_empty(rows: "pa.Table", unnest: str) -> int:
    """Rows that have no element in an array, which is at a path."""
    import pyarrow.compute as pc

    counts = pc.list_value_length(_spread(rows).column(unnest))
    return int(pc.sum(pc.equal(pc.fill_null(counts, 0), 0)).as_py() or 0)


def make_name(text: str) -> str:
    """A text as a name that is plain in TOML, SQL and IRIs."""
    name = re.sub(r"\W+", "_", write_plain(text), flags=re.ASCII).strip("_").lower()
    return name if name and not name[0].isdigit() else f"t_{name}"


def write_plain(text: str) -> str:
    """A text with letters of ASCII for those that are like them: `Zähler` is `Zaehler`."""
    parts = unicodedata.normalize("NFKD", text.translate(_LETTERS))
    return "".join(c for c in parts if not unicodedata.combining(c))


def _spread(table: "pa.Table") -> "pa.Table":
    """Objects as columns of their members, with dots, all the way down."""
    while any(_is_object(f.type) for f in table.schema):
        table = table.flatten()
    return table


def _is_array(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _is_object(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    return bool(pa.types.is_struct(kind))
