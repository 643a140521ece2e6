"""A large table after its changes is the table, to the bit."""

import math
from collections.abc import Sequence

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.runtime.live.checkpoint.table_changes import apply_change, encode_change

SCHEMA = pa.schema([("n", pa.int64()), ("x", pa.float64()), ("t", pa.large_string())])
CELLS = st.tuples(
    st.none() | st.integers(-3, 3),
    st.sampled_from([None, 0.0, -0.0, 1.5, math.nan, math.inf]),
    st.none() | st.sampled_from(["", "a", "b"]),
)


def _table(rows: Sequence[tuple[object, ...]]) -> pa.Table:
    columns = [
        pa.array(list(c), f.type) for c, f in zip(zip(*rows, strict=True), SCHEMA, strict=True)
    ]
    return pa.table(columns, schema=SCHEMA) if rows else SCHEMA.empty_table()


def _bits(table: pa.Table) -> list[str]:
    return [repr(row) for row in table.to_pylist()]


@given(st.data())
def test_what_has_changed_makes_the_table(data: st.DataObject) -> None:
    before = data.draw(st.lists(CELLS, min_size=12, max_size=30))
    after = list(before)
    for _ in range(data.draw(st.integers(0, 3))):
        after[data.draw(st.integers(0, len(after) - 1))] = data.draw(CELLS)
    after += data.draw(st.lists(CELLS, max_size=2))
    change = encode_change(_table(before), _table(after))
    if change is None:  # most rows are other ones
        assert len(after) < 4 * 5
    elif change == b"":
        assert _bits(_table(before)) == _bits(_table(after))
    else:
        assert _bits(apply_change(_table(before), change)) == _bits(_table(after))


def test_rows_that_have_gone_are_no_change() -> None:
    rows = [(n, 0.5, "a") for n in range(20)]
    assert encode_change(_table(rows), _table(rows[1:])) is None


def test_a_change_has_what_changed_alone() -> None:
    rows = [(n, 0.5, "a") for n in range(50_000)]
    after = [*rows[:7], (7, -0.0, None), *rows[8:]]
    change = encode_change(_table(rows), _table(after))
    assert change is not None
    assert 0 < len(change) < 3_000


def test_what_a_table_says_of_itself_changes_too() -> None:
    table = _table([(n, 0.5, "a") for n in range(20)])
    after = table.replace_schema_metadata({"closed": "7"})
    change = encode_change(table, after)
    assert change
    assert apply_change(table, change).schema.metadata == {b"closed": b"7"}
    assert encode_change(after, after) == b""
