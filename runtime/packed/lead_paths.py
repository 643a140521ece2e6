"""Columns by the paths that lead into nested ones, and a row for each element of an array."""

from collections.abc import Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.runtime.packed.packed_file import PackedFile, split_fields
from ontoweir.runtime.packed.plain_type import plain_type


def lead_paths(found: PackedFile, paths: Mapping[str, str], unnest: str | None) -> PackedFile:
    """A file whose columns are those that paths lead to, as far as it has them.

    As in JSON lines, a column whose own name has the dots of a path comes before one that the path
    leads to; what is in an object that is NULL is NULL; and a row without the array, or with an
    empty one, is none.

    Args:
        found: a file with its nested columns.
        paths: by column, the names that lead to it.
        unnest: the names that lead to an array, each of whose elements is a row with the rest of
            its row; columns whose path begins with it are of the element.
    """
    rows = None if unnest is None else _find_type(found.schema, unnest)
    if unnest is not None and (rows is None or not _is_array(rows)):
        shown = "nothing" if rows is None else str(rows)
        return PackedFile(found.shown, pa.schema([]), dict.fromkeys(paths, shown), iter(()))
    kinds: dict[str, pa.DataType] = {}
    for name, path in paths.items():
        if unnest is None or not _is_within(path, unnest):
            kind = _find_type(found.schema, path)
        else:
            assert rows is not None
            kind = _step_in(rows.value_type, path[len(unnest) + 1 :])
        if kind is not None:
            kinds[name] = plain_type(kind)
    held, nested = split_fields(kinds, deep=False)
    wanted = {name: paths[name] for name in held.names}
    return PackedFile(found.shown, held, nested, _lead_rows(found, held, wanted, unnest))


def _lead_rows(
    found: PackedFile, held: pa.Schema, paths: Mapping[str, str], unnest: str | None
) -> Iterator[pa.Table]:
    for table in found.rows:
        for batch in table.combine_chunks().to_batches():
            yield _lead(batch, held, paths, unnest)


def _lead(
    batch: pa.RecordBatch, held: pa.Schema, paths: Mapping[str, str], unnest: str | None
) -> pa.Table:
    parents = elements = None
    rows = batch.num_rows
    if unnest is not None:
        arrays = _find(batch, unnest)
        parents, elements = pc.list_parent_indices(arrays), pc.list_flatten(arrays)
        rows = len(elements)
    columns = []
    for name, path in paths.items():
        if unnest is not None and _is_within(path, unnest):
            column = _take(elements, path[len(unnest) + 1 :])
        else:
            column = _find(batch, path)
            column = column if parents is None else column.take(parents)
        columns.append(_decode(column).cast(held.field(name).type))
    return pa.table(columns, schema=held) if columns else pa.table({"": pa.nulls(rows)})


def _find(batch: pa.RecordBatch, path: str) -> pa.Array:
    """What a path leads to; the column of its whole name before others."""
    if path in batch.schema.names:
        return batch.column(path)
    root, _, rest = path.partition(".")
    return _take(batch.column(root), rest)


def _take(column: pa.Array, path: str) -> pa.Array:
    """A member of objects (the empty path: these); the one of the whole name before others."""
    if not path:
        return column
    if column.type.get_field_index(path) >= 0:
        return pc.struct_field(column, [column.type.get_field_index(path)])
    first, _, rest = path.partition(".")
    return _take(pc.struct_field(column, [column.type.get_field_index(first)]), rest)


def _find_type(schema: pa.Schema, path: str) -> pa.DataType | None:
    """The type of what a path leads to (None: it leads to nothing)."""
    if path in schema.names:
        return schema.field(path).type
    root, _, rest = path.partition(".")
    return _step_in(schema.field(root).type, rest) if rest and root in schema.names else None


def _step_in(kind: pa.DataType, path: str) -> pa.DataType | None:
    if not path:
        return kind
    if not pa.types.is_struct(kind):
        return None
    if kind.get_field_index(path) >= 0:
        return kind.field(path).type
    first, _, rest = path.partition(".")
    if not rest or kind.get_field_index(first) < 0:
        return None
    return _step_in(kind.field(first).type, rest)


def _is_array(kind: pa.DataType) -> bool:
    tests = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(test(kind) for test in tests)


def _is_within(path: str, unnest: str) -> bool:
    """Whether a path leads into the elements of an array."""
    return path == unnest or path.startswith(f"{unnest}.")


def _decode(column: pa.Array) -> pa.Array:
    """Values, each for its row."""
    return pc.run_end_decode(column) if pa.types.is_run_end_encoded(column.type) else column
