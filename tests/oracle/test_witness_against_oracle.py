"""Witnesses of unbounded memory (theory §9), confirmed by DuckDB and by hand-written rules."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

from hypothesis import event, given

from ontoweir.checker.criteria.decide_lag import decide_lag
from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.model.criterion import Failure
from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.checker.plans.make_plan import make_plan
from ontoweir.checker.split.split_aggregates import AggregatePart, split_aggregates
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.checker.witness.find_witness import find_witness
from ontoweir.checker.witness.witness import Witness, WitnessRow
from ontoweir.mappings.model.catalog import Catalog, Relation, Stream
from ontoweir.rewriter.model.aggregation import Aggregation
from ontoweir.rewriter.model.spj import SpjUnion
from tests.oracle.budget import SEEDS, budget, count_tuples
from tests.oracle.random_queries import Case, Tables, make_case
from tests.oracle.relational import Row, answer, load
from tests.oracle.test_aggregates_against_oracle import aggregate_naively, make_aggregates


def matrix_rank(matrix: Sequence[Sequence[int]]) -> int:
    """The rank of a matrix over the rationals."""
    left = [[Fraction(v) for v in row] for row in matrix]
    rank = 0
    while left:
        row = left.pop()
        place = next((i for i, v in enumerate(row) if v), None)
        if place is None:
            continue
        rank += 1
        left = [
            [v - other[place] / row[place] * w for v, w in zip(other, row, strict=True)]
            for other in left
        ]
    return rank


def test_find_rank() -> None:
    assert matrix_rank([]) == 0
    assert matrix_rank([[1, 1], [1, 1]]) == 1
    assert matrix_rank([[1, 1], [0, 2]]) == 2
    assert matrix_rank([[1, 2, 3], [2, 4, 6], [0, 0, 1]]) == 2


def _answers(case: Case, rows: Sequence[WitnessRow]) -> Counter[Row]:
    """DuckDB's answer over some tuples."""
    data: Tables = {}
    tables: list[Stream | Relation] = [
        *case.catalog.streams.values(),
        *case.catalog.relations.values(),
    ]
    for table in tables:
        names = [c.name for c in table.columns]
        stamped = [table.timestamp] if isinstance(table, Stream) else []
        found: list[tuple[Any, ...]] = []
        for row in rows:
            if row.table == table.name:
                content = dict(row.values)
                found.append((*(content.get(n) for n in names), *([row.step] if stamped else [])))
        data[table.name] = ([*names, *stamped], found)
    stamps = {s.name: s.timestamp for s in case.catalog.streams.values()}
    latest = max((r.step for r in rows if r.step is not None), default=0)
    base = load(data, case.types)
    return answer(base, case.query.disjuncts[0], stamps, distinct=case.query.distinct, upto=latest)


def check_legal(catalog: Catalog, rows: Sequence[WitnessRow]) -> None:
    """Assert that rows are data the catalog allows."""
    for row in rows:
        table = catalog.table(row.table)
        content = dict(row.values)
        assert (row.step is None) != isinstance(table, Stream)
        assert row.step is None or row.step >= 0
        for column in table.columns:
            v: Any = content[column.name]
            if v is None:
                continue
            low: Any = column.minimum
            high: Any = column.maximum
            assert low is None or v >= low
            assert high is None or v <= high
            assert column.enum is None or v in column.enum
        for reference in table.references:
            wanted = [content[c] for c in reference.columns]
            targets = [
                [dict(r.values)[c] for c in reference.to]
                for r in rows
                if r.table == reference.relation
            ]
            assert None in wanted or wanted in targets
    for stream in catalog.streams.values():
        steps = Counter(r.step for r in rows if r.table == stream.name)
        limit = stream.max_per_timestamp
        assert limit is None or max(steps.values(), default=0) <= limit
        for key in stream.keys:
            mine = [{**dict(r.values), stream.timestamp: r.step} for r in rows]
            of = [c for c, r in zip(mine, rows, strict=True) if r.table == stream.name]
            seen = [tuple(content[c] for c in key) for content in of]
            assert len(seen) == len(set(seen)), "a key holds over the whole stream"
    for relation in catalog.relations.values():
        size = sum(r.table == relation.name for r in rows)
        assert relation.max_rows is None or size <= relation.max_rows
        for key in relation.keys:
            seen = [tuple(dict(r.values)[c] for c in key) for r in rows if r.table == relation.name]
            assert len(seen) == len(set(seen))


def check_witness(case: Case, witness: Witness) -> None:
    """Assert that any algorithm must tell all subsets of the optional tuples apart."""
    prefix = [*witness.fixed, *witness.optional]
    assert len(witness.optional) == len(witness.suffixes) == witness.size
    known = max(r.step for r in prefix if r.step is not None)
    for suffix in witness.suffixes:
        check_legal(case.catalog, [*prefix, *suffix])
        assert all(r.step is not None and r.step > known for r in suffix)
    if case.query.distinct:
        for i, suffix in enumerate(witness.suffixes):
            others = [o for k, o in enumerate(witness.optional) if k != i]
            with_it: list[set[Row]] = []
            without: list[set[Row]] = []
            for rest in ([], others, others[: len(others) // 2]):
                for told, mine in ((with_it, [witness.optional[i]]), (without, [])):
                    before = set(_answers(case, [*witness.fixed, *rest, *mine]))
                    after = set(_answers(case, [*witness.fixed, *rest, *mine, *suffix]))
                    told.append(after - before)
            # some row that suffix i brings tells whether tuple i was there, whatever else was
            pairs = ((with_it, without), (without, with_it))
            assert any(
                all(row in found for found in always) and not any(row in found for found in never)
                for always, never in pairs
                for row in always[0]
            )
        return
    matrix: list[list[int]] = []
    answered: dict[tuple[WitnessRow, ...], Counter[Row]] = {}
    for suffix in witness.suffixes:

        def new(
            optional: Sequence[WitnessRow], suffix: Sequence[WitnessRow] = suffix
        ) -> Counter[Row]:
            known = (*witness.fixed, *optional)
            if known not in answered:  # whatever comes after it
                answered[known] = _answers(case, known)
            found = _answers(case, [*known, *suffix])
            found.subtract(answered[known])
            return found

        nothing, everything = new([]), new(witness.optional)
        single = [new([o]) for o in witness.optional]
        for row in {*nothing, *everything, *(r for s in single for r in s)}:
            contributions = [s[row] - nothing[row] for s in single]
            if sum(contributions) != everything[row] - nothing[row]:
                # some match uses two optional tuples
                check_subsets(case, witness)
                return
            matrix.append(contributions)
    assert matrix_rank(matrix) == witness.size


def check(seed: int) -> str:
    """The verdict on a random query, of whose counterexample all subsets are told apart."""
    case = make_case(Random(seed))
    verdict = check_query(case.query, case.catalog, size=count_tuples())
    assert (verdict.witness is not None) == (verdict.tier is Tier.UNBOUNDED)
    if verdict.witness is not None:
        check_witness(case, verdict.witness)
        check_subsets(case, verdict.witness)
    return str(verdict.tier)


def check_subsets(case: Case, witness: Witness) -> None:
    """Assert that what the suffixes bring tells all subsets of the optional tuples apart."""
    told = set()
    for chosen in product((False, True), repeat=witness.size):
        optional = [o for o, taken in zip(witness.optional, chosen, strict=True) if taken]
        known = [*witness.fixed, *optional]
        before = _answers(case, known)
        brought = []
        for suffix in witness.suffixes:
            found = _answers(case, [*known, *suffix])
            found.subtract(before)
            brought.append(frozenset((row, n) for row, n in found.items() if n))
        told.add(tuple(brought))
    assert len(told) == 2**witness.size


@budget(0.7)
@given(seed=SEEDS)
def test_witnesses_convince_duckdb(seed: int) -> None:
    case = make_case(Random(seed))
    verdict = check_query(case.query, case.catalog)
    event(str(verdict.tier))
    assert (verdict.witness is not None) == (verdict.tier is Tier.UNBOUNDED)
    if verdict.witness is not None:
        check_witness(case, verdict.witness)


@budget(0.2)
@given(seed=SEEDS)
def test_a_witness_grows_to_any_size(seed: int) -> None:
    case = make_case(Random(seed))
    verdict = check_query(case.query, case.catalog)
    if verdict.witness is None:
        return
    query = case.query.disjuncts[0]
    form = normalise_query(query, distinct=case.query.distinct, catalog=case.catalog)
    larger = find_witness(form, case.query, decide_lag(form).failures, case.catalog, size=7)
    assert larger is not None
    check_witness(case, larger)


def check_aggregate_witness(case: Case, union: SpjUnion, witness: Witness) -> None:
    """Assert that no two subsets of the optional tuples lead to the same updates of groups."""
    matches = replace(case, query=replace(union, distinct=False))
    told = set()
    for chosen in product((False, True), repeat=witness.size):
        optional = [o for o, taken in zip(witness.optional, chosen, strict=True) if taken]
        before = [*witness.fixed, *optional]
        known = aggregate_naively(union, _answers(matches, before)).items()
        updates = []
        for suffix in witness.suffixes:
            check_legal(case.catalog, [*witness.fixed, *witness.optional, *suffix])
            after = aggregate_naively(union, _answers(matches, [*before, *suffix]))
            updates.append(frozenset(after.items() - known))
        told.add((frozenset(known), tuple(updates)))
    assert len(told) == 2**witness.size


@budget(0.4)
@given(seed=SEEDS)
def test_witnesses_against_aggregates_convince_duckdb(seed: int) -> None:
    """And what is bounded has none, whatever condition one might wish to have failed."""
    random = Random(seed)
    case = make_case(random, self_joins=False, style=random.choice(["plain", "fronts", "typed"]))
    union = make_aggregates(random, case)
    for part in split_aggregates(union):
        form = normalise_query(
            part.union.disjuncts[0], distinct=part.union.distinct, catalog=case.catalog
        )
        if not form.satisfiable:
            continue
        lag = decide_lag(form)
        holds = lag.holds and check_query(part_of(union, part), case.catalog).plans is not None
        failures = _any_failures(case) if holds else lag.failures
        witness = find_witness(form, part_of(union, part), failures, case.catalog)
        event(f"bounded: {holds}, witness: {witness is not None}")
        if holds:
            assert witness is None
        elif witness is not None:
            check_aggregate_witness(case, part_of(union, part), witness)


def part_of(union: SpjUnion, part: AggregatePart) -> SpjUnion:
    """The aggregate query with the aggregates of one part alone."""
    assert union.aggregation is not None
    names = (*union.aggregation.group, *(a.name for a in part.aggregates))
    aggregation = Aggregation(union.aggregation.group, part.aggregates, names)
    kept = aggregation.variables
    disjuncts = tuple(
        replace(q, outputs=tuple((v, dict(q.outputs)[v]) for v in kept)) for q in union.disjuncts
    )
    return replace(
        union,
        variables=kept,
        disjuncts=disjuncts,
        distinct=not aggregation.duplicate_sensitive,
        aggregation=aggregation,
    )


@budget(0.7)
@given(seed=SEEDS)
def test_no_bag_has_a_plan_and_a_witness(seed: int) -> None:
    """A plan is the lag criterion come to life: one holds iff the other exists, for bags."""
    case = make_case(Random(seed))
    query = case.query.disjuncts[0]
    form = normalise_query(query, distinct=case.query.distinct, catalog=case.catalog)
    if not form.satisfiable:
        return
    lag, plan = decide_lag(form), make_plan(form)
    if lag.holds:
        assert isinstance(plan, SynopsisPlan)
        # whatever condition one might wish to have failed
        assert find_witness(form, case.query, _any_failures(case), case.catalog) is None
    elif not case.query.distinct:
        assert not isinstance(plan, SynopsisPlan)


def _any_failures(case: Case) -> list[Failure]:
    form = normalise_query(
        case.query.disjuncts[0], distinct=case.query.distinct, catalog=case.catalog
    )
    everyone = tuple(range(len(form.members)))
    made: list[Failure] = []
    for group in form.classes:
        holders = tuple(sorted(group.members))
        if case.query.distinct:
            made.append(Failure("C1", "", "", group.index, holders))
        made.append(Failure("E2", "", "", group.index, holders))
    made.extend(Failure("E3", "", "", q.x, everyone) for q in form.inequalities)
    if case.query.distinct:
        made += [Failure("C3", "", "", None, (a, b)) for a in everyone for b in everyone[a:]]
    return made
