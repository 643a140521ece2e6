"""Frozen dataclasses as JSON and back: columns of what has the same class and depth.

JSON holds data only: whatever a file says, reading it makes nothing but the classes that the caller
names. Columns make it about as fast as pickle, which can run any code.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from itertools import chain, islice
from operator import attrgetter
from typing import Any, TypeAlias

Encoded: TypeAlias = list[list[Any]]
"""Groups `[kind, columns]`, each of values that only values of groups before it are in: a column
has the numbers of the values of one field. The last value is the whole."""

_SCALARS = frozenset((str, int, float, bool, type(None)))
_SCALAR, _TUPLE, _SET, _DECIMAL = "scalar", "tuple", "frozenset", "Decimal"


def encode_values(value: object) -> Encoded:
    """A value made of frozen dataclasses, tuples, frozensets, enumerations, Decimals, texts,
    numbers and None.

    Raises:
        TypeError: something else is in it.
    """
    encoder = _Encoder()
    encoder.add([value])
    return encoder.groups


def decode_values(encoded: Encoded, classes: Sequence[type]) -> Any:
    """The value, whose dataclasses are among `classes`.

    Raises:
        Exception: it is none; which one depends on what is wrong.
    """
    makers: dict[str, Callable[..., Any]] = {made.__name__: made for made in classes}
    makers[_TUPLE], makers[_SET], makers[_DECIMAL] = tuple, frozenset, Decimal
    values: list[Any] = []
    for kind, columns in encoded:
        if kind == _SCALAR:
            values += columns
        elif not columns:
            values.append(makers[kind]())
        elif kind == _TUPLE:
            values += list(zip(*(map(values.__getitem__, c) for c in columns), strict=True))
        else:
            values += list(map(makers[kind], *(map(values.__getitem__, c) for c in columns)))
    return values[-1]


class _Encoder:
    """Values with numbers of their own, each once, many at a time: those of one class by columns.

    `groups`: what is encoded so far. `known`: of each kind, the numbers of its values, a scalar by
    itself (other than a text: with its class), another by the numbers of its parts.
    """

    def __init__(self) -> None:
        self.groups: Encoded = []
        self.known: dict[str, dict[Hashable, int]] = {}
        self.count = 0

    def add(self, values: list[Any]) -> list[int]:
        """The numbers of values. Dataclasses are told apart by all fields, compared or not."""
        classes = set(map(type, values))
        if len(classes) == 1:
            return self._add_same(classes.pop(), values)
        numbers = [0] * len(values)
        for made in dict.fromkeys(map(type, values)):
            places = [place for place, value in enumerate(values) if type(value) is made]
            found = self._add_same(made, [values[place] for place in places])
            for place, number in zip(places, found, strict=True):
                numbers[place] = number
        return numbers

    def _add_same(self, made: type, values: list[Any]) -> list[int]:
        """The numbers of values of one class."""
        if made in _SCALARS:
            return self._add_scalars(values if made is str else [(made, v) for v in values], values)
        once = {id(value): value for value in values}  # most are one object in many places
        parts = list(once.values())
        rows: list[tuple[int, ...]]
        if made is tuple:
            inside = iter(self.add(list(chain.from_iterable(parts))))
            rows = [tuple(islice(inside, len(part))) for part in parts]
        else:
            columns = [self.add(column) for column in _list_columns(made, parts)]
            rows = list(zip(*columns, strict=True)) if columns else [()] * len(parts)
        numbers = dict(zip(once, self._add_rows(made.__name__, rows), strict=True))
        return [numbers[id(value)] for value in values]

    def _add_scalars(self, keys: Sequence[Hashable], values: Sequence[object]) -> list[int]:
        known = self.known.setdefault(_SCALAR, {})
        new = {key: value for key, value in zip(keys, values, strict=True) if key not in known}
        if new:
            known.update(zip(new, range(self.count, self.count + len(new)), strict=True))
            self.count += len(new)
            self.groups.append([_SCALAR, list(new.values())])
        return [known[key] for key in keys]

    def _add_rows(self, kind: str, rows: Sequence[tuple[int, ...]]) -> list[int]:
        """The numbers of values of one kind, of which the numbers of their parts are known."""
        known = self.known.setdefault(kind, {})
        by_arity: dict[int, list[tuple[int, ...]]] = {}
        for row in dict.fromkeys(rows):
            if row not in known:
                by_arity.setdefault(len(row), []).append(row)
        for arity, new in by_arity.items():
            known.update(zip(new, range(self.count, self.count + len(new)), strict=True))
            self.count += len(new)
            columns = [list(column) for column in zip(*new, strict=True)] if arity else []
            self.groups.append([kind, columns])
        return [known[row] for row in rows]


def _list_columns(made: type, values: Sequence[Any]) -> list[list[Any]]:
    """What values of a class hold, by columns: their fields."""
    if made is frozenset:
        return [[tuple(sorted(value, key=repr)) for value in values]]
    if made is Decimal:
        return [[str(value) for value in values]]
    if issubclass(made, Enum):
        return [[value.value for value in values]]
    if not is_dataclass(made):
        raise TypeError(f"{made.__name__} is not written as JSON")
    return [list(map(attrgetter(f.name), values)) for f in fields(made) if f.init]
