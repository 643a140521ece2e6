"""The same query, the same verdict: however it is written (metamorphic, over random cases)."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier, Verdict
from ontoweir.mappings.model.catalog import IntType, Stream
from ontoweir.rewriter.algebra.equality_classes import map_condition, map_output
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
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import STYLES, Case, make_case
from tests.oracle.test_aggregates_against_oracle import make_aggregates

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


@pytest.mark.parametrize("change", [other_order, other_names, in_parts, row_twice])
@pytest.mark.parametrize("style", sorted(STYLES))
@budget(0.15)
@given(seed=SEEDS)
def test_same_verdict(style: str, change: Change, seed: int) -> None:
    random = Random(seed)
    case = make_case(random, style=style)
    union = case.query
    if style in ("plain", "typed", "fronts") and random.random() < 0.4:
        union = make_aggregates(random, case)
    changed = change(random, case, union)
    if changed is None:
        return
    one = check_query(union, case.catalog)
    event(one.name)
    check_same(one, check_query(changed, case.catalog))


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
    # a constant may make two occurrences one row: that disjunct is another one
    assert len(verdict.disjuncts) <= 2
    if len(verdict.disjuncts) == 1:
        check_same(verdict, between(range(12)))
