"""Every query of a small size, once up to isomorphism: the exhaustive family.

A query has up to three streams without self-joins, up to two attributes each, an order graph
(per pair of streams: none, `<`, `=`, or `<` within a window), joins between attributes (`<`, `=`,
and `<=` if asked; within a stream too, if asked), a projection, and a kind for each attribute.
Isomorphic: equal up to the names of streams and of attributes. Order graphs that imply the same
are made once, contradictory ones not at all; attributes that nothing uses are left out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, permutations, product
from random import Random
from typing import TypeAlias

from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, IntType, Stream
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Constant,
    LiteralOutput,
    NotNull,
    Occurrence,
    Op,
    SpjQuery,
    SpjUnion,
)

Item: TypeAlias = tuple[int, int]
"""An attribute: (stream, place)."""

Join: TypeAlias = tuple[Item, str, Item]

WINDOW = 2
"""The width of a window, in steps."""

KINDS = {"U": "unbounded", "B": "0..2", "L": ">= 1", "H": "<= 1"}
"""The kinds of attributes: unbounded, of a declared domain, bounded on one side by a filter."""

CATALOG = Catalog(
    {
        f"s{i}": Stream(
            f"s{i}",
            DataSource("parquet", None),
            "ts",
            1,
            3,
            (
                Column("u", IntType()),
                Column("v", IntType()),
                Column("p", IntType(), 0, 2),
                Column("q", IntType(), 0, 2),
            ),
        )
        for i in range(3)
    }
)


@dataclass(frozen=True, slots=True)
class Family:
    """Which queries: exactly `streams` streams, at most `joins` joins and `projected` attributes.

    `kinds`: letters of KINDS. `operators`: of "<", "=" and "<=" (both directions are made).
    `local`: attributes of one stream are compared too.
    """

    streams: int
    joins: int
    projected: int
    kinds: str = "UB"
    operators: tuple[str, ...] = ("<", "=")
    local: bool = False

    def __str__(self) -> str:
        inside = ", also within a stream" if self.local else ""
        return (
            f"{self.streams} stream{'s' * (self.streams > 1)}, "
            f"at most {self.joins} joins by {' '.join(self.operators)}{inside}, at most "
            f"{self.projected} projected, attributes {', '.join(KINDS[k] for k in self.kinds)}"
        )


@dataclass(frozen=True, slots=True)
class Shape:
    """One query of a family, without its semantics. `order`: (left, relation, right)."""

    streams: int
    order: tuple[tuple[int, str, int], ...]
    joins: tuple[Join, ...]
    kinds: tuple[tuple[Item, str], ...]
    projected: tuple[Item, ...]

    def query(self, *, distinct: bool) -> SpjUnion:
        """The query over CATALOG."""
        kinds = dict(self.kinds)

        def attribute(item: Item) -> Attribute:
            names = "pq" if kinds[item] == "B" else "uv"
            return Attribute(f"s{item[0]}", names[item[1]])

        conditions: list[Condition] = []
        for left, relation, right in self.order:
            a, b = Attribute(f"s{left}", "ts"), Attribute(f"s{right}", "ts")
            conditions.append(Compare(a, Op.EQ if relation == "=" else Op.LT, b))
            if relation == "window":
                conditions.append(Compare(b, Op.LE, a, WINDOW))
        for item, kind in self.kinds:
            if kind in "LH":
                op = Op.GE if kind == "L" else Op.LE
                conditions.append(Compare(attribute(item), op, Constant(1)))
        for one, operator, other in self.joins:
            conditions.append(Compare(attribute(one), Op(operator), attribute(other)))
        conditions.extend(NotNull(attribute(item)) for item in self.projected)
        outputs = tuple(
            (f"v{n}", LiteralOutput(attribute(item))) for n, item in enumerate(self.projected)
        )
        occurrences = tuple(Occurrence(f"s{i}", f"s{i}") for i in range(self.streams))
        query = SpjQuery(occurrences, tuple(conditions), outputs)
        return SpjUnion("family", tuple(v for v, _ in outputs), (query,), distinct=distinct)


def show(union: SpjUnion) -> str:
    """A query as SQL."""
    query = union.disjuncts[0]
    head = ", ".join(str(o.value) for _, o in query.outputs if isinstance(o, LiteralOutput))
    parts = []
    for c in query.conditions:
        if isinstance(c, Compare):
            right = c.right.value if isinstance(c.right, Constant) else c.right
            parts.append(f"{c.left} {c.op} {right}{f' + {c.offset}' if c.offset else ''}")
    distinct = "DISTINCT " if union.distinct else ""
    tables = ", ".join(o.alias for o in query.occurrences)
    where = f" WHERE {' AND '.join(parts)}" if parts else ""
    return f"SELECT {distinct}{head or '1'} FROM {tables}{where}"


def make_family(family: Family) -> Iterator[Shape]:
    """Every query of a family once, in a fixed order, those with fewer joins first."""
    n = family.streams
    items = [(i, k) for i in range(n) for k in range(2)]
    for count in range(family.joins + 1):
        for order, symmetries in _orders(n):
            for joins, rest in _join_sets(items, family, count, symmetries):
                yield from _decorate(n, order, joins, items, family, rest)


def draw_shapes(family: Family, random: Random, count: int) -> Iterator[Shape]:
    """Random queries of a family that is too large to be made whole (isomorphic ones may recur):
    any order graph, number of joins and of projected attributes."""
    n = family.streams
    items = [(i, k) for i in range(n) for k in range(2)]
    orders = [order for order, _ in _orders(n)]
    pairs, operators = _pairs(items, family), _operators(family)
    for _ in range(count):
        size = random.randint(0, min(family.joins, len(pairs)))
        chosen = sorted(random.sample(pairs, size))
        joins = tuple((a, random.choice(operators), b) for a, b in chosen)
        projected = tuple(sorted(random.sample(items, random.randint(0, family.projected))))
        used = sorted({item for a, _, b in joins for item in (a, b)} | set(projected))
        kinds = tuple((item, random.choice(family.kinds)) for item in used)
        yield Shape(n, random.choice(orders), joins, kinds, projected)


def _pairs(items: list[Item], family: Family) -> list[tuple[Item, Item]]:
    return [(a, b) for a, b in combinations(items, 2) if family.local or a[0] != b[0]]


def _operators(family: Family) -> list[str]:
    return [o for op in family.operators for o in ((op,) if op == "=" else (op, _FLIPPED[op]))]


Symmetry: TypeAlias = Mapping[Item, Item]

_RELATIONS = ("", "<", ">", "=", "window", "window>")


def _orders(n: int) -> Iterator[tuple[tuple[tuple[int, str, int], ...], list[Symmetry]]]:
    """Every order graph, and the renamings of streams and attributes that keep it."""
    pairs = list(combinations(range(n), 2))
    seen = set()
    for chosen in sorted(product(_RELATIONS, repeat=len(pairs)), key=lambda c: -c.count("")):
        order = []
        for (i, j), relation in zip(pairs, chosen, strict=True):
            if relation in (">", "window>"):
                order.append((j, "<" if relation == ">" else "window", i))
            elif relation:
                order.append((i, relation, j))
        closed = _close(n, order)
        if closed is None:
            continue
        renamings = list(permutations(range(n)))
        forms = {
            p: tuple(closed[p[i]][p[j]] for i in range(n) for j in range(n)) for p in renamings
        }
        least = min(forms.values())
        if least in seen:
            continue
        seen.add(least)
        keeping = [p for p in renamings if forms[p] == forms[renamings[0]]]
        yield (
            tuple(order),
            [
                {(i, k): (p[i], k ^ swap[i]) for i in range(n) for k in range(2)}
                for p in keeping
                for swap in product((0, 1), repeat=n)
            ],
        )


def _close(n: int, order: list[tuple[int, str, int]]) -> list[list[float]] | None:
    """sup(t_j - t_i), as row i and column j; None: there are no such times."""
    far = float("inf")
    most = [[0 if i == j else far for j in range(n)] for i in range(n)]
    for i, relation, j in order:
        most[j][i] = min(most[j][i], 0 if relation == "=" else -1)
        if relation != "<":
            most[i][j] = min(most[i][j], 0 if relation == "=" else WINDOW)
    for k, i, j in product(range(n), repeat=3):
        most[i][j] = min(most[i][j], most[i][k] + most[k][j])
    return None if any(most[i][i] < 0 for i in range(n)) else most


_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "="}


def _join_sets(
    items: list[Item], family: Family, count: int, symmetries: list[Symmetry]
) -> Iterator[tuple[tuple[Join, ...], list[Symmetry]]]:
    """Every set of so many joins, at most one a pair, and the symmetries that keep it."""
    pairs, operators = _pairs(items, family), _operators(family)

    def rename(joins: tuple[Join, ...], to: Symmetry) -> tuple[Join, ...]:
        renamed = []
        for a, op, b in joins:
            x, y = to[a], to[b]
            renamed.append((x, op, y) if x < y else (y, _FLIPPED[op], x))
        return tuple(sorted(renamed))

    for chosen in combinations(pairs, count):
        for ops in product(operators, repeat=count):
            joins = tuple((a, op, b) for (a, b), op in zip(chosen, ops, strict=True))
            rest = []
            for symmetry in symmetries:
                renamed = rename(joins, symmetry)
                if renamed < joins:
                    break
                if renamed == joins:
                    rest.append(symmetry)
            else:
                yield joins, rest


def _decorate(
    n: int,
    order: tuple[tuple[int, str, int], ...],
    joins: tuple[Join, ...],
    items: list[Item],
    family: Family,
    symmetries: list[Symmetry],
) -> Iterator[Shape]:
    """Every projection and every choice of kinds for the attributes that are used."""
    joined = {item for a, _, b in joins for item in (a, b)}
    for size in range(family.projected + 1):
        for projected in combinations(items, size):
            used = [item for item in items if item in joined or item in projected]
            for kinds in product(family.kinds, repeat=len(used)):
                kind = dict(zip(used, kinds, strict=True))
                looks = {i: (kind.get(i, ""), i in projected) for i in items}
                own = [looks[i] for i in items]
                if all(own <= [looks[s[i]] for i in items] for s in symmetries):
                    yield Shape(n, order, joins, tuple(kind.items()), projected)
