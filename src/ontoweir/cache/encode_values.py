"""Frozen dataclasses as JSON and back: columns of what has the same class and depth.

JSON holds data only: whatever a file says, reading it makes nothing but the classes that the caller
names. Columns make it about as fast as pickle, which can run any code.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from functools import cache
from typing import Any, TypeAlias

Encoded: TypeAlias = list[list[Any]]
"""Groups `[kind, columns]`, each of values that only values of groups before it are in: a column
has the numbers of the values of one field. The last value is the whole."""

_SCALARS = frozenset((str, int, float, bool, type(None)))
_SCALAR, _TUPLE, _SET, _DECIMAL = "scalar", "tuple", "frozenset", "decimal"


def encode_values(value: object) -> Encoded:
    """A value made of frozen dataclasses, tuples, frozensets, Decimals, texts, numbers and None.

    Raises:
        TypeError: something else is in it.
    """
    encoder = _Encoder()
    encoder.add(value)
    return encoder.groups()


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


@cache
def _list_fields(made: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(made) if f.init)


class _Encoder:
    """Values with numbers of their own, each once; a value's level is above those of its parts."""

    def __init__(self) -> None:
        self.known: dict[Hashable, int] = {}
        self.levels: list[int] = []
        self.kinds: list[str] = []
        self.parts: list[tuple[Any, ...]] = []

    def add(self, value: object) -> int:
        """The number of a value. Dataclasses are told apart by all fields, compared or not."""
        made = type(value)
        inner: tuple[object, ...]
        if made in _SCALARS:
            key = value if made is str else (made, value)
            known = self.known.get(key)
            return self._enter(key, _SCALAR, (value,), 0) if known is None else known
        kind, inner = made.__name__, ()
        if isinstance(value, tuple) and made is tuple:
            inner = value
        elif isinstance(value, frozenset):
            kind, inner = _SET, (tuple(sorted(value, key=repr)),)
        elif isinstance(value, Decimal):
            kind, inner = _DECIMAL, (str(value),)
        elif is_dataclass(made):
            inner = tuple([getattr(value, name) for name in _list_fields(made)])
        else:
            raise TypeError(f"{kind} is not written as JSON")
        numbers = tuple([self.add(part) for part in inner])
        known = self.known.get((kind, numbers))
        if known is not None:
            return known
        level = 1 + max([self.levels[n] for n in numbers], default=0)
        return self._enter((kind, numbers), kind, numbers, level)

    def _enter(self, key: Hashable, kind: str, parts: tuple[Any, ...], level: int) -> int:
        number = self.known[key] = len(self.levels)
        self.levels.append(level)
        self.kinds.append(kind)
        self.parts.append(parts)
        return number

    def groups(self) -> Encoded:
        """All values, by level, kind and number of parts; numbered in that order."""
        grouped: dict[tuple[int, str, int], list[int]] = {}
        for number, (level, kind) in enumerate(zip(self.levels, self.kinds, strict=True)):
            grouped.setdefault((level, kind, len(self.parts[number])), []).append(number)
        places: dict[int, int] = {}
        encoded: Encoded = []
        for level, kind, arity in sorted(grouped):
            numbers = grouped[level, kind, arity]
            rows = [self.parts[n] for n in numbers]
            places |= {n: len(places) + i for i, n in enumerate(numbers)}
            if kind == _SCALAR:
                encoded.append([kind, [row[0] for row in rows]])
            else:
                encoded.append([kind, [[places[row[i]] for row in rows] for i in range(arity)]])
        return encoded
