"""Groups hold codes of texts: they are the same groups, and texts that none has are forgotten."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.runtime.live.checkpoint.save_groups import from_groups, to_groups
from ontoweir.runtime.pool.text_columns import code_columns, show_columns
from ontoweir.runtime.results import group_state
from ontoweir.runtime.results.group_state import GroupState, add_groups, forget_texts

SCHEMA = pa.schema([("t", pa.string()), ("n", pa.int64()), ("u", pa.string())])
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "t": st.sampled_from([None, "", "a", "b", "c"]),
            "n": st.sampled_from([None, 0, 1]),
            "u": st.sampled_from([None, "b", "c", "d"]),
        }
    ),
    max_size=12,
)


def show(state: GroupState) -> list[tuple[object, ...]]:
    """The groups, by place."""
    if state.keys is None:
        return []
    shown = show_columns(state.keys, state.texts)
    assert shown.schema.types == SCHEMA.types
    return [tuple(row.values()) for row in shown.to_pylist()]


@given(st.lists(st.tuples(ROWS, st.booleans()), max_size=6))
def test_groups_of_texts_and_of_codes(chunks: list[tuple[list[dict[str, object]], bool]]) -> None:
    state, known = GroupState(), dict[tuple[object, ...], int]()
    for number, (rows, coded) in enumerate(chunks):
        table = pa.Table.from_pylist(rows, SCHEMA)
        if coded:
            table = code_columns(table, state.texts)
        state, places = add_groups(state, table, len(rows))
        keys = [tuple(row[n] for n in SCHEMA.names) for row in rows]
        assert places.tolist() == [known.setdefault(key, len(known)) for key in keys]
        assert show(state) == list(known)
        if number == 2:  # as a checkpoint holds them, with texts
            saved = from_groups(state)
            state = to_groups(saved)
            assert show(state) == list(known)


@given(ROWS, ROWS, st.integers(0, 4))
def test_texts_that_no_group_has_are_forgotten(
    rows: list[dict[str, object]], more: list[dict[str, object]], others: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(group_state, "_SPARE_TEXTS", 0)
        state = GroupState()
        state.texts.add(pa.array([f"other-{n}" for n in range(50 * others)], pa.string()))
        state, _ = add_groups(state, pa.Table.from_pylist(rows, SCHEMA), len(rows))
        seen, _ = add_groups(
            GroupState(texts=state.texts), pa.Table.from_pylist(more, SCHEMA), len(more)
        )
        state = GroupState(
            state.count, state.keys, changed=state.changed, seen={"x": seen}, texts=state.texts
        )
        after = forget_texts(state)
        assert show(after) == show(state)
        assert show(after.seen["x"]) == show(seen)
        assert after.seen["x"].texts is after.texts
        cells = 2 * (state.count + seen.count)
        assert len(after.texts) <= 2 * cells
        again, places = add_groups(after, pa.Table.from_pylist(rows, SCHEMA), len(rows))
        assert again.count == state.count
        assert np.array_equal(np.unique(places), np.arange(state.count))
