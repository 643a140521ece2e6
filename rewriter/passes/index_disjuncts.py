"""Finds the disjuncts that can contain another, or be contained, without comparing all."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import combinations
from typing import Generic, TypeVar

from ontoweir.mappings.model.catalog import Catalog, Scalar
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Constant,
    ConstantOutput,
    LiteralOutput,
    NullOutput,
    Op,
    SpjQuery,
)

T = TypeVar("T")
_FEW = 8


@dataclass(frozen=True, slots=True)
class _Key:
    """What must agree for one disjunct to contain another (contain_spj.is_contained).

    `makes`: the shape of the outputs; `constants`: those that columns are equated with; `simple`:
    equations imply no more; `tables`; `reach`: tables that references guarantee, too.
    """

    makes: Hashable
    constants: frozenset[object]
    simple: bool
    tables: frozenset[str]
    reach: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Group:
    """Items that make the same kind of terms, by their numbers: by the set of their constants, by
    each constant, and those that may imply more equations than they have."""

    by_constants: dict[frozenset[object], dict[int, None]] = field(default_factory=dict)
    by_constant: dict[object, dict[int, None]] = field(default_factory=dict)
    implying: dict[int, None] = field(default_factory=dict)

    def add(self, number: int, key: _Key) -> None:
        self.by_constants.setdefault(key.constants, {})[number] = None
        for constant in key.constants:
            self.by_constant.setdefault(constant, {})[number] = None
        if not key.simple:
            self.implying[number] = None

    def remove(self, number: int, key: _Key) -> None:
        del self.by_constants[key.constants][number]
        if not self.by_constants[key.constants]:
            del self.by_constants[key.constants]
        for constant in key.constants:
            del self.by_constant[constant][number]
        self.implying.pop(number, None)

    def with_constants(self, constants: frozenset[object]) -> set[int]:
        """Those that equate columns with all these constants, or may imply it."""
        if not constants:
            return {n for numbers in self.by_constants.values() for n in numbers}
        fewest = min((self.by_constant.get(c, {}) for c in constants), key=len)
        each = [self.by_constant.get(c, {}) for c in constants]
        return {n for n in fewest if all(n in numbers for numbers in each)} | set(self.implying)


class DisjunctIndex(Generic[T]):
    """Items by what their queries make and by the constants that they equate columns with.

    A query can only be contained in one that makes the same kind of terms of tables that it reads
    too, or that its references guarantee. As long as nothing but equations can imply an equation
    with a constant, the other's constants are among its own. That spares nearly all comparisons
    where there are many facts or mappings, each of which makes a disjunct.
    """

    def __init__(self, catalog: Catalog, query: Callable[[T], SpjQuery]) -> None:
        self.catalog, self.query = catalog, query
        self.all: dict[int, T] = {}
        self.keys: dict[int, _Key] = {}
        self.groups: dict[Hashable, _Group] = {}
        self.order: dict[int, int] = {}
        self.added = 0
        self._asked: tuple[T, _Key] | None = None

    def __iter__(self) -> Iterator[T]:
        return iter(self.all.values())

    def add(self, item: T) -> None:
        """Add an item, after all others."""
        self.keys[id(item)] = key = self._key(item)
        self.all[id(item)] = item
        self.order[id(item)] = self.added = self.added + 1
        self.groups.setdefault(key.makes, _Group()).add(id(item), key)

    def remove(self, item: T) -> None:
        """Remove an item."""
        key = self._key(item)
        del self.all[id(item)]
        self.groups[key.makes].remove(id(item), key)

    def above(self, small: T) -> Iterator[T]:
        """Those that may contain it, in order."""
        key = self._key(small)
        group = self.groups.get(key.makes, _Group()).by_constants
        if not key.simple or len(key.constants) > _FEW:
            fitting = list(group.values())
        else:
            sizes = range(len(key.constants) + 1)
            subsets = (frozenset(c) for n in sizes for c in combinations(key.constants, n))
            fitting = [group[s] for s in subsets if s in group]
        candidates = [i for members in fitting for i in members if self.keys[i].tables <= key.reach]
        yield from [self.all[i] for i in sorted(candidates, key=self.order.__getitem__)]

    def below(self, big: T) -> Iterator[T]:
        """Those that it may contain, in order."""
        key = self._key(big)
        members = self.groups.get(key.makes, _Group()).with_constants(key.constants)
        candidates = [i for i in members if key.tables <= self.keys[i].reach]
        yield from [self.all[i] for i in sorted(candidates, key=self.order.__getitem__)]

    def _key(self, item: T) -> _Key:
        if id(item) in self.all:
            return self.keys[id(item)]
        if self._asked is None or self._asked[0] is not item:  # it is asked for before it is added
            self._asked = item, self._make_key(self.query(item))
        return self._asked[1]

    def _make_key(self, query: SpjQuery) -> _Key:
        tables = frozenset(o.table for o in query.occurrences)
        reach = reachable_tables(tables, self.catalog)
        equated = frozenset(
            c.right.value
            for c in query.conditions
            if isinstance(c, Compare) and c.op is Op.EQ and isinstance(c.right, Constant)
        )
        return _Key(_makes(query), equated, _is_simple(query), tables, reach)


def reachable_tables(tables: frozenset[str], catalog: Catalog) -> frozenset[str]:
    """The tables, and those with rows that their references guarantee."""
    reach = tables
    for _ in range(2):  # as far as contain_spj follows references
        reach |= {r.relation for t in reach for r in catalog.table(t).references}
    return reach


def _makes(query: SpjQuery) -> Hashable:
    """The outputs without their columns: shapes and datatypes."""
    shape: list[Hashable] = []
    for _, output in query.outputs:
        match output:
            case ConstantOutput():
                shape.append(output)
            case NullOutput():
                shape.append(None)
            case LiteralOutput(datatype=datatype, language=language):
                shape.append((datatype, language))
            case _:
                parts = (None if isinstance(p, Attribute) else p for p in output.parts)
                shape.append((type(output).__name__, *parts))
    return tuple(shape)


def _is_simple(query: SpjQuery) -> bool:
    """Whether its comparisons imply no equation with a constant but those that it has: what is
    compared with a constant is compared with other columns by = only, directly or by way of others,
    and no column has limits on both sides that are near."""
    limits: dict[Attribute, tuple[list[Scalar], list[Scalar]]] = {}
    joined = False
    compared: list[set[Attribute]] = []
    ordered, limited = set[Attribute](), set[Attribute]()
    for c in query.conditions:
        if not isinstance(c, Compare) or c.op is Op.NE:
            continue
        if isinstance(c.right, Attribute):
            if c.op is not Op.EQ or c.offset != 0:
                ordered |= {c.left, c.right}
            else:
                joined = True
            near = [group for group in compared if c.left in group or c.right in group]
            compared = [group for group in compared if not any(group is n for n in near)]
            compared.append({c.left, c.right}.union(*near))
            continue
        limited.add(c.left)
        if c.op is not Op.EQ:
            sides = limits.setdefault(c.left, ([], []))
            sides[c.op in (Op.LT, Op.LE)].append(c.right.value)
    if any(group & ordered and group & limited for group in compared):
        return False
    if joined:  # limits of equal columns are one column's
        both = tuple([v for sides in limits.values() for v in sides[n]] for n in range(2))
        return not all(both)
    return all(_are_apart(lows, highs) for lows, highs in limits.values())


def _are_apart(lows: list[Scalar], highs: list[Scalar]) -> bool:
    """Whether several values lie between the limits, whole numbers too."""
    numbers = [v for v in (*lows, *highs) if isinstance(v, int | Decimal)]
    if not lows or not highs:
        return True
    return (
        len(numbers) == len(lows) + len(highs)
        and min(numbers[len(lows) :]) - max(numbers[: len(lows)]) > 3
    )
