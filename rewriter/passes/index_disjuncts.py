"""Finds the disjuncts that can contain another, or be contained, without comparing all."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Generic, TypeVar

from ontoweir.mappings.model.catalog import Catalog
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
        self.groups: dict[Hashable, dict[frozenset[object], dict[int, T]]] = {}

    def __iter__(self) -> Iterator[T]:
        return iter(self.all.values())

    def add(self, item: T) -> None:
        """Add an item, after all others."""
        key = self._key(item)
        self.all[id(item)] = item
        self.groups.setdefault(key.makes, {}).setdefault(key.constants, {})[id(item)] = item

    def remove(self, item: T) -> None:
        """Remove an item."""
        key = self._key(item)
        del self.all[id(item)]
        group = self.groups[key.makes]
        del group[key.constants][id(item)]
        if not group[key.constants]:
            del group[key.constants]

    def above(self, small: T) -> Iterator[T]:
        """Those that may contain it, in order."""
        key = self._key(small)
        group = self.groups.get(key.makes, {})
        if not key.simple or len(key.constants) > _FEW:
            fitting = list(group.values())
        else:
            sizes = range(len(key.constants) + 1)
            subsets = (frozenset(c) for n in sizes for c in combinations(key.constants, n))
            fitting = [group[s] for s in subsets if s in group]
        candidates = (i for members in fitting for i in members if self.keys[i].tables <= key.reach)
        if len(fitting) == 1:
            yield from [self.all[i] for i in candidates]
        elif fitting:
            ids = set(candidates)
            yield from [item for i, item in self.all.items() if i in ids] if ids else ()

    def below(self, big: T) -> Iterator[T]:
        """Those that it may contain, in order of their constants."""
        key = self._key(big)
        for constants, members in self.groups.get(key.makes, {}).items():
            fits = key.constants <= constants
            for i, item in members.items():
                other = self.keys[i]
                if (fits or not other.simple) and key.tables <= other.reach:
                    yield item

    def _key(self, item: T) -> _Key:
        key = self.keys.get(id(item))
        if key is None or id(item) not in self.all:
            key = self.keys[id(item)] = self._make_key(self.query(item))
        return key

    def _make_key(self, query: SpjQuery) -> _Key:
        tables = frozenset(o.table for o in query.occurrences)
        reach = set(tables)
        for _ in range(2):  # as far as contain_spj follows references
            referenced = {r.relation for t in reach for r in self.catalog.table(t).references}
            reach |= referenced
        equated = frozenset(
            c.right.value
            for c in query.conditions
            if isinstance(c, Compare) and c.op is Op.EQ and isinstance(c.right, Constant)
        )
        return _Key(_makes(query), equated, _is_simple(query), tables, frozenset(reach))


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
    """Whether its comparisons imply no equation with a constant but those that it has."""
    return all(
        not isinstance(c, Compare) or c.op is Op.NE or (c.op is Op.EQ and c.offset == 0)
        for c in query.conditions
    )
