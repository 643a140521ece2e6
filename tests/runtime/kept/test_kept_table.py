"""Rows of tables that are kept: found by any columns, and a value whatever comes later."""

from datetime import date, datetime
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.kept import kept_table
from ontoweir.runtime.kept.hash_columns import hash_columns
from ontoweir.runtime.kept.kept_table import KeptTable

SCHEMA = pa.schema([("k", pa.string()), ("n", pa.int64()), ("due", pa.timestamp("us"))])
VALUES: dict[pa.DataType, list[Any]] = {
    pa.int64(): [None, 0, 1, -1],
    pa.int32(): [None, 0, 1, -1],
    pa.bool_(): [None, False, True],
    pa.string(): [None, "", "a", "\0", "a" * 300],
    pa.dictionary(pa.int32(), pa.string()): [None, "", "a", "b"],
    pa.float64(): [None, 0.0, -0.0, 1.5],
    pa.decimal128(30, 2): [None, Decimal("0.00"), Decimal("-1.50"), Decimal(10) ** 20],
    pa.date32(): [None, date(1970, 1, 1), date(2026, 1, 1)],
    pa.timestamp("us"): [None, datetime(1970, 1, 1), datetime(2026, 1, 1)],
}


@pytest.mark.parametrize("kind", VALUES, ids=str)
def test_rows_are_equal_where_their_hashes_are(kind: pa.DataType) -> None:
    """As code_rows has it; slices and pieces have the hashes of the whole."""
    random = Random(str(kind))
    drawn = [random.choice(VALUES[kind]) for _ in range(60)]
    table = pa.table({"a": pa.array(drawn, kind), "b": pa.array([n % 2 for n in range(60)])})
    hashes = hash_columns(table)
    codes, count = code_rows(table, ["a", "b"])
    assert len({*zip(codes.tolist(), hashes.tolist(), strict=True)}) == count == len({*hashes})
    pieces = pa.concat_tables([table.slice(7, 3), table.slice(20)])
    rows = [7, 8, 9, *range(20, 60)]
    assert (hash_columns(pieces) == hashes[rows]).all()


def _when(rows: pa.Table) -> Array:
    due: Array = rows.column("due").cast(pa.int64()).to_numpy()
    return due


def _draw(random: Random, count: int, least: int = 0) -> pa.Table:
    keys = [random.choice([None, "a", "b", "c"]) for _ in range(count)]
    numbers = [random.randrange(3) for _ in range(count)]
    due = pa.array([random.randrange(least, least + 20) for _ in range(count)])
    columns = [pa.array(keys, pa.string()), pa.array(numbers), due.cast(pa.timestamp("us"))]
    return pa.table(columns, schema=SCHEMA)


@pytest.mark.parametrize("names", [("k",), ("k", "n"), ()], ids=str)
def test_every_state_keeps_its_rows(
    names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_table, "_SPARE", 5)  # so that rows that are gone are forgotten
    for seed in range(12):
        random = Random(seed)
        first = _draw(random, 9)
        states = [(first.to_pylist(), KeptTable(first, names, _when), 0)]
        for _ in range(20):
            rows, kept, now = random.choice(states[-3:])
            assert kept.table().to_pylist() == kept.take(np.arange(len(rows))).to_pylist()
            rows = kept.table().to_pylist()
            wanted = _draw(random, random.randrange(1, 3))
            keys = {tuple(row[n] for n in names) for row in wanted.to_pylist()}
            found = kept.find(wanted).tolist()
            assert found == [p for p, r in enumerate(rows) if tuple(r[n] for n in names) in keys]
            later = now + random.randrange(3)
            due = kept.due(later).tolist()
            times = _when(kept.table()).tolist()
            assert due == [p for p, time in enumerate(times) if time <= later]
            gone = sorted({*due, *(p for p in found if random.random() < 0.5)})
            more = _draw(random, random.randrange(4), later + 1)
            after = kept.replace(np.array(gone, dtype=np.int64), more, later)
            left = [r for p, r in enumerate(rows) if p not in gone] + more.to_pylist()
            assert sorted(after.table().to_pylist(), key=repr) == sorted(left, key=repr)
            assert kept.table().to_pylist() == rows
            states.append((left, after, later))
