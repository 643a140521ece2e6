"""Values for the columns of a witness's rows that the query does not mention."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
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

_FIRST = 10**6
"""Numbers from here on stand for values that nothing limits."""

_MANY = 10**6
_WIDEST = 100
"""About so many columns of a row have values that nothing limits."""


class UnusedColumns:
    """Columns of a key get other values from row to row, as long as their domains last; columns
    that reference a static relation few, or one, where several do together; others a new value in
    each row.

    Args:
        catalog: their tables.
        stay_open: columns that a rule closes have one value, and no row says that it is the last.
        after: how many rows were filled before.
    """

    def __init__(self, catalog: Catalog, *, stay_open: bool = False, after: int = 0) -> None:
        self.catalog, self.stay_open, self.after = catalog, stay_open, after
        self.rows: dict[str, int] = {}
        self.fresh = _FIRST + after * _WIDEST

    def fill(self, table: str, columns: Sequence[str]) -> dict[str, Any]:
        """Values for these columns of one more row of a table."""
        declared = self.catalog.table(table)
        number = self.rows[table] = self.rows.get(table, self.after - 1) + 1
        chosen = self._stay_open(declared, columns) if self.stay_open else {}
        for key in declared.keys:
            rest = number
            for name in key:
                column = declared.column(name)
                if column is None or name not in columns or name in chosen:
                    continue
                size = self._size(declared, column)
                chosen[name] = self._value(declared, column, rest % size)
                rest //= size
        for name in columns:
            column = declared.column(name)
            if column is None or name in chosen:
                continue
            place = 0
            if self._size(declared, column) == _MANY and not _refers(declared, column):
                self.fresh += 1
                place = self.fresh - _FIRST
            chosen[name] = self._value(declared, column, place)
        return chosen

    def _stay_open(self, table: Stream | Relation, columns: Sequence[str]) -> dict[str, Any]:
        """The values of columns in rules that close values."""
        chosen: dict[str, Any] = {}
        rules = table.closing if isinstance(table, Stream) else ()
        for rule in (r for r in rules if r.span_us is None):
            for name in rule.columns:
                column = table.column(name)
                if column is not None and name in columns:
                    chosen[name] = self._value(table, column, 0)
            if rule.ends is not None and rule.ends in columns:
                chosen[rule.ends] = False
        return chosen

    def _size(self, table: Stream | Relation, column: Column) -> int:
        """How many values a column has, as far as it matters here."""
        sizes = [_MANY, len(_listed(column) or range(_MANY))]
        for reference in _references(table, column):
            relation = self.catalog.relations[reference[0]]
            target = relation.column(reference[1])
            if relation.max_rows is not None:
                sizes.append(max(relation.max_rows, 1))
            if target is not None:
                sizes.append(self._size(relation, target))
        size = max(min(sizes), 1)
        return 1 if size == _MANY and _refers(table, column) else size

    def _value(self, table: Stream | Relation, column: Column, place: int) -> Any:
        """The value at a place of a column's domain."""
        listed = _listed(column)
        if listed is not None:
            return listed[place % len(listed)]
        for relation, name in _references(table, column):
            target = self.catalog.relations[relation].column(name)
            if target is not None and target != column:
                return self._value(self.catalog.relations[relation], target, place)
        least: Any = column.minimum
        greatest: Any = column.maximum
        match column.type:
            case StringType():
                return f"x{_FIRST + place}"
            case BooleanType():
                return place % 2 == 0
            case DateType():
                return (date(2000, 1, 1) + timedelta(days=place)).isoformat()
            case TimestampType():
                moment = datetime(1970, 1, 1) + timedelta(seconds=_FIRST + place)
                return moment.isoformat(" ", timespec="microseconds")
            case DecimalType(precision=precision, scale=scale):
                most = 10 ** (precision - scale)
                if least is None and greatest is None:
                    return (min(_FIRST, most // 2) + place) % most
                return _within(least, greatest, place, most - 1)
            case IntType():
                if least is None and greatest is None:
                    return _FIRST + place
                return _within(least, greatest, place, 2**63 - 1)
            case FloatType():
                if least is None and greatest is None:
                    return float(place)
                return least + place if least is not None else greatest - place
            case _:
                assert_never(column.type)


def _within(least: Any, greatest: Any, place: int, most: int) -> Any:
    """A number that only one end of its domain limits: far from that end, where the type has room,
    as the numbers that the query compares lie near it."""
    if least is not None:
        return least + place + (_FIRST if least + _FIRST + _MANY <= most else 0)
    return greatest - place - (_FIRST if greatest - _FIRST - _MANY >= -most else 0)


def _references(table: Stream | Relation, column: Column) -> list[tuple[str, str]]:
    """The static columns that a reference of this column alone names."""
    return [
        (r.relation, r.to[0])
        for r in table.references
        if r.columns == (column.name,) and r.relation != table.name
    ]


def _refers(table: Stream | Relation, column: Column) -> bool:
    """Whether a reference has this column, alone or beside others."""
    return any(column.name in r.columns for r in table.references)


def _listed(column: Column) -> Sequence[Any] | None:
    """The values of a small domain (None: it is not small)."""
    if column.enum is not None:
        return column.enum
    if isinstance(column.type, BooleanType):
        return (True, False)
    low, high = column.minimum, column.maximum
    if isinstance(column.type, IntType) and isinstance(low, int) and isinstance(high, int):
        return range(low, high + 1)
    if isinstance(column.type, DateType) and isinstance(low, str):
        if not isinstance(high, str):
            return [low]
        first, days = date.fromisoformat(low), 0
        days = min((date.fromisoformat(high) - first).days, 10_000)
        return [(first + timedelta(days=n)).isoformat() for n in range(days + 1)]
    if isinstance(column.type, DateType | TimestampType) and (low or high) is not None:
        return [low if low is not None else high]
    if isinstance(column.type, FloatType | DecimalType) and low is not None and high is not None:
        return [low, high]
    return None
