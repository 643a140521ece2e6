"""The updates of groups, computed from all matches at once: for queries without a plan."""

from bisect import insort
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from typing import Any, assert_never

import pyarrow as pa

from ontoweir.mappings.catalog import Catalog
from ontoweir.rewriter.aggregation import Aggregate, AggregateFunction, Aggregation
from ontoweir.rewriter.spj import SpjUnion
from ontoweir.runtime.aggregate_columns import aggregate_schema
from ontoweir.runtime.render_results import AT, MULTIPLICITY


def group_naively(matches: pa.Table, union: SpjUnion, catalog: Catalog) -> pa.Table:
    """Every row of a group that a moment changed, in the order of moments, then groups.

    Args:
        matches: of the characteristic query: its variables, `at`, and `multiplicity` for bags.
        union: the aggregate query.
        catalog: the tables.
    """
    aggregation = union.aggregation
    assert aggregation is not None
    schema = aggregate_schema(union, catalog)
    rows = matches.sort_by([(AT, "ascending")]).to_pylist()
    groups: dict[tuple[Any, ...], _Group] = {}
    updates = []
    for at, arrived in groupby(rows, key=lambda row: row[AT]):
        touched: dict[tuple[Any, ...], None] = {}
        for row in arrived:
            key = tuple(row[name] for name in aggregation.group)
            groups.setdefault(key, _Group()).add(row)
            touched[key] = None
        for key in touched:
            if (told := groups[key].changed(aggregation)) is not None:
                found = dict(zip(aggregation.group, key, strict=True)) | told | {AT: at}
                updates.append({f.name: _as(found[f.name], f.type) for f in schema})
    by = [(name, "ascending") for name in (AT, *aggregation.group)]
    return pa.Table.from_pylist(updates, schema=schema).sort_by(by)


@dataclass(slots=True)
class _Group:
    """What is known of a group: how many matches, and the values of every variable, in order."""

    matches: int = 0
    values: dict[str, "_Values"] = field(default_factory=dict)
    told: dict[str, Any] | None = None

    def add(self, row: dict[str, Any]) -> None:
        times = row.get(MULTIPLICITY, 1)
        self.matches += times
        for name, value in row.items():
            if name not in (AT, MULTIPLICITY):
                self.values.setdefault(name, _Values()).add(value, times)

    def changed(self, aggregation: Aggregation) -> dict[str, Any] | None:
        """The aggregates, if they are others than were told last."""
        shown = {a.name: self._show(a) for a in aggregation.aggregates}
        if shown == self.told:
            return None
        self.told = shown
        return shown

    def _show(self, aggregate: Aggregate) -> Any:
        if aggregate.argument is None:
            return self.matches
        values = self.values[aggregate.argument]
        match aggregate.function:
            case AggregateFunction.COUNT:
                return self.matches
            case AggregateFunction.COUNT_DISTINCT:
                return len(values.counted)
            case AggregateFunction.SUM:
                return values.total()
            case AggregateFunction.AVG:
                return Fraction(values.total()) / self.matches
            case AggregateFunction.MIN:
                return values.ordered[0]
            case AggregateFunction.MAX:
                return values.ordered[-1]
            case AggregateFunction.MEDIAN:
                low, high = values.at((self.matches - 1) // 2), values.at(self.matches // 2)
                return (Fraction(low) + Fraction(high)) / 2
            case _:
                assert_never(aggregate.function)


@dataclass(slots=True)
class _Values:
    """Values, how often each, and in order."""

    counted: dict[Any, int] = field(default_factory=dict)
    ordered: list[Any] = field(default_factory=list)

    def add(self, value: Any, times: int) -> None:
        if value not in self.counted:
            insort(self.ordered, value)
        self.counted[value] = self.counted.get(value, 0) + times

    def total(self) -> Any:
        return sum(value * times for value, times in self.counted.items())

    def at(self, place: int) -> Any:
        """The value at a place of the ordered list of all, repeats kept."""
        for value in self.ordered:
            place -= self.counted[value]
            if place < 0:
                return value
        raise AssertionError("there are fewer values")


def _as(value: Any, kind: pa.DataType) -> Any:
    if pa.types.is_floating(kind):
        return float(value)
    return Decimal(value) if pa.types.is_decimal(kind) else value
