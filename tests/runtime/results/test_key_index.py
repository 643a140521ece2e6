"""Places of rows, against a dict: NULL, hashes that coincide, every type that groups have."""

import pickle
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.runtime.pool import row_index
from ontoweir.runtime.pool.text_columns import code_columns
from ontoweir.runtime.pool.text_table import TextTable
from ontoweir.runtime.results.key_index import KeyIndex

SCHEMA = pa.schema(
    [
        ("t", pa.string()),
        ("i", pa.int64()),
        ("d", pa.decimal128(38, 2)),
        ("f", pa.float64()),
        ("b", pa.bool_()),
        ("day", pa.date32()),
        ("at", pa.timestamp("us")),
    ]
)
VALUES: dict[str, list[Any]] = {
    "t": [None, "", "a", "é", "a long text that has more than one word"],
    "i": [None, 0, -1, -(1 << 63), (1 << 63) - 1],
    "d": [None, Decimal("0.00"), Decimal("-0.01"), Decimal(10**35), -Decimal(10**35)],
    "f": [None, 0.0, -0.0, 1.5, float("inf")],
    "b": [None, True, False],
    "day": [None, date(1970, 1, 1), date(1969, 12, 31)],
    "at": [None, datetime(1970, 1, 1), datetime(2014, 8, 1, 7, 5)],
}
ROW = st.fixed_dictionaries({n: st.sampled_from(v) for n, v in VALUES.items()})
TABLES = st.lists(st.lists(ROW, max_size=20), max_size=5)


@given(TABLES, st.sets(st.sampled_from(SCHEMA.names)), st.booleans())
def test_places_are_those_of_a_dict(
    tables: list[list[dict[str, Any]]], names: set[str], alike: bool
) -> None:
    columns = [n for n in SCHEMA.names if n in names]
    known: dict[tuple[Any, ...], int] = {}
    index, texts = KeyIndex(), TextTable()
    with pytest.MonkeyPatch.context() as patch:
        if alike:
            patch.setattr(row_index, "hash_words", lambda c: np.zeros(len(c[0]), dtype=np.uint64))
        for rows in tables:
            before = len(known)
            keys = [tuple(row[n] for n in columns) for row in rows]
            expected = [known.setdefault(key, len(known)) for key in keys]
            table = pa.Table.from_pylist(rows, SCHEMA).select(columns)
            places, fresh = index.add(code_columns(table, texts), len(rows))
            assert places.tolist() == expected
            assert [expected[row] for row in fresh] == list(range(before, len(known)))
            assert len(index) == len(known)
    assert len(pickle.loads(pickle.dumps(index))) == 0
