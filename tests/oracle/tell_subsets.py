"""Whether DuckDB tells all subsets of a counterexample's tuples apart by what each suffix changes.

Every table is loaded once; which optional rows are there is a bit mask that its view reads."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import duckdb

from ontoweir.checker.witness.witness import Witness, WitnessRow
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    Column,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    Relation,
    Stream,
    TimestampType,
)
from tests.oracle.database import open_database

_FIXED, _LATER_US = 60, 1_000_000_000


def tell_subsets(text: str, catalog: Catalog, witness: Witness) -> int:
    """Assert that what the suffixes change, step by step, tells all subsets of the optional tuples
    apart; how many subsets there are.

    Args:
        text: SQL that DuckDB reads as it is, with NOW().
        catalog: its streams and relations, as declared.
        witness: of a query of this text; any size up to 20.
    """
    base, seen = open_database(), dict[Any, int]()
    _load(base, catalog, witness)
    prefix = [*witness.fixed, *witness.optional]
    known = max((_time_us(r, catalog) for r in prefix if r.step is not None), default=-1)
    times = [sorted({_time_us(r, catalog) for r in suffix}) for suffix in witness.suffixes]
    assert all(known < first for first, *_ in times), "a suffix begins after all tuples"
    for mask in range(1 << witness.size):
        told = []
        for number, steps in enumerate(times):
            there = mask | 1 << (witness.size + number) | 1 << _FIXED
            before = _answer(base, text, catalog, there, steps[0] - 1)
            later = () if "NOW()" in text else (steps[-1] + _LATER_US,)
            told += [_change(before, _answer(base, text, catalog, there, t)) for t in steps]
            told += [_change(before, _answer(base, text, catalog, there, t)) for t in later]
        assert tuple(told) not in seen, (text, bin(mask), bin(seen[tuple(told)]))
        seen[tuple(told)] = mask
    return len(seen)


def _time_us(row: WitnessRow, catalog: Catalog) -> int:
    stream = catalog.table(row.table)
    assert isinstance(stream, Stream)
    return (row.step or 0) * stream.step_us


def _change(before: Counter[Any], after: Counter[Any]) -> frozenset[Any]:
    change = Counter(after)
    change.subtract(before)
    return frozenset((row, n) for row, n in change.items() if n)


def _rows(witness: Witness) -> Iterator[tuple[int, WitnessRow]]:
    """Each row, and the bit that says whether it is there."""
    yield from ((_FIXED, row) for row in witness.fixed)
    yield from enumerate(witness.optional)
    for number, suffix in enumerate(witness.suffixes):
        yield from ((witness.size + number, row) for row in suffix)


def _load(base: duckdb.DuckDBPyConnection, catalog: Catalog, witness: Witness) -> None:
    tables: list[Stream | Relation] = [*catalog.streams.values(), *catalog.relations.values()]
    for table in tables:
        columns = [c for c in table.columns if c.expression is None and c.bucket is None]
        cells = [(c.name, _spell(c)) for c in columns]
        if isinstance(table, Stream):
            cells.append((table.timestamp, "TIMESTAMP"))
        spec = ", ".join(f'"{name}" {kind}' for name, kind in cells)
        base.execute(f'CREATE OR REPLACE TEMP TABLE "all {table.name}" ({spec}, bit BIGINT)')
        for bit, row in _rows(witness):
            if row.table != table.name:
                continue
            values = [dict(row.values).get(c.name) for c in columns]
            marks = ["?" for _ in values]
            if isinstance(table, Stream):
                values.append(_time_us(row, catalog))
                marks.append("make_timestamp(?)")
            marked = ", ".join([*marks, "?"])
            base.execute(f'INSERT INTO "all {table.name}" VALUES ({marked})', [*values, bit])


def _spell(column: Column) -> str:
    match column.type:
        case IntType():
            return "BIGINT"
        case FloatType():
            return "DOUBLE"
        case DecimalType(precision=precision, scale=scale):
            return f"DECIMAL({precision}, {scale})"
        case BooleanType():
            return "BOOLEAN"
        case DateType():
            return "DATE"
        case TimestampType():
            return "TIMESTAMP"
        case _:
            return "VARCHAR"


def _answer(
    base: duckdb.DuckDBPyConnection, text: str, catalog: Catalog, there: int, now_us: int
) -> Counter[Any]:
    tables: list[Stream | Relation] = [*catalog.streams.values(), *catalog.relations.values()]
    for table in tables:
        said = f"({there}::BIGINT >> bit) & 1 = 1"
        if isinstance(table, Stream):
            said += f' AND "{table.timestamp}" <= make_timestamp({now_us})'
        base.execute(
            f'CREATE OR REPLACE TEMP VIEW "{table.name}" AS '
            f'SELECT * EXCLUDE (bit) FROM "all {table.name}" WHERE {said}'
        )
    return Counter(base.execute(text.replace("NOW()", f"make_timestamp({now_us})")).fetchall())
