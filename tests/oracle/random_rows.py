"""Small random data that keeps what a catalog declares: keys, references and domains, and where
one row of a stream at most has a value (`matches = "one"`)."""

from dataclasses import dataclass
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
    Reference,
    Relation,
    Stream,
    StringType,
    TimestampType,
)
from ontoweir.mappings.model.never_null import never_null

Tables = dict[str, tuple[list[str], list[tuple[Any, ...]]]]

SQL_TYPES = {FloatType: "DOUBLE", DecimalType: "DECIMAL(18, 3)", StringType: "VARCHAR"}
"""What the oracle is told of columns; others are BIGINT."""


def random_rows(catalog: Catalog, seed: int, *, rows: int = 8, steps: int = 5) -> Tables:
    """Up to that many rows of every table, at so many timestamps from 0; some values are NULL."""
    make = _Maker(Random(seed), rows, steps, _list_texts(catalog))
    found = Tables()
    for table in _tables(catalog):
        found[table.name] = make.fill(table, found)
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


def _list_texts(catalog: Catalog) -> list[str]:
    """Some strings, and all that are declared."""
    enums = [c.enum for t in _tables(catalog) for c in t.columns if c.enum is not None]
    return [*"pqrs", *(text for enum in enums for text in enum if isinstance(text, str))]


@dataclass(frozen=True, slots=True)
class _Maker:
    random: Random
    rows: int
    steps: int
    texts: list[str]

    def fill(
        self, table: Stream | Relation, found: Tables
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Names of columns, a timestamp's last, and rows that keep keys and references."""
        names = [c.name for c in table.columns]
        if isinstance(table, Stream):
            names.append(table.timestamp)
        rows: list[tuple[Any, ...]] = []
        used: set[tuple[object, ...]] = set()
        for _ in range(self.random.randint(self.rows // 2, self.rows)):
            row: dict[str, Any] = {c.name: self._value(c) for c in table.columns}
            if isinstance(table, Stream):
                row[table.timestamp] = self.random.randrange(self.steps)
            for reference in table.references:
                row |= self._refer(reference, found)
            once = [*table.keys]
            if isinstance(table, Stream):
                once += [lag.columns for lag in table.lags if lag.one]
            keys = [(key, *(row[c] for c in key)) for key in once]
            if any(row[c] is None for c in never_null(table)) or used.intersection(keys):
                continue
            if isinstance(table, Stream) and table.max_per_timestamp is not None:
                together = sum(other[-1] == row[table.timestamp] for other in rows)
                if together >= table.max_per_timestamp:
                    continue
            used.update(key for key in keys if None not in key)
            rows.append(tuple(row[name] for name in names))
        return names, rows

    def _refer(self, reference: Reference, found: Tables) -> dict[str, Any]:
        """Values of a reference's columns: those of a row that it leads to, or NULL."""
        columns, others = found[reference.relation]
        whole = [dict(zip(columns, other, strict=True)) for other in others]
        whole = [other for other in whole if None not in {other[c] for c in reference.to}]
        if not whole or self.random.random() < 0.1:
            return dict.fromkeys(reference.columns)
        chosen = self.random.choice(whole)
        return {c: chosen[t] for c, t in zip(reference.columns, reference.to, strict=True)}

    def _value(self, column: Column) -> Any:
        if self.random.random() < 0.1:
            return None
        if column.enum is not None:
            return self.random.choice(column.enum)
        low = int(column.minimum) if column.minimum is not None else -2
        high = int(column.maximum) if column.maximum is not None else low + 8
        match column.type:
            case IntType():
                return self.random.randint(low, min(high, low + 12))
            case FloatType():
                return self.random.randint(2 * low, 2 * high) / 2
            case DecimalType():
                return Decimal(self.random.randint(2 * low, 2 * high)) / 2
            case StringType():
                return self.random.choice(self.texts)
            case BooleanType():
                return self.random.random() < 0.5
            case DateType() | TimestampType():
                raise ValueError(f"{column.name}: no case needs one yet")
            case _ as unreachable:
                assert_never(unreachable)
