"""Small random data that keeps what a catalog declares: keys, references and domains."""

from decimal import Decimal
from random import Random
from typing import Any, assert_never

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
    StringType,
    TimestampType,
)
from ontoweir.mappings.model.never_null import never_null

Tables = dict[str, tuple[list[str], list[tuple[Any, ...]]]]

SQL_TYPES = {FloatType: "DOUBLE", DecimalType: "DECIMAL(18, 3)", StringType: "VARCHAR"}
"""What the oracle is told of columns; others are BIGINT."""


def random_rows(catalog: Catalog, seed: int, *, rows: int = 8) -> Tables:
    """Up to that many rows of every table, timestamps in steps 0 to 4; some values are NULL."""
    random, found = Random(seed), Tables()
    for table in _tables(catalog):
        found[table.name] = _fill(table, random, found, rows)
    return found


def sql_types(catalog: Catalog) -> dict[str, str]:
    """The SQL types of columns other than BIGINT, by "table.column"."""
    return {
        f"{t.name}.{c.name}": SQL_TYPES[type(c.type)]
        for t in _tables(catalog)
        for c in t.columns
        if type(c.type) in SQL_TYPES
    }


def _tables(catalog: Catalog) -> list[Stream | Relation]:
    return [*catalog.relations.values(), *catalog.streams.values()]


def _fill(
    table: Stream | Relation, random: Random, found: Tables, most: int
) -> tuple[list[str], list[tuple[Any, ...]]]:
    names = [c.name for c in table.columns]
    if isinstance(table, Stream):
        names.append(table.timestamp)
    rows: list[tuple[Any, ...]] = []
    used: set[tuple[object, ...]] = set()
    for _ in range(random.randint(most // 2, most)):
        row: dict[str, Any] = {c.name: _value(c, random) for c in table.columns}
        if isinstance(table, Stream):
            row[table.timestamp] = random.randint(0, 4)
        for reference in table.references:
            columns, others = found[reference.relation]
            row |= dict.fromkeys(reference.columns)
            whole = [dict(zip(columns, r, strict=True)) for r in others]
            whole = [r for r in whole if None not in {r[c] for c in reference.to}]
            if whole and random.random() > 0.1:
                other = random.choice(whole)
                row |= {c: other[t] for c, t in zip(reference.columns, reference.to, strict=True)}
        keys = [(key, *(row[c] for c in key)) for key in table.keys]
        if any(row[c] is None for c in never_null(table)) or used.intersection(keys):
            continue
        used.update(key for key in keys if None not in key)
        rows.append(tuple(row[name] for name in names))
    return names, rows


def _value(column: Column, random: Random) -> Any:
    if random.random() < 0.1:
        return None
    if column.enum is not None:
        return random.choice(column.enum)
    low = int(column.minimum) if column.minimum is not None else 0
    high = int(column.maximum) if column.maximum is not None else low + 6
    match column.type:
        case IntType():
            return random.randint(low, min(high, low + 12))
        case FloatType():
            return random.randint(2 * low, 2 * high) / 2
        case DecimalType():
            return Decimal(random.randint(2 * low, 2 * high)) / 2
        case StringType():
            return random.choice("pqrs")
        case BooleanType():
            return random.random() < 0.5
        case DateType() | TimestampType():
            raise ValueError(f"{column.name}: no case needs one yet")
        case _ as unreachable:
            assert_never(unreachable)
