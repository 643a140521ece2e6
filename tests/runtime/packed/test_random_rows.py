"""Random rows of every type that is read, written as Avro and as Delta: what is read is what was
written, value by value, as fastavro and deltalake's own writers take it."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from math import copysign, inf, isnan, nan
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import fastavro
import pyarrow as pa
from deltalake import write_deltalake
from hypothesis import given

from ontoweir.mappings.model.catalog import DataSource
from ontoweir.runtime.located.locate_source import Located
from ontoweir.runtime.packed.packed_file import PackedFile
from ontoweir.runtime.packed.read_packed import read_packed
from tests.oracle.budget import SEEDS, budget

_DOUBLES = (nan, inf, -inf, 0.0, -0.0, 0.1, 5e-324, 1.7976931348623157e308)
_TIMES = (datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59), datetime(1969, 12, 31, 23, 59, 59))


def _time(random: Random, digits: int) -> datetime:
    if random.random() < 0.2:
        return random.choice(_TIMES)
    micros = random.randrange(1_000_000) // 10 ** (6 - digits) * 10 ** (6 - digits)
    return (
        datetime(1970, 1, 1)
        + timedelta(seconds=random.randint(-(1 << 33), 1 << 33))
        + (timedelta(microseconds=micros))
    )


def _whole(bits: int) -> Callable[[Random], int]:
    least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1

    def make(random: Random) -> int:
        return random.choice([least, most, 0, -1, random.randint(least, most)])

    return make


def _decimal(precision: int, scale: int) -> Callable[[Random], Decimal]:
    most = 10**precision - 1

    def make(random: Random) -> Decimal:
        whole = random.choice([most, -most, 0, 5, -5, random.randint(-most, most)])
        return Decimal(f"{whole}E-{scale}")

    return make


def _single(random: Random) -> float:
    return random.choice([nan, inf, 0.0, -0.0, 1.5, -(2.0**127), 2.0**-149])


_ALL: tuple[tuple[Any, pa.DataType, Callable[[Random], Any]], ...] = (
    ("boolean", pa.bool_(), lambda r: r.random() < 0.5),
    ("int", pa.int32(), _whole(32)),
    ("long", pa.int64(), _whole(64)),
    ("float", pa.float32(), _single),
    ("double", pa.float64(), lambda r: r.choice(_DOUBLES)),
    ("string", pa.string(), lambda r: r.choice(["", "a", "é\n,\"'", "\x00", "NULL", "🙂" * 9])),
    (
        {"type": "int", "logicalType": "date"},
        pa.date32(),
        lambda r: r.choice([date(1, 1, 1), date(9999, 12, 31), date(1969, 12, 31)]),
    ),
    (
        {"type": "long", "logicalType": "timestamp-micros"},
        pa.timestamp("us", "UTC"),
        lambda r: _time(r, 6).replace(tzinfo=UTC),
    ),
    (
        {"type": "long", "logicalType": "timestamp-millis"},
        pa.timestamp("us", "UTC"),
        lambda r: _time(r, 3).replace(tzinfo=UTC),
    ),
    (
        {"type": "long", "logicalType": "local-timestamp-micros"},
        pa.timestamp("us"),
        lambda r: _time(r, 6),
    ),
    (
        {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 10},
        pa.decimal128(38, 10),
        _decimal(38, 10),
    ),
    (
        {"type": "fixed", "name": "f", "size": 8, "logicalType": "decimal"}
        | {"precision": 9, "scale": 9},
        pa.decimal128(9, 9),
        _decimal(9, 9),
    ),
    (
        {"type": "enum", "name": "e", "symbols": ["X", "Y"]},
        pa.string(),
        lambda r: r.choice("XY"),
    ),
)


Columns: TypeAlias = dict[str, list[Any]]


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        both = isnan(one) and isnan(other)
        return both or (one == other and copysign(1, one) == copysign(1, other))
    return type(one) is type(other) and bool(one == other)


def _compare(found: PackedFile, columns: Columns, kinds: dict[str, pa.DataType], rows: int) -> None:
    assert {f.name: f.type for f in found.schema} == kinds
    wanted = list(columns)
    tables = list(found.rows)
    assert sum(t.num_rows for t in tables) == rows
    for name in wanted:
        values = [v for t in tables for v in t.column(name).to_pylist()]
        right = columns[name]
        assert len(values) == len(right)
        assert all(map(_same, values, right)), (name, kinds[name], values, right)


@given(SEEDS)
@budget(0.3)
def test_what_is_read_is_what_was_written(seed: int) -> None:
    random = Random(seed)
    chosen = random.sample(_ALL, k=random.randint(1, 5))
    share = random.choice([0, 0, 0.3, 1])
    names = [f"c{n}" for n in range(len(chosen))]
    columns = {
        n: [None if random.random() < share else make(random) for _ in range(40)]
        for n, (_, _, make) in zip(names, chosen, strict=True)
    }
    kinds = {n: kind for n, (_, kind, _) in zip(names, chosen, strict=True)}
    wanted = random.sample(names, k=random.randint(0, len(names)))
    rows = random.choice([0, 1, 40])
    columns = {n: values[:rows] for n, values in columns.items()}
    held = {n: columns[n] for n in wanted}
    with TemporaryDirectory() as folder:
        file = Path(folder, "a.avro")
        fields = [
            {"name": n, "type": ["null", kind] if share or random.random() < 0.5 else kind}
            for n, (kind, _, _) in zip(names, chosen, strict=True)
        ]
        schema = fastavro.parse_schema({"type": "record", "name": "r", "fields": fields})
        with file.open("wb") as opened:
            records = [{n: columns[n][row] for n in names} for row in range(rows)]
            fastavro.writer(opened, schema, records, sync_interval=random.choice([1, 1 << 20]))
        (found,) = read_packed(
            DataSource("avro", str(file)), Located(str(file), (str(file),)), wanted
        )
        _compare(found, held, kinds, rows)
        table = pa.table({n: pa.array(columns[n], kinds[n]) for n in names})
        place = str(Path(folder, "d"))
        write_deltalake(place, table)
        data = DataSource("delta", place)
        (found,) = read_packed(data, Located(place, (place,)), wanted)
        _compare(found, held, kinds, rows)
