"""Rows of static relations are found by their columns, however near or far their values lie."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.runtime.columnar.encode import Encoded
from ontoweir.runtime.ingest.encode_statics import StaticData

FAR = st.sampled_from([-(1 << 63), -(1 << 63) + 1, 0, (1 << 63) - 1])
VALUES = st.one_of(st.integers(-3, 3), st.integers(-40, 40), FAR)
ROW = st.tuples(VALUES, st.integers(0, 2), st.booleans(), st.booleans())


@given(
    st.lists(ROW, max_size=20),
    st.lists(st.tuples(VALUES, st.integers(0, 2)), max_size=20),
    st.sampled_from([(), ("a",), ("b",), ("a", "b"), ("f",)]),
    st.booleans(),
)
def test_all_pairs_with_equal_values(
    relation: list[tuple[int, int, bool, bool]],
    rows: list[tuple[int, int]],
    by: tuple[str, ...],
    doubles: bool,
) -> None:
    a, b = (np.array([r[n] for r in relation], dtype=np.int64) for n in range(2))
    valid, present = (np.array([r[n] for r in relation], dtype=np.bool_) for n in (2, 3))
    always = np.ones(len(a), dtype=np.bool_)
    columns = {
        "a": Encoded(a, valid),
        "b": Encoded(b, always),
        "f": Encoded(b.astype(np.float64), always),
    }
    data = StaticData(len(a), columns, {"c": present})
    kind = np.float64 if doubles else np.int64
    mine = {
        "a": np.array([r[0] for r in rows], dtype=np.int64),
        "b": np.array([r[1] for r in rows], dtype=kind),
        "f": np.array([r[1] for r in rows], dtype=kind),
    }
    for _ in range(2):  # the second time as it was indexed the first time
        index, partner = data.partners(by, ("a", "b"), ("c",)).find(
            [mine[n] for n in by], len(rows)
        )
        index = np.arange(len(rows)) if index is None else index
        usable = [n for n in range(len(a)) if valid[n] and not present[n]]
        assert sorted(zip(index.tolist(), partner.tolist(), strict=True)) == [
            (i, j)
            for i in range(len(rows))
            for j in usable
            if all(mine[n][i] == columns[n].values[j] for n in by)
        ]
        assert (np.diff(index) >= 0).all()
    assert len(data.indexes) == 1
