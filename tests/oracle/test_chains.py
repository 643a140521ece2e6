"""Chains of comparisons over one stream, as values that differ (unorder_chains)."""

from dataclasses import replace
from itertools import pairwise
from random import Random

from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.normalise.relax_chains import relax_chains
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
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case, make_case, split_markers
from tests.oracle.test_kernel_against_oracle import _check_run, _one_by_one, _oracle
from tests.oracle.test_witness_against_oracle import check_witness


def make_chain(random: Random) -> Case:
    """x0.a < x1.a < …, over one stream, with conditions that may tell the occurrences apart."""
    case = make_case(random, style=random.choice(["plain", "differ"]))
    size = random.choice([3, 3, 4])
    names = [f"x{n}" for n in range(size)]
    order = random.sample(names, size)
    conditions: list[Condition] = []
    for low, high in pairwise(order):
        a, b = Attribute(low, "a"), Attribute(high, "a")
        conditions.append(random.choice([Compare(a, Op.LT, b), Compare(b, Op.GT, a)]))
    if random.random() < 0.3:
        low, high = order[0], order[-1]
        conditions.append(Compare(Attribute(low, "a"), Op.LT, Attribute(high, "a")))
    extra = random.random()
    if extra < 0.5:  # of all, or of all but one
        left_out = random.choice([None, None, *names])
        limit = Constant(random.randint(0, 2))
        conditions += [Compare(Attribute(n, "b"), Op.LE, limit) for n in names if n != left_out]
    elif extra < 0.8:
        some = names if random.random() < 0.7 else names[1:]
        conditions += [Compare(Attribute(some[0], "b"), Op.EQ, Attribute(n, "b")) for n in some[1:]]
    outputs: tuple[tuple[str, LiteralOutput], ...] = ()
    if random.random() < 0.4:
        shown = Attribute(random.choice(names), "b")
        outputs = (("v0", LiteralOutput(shown)),)
        conditions.append(NotNull(shown))
    if random.random() < 0.2:
        conditions.append(Compare(Attribute("x0", "ts"), Op.LT, Attribute("x1", "ts")))
    random.shuffle(conditions)
    query = SpjQuery(tuple(Occurrence(n, "s0") for n in names), tuple(conditions), outputs)
    union = SpjUnion("chain", tuple(v for v, _ in outputs), (query,), distinct=True)
    return replace(case, query=union)


@budget(0.4)
@given(seed=SEEDS)
def test_chains_equal_oracle(seed: int) -> None:
    random = Random(seed)
    case = make_chain(random)
    query = case.query.disjuncts[0]
    changed = relax_chains(query, case.catalog) != query
    verdict = check_query(case.query, case.catalog)
    event(f"{verdict.tier}, {'changed' if changed else 'as it was'}")
    if verdict.witness is not None:
        check_witness(case, verdict.witness)
    if not verdict.plans:
        return
    expected = _oracle(case)
    one = _check_run(case, verdict.plans, _one_by_one(case), expected)
    assert one == _check_run(case, verdict.plans, split_markers(random, case.markers), expected)
