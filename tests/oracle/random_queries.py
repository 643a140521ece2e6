"""Random catalogs, SPJ queries and streams: order graphs of up to four streams.

A *style* says what a case is rich in: fronts of unbounded values, windows, minimum distances,
types other than whole numbers, equal timestamps, or everything a little.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    Column,
    ColumnType,
    DataSource,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    Reference,
    Relation,
    Scalar,
    Stream,
    StringType,
)
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

Rows = list[tuple[Any, ...]]
Tables = dict[str, tuple[list[str], Rows]]

_NOWHERE = DataSource("parquet", None)
R = 3
"""At most R tuples of a stream share a timestamp."""

DAY_ZERO = date(2020, 1, 1)
NAMES = ("ash", "elm", "fir", "oak", "yew")


@dataclass(frozen=True, slots=True)
class Case:
    """A catalog, a query over it, and data: rows of every table; `markers` timestamps 0..n-1.

    `types`: SQL types of columns other than BIGINT, by "table.column".
    """

    catalog: Catalog
    query: SpjUnion
    data: Tables
    markers: int
    types: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Style:
    """What random queries are made of: probabilities, and choices with repeats as weights."""

    name: str
    order: float = 0.55
    equal: float = 0.05
    not_after: float = 0.1
    unequal: float = 0.03
    gap: float = 0.03
    window: float = 0.3
    range: float = 0.35
    domain: float = 0.5
    projected: float = 0.25
    distinct: float = 0.5
    static: float = 0.3
    self_join: float = 0.4
    finite: float = 0.08
    keyed: float = 0.0
    typed: bool = False
    members: tuple[int, ...] = (1, 2, 2, 3, 3, 3, 4)
    joins: tuple[int, ...] = (0, 1, 1, 2, 2, 3)
    operators: tuple[Op, ...] = (Op.EQ, Op.EQ, Op.LT, Op.LE, Op.LT, Op.NE)
    offsets: tuple[int, ...] = (0, 0, 0, 1, -1)


_ORDERED = (Op.LT, Op.LT, Op.LE, Op.GE, Op.GT)
STYLES = {
    style.name: style
    for style in (
        Style("plain"),
        # sets of unbounded inequalities: fronts of one and two values, look-ups of the best
        Style(
            "fronts",
            order=0.5,
            window=0.05,
            range=0.08,
            domain=0.2,
            projected=0.06,
            distinct=0.95,
            static=0.1,
            self_join=0.2,
            members=(2, 3, 3, 4, 4),
            joins=(1, 2, 2, 3, 4),
            operators=_ORDERED,
        ),
        Style(
            "fronts-in-windows",
            order=0.45,
            not_after=0.2,
            window=0.5,
            gap=0.05,
            range=0.15,
            projected=0.08,
            distinct=0.9,
            static=0.1,
            members=(2, 3, 3, 4),
            joins=(1, 2, 2, 3, 4),
            operators=(*_ORDERED, Op.NE),
        ),
        Style("gaps", order=0.15, gap=0.45, window=0.4, joins=(0, 1, 1, 2)),
        Style("typed", typed=True, finite=0.03),
        # equal timestamps merge streams; what is left is ordered loosely
        Style("merged", order=0.25, equal=0.3, not_after=0.2, unequal=0.12, window=0.15),
        # disconnected order graphs: joint synopses, factorised components
        Style("loose", order=0.2, window=0.15, range=0.6, members=(3, 3, 4, 4), unequal=0.08),
        Style(
            "unequal",
            joins=(1, 2, 3),
            operators=(Op.NE, Op.NE, Op.EQ, Op.LT),
            offsets=(0, 1, -1, 2),
            range=0.5,
        ),
        # sets that ask for values that differ: few values of each suffice
        Style(
            "differ",
            order=0.25,
            window=0.15,
            range=0.1,
            domain=0.25,
            projected=0.08,
            distinct=0.95,
            static=0.1,
            members=(2, 2, 3, 3, 4),
            joins=(1, 2, 2, 3, 4),
            operators=(Op.NE, Op.NE, Op.NE, Op.NE, Op.EQ, Op.LT, Op.LE, Op.GT),
        ),
        Style(
            "differ-typed",
            order=0.25,
            window=0.15,
            range=0.1,
            domain=0.25,
            projected=0.08,
            distinct=0.95,
            static=0.1,
            typed=True,
            members=(2, 2, 3, 3),
            joins=(1, 2, 2, 3, 4),
            operators=(Op.NE, Op.NE, Op.NE, Op.EQ),
        ),
        # keys over the whole stream, with and without references: finitely many rows, one row
        Style("keyed", keyed=0.8, range=0.15, domain=0.6, window=0.1),
        Style("keyed-sets", keyed=0.8, range=0.1, window=0.05, distinct=1.0, projected=0.5),
    )
}


_MIXED = (
    "fronts",
    "fronts-in-windows",
    "gaps",
    "loose",
    "merged",
    "plain",
    "typed",
    "unequal",
)
"""What a case without a style is made of."""


def make_catalog(random: Random, streams: int, style: Style = STYLES["plain"]) -> Catalog:
    """Streams s0… with columns a, b (b often declared in 0..2), and a relation r(k, v)."""
    made = {}
    kinds: list[ColumnType] = [IntType(), DecimalType(6, 1), DecimalType(8, 2), FloatType()]
    for i in range(streams):
        column_a: ColumnType = IntType()
        if style.typed:
            column_a = random.choice(kinds)
        column_b = _second_column(random, style)
        referring = isinstance(column_a, IntType) and random.random() < 0.2
        keyed = style.keyed > 0 and random.random() < style.keyed
        if keyed and isinstance(column_a, IntType):
            referring = random.random() < 0.5
        references = (Reference(("a",), "r", ("k",)),) if referring else ()
        keys = _keys(random) if keyed else ()
        made[f"s{i}"] = Stream(
            f"s{i}", _NOWHERE, "ts", 1, R, (Column("a", column_a), column_b), keys, references
        )
    kind_v: ColumnType = DecimalType(6, 1) if style.typed and random.random() < 0.4 else IntType()
    relation = Relation(
        "r", _NOWHERE, (Column("k", IntType()), Column("v", kind_v)), (("k",),), (), 4
    )
    return Catalog(made, {"r": relation})


def _keys(random: Random) -> tuple[tuple[str, ...], ...]:
    """Keys of a stream, most of them without the timestamp."""
    choices = [("a",), ("a",), ("b",), ("a", "b"), ("b", "a"), ("a", "ts"), ("ts", "b")]
    return tuple(dict.fromkeys(random.choice(choices) for _ in range(random.choice([1, 1, 2]))))


def _second_column(random: Random, style: Style) -> Column:
    bounded = random.random() < style.domain
    if style.typed:
        match random.randrange(6):
            case 0:
                return Column("b", StringType(), enum=NAMES[:3] if bounded else None)
            case 1:
                return Column("b", StringType())
            case 2:
                least, most = (Decimal("0.5"), Decimal("2.0")) if bounded else (None, None)
                return Column("b", DecimalType(6, 1), least, most)
            case 3:
                days = (day(0), day(2)) if bounded else (None, None)
                return Column("b", DateType(), *days)
            case 4:
                return Column("b", BooleanType())
            case _:
                return Column("b", IntType(), enum=(0, 1, 3) if bounded else None)
    return Column("b", IntType(), 0 if bounded else None, 2 if bounded else None)


def day(number: int) -> str:
    """An ISO date."""
    return (DAY_ZERO + timedelta(days=number)).isoformat()


def _kind(catalog: Catalog, table: str, column: str) -> ColumnType:
    found = catalog.table(table).column(column)
    assert found is not None
    return found.type


def _comparable(one: ColumnType, other: ColumnType) -> bool:
    numbers = (IntType, DecimalType, FloatType)
    if isinstance(one, numbers) and isinstance(other, numbers):
        return True
    return type(one) is type(other)


def _constant(random: Random, kind: ColumnType, number: int) -> Scalar:
    match kind:
        case DecimalType():
            return number if random.random() < 0.5 else Decimal(number) + Decimal("0.5")
        case FloatType():
            return number if random.random() < 0.5 else number + 0.5
        case StringType():
            return NAMES[number % len(NAMES)]
        case DateType():
            return day(number)
        case BooleanType():
            return number % 2 == 1
        case _:
            return number


def make_query(
    random: Random,
    catalog: Catalog,
    *,
    self_joins: bool = True,
    style: Style = STYLES["plain"],
) -> SpjUnion:
    """A random query over the catalog's streams."""
    names = sorted(catalog.streams)
    count = random.choice(style.members)
    chosen = (
        [random.choice(names) for _ in range(count)]
        if self_joins and random.random() < style.self_join
        else names[: min(count, len(names))]
    )
    occurrences = [Occurrence(f"x{i}", name) for i, name in enumerate(chosen)]
    n = len(occurrences)
    conditions: list[Condition] = []
    for i in range(1, n):
        for j in range(i):
            conditions.extend(_times(random, style, f"x{j}", f"x{i}"))
    if random.random() < style.finite:
        limit = random.randint(2, 5)
        conditions.append(Compare(Attribute("x0", "ts"), Op.LE, Constant(limit)))
    if random.random() < 0.04:
        conditions.append(
            Compare(Attribute(f"x{n - 1}", "ts"), Op.GE, Constant(random.randint(1, 3)))
        )
    attributes = [Attribute(o.alias, c) for o in occurrences for c in ("a", "b")]
    kinds = {
        a: _kind(catalog, o.table, a.column)
        for o in occurrences
        for a in attributes
        if a.alias == o.alias
    }
    if random.random() < style.static:
        tied = [a for a in attributes if _comparable(kinds[a], IntType())]
        if tied:
            occurrences.append(Occurrence("st", "r"))
            conditions.append(Compare(random.choice(tied), Op.EQ, Attribute("st", "k")))
            attributes.append(Attribute("st", "v"))
            kinds[Attribute("st", "v")] = _kind(catalog, "r", "v")
    for attribute in attributes:
        conditions.extend(_filters(random, style, attribute, kinds[attribute]))
    for _ in range(random.choice(style.joins)):
        x, y = random.choice(attributes), random.choice(attributes)
        if x == y or not _comparable(kinds[x], kinds[y]):
            continue
        op, offset = random.choice(style.operators), random.choice(style.offsets)
        if isinstance(kinds[x], StringType | BooleanType):
            op, offset = random.choice([Op.EQ, Op.EQ, Op.NE]), 0
        if isinstance(kinds[x], DateType):
            offset = 0
        shift: int | Decimal = offset
        if offset and isinstance(kinds[x], DecimalType) and random.random() < 0.5:
            shift = Decimal(offset) / 2
        conditions.append(Compare(x, op, y, shift))
    projected = [a for a in attributes if random.random() < style.projected]
    conditions.extend(NotNull(a) for a in projected)
    outputs = tuple((f"v{i}", LiteralOutput(a)) for i, a in enumerate(projected))
    query = SpjQuery(tuple(occurrences), tuple(conditions), outputs)
    distinct = random.random() < style.distinct
    return SpjUnion("random", tuple(v for v, _ in outputs), (query,), distinct=distinct)


def _times(random: Random, style: Style, before: str, after: str) -> list[Condition]:
    """How the timestamps of two occurrences are related, if they are."""
    left, right = Attribute(before, "ts"), Attribute(after, "ts")
    if random.random() < 0.08:
        left, right = right, left
    found: list[Condition] = []
    kind = random.random()
    limits = [style.order - style.not_after, style.not_after, style.equal, style.unequal, style.gap]
    edges = [sum(limits[: i + 1]) for i in range(len(limits))]
    if kind < edges[0]:
        found.append(Compare(left, Op.LT, right))
    elif kind < edges[1]:
        found.append(Compare(left, Op.LE, right))
    elif kind < edges[2]:
        found.append(Compare(left, Op.EQ, right, random.choice([0, 0, 0, -1, -2])))
    elif kind < edges[3]:
        found.append(Compare(left, Op.NE, right, random.choice([0, 0, 1, -2])))
    elif kind < edges[4]:
        found.append(Compare(right, Op.GE, left, random.randint(1, 3)))
    if kind < edges[2] and random.random() < style.window:
        found.append(Compare(right, Op.LE, left, random.randint(1, 4)))
    elif kind >= edges[3] and random.random() < style.window:
        found.append(Compare(right, Op.LE, left, random.randint(3, 6)))
    elif random.random() < 0.1:
        found.append(Compare(right, Op.LE, left, random.randint(0, 3)))
        found.append(Compare(left, Op.LE, right, random.randint(0, 3)))
    return found


def _filters(
    random: Random, style: Style, attribute: Attribute, kind: ColumnType
) -> list[Condition]:
    """Comparisons of an attribute with constants."""
    if random.random() < style.range:
        if isinstance(kind, StringType | BooleanType):
            return [Compare(attribute, Op.EQ, Constant(_constant(random, kind, 1)))]
        low = random.randint(0, 2)
        high = low + random.randint(0, 3)
        return [
            Compare(attribute, Op.GE, Constant(_constant(random, kind, low))),
            Compare(attribute, Op.LE, Constant(_constant(random, kind, high))),
        ]
    if random.random() < 0.2:
        op = random.choice([Op.LE, Op.GE, Op.GT, Op.NE, Op.EQ])
        if isinstance(kind, BooleanType):
            op = Op.NE
        return [Compare(attribute, op, Constant(_constant(random, kind, random.randint(0, 4))))]
    return []


def make_data(
    random: Random, catalog: Catalog, markers: int, *, wide: int = 6, least: int = 0
) -> Tables:
    """Tuples that satisfy the declared domains and references; some NULLs (and NaNs).

    Values without a domain are among `wide` whole numbers from `least` on.
    """
    data: Tables = {}
    keys = random.sample(range(wide), k=min(4, wide))
    kind_v = _kind(catalog, "r", "v")
    data["r"] = (
        ["k", "v"],
        [
            (k, Decimal(v) / 2 if isinstance(kind_v, DecimalType) else v)
            for k, v in ((k, random.randint(0, 3)) for k in keys)
        ],
    )
    for name, stream in catalog.streams.items():
        rows: Rows = []
        for ts in range(markers):
            for _ in range(random.choice([0, 1, 1, 2, R])):
                a: Any = (
                    random.choice(keys)
                    if stream.references
                    else _content(random, stream.columns[0], wide, least)
                )
                b = _content(random, stream.columns[1], wide, least)
                if random.random() < 0.05:
                    a = float("nan") if isinstance(stream.columns[0].type, FloatType) else None
                if random.random() < 0.02:
                    b = None
                rows.append((a, b, ts))
        data[name] = (["a", "b", "ts"], _keyed_rows(stream, rows))
    return data


def _keyed_rows(stream: Stream, rows: Rows) -> Rows:
    """The rows that keep the stream's keys: those without the timestamp over all of it, and
    without NULL there."""
    kept: Rows = []
    seen: set[tuple[Any, ...]] = set()
    place = {"a": 0, "b": 1, "ts": 2}
    for row in rows:
        values = [(key, *(row[place[c]] for c in key)) for key in stream.keys]
        if any(v in seen for v in values):
            continue
        if any(None in v and "ts" not in v[0] for v in values):
            continue
        seen.update(v for v in values if None not in v)
        kept.append(row)
    return kept


def _content(random: Random, column: Column, wide: int, least: int) -> Any:
    if column.enum is not None:
        return random.choice(column.enum)
    bounded = column.minimum is not None
    match column.type:
        case DecimalType():
            halves = random.randint(1, 4) if bounded else 2 * least + random.randrange(2 * wide)
            return Decimal(halves) / 2
        case FloatType():
            return least + random.randrange(2 * wide) / 2
        case StringType():
            return random.choice(NAMES)
        case DateType():
            return DAY_ZERO + timedelta(days=random.randrange(3 if bounded else wide))
        case BooleanType():
            return random.random() < 0.5
        case _:
            return random.randrange(3) if bounded else least + random.randrange(wide)


_SQL = {
    DecimalType: "DECIMAL(18,3)",
    FloatType: "DOUBLE",
    StringType: "VARCHAR",
    DateType: "DATE",
    BooleanType: "BOOLEAN",
}


def sql_types(catalog: Catalog) -> dict[str, str]:
    """The SQL types of columns that are not whole numbers."""
    tables: list[Stream | Relation] = [*catalog.streams.values(), *catalog.relations.values()]
    return {
        f"{table.name}.{column.name}": _SQL[type(column.type)]
        for table in tables
        for column in table.columns
        if type(column.type) in _SQL
    }


def make_case(
    random: Random,
    *,
    markers: int = 8,
    self_joins: bool = True,
    style: str | None = None,
    wide: int = 6,
) -> Case:
    """A random catalog, query and data, in a random style unless one is given."""
    chosen = STYLES[style or random.choice(_MIXED)]
    catalog = make_catalog(random, 4, chosen)
    query = make_query(random, catalog, self_joins=self_joins, style=chosen)
    data = make_data(random, catalog, markers, wide=wide, least=random.choice([0, 0, -2]))
    return Case(catalog, query, data, markers, sql_types(catalog))


def split_markers(random: Random, markers: int) -> Sequence[tuple[int, int]]:
    """Random chunks (first, last) of the markers 0..markers-1."""
    cuts, start = [], 0
    while start < markers:
        stop = min(markers - 1, start + random.choice([0, 0, 1, 2, 5]))
        cuts.append((start, stop))
        start = stop + 1
    return cuts
