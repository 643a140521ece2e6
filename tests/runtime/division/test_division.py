"""Equal values are in one part, whatever their types and encodings."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.mappings.model.catalog import (
    BooleanType,
    Column,
    ColumnType,
    DataSource,
    DateType,
    DecimalType,
    IntType,
    Stream,
    StringType,
)
from ontoweir.runtime.division.divide_rows import divide_rows
from ontoweir.runtime.division.division import Division
from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.times.steps import Steps

PARTS = (2, 3, 4, 7)


def _place(values: pa.Array | pa.ChunkedArray, kind: ColumnType, parts: int) -> list[int]:
    stream = Stream("s", DataSource("parquet", None), "ts", 1, None, (Column("k", kind),))
    column = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    found = Division(parts, {"s": "k"}, frozenset(), scale=2).place(stream, column)
    assert len(found) == len(column)
    return [int(n) for n in found]


@pytest.mark.parametrize("parts", PARTS)
def test_equal_numbers_are_in_one_part(parts: int) -> None:
    numbers = [0, 1, -1, 7, 10**6, -(10**12), None, 123_456]
    decimals = [None if n is None else Decimal(n) for n in numbers]
    kinds: list[tuple[pa.Array | pa.ChunkedArray, ColumnType]] = [
        (pa.array(numbers, pa.int64()), IntType()),
        (
            pa.array([n if n is None or abs(n) < 2**31 else 0 for n in numbers], pa.int32()),
            IntType(),
        ),
        (pa.array(decimals, pa.decimal128(20, 1)), DecimalType(20, 1)),
        (pa.array(decimals, pa.decimal128(20, 2)), DecimalType(20, 2)),
        (pa.chunked_array([pa.array(numbers[:3], pa.int64()), pa.array(numbers[3:])]), IntType()),
    ]
    places = [_place(values, kind, parts) for values, kind in kinds]
    assert places[0][6] == 0  # no value
    for found in places:
        assert [f for n, f in zip(numbers, found, strict=True) if n is None or abs(n) < 2**31] == [
            f for n, f in zip(numbers, places[0], strict=True) if n is None or abs(n) < 2**31
        ]
    assert places[2] == places[3] == places[4] == places[0]


@pytest.mark.parametrize("parts", PARTS)
def test_equal_texts_are_in_one_part(parts: int) -> None:
    texts = ["", "a", "ä", None, "a" * 200, "a" * 100 + "b" + "a" * 99, "a"]
    plain = _place(pa.array(texts), StringType(), parts)
    assert plain[1] == plain[6]
    assert plain[3] == 0
    for other in (
        pa.array(texts, pa.large_string()),
        pa.array(texts).dictionary_encode(),
        pa.chunked_array([pa.array(texts[:4]), pa.array(texts[4:])]),
        pa.chunked_array([pa.array(t).dictionary_encode() for t in (texts[:2], texts[2:])]),
        pa.array(["x", *texts]).slice(1),
    ):
        assert _place(other, StringType(), parts) == plain


def test_what_has_no_value_is_in_the_first_part() -> None:
    for kind, arrow in ((DateType(), pa.date32()), (BooleanType(), pa.bool_())):
        assert _place(pa.array([None, None], arrow), kind, 4) == [0, 0]
    assert _place(pa.array([None, None], pa.null()), IntType(), 4) == [0, 0]
    dictionary = pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array(["a", None]))
    assert _place(dictionary, StringType(), 4)[1:] == [0, 0]


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("step", [1, 10, 64, 1000, 1 << 20])
def test_parts_are_of_about_one_size(parts: int, step: int) -> None:
    numbers = pa.array(np.arange(10_000) * step)
    texts = pa.array([f"sensor-{n}" for n in range(0, 10_000 * step, step)])
    for values, kind in ((numbers, IntType()), (texts, StringType())):
        sizes = np.bincount(_place(values, kind, parts), minlength=parts)
        assert sizes.min() > 0.8 * 10_000 / parts


@given(
    st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=60),
    st.sampled_from(PARTS),
    st.integers(1, 60),
    st.booleans(),
)
def test_each_row_is_in_one_part_in_its_order(
    keys: list[tuple[int, bool]], parts: int, cut: int, coded: bool
) -> None:
    """Texts of one length and others, NULL, whole numbers; in pieces, as dictionaries too."""
    texts = [None if n == 9 else f"key-{n}" + "-long" * (n == 8) for n, _ in keys]
    column = pa.array(texts, pa.string())
    column = column.dictionary_encode() if coded else column
    pieces = pa.chunked_array([column[:cut], column[cut:]], column.type)
    numbers = np.arange(len(keys))
    times = 10 * np.cumsum([later for _, later in keys], dtype=np.int64)
    table = pa.table({"k": pieces, "n": numbers})
    stream = Stream("s", DataSource("parquet", None), "ts", 1, None, (Column("k", StringType()),))
    rows = Admitted(Steps(times, 1), times, table, len(keys), {})
    division = Division(parts, {"s": "k"}, frozenset())
    divided = divide_rows(division, [History(stream, ("k", "n"), (), staged=True)], {"s": rows})
    place = division.place(stream, pieces).astype(np.int64)
    for part, found in enumerate(divided):
        mine = numbers[place == part]
        assert found["s"].table.schema == table.schema
        assert found["s"].table.to_pylist() == [table.to_pylist()[n] for n in mine]
        assert found["s"].times.tolist() == times[mine].tolist()
        assert found["s"].steps.all().tolist() == times[mine].tolist()
