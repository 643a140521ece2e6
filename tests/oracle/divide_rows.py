"""Divides the rows of a case as its partition says: by the values themselves, in plain Python."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

from ontoweir.checker.partition.partition import ByAnything, ByKey
from tests.oracle.random_queries import Case, Tables


def divide_case(
    random: Random, case: Case, partition: ByKey | ByAnything, parts: int
) -> list[Case]:
    """The case over the rows of each part; a value goes anywhere, equal values go together, rows
    without a value go to the first."""
    places: dict[Any, int] = {None: 0}
    divided = [_divide(random, case, partition, parts, places, part) for part in range(parts)]
    return [replace(case, data=data) for data in divided]


def _divide(
    random: Random,
    case: Case,
    partition: ByKey | ByAnything,
    parts: int,
    places: dict[Any, int],
    part: int,
) -> Tables:
    columns: Mapping[str, str] = {}
    whole: Sequence[str] = ()
    if isinstance(partition, ByKey):
        columns, whole = dict(partition.columns), partition.whole
    data: Tables = {}
    for name, (names, rows) in case.data.items():
        if name in case.catalog.relations or name in whole:
            data[name] = (names, rows)
        elif name in columns:
            at = names.index(columns[name])
            for row in rows:
                places.setdefault(_plain(row[at]), random.randrange(parts))
            data[name] = (names, [row for row in rows if places[_plain(row[at])] == part])
        else:  # rows that may be anywhere, and of streams that the query does not read
            data[name] = (names, rows[part::parts])
    return data


def _plain(value: Any) -> Any:
    """Equal values are equal, whatever their types."""
    if isinstance(value, bool | str) or value is None or not hasattr(value, "__float__"):
        return value
    return Fraction(value)
