"""Whether the data of a witness keeps all that is declared (theory §9)."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ontoweir.checker.witness.keeps_closing import keeps_closing
from ontoweir.checker.witness.witness import Witness, WitnessRow
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DecimalType,
    IntType,
    Relation,
    Stream,
)


def is_legal(witness: Witness, catalog: Catalog) -> bool:
    """Whether its rows are of their types, and keep everything declared, with every suffix.

    What is declared holds over the whole of it: keys over the whole stream, `max_rows`, R, lags,
    references, domains, a stream's start, and when values are closed. Fewer optional tuples break
    nothing more, as nothing refers to a stream's tuple.
    """
    return all(
        _is_legal(catalog, [*witness.fixed, *suffix], witness.optional)
        for suffix in witness.suffixes
    )


def _is_legal(catalog: Catalog, sure: Sequence[WitnessRow], optional: Sequence[WitnessRow]) -> bool:
    by_table, always = _by_table([*sure, *optional]), _by_table(sure)
    return all(
        _keeps_size(catalog.table(name), mine)
        and _keeps_keys(catalog.table(name), mine)
        and _keeps_references(catalog.table(name), mine, by_table)
        and _keeps_lags(catalog, name, mine, by_table)
        and _keeps_closing(catalog, name, mine, always.get(name, ()))
        and all(
            _in_domain(dict(r.values)[column.name], column)
            for column in catalog.table(name).columns
            for r in mine
        )
        for name, mine in by_table.items()
    )


def _keeps_closing(
    catalog: Catalog, name: str, rows: Sequence[WitnessRow], always: Sequence[WitnessRow]
) -> bool:
    stream = catalog.streams.get(name)
    return stream is None or keeps_closing(stream, rows, always)


def _by_table(rows: Sequence[WitnessRow]) -> dict[str, list[WitnessRow]]:
    found: dict[str, list[WitnessRow]] = {}
    for row in rows:
        found.setdefault(row.table, []).append(row)
    return found


def _keeps_size(table: Stream | Relation, rows: Sequence[WitnessRow]) -> bool:
    """R at a timestamp, the start and the unit of a stream, `max_rows` of a static relation."""
    if isinstance(table, Relation):
        return table.max_rows is None or len(rows) <= table.max_rows
    counts = Counter(r.step for r in rows)
    limit, start = table.max_per_timestamp, table.start_us
    if limit is not None and max(counts.values()) > limit:
        return False
    if any((r.step or 0) % table.spacing for r in rows):
        return False
    return start is None or all((r.step or 0) * table.step_us >= start for r in rows)


def _keeps_keys(table: Stream | Relation, rows: Sequence[WitnessRow]) -> bool:
    for key in table.keys:
        seen = Counter(
            tuple(
                r.step if isinstance(table, Stream) and c == table.timestamp else dict(r.values)[c]
                for c in key
            )
            for r in rows
        )
        if any(count > 1 for values, count in seen.items() if None not in values):
            return False  # NULL is not equal to itself
        whole = isinstance(table, Stream) and table.timestamp not in key
        if whole and any(None in values for values in seen):
            return False
    return True


def _keeps_references(
    table: Stream | Relation,
    rows: Sequence[WitnessRow],
    by_table: dict[str, list[WitnessRow]],
) -> bool:
    for reference in table.references:
        targets = {
            tuple(dict(r.values)[c] for c in reference.to)
            for r in by_table.get(reference.relation, ())
        }
        wanted = (tuple(dict(r.values)[c] for c in reference.columns) for r in rows)
        if any(None not in values and values not in targets for values in wanted):
            return False
    return True


def _keeps_lags(
    catalog: Catalog,
    name: str,
    rows: Sequence[WitnessRow],
    by_table: dict[str, list[WitnessRow]],
) -> bool:
    """A declared lag: rows that join one of another stream come at most so long after it; and one
    of them only, where that is declared."""
    stream = catalog.streams.get(name)
    for lag in () if stream is None else stream.lags:
        assert stream is not None
        for early in by_table.get(lag.behind, ()):
            wanted = [dict(early.values)[c] for c in lag.to]
            latest = (early.step or 0) + lag.within_us // stream.step_us
            if any(
                late is not early
                and (late.step or 0) > latest
                and [dict(late.values)[c] for c in lag.columns] == wanted
                for late in rows
            ):
                return False
        if lag.one and _repeats(rows, lag.columns):
            return False
    return True


def _repeats(rows: Sequence[WitnessRow], columns: Sequence[str]) -> bool:
    """Whether two rows agree on columns, and none of them is NULL."""
    seen = Counter(tuple(dict(row.values)[c] for c in columns) for row in rows)
    return any(count > 1 for values, count in seen.items() if None not in values)


def _in_domain(content: Any, column: Column) -> bool:
    if content is None:  # NULL lies in every domain
        return True
    if isinstance(content, Fraction):
        return False
    if isinstance(column.type, IntType) and not -(2**63) <= content < 2**63:
        return False
    if isinstance(column.type, DecimalType):
        digits, scale = column.type.precision, column.type.scale
        exact = Decimal(content)
        if abs(exact) >= 10 ** (digits - scale) or (exact * 10**scale) % 1:
            return False
    if column.enum is not None and content not in column.enum:
        return False
    if column.minimum is not None and content < column.minimum:
        return False
    return column.maximum is None or not content > column.maximum
