"""Values that must be among others, in chunks with all, some and none of them."""

import pyarrow as pa
import pytest

from ontoweir.runtime.columnar.check_domain import find_held

TEXTS, NUMBERS = pa.array(["a", "b"]), pa.array([1, 2], pa.int64())


@pytest.mark.parametrize(
    ("values", "among", "held"),
    [
        (pa.array(["a", "b", None]), TEXTS, None),
        (pa.array(["a", "c"]), TEXTS, [True, False]),
        (pa.array([1, 3], pa.int32()), NUMBERS, [True, False]),
        (pa.array([], pa.string()), TEXTS, None),
        (pa.array([], pa.null()), TEXTS, None),  # a chunk in which the stream is silent
        (pa.array([], pa.null()), NUMBERS, None),
        (pa.array([None, None], pa.null()), TEXTS, None),
        (pa.array([], pa.int64()), pa.array([], pa.int64()), None),
        (pa.array([1], pa.int64()), pa.array([], pa.int64()), [False]),
    ],
)
def test_find_held(values: pa.Array, among: pa.Array, held: list[bool] | None) -> None:
    found = find_held(pa.chunked_array([values]), among)
    assert (None if found is None else found.tolist()) == held
