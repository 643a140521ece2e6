"""The answers over the parts of rows that a verdict divides are, together, those over all rows.

Each part is run by the same plans, with the same markers; whatever values go to which part.
"""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.partition.partition import ByAnything, ByKey, NotDivided, Partition
from ontoweir.rewriter.model.spj import Attribute, Compare, Constant, Op, SpjUnion
from ontoweir.rewriter.unfold.check_aggregates import check_aggregates
from tests.oracle.budget import SEEDS, budget
from tests.oracle.divide_rows import divide_case
from tests.oracle.random_queries import STYLES, Case, make_case, split_markers
from tests.oracle.run_kernel import run_plans
from tests.oracle.test_aggregates_against_oracle import make_aggregates, run_groups

PARTS = (2, 4)


def tie(random: Random, case: Case) -> Case:
    """The case with a column of each stream made equal to that of the first, as random conditions
    seldom do; and, of a set, some of these among the answers."""
    (query,) = case.query.disjuncts
    streams = [o.alias for o in query.occurrences if o.table in case.catalog.streams]
    column = random.choice(["a", "b"])
    kinds = {
        type(found.type)
        for o in query.occurrences
        if o.table in case.catalog.streams
        and (found := case.catalog.streams[o.table].column(column)) is not None
    }
    if len(kinds) > 1 or random.random() < 0.2:
        return case
    ties = tuple(
        Compare(Attribute(alias, column), Op.EQ, Attribute(streams[0], column))
        for alias in streams[1:]
        if random.random() < 0.9
    )
    query = replace(query, conditions=(*query.conditions, *ties))
    return replace(case, query=replace(case.query, disjuncts=(query,)))


def branch(random: Random, union: SpjUnion, case: Case) -> SpjUnion:
    """The query as two branches, which overlap in time."""
    stream = next(o for o in union.disjuncts[0].occurrences if o.table in case.catalog.streams)
    stamp = Attribute(stream.alias, "ts")
    pieces = (
        Compare(stamp, Op.LE, Constant(random.randint(2, 6))),
        Compare(stamp, Op.GE, Constant(random.randint(0, 6))),
    )
    branches = (
        replace(query, conditions=(*query.conditions, piece))
        for query in union.disjuncts
        for piece in pieces
    )
    return replace(union, disjuncts=tuple(branches))


def _named(partition: Partition | None) -> str:
    if isinstance(partition, ByKey):
        return f"{len(partition.columns)} divided, {len(partition.whole)} whole"
    return type(partition).__name__


@pytest.mark.parametrize("style", sorted(STYLES))
@budget(0.2)
@given(seed=SEEDS)
def test_parts_answer_what_the_whole_does(style: str, seed: int) -> None:
    random = Random(seed)
    case = tie(random, make_case(random, style=style))
    union = case.query
    if random.random() < 0.3:
        union = branch(random, union, case)
    verdict = check_query(union, case.catalog, disprove=False)
    event(_named(verdict.partition))
    if verdict.partition is None or isinstance(verdict.partition, NotDivided):
        assert (verdict.partition is None) == (not verdict.plans)
        return
    chunks = split_markers(random, case.markers)
    assert verdict.plans
    whole, _ = run_plans(verdict.plans, case.catalog, case.data, chunks)
    for parts in PARTS:
        found: dict[int, Counter[object]] = {}
        for part in divide_case(random, case, verdict.partition, parts):
            answers, sizes = run_plans(verdict.plans, case.catalog, part.data, chunks)
            for marker, rows in answers.items():
                found.setdefault(marker, Counter()).update(rows)
            if verdict.bound is not None and verdict.bound.rows is not None:
                assert max(sizes) <= verdict.bound.rows
        assert found == whole


@pytest.mark.parametrize("style", sorted(STYLES))
@budget(0.12)
@given(seed=SEEDS)
def test_parts_have_the_groups_of_the_whole(style: str, seed: int) -> None:
    random = Random(seed)
    case = tie(random, make_case(random, style=style))
    union = make_aggregates(random, case)
    if random.random() < 0.3:
        union = branch(random, union, case)
    check_aggregates(union, case.catalog)
    verdict = check_query(union, case.catalog, disprove=False)
    event(_named(verdict.partition))
    if verdict.partition is None or isinstance(verdict.partition, NotDivided):
        return
    assert isinstance(verdict.partition, ByKey | ByAnything)
    if any(part.part.once for part in verdict.parts):
        return  # run_groups keeps groups
    chunks = split_markers(random, case.markers)
    _, whole, _ = run_groups(case, union, verdict, chunks)
    for parts in PARTS:
        found: list[Counter[object]] = [Counter() for _ in whole]
        for part in divide_case(random, case, verdict.partition, parts):
            _, updates, _ = run_groups(part, union, verdict, chunks)
            for known, more in zip(found, updates, strict=True):
                known.update(map(str, more))
        assert found == [Counter(map(str, rows)) for rows in whole]
