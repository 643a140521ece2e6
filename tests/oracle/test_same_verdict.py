"""The same query, the same verdict: however it is written (metamorphic, over random cases)."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from random import Random

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier, Verdict
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    Column,
    DataSource,
    IntType,
    Stream,
    StringType,
)
from ontoweir.rewriter.algebra.equality_classes import Types, map_condition, map_output
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Constant,
    NotNull,
    Occurrence,
    Op,
    SpjQuery,
    SpjUnion,
)
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import STYLES, Case, make_case
from tests.oracle.test_aggregates_against_oracle import make_aggregates

NOWHERE = DataSource("parquet", None)
Change = Callable[[Random, Case, SpjUnion], SpjUnion | None]
"""The same query, written otherwise; None: it cannot be written so."""


def other_order(random: Random, case: Case, union: SpjUnion) -> SpjUnion:
    """FROM and WHERE in another order, sides exchanged."""

    def shuffle(query: SpjQuery) -> SpjQuery:
        occurrences, conditions = list(query.occurrences), list(query.conditions)
        random.shuffle(occurrences)
        random.shuffle(conditions)
        return replace(
            query,
            occurrences=tuple(occurrences),
            conditions=tuple(_flip(c) if random.random() < 0.5 else c for c in conditions),
        )

    return replace(union, disjuncts=tuple(map(shuffle, union.disjuncts)))


def _flip(c: Condition) -> Condition:
    if not isinstance(c, Compare) or not isinstance(c.right, Attribute):
        return c
    return Compare(c.right, c.op.flipped(), c.left, -c.offset)


def other_names(random: Random, case: Case, union: SpjUnion) -> SpjUnion:
    """Other aliases, in another order of the alphabet."""

    def rename(query: SpjQuery) -> SpjQuery:
        names = [o.alias for o in query.occurrences]
        fresh = [f"y{n}" for n in range(len(names))]
        random.shuffle(fresh)
        new = dict(zip(names, fresh, strict=True))

        def move(a: Attribute) -> Attribute:
            return Attribute(new[a.alias], a.column)

        folds = query.folds
        assert folds is None
        return SpjQuery(
            tuple(Occurrence(new[o.alias], o.table) for o in query.occurrences),
            tuple(map_condition(c, move) for c in query.conditions),
            tuple((n, map_output(o, move)) for n, o in query.outputs),
        )

    return replace(union, disjuncts=tuple(map(rename, union.disjuncts)))


_PARTS = {
    Op.LE: (Op.LT, Op.EQ),
    Op.GE: (Op.GT, Op.EQ),
    Op.NE: (Op.LT, Op.GT),
}


def in_parts(random: Random, case: Case, union: SpjUnion) -> SpjUnion | None:
    """`a <= b` as `a < b` or `a = b`, which exclude each other."""
    query = union.disjuncts[0]
    places = [
        n for n, c in enumerate(query.conditions) if isinstance(c, Compare) and c.op in _PARTS
    ]
    if len(union.disjuncts) > 1 or not places:
        return None
    place = random.choice(places)
    chosen = query.conditions[place]
    assert isinstance(chosen, Compare)
    parts = []
    for op in _PARTS[chosen.op]:
        conditions = list(query.conditions)
        conditions[place] = replace(chosen, op=op)
        parts.append(replace(query, conditions=tuple(conditions)))
    return replace(union, disjuncts=tuple(parts))


_LIMITS = {
    Op.EQ: (Op.LE, Op.GE),
    Op.LT: (Op.LE, Op.NE),
    Op.GT: (Op.GE, Op.NE),
}


def in_limits(random: Random, case: Case, union: SpjUnion) -> SpjUnion | None:
    """`a = b` as `a <= b AND a >= b`, `a < b` as `a <= b AND a <> b`."""

    def rewrite(query: SpjQuery) -> SpjQuery:
        types = Types(case.catalog, query.occurrences)
        conditions: list[Condition] = []
        for c in query.conditions:
            if not isinstance(c, Compare) or c.op not in _LIMITS or random.random() < 0.3:
                conditions.append(c)
                continue
            if isinstance(types.type_of(c.left), StringType | BooleanType):
                conditions.append(c)
                continue
            both = [replace(c, op=op) for op in _LIMITS[c.op]]
            conditions += [_flip(one) if random.random() < 0.5 else one for one in both]
        random.shuffle(conditions)
        return replace(query, conditions=tuple(conditions))

    return replace(union, disjuncts=tuple(map(rewrite, union.disjuncts)))


def in_circles(random: Random, case: Case, union: SpjUnion) -> SpjUnion | None:
    """`a = b` of whole numbers as `a < b + 1 AND a > b - 1`, and `a = 2` as `a < 3 AND a > 1`."""

    def rewrite(query: SpjQuery) -> SpjQuery:
        types = Types(case.catalog, query.occurrences)
        conditions: list[Condition] = []
        for c in query.conditions:
            if not isinstance(c, Compare) or c.op is not Op.EQ or random.random() < 0.3:
                conditions.append(c)
                continue
            sides = [c.left, *([c.right] if isinstance(c.right, Attribute) else [])]
            whole = all(isinstance(types.type_of(a), IntType) for a in sides)
            if not whole or isinstance(c.offset, Decimal):
                conditions.append(c)
            elif isinstance(c.right, Attribute):
                conditions.append(replace(c, op=Op.LT, offset=c.offset + 1))
                conditions.append(_flip(replace(c, op=Op.GT, offset=c.offset - 1)))
            else:
                assert isinstance(c.right.value, int)
                conditions.append(replace(c, op=Op.LT, right=Constant(c.right.value + 1)))
                conditions.append(replace(c, op=Op.GT, right=Constant(c.right.value - 1)))
        return replace(query, conditions=tuple(conditions))

    return replace(union, disjuncts=tuple(map(rewrite, union.disjuncts)))


def whole_and_parts(random: Random, case: Case, union: SpjUnion) -> SpjUnion | None:
    """NOT NULL of two numbers as `a < b`, `a = b` or `a > b`."""
    query = union.disjuncts[0]
    numbers = [
        Attribute(o.alias, c.name)
        for o in query.occurrences
        for c in case.catalog.table(o.table).columns
        if isinstance(c.type, IntType)
    ]
    if len(union.disjuncts) > 1 or len(numbers) < 2:
        return None
    a, b = random.sample(numbers, 2)
    if a.alias == b.alias:
        return None
    parts = tuple(
        replace(query, conditions=(*query.conditions, Compare(a, op, b)))
        for op in (Op.LT, Op.EQ, Op.GT)
    )
    return replace(union, disjuncts=parts)


def _known(union: SpjUnion, changed: SpjUnion) -> SpjUnion:
    """The plain form of whole_and_parts."""
    last = changed.disjuncts[0].conditions[-1]
    assert isinstance(last, Compare)
    assert isinstance(last.right, Attribute)
    query = union.disjuncts[0]
    more = (NotNull(last.left), NotNull(last.right))
    return replace(union, disjuncts=(replace(query, conditions=(*query.conditions, *more)),))


def row_twice(random: Random, case: Case, union: SpjUnion) -> SpjUnion | None:
    """An occurrence joined with itself on a key: the same row."""
    query = union.disjuncts[0]
    choices = [
        (o, key)
        for o in query.occurrences
        for key in case.catalog.table(o.table).keys
        if all(Attribute(o.alias, c) in _mentioned(query) or c == "ts" for c in key)
    ]
    if len(union.disjuncts) > 1 or not choices:
        return None
    one, key = random.choice(choices)
    ties = tuple(Compare(Attribute(one.alias, c), Op.EQ, Attribute("again", c)) for c in key)
    return replace(
        union,
        disjuncts=(
            replace(
                query,
                occurrences=(*query.occurrences, Occurrence("again", one.table)),
                conditions=(*query.conditions, *ties),
            ),
        ),
    )


def _mentioned(query: SpjQuery) -> set[Attribute]:
    found = set()
    for c in query.conditions:
        if isinstance(c, Compare):
            found |= {c.left} | ({c.right} if isinstance(c.right, Attribute) else set())
        elif isinstance(c, NotNull):
            found.add(c.attribute)
    return found


def check_same(one: Verdict, other: Verdict) -> None:
    """Assert that two verdicts say the same, with bounds of one order of magnitude."""
    names = {one.name, other.name}
    # that two occurrences are one row by a key over the whole stream rests on that key
    keyed = any(d.kind == "key" for v in (one, other) for d in v.conditions)
    assert len(names) == 1 or (keyed and names == {"bounded", "conditionally-bounded"})
    if one.bound is not None and other.bound is not None:
        first, second = one.bound.rows, other.bound.rows
        assert (first is None) == (second is None)
        if first is not None and second is not None:
            assert max(first, second) <= 10 * max(min(first, second), 1)


CHANGES: tuple[Change, ...] = (
    other_order,
    other_names,
    in_parts,
    in_limits,
    in_circles,
    row_twice,
)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("style", sorted(STYLES))
@budget(0.1)
@given(seed=SEEDS)
def test_same_verdict(style: str, change: Change, seed: int) -> None:
    verdict = compare(style, change, seed)
    if verdict is not None:
        event(verdict.name)


def compare(style: str, change: Change, seed: int) -> Verdict | None:
    """Assert that a random query has the verdict of the same query written otherwise."""
    random = Random(seed)
    case = make_case(random, style=style)
    union = case.query
    if style in ("plain", "typed", "fronts", "keyed") and random.random() < 0.4:
        union = make_aggregates(random, case)
    changed = change(random, case, union)
    if changed is None:
        return None
    one = check_query(union, case.catalog)
    check_same(one, check_query(changed, case.catalog))
    return one


@pytest.mark.parametrize("style", ["plain", "fronts", "differ", "keyed"])
@budget(0.15)
@given(seed=SEEDS)
def test_a_tautology_says_that_values_are_there(style: str, seed: int) -> None:
    random = Random(seed)
    case = make_case(random, style=style)
    changed = whole_and_parts(random, case, case.query)
    if changed is None:
        return
    plain = _known(case.query, changed)
    check_same(check_query(plain, case.catalog), check_query(changed, case.catalog))


@budget(0.4)
@given(seed=SEEDS)
def test_a_list_of_constants_is_one_condition(seed: int) -> None:
    """`a IN (…)` as the ORs it stands for: one plan, whose bound does not grow with the list."""
    random = Random(seed)
    case = make_case(random, style=random.choice(["plain", "fronts", "keyed"]))
    query = case.query.disjuncts[0]
    streams = [o for o in query.occurrences if o.table in case.catalog.streams]
    one = random.choice(streams)
    stream = case.catalog.table(one.table)
    assert isinstance(stream, Stream)
    if not isinstance(stream.columns[0].type, IntType):
        return
    attribute = Attribute(one.alias, "a")

    def listed(values: range) -> Verdict:
        parts = tuple(
            replace(
                query,
                conditions=(*query.conditions, Compare(attribute, Op.EQ, Constant(v))),
            )
            for v in values
        )
        return check_query(replace(case.query, disjuncts=parts), case.catalog)

    def between(values: range) -> Verdict:
        limits = (
            Compare(attribute, Op.GE, Constant(values.start)),
            Compare(attribute, Op.LT, Constant(values.stop)),
        )
        whole = replace(query, conditions=(*query.conditions, *limits))
        return check_query(replace(case.query, disjuncts=(whole,)), case.catalog)

    verdict = listed(range(12))
    if verdict.tier is Tier.UNSATISFIABLE:
        return  # each for a reason of its own
    # a constant may make two occurrences one row, or settle what a value is compared with: that
    # disjunct is another one
    compared = [c for c in query.conditions if isinstance(c, Compare) and c.op is not Op.EQ]
    alone = all(isinstance(c.right, Constant) for c in compared if attribute in (c.left, c.right))
    assert len(verdict.disjuncts) <= (2 if alone else 12)
    if len(verdict.disjuncts) == 1:
        check_same(verdict, between(range(12)))


@pytest.mark.parametrize(
    "where",
    [
        "s.a <= t.a AND s.a >= t.a",
        "NOT (s.a <> t.a)",
        "s.a BETWEEN t.a AND t.a",
        "NOT (s.a < t.a OR s.a > t.a)",
        "s.a < t.a + 1 AND t.a < s.a + 1",
        "s.a <= t.b AND t.b <= t.a AND t.a <= s.a AND s.a = t.b",
    ],
)
@pytest.mark.parametrize(
    "select",
    [
        "SELECT 1 AS one FROM s, t WHERE s.ts < t.ts AND {}",
        "SELECT DISTINCT s.a FROM s, t WHERE s.ts = t.ts AND {}",
        "SELECT t.b, COUNT(*) AS n FROM s, t WHERE s.ts = t.ts AND {} GROUP BY t.b",
        "SELECT s.b FROM s, s t WHERE {}",
        "SELECT s.a, COUNT(*) AS n FROM s, t WHERE (t.a <> 6 OR s.a < 4) AND {} GROUP BY s.a",
    ],
)
def test_equal_in_sql(select: str, where: str) -> None:
    columns = (Column("a", IntType()), Column("b", IntType()))
    streams = {n: Stream(n, NOWHERE, "ts", 1, 3, columns, keys=(("a",),)) for n in ("s", "t")}
    catalog = Catalog(streams)
    plain, other = (
        check_query(parse_sql(select.format(w), catalog, name="q", file="q.sql"), catalog)
        for w in ("s.a = t.a" + (" AND t.a = t.b" if "t.b <=" in where else ""), where)
    )
    assert (plain.name, plain.conditions) == (other.name, other.conditions)
    assert (plain.bound and plain.bound.rows) == (other.bound and other.bound.rows)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(DISTINCT y.id) AS n FROM {} WHERE y.id = x.r",
        "SELECT DISTINCT y.id, x.id, x.r FROM {} WHERE y.a = x.r AND y.id = x.id AND x.a >= 2",
    ],
)
def test_a_witness_is_found_in_any_order(sql: str) -> None:
    columns = tuple(Column(name, IntType()) for name in ("id", "r", "a"))
    catalog = Catalog({"u": Stream("u", NOWHERE, "ts", 1, 3, columns, keys=(("id", "r"),))})
    one, other = (
        check_query(parse_sql(sql.format(order), catalog, name="q", file="q.sql"), catalog)
        for order in ("u x, u y", "u y, u x")
    )
    assert one.name == other.name == "unbounded"
