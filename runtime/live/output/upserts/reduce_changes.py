"""What is left of each key after a micro-batch's changes."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.runtime.changes.sliding_groups import OP
from ontoweir.runtime.groups.code_rows import code_rows


@dataclass(frozen=True, slots=True)
class KeyedRows:
    """The last row of each key, in the order of their last changes, without `op`; `holds`: whether
    it is there then (false: it is gone)."""

    rows: pa.Table
    holds: pa.BooleanArray


def reduce_changes(answers: pa.Table, key: Sequence[str]) -> KeyedRows:
    """The last change of each key.

    Args:
        answers: updates, each of which takes the place of the row before; or changes, with `op`, in
            their order, of which a key has at most one row at a time.
        key: the columns that tell rows apart (none: there is one row).
    """
    if key and answers.num_rows:
        codes = pa.array(code_rows(answers, key)[0])
    else:
        codes = pa.array([0] * answers.num_rows, pa.int64())
    places = pa.table({"code": codes, "place": pa.array(range(answers.num_rows), pa.int64())})
    last = places.group_by("code").aggregate([("place", "max")]).column("place_max")
    rows = answers.take(last.take(pc.sort_indices(last)))
    if OP not in rows.column_names:
        return KeyedRows(rows, pa.array([True] * rows.num_rows, pa.bool_()))
    holds = pc.equal(rows.column(OP).combine_chunks(), "+")
    return KeyedRows(rows.drop_columns([OP]), holds)
