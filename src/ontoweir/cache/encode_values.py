"""Frozen dataclasses as JSON and back: columns of what has the same class and depth.

What is equal, of one class, is one object afterwards: nothing that is kept may be changed later.
JSON holds data only: whatever a file says, reading it makes nothing but the classes that the caller
names. Columns make it about as fast as pickle, which can run any code.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from itertools import chain, islice
from operator import attrgetter
from types import MappingProxyType
from typing import Any, TypeAlias

Encoded: TypeAlias = list[list[Any]]
"""Groups `[kind, columns]`, each of values that only values of groups before it are in: a column
has the numbers of the values of one field. The last value is the whole."""

_SCALARS = frozenset((str, int, float, bool, type(None)))
_SCALAR, _TUPLE, _SET, _DICT = "scalar", "tuple", "frozenset", "dict"
_TEXTS = (Decimal, Fraction)
"""Numbers that are written as texts."""

Parts: TypeAlias = Callable[[Any], tuple[Any, ...]]
"""What an object is made of, as its maker takes it."""


_NONE: Mapping[type, Any] = MappingProxyType({})


def encode_values(value: object, opened: Mapping[type, Parts] = _NONE) -> Encoded:
    """A value made of frozen dataclasses, tuples, named or not, frozensets, dicts, enumerations,
    Decimals, Fractions, texts, numbers and None.

    Args:
        value: the whole.
        opened: of other classes, what their objects are made of.

    Raises:
        TypeError: something else is in it.
    """
    encoder = _Encoder(opened)
    encoder.add([value])
    return encoder.groups


def decode_values(
    encoded: Encoded,
    classes: Sequence[type],
    opened: Mapping[type, Callable[..., Any]] = _NONE,
) -> Any:
    """The value, whose dataclasses are among `classes`; `opened`: what makes objects of others.

    Raises:
        Exception: it is none; which one depends on what is wrong.
    """
    makers: dict[str, Callable[..., Any]] = {made.__name__: made for made in (*classes, *_TEXTS)}
    makers |= {made.__name__: make for made, make in opened.items()}
    makers[_TUPLE], makers[_SET] = tuple, frozenset
    values: list[Any] = []
    for kind, columns in encoded:
        if kind == _SCALAR:
            values += columns
        elif not columns:
            values.append({} if kind == _DICT else makers[kind]())
        elif kind == _TUPLE:
            values += list(zip(*(map(values.__getitem__, c) for c in columns), strict=True))
        elif kind == _DICT:
            rows = zip(*(map(values.__getitem__, c) for c in columns), strict=True)
            values += [dict(zip(row[::2], row[1::2], strict=True)) for row in rows]
        else:
            values += list(map(makers[kind], *(map(values.__getitem__, c) for c in columns)))
    return values[-1]


class _Encoder:
    """Values with numbers of their own, each once, many at a time: those of one class by columns.

    `groups`: what is encoded so far. `known`: of each kind, the numbers of its values, a scalar by
    itself (other than a text: with its class), another by the numbers of its parts.
    """

    def __init__(self, opened: Mapping[type, Parts]) -> None:
        self.opened = opened
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
            return self._add_scalars(_tell_apart(made, values), values)
        once = {id(value): value for value in values}  # most are one object in many places
        parts = list(once.values())
        rows: list[tuple[int, ...]]
        if made is dict:
            parts = [tuple(chain.from_iterable(part.items())) for part in parts]
        if made is tuple or made is dict:
            inside = iter(self.add(list(chain.from_iterable(parts))))
            rows = [tuple(islice(inside, len(part))) for part in parts]
        else:
            columns = [self.add(column) for column in self._list_columns(made, parts)]
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

    def _list_columns(self, made: type, values: Sequence[Any]) -> list[list[Any]]:
        """What values of a class hold, by columns: their fields."""
        if made is frozenset:
            return [[tuple(sorted(value, key=repr)) for value in values]]
        if made in _TEXTS:
            return [[str(value) for value in values]]
        if issubclass(made, Enum):
            return [[value.value for value in values]]
        if issubclass(made, tuple):
            return [list(column) for column in zip(*values, strict=True)]
        if made in self.opened:
            return [list(column) for column in zip(*map(self.opened[made], values), strict=True)]
        if not is_dataclass(made):
            raise TypeError(f"{made.__name__} is not written as JSON")
        return [list(map(attrgetter(f.name), values)) for f in fields(made) if f.init]


def _tell_apart(made: type, values: list[Any]) -> Sequence[Hashable]:
    """Scalars of a class as keys: those of two classes, and 0.0 and -0.0, are equal."""
    if made is str:
        return values
    return [(made, repr(value) if made is float else value) for value in values]
