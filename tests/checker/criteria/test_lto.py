"""Deciding directly against deciding every LTO query that [S] preprocessing derives (theory §3)."""

from itertools import islice
from random import Random

import pytest
from hypothesis import event, given

from ontoweir.checker.criteria.decide_lag import decide_lag
from ontoweir.checker.criteria.decide_published import decide_tree
from ontoweir.checker.criteria.derive_lto import derive_lto
from ontoweir.checker.model.normal_form import Kind, NormalForm
from ontoweir.checker.normalise.drop_windows import drop_windows
from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.checker.normalise.split_times import split_times
from ontoweir.checker.split.split_ranges import split_ranges
from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, IntType, Stream
from ontoweir.rewriter.model.spj import Attribute, Compare, Constant, LiteralOutput, Occurrence, Op
from ontoweir.rewriter.model.spj import SpjQuery as Query
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import make_case

_MAX_DERIVED = 400
"""At most so many LTO queries of one disjunct are decided."""

_CATALOG = Catalog(
    {
        name: Stream(
            name,
            DataSource("parquet", None),
            "ts",
            1,
            3,
            (Column("a", IntType()), Column("b", IntType())),
        )
        for name in ("s", "t", "u")
    }
)


def _make_small(random: Random) -> Query:
    """Two or three streams, few attributes, at most one constant: few LTO queries."""
    names = ["s", "t", "u"][: random.choice([2, 2, 3])]
    attributes = [Attribute(n, c) for n in names for c in ("a", "b")]
    mentioned = random.sample(attributes, k=random.randint(1, 4))
    conditions = []
    for i, later in enumerate(names):
        for earlier in names[:i]:
            if random.random() < 0.6:
                op = random.choice([Op.LT, Op.LT, Op.LE, Op.EQ, Op.NE])
                conditions.append(Compare(Attribute(earlier, "ts"), op, Attribute(later, "ts")))
    constant = Constant(random.randint(0, 3))
    for _ in range(random.randint(0, 2)):
        op = random.choice([Op.LT, Op.GT, Op.EQ, Op.GE])
        conditions.append(Compare(random.choice(mentioned), op, constant))
    for _ in range(random.randint(1, 2)):
        x, y = random.choice(mentioned), random.choice(mentioned)
        if x != y:
            op = random.choice([Op.EQ, Op.LT, Op.LE, Op.LT])
            conditions.append(Compare(x, op, y))
    outputs = tuple(
        (f"v{i}", LiteralOutput(a)) for i, a in enumerate(mentioned) if random.random() < 0.3
    )
    return Query(tuple(Occurrence(n, n) for n in names), tuple(conditions), outputs)


def _make_ranged(random: Random) -> Query:
    """One or two attributes of two or three streams, compared with up to two constants on either
    side and with each other: comparisons that only a constant's region leaves open."""
    names = ["s", "t", "u"][: random.choice([2, 2, 3])]
    columns = [Attribute(n, c) for n in names for c in ("a", "b")]
    mentioned = random.sample(columns, k=random.randint(2, 4))
    constants = [Constant(v) for v in random.sample(range(4), k=random.choice([1, 1, 2]))]
    conditions = []
    for later, earlier in zip(names[1:], names, strict=False):
        if random.random() < 0.4:
            conditions.append(Compare(Attribute(earlier, "ts"), Op.LT, Attribute(later, "ts")))
    for attribute in mentioned:
        if random.random() < 0.6:
            op = random.choice([Op.LE, Op.GE, Op.LT, Op.GT])
            conditions.append(Compare(attribute, op, random.choice(constants)))
    for _ in range(random.randint(1, 3)):
        x, y = random.sample(mentioned, k=2)
        conditions.append(Compare(x, random.choice([Op.LT, Op.LE, Op.LT, Op.EQ]), y))
    return Query(tuple(Occurrence(n, n) for n in names), tuple(conditions), ())


def _normal(query: Query, *, distinct: bool) -> NormalForm:
    return normalise_query(query, distinct=distinct, catalog=_CATALOG)


def _all_hold(form: NormalForm) -> bool | None:
    """Whether the lag criterion holds for every derived LTO query (None: there are too many)."""
    derived = list(islice(derive_lto(form), _MAX_DERIVED + 1))
    if len(derived) > _MAX_DERIVED:
        return None
    decided = [_normal(lto.query(_CATALOG), distinct=form.distinct) for lto in derived]
    assert all(f.satisfiable for f in decided)
    return all(decide_lag(f).holds for f in decided)


@budget(2.5)
@given(seed=SEEDS)
def test_direct_decision_equals_that_of_all_lto_queries_for_bags(seed: int) -> None:
    form = _normal(_make_small(Random(seed)), distinct=False)
    if not form.satisfiable:
        return
    expected = _all_hold(form)
    event(f"all LTO queries hold: {expected}")
    if expected is not None:
        assert decide_lag(form).holds == expected


@budget(2.5)
@given(seed=SEEDS)
def test_direct_decision_equals_that_of_all_lto_queries_for_sets(seed: int) -> None:
    form = _normal(_make_small(Random(seed)), distinct=True)
    if not form.satisfiable:
        return
    expected = _all_hold(form)
    event(f"all LTO queries hold: {expected}")
    if expected is not None:
        assert decide_lag(form).holds == expected


@pytest.mark.parametrize("distinct", [False, True])
@budget(2.5)
@given(seed=SEEDS)
def test_direct_decision_equals_that_of_all_lto_queries_with_constants(
    distinct: bool, seed: int
) -> None:
    """Sets are split at constants where that is what it takes."""
    query = _make_ranged(Random(seed))
    form = _normal(query, distinct=distinct)
    if not form.satisfiable:
        return
    expected = _all_hold(form)
    parts: tuple[Query, ...] = (query,)
    if distinct:
        parts = split_ranges(query, lambda q: _normal(q, distinct=True))
    event(f"all LTO queries hold: {expected}, parts: {len(parts)}")
    if expected is not None:
        assert all(decide_lag(_normal(q, distinct=distinct)).holds for q in parts) == expected


@budget(5.0)
@given(seed=SEEDS)
def test_theorem_1_implies_the_lag_criterion(seed: int) -> None:
    """Strings and floats aside, where no plan keeps what must only differ (see cases)."""
    case = make_case(Random(seed))
    query = case.query.disjuncts[0]
    form = normalise_query(query, distinct=False, catalog=case.catalog)
    ordered = normalise_query(
        drop_windows(query, case.catalog), distinct=False, catalog=case.catalog
    )
    if not form.satisfiable or (
        form.disequalities and {Kind.STRING, Kind.FLOAT} & {c.kind for c in form.classes}
    ):
        return
    tree = decide_tree(ordered, split_times(ordered))
    if tree.failed == ("orders",):
        return
    event(f"[S] Th. 1 holds: {tree.holds}")
    if tree.holds:
        assert decide_lag(form).holds


def test_lto_queries_of_a_cross_product() -> None:
    """s.a against the constant 3 (below, equal, above): three LTO queries."""
    query = Query(
        (Occurrence("s", "s"), Occurrence("t", "t")),
        (
            Compare(Attribute("s", "ts"), Op.LT, Attribute("t", "ts")),
            Compare(Attribute("s", "a"), Op.LT, Attribute("t", "b")),
            Compare(Attribute("t", "b"), Op.GT, Constant(3)),
        ),
        (),
    )
    found = {str(lto) for lto in derive_lto(_normal(query, distinct=False))}
    assert len(found) == 3
    assert all("s.t < t.t" in text for text in found)
