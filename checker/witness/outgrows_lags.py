"""Whether a witness of more tuples would break a declared lag, at last."""

from collections.abc import Iterator

from ontoweir.checker.witness.witness import Witness, WitnessRow
from ontoweir.mappings.model.catalog import Catalog, Lag


def outgrows_lags(smaller: Witness, larger: Witness, catalog: Catalog) -> bool:
    """Whether rows that a lag says to be near each other are farther apart in a larger witness: in
    one that is large enough they are too far. A few tuples of a session of at most two hours may
    come one second after the other, and be told apart, but not ten thousand.

    Args:
        smaller: a witness that keeps every lag.
        larger: the same of more tuples.
        catalog: whose streams have lags; that all rows with a value are near is one of a stream
            behind itself.
    """
    for name, stream in catalog.streams.items():
        for lag in stream.lags:
            if _find_farthest(name, lag, larger) > _find_farthest(name, lag, smaller):
                return True
    return False


def _find_farthest(name: str, lag: Lag, witness: Witness) -> int:
    """The most steps between rows of which the lag says how far they are apart."""
    first: dict[tuple[object, ...], int] = {}
    for row in _list_rows(witness):
        if row.table == lag.behind and (value := _read(row, lag.to)) is not None:
            step = row.step or 0
            first[value] = min(first.get(value, step), step)
    farthest = 0
    for row in _list_rows(witness):
        if row.table == name and (value := _read(row, lag.columns)) is not None:
            step = row.step or 0
            farthest = max(farthest, step - first.get(value, step))
    return farthest


def _list_rows(witness: Witness) -> Iterator[WitnessRow]:
    yield from witness.fixed
    yield from witness.optional
    for suffix in witness.suffixes:
        yield from suffix


def _read(row: WitnessRow, columns: tuple[str, ...]) -> tuple[object, ...] | None:
    """A row's values, none of which is NULL."""
    content = dict(row.values)
    values = tuple(content.get(name) for name in columns)
    return None if None in values else values
