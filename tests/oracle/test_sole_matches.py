"""Many-one joins ([B]): a row that one row of another stream joins at most is dropped when that one
has come. Random plans against DuckDB on streams that keep the rule; on others nothing is invented,
and how rows are cut into chunks decides nothing."""

from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from random import Random

from hypothesis import event, example, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.model.plan import SynopsisPlan, total_bound
from ontoweir.mappings.model.catalog import ColumnType, IntType, Lag
from ontoweir.rewriter.algebra.list_lags import apply_lags
from ontoweir.rewriter.model.spj import Attribute, Compare, NotNull, Op
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import STYLES, Case, make_case, split_markers
from tests.oracle.relational import Row, answers, load
from tests.oracle.run_kernel import few_touched, run_plans

Table = tuple[list[str], list[Row]]


def _join_one(case: Case, random: Random, *, keep: bool) -> tuple[Case, Case] | None:
    """The case with streams that it joins by equality, with lags, and with and without `matches =
    "one"`; `keep`: its rows are as that says (None: it reads one stream)."""
    query = case.query.disjuncts[0]
    streams, data = dict(case.catalog.streams), dict(case.data)
    read = [o for o in query.occurrences if o.table in streams]
    conditions = list(query.conditions)
    for _ in range(random.choice([1, 1, 2])):
        late, early = random.sample(read, k=2) if len(read) > 1 else (read[0], read[0])
        if late.table == early.table or _kind(case, late.table) != _kind(case, early.table):
            continue
        left, right = Attribute(late.alias, "a"), Attribute(early.alias, "a")
        conditions += [Compare(left, Op.EQ, right), NotNull(left), NotNull(right)]
        one = Lag(early.table, ("a",), ("a",), random.choice([0, 1, 3, 8, 20]), one=True)
        streams[late.table] = replace(streams[late.table], lags=(one,))
        if random.random() < 0.7:
            both = random.random() < 0.4
            back = Lag(late.table, ("a",), ("a",), random.choice([0, 2, 5]), one=both)
            before = streams[early.table]
            streams[early.table] = replace(before, lags=(*before.lags, back))
        ends = streams[late.table], streams[early.table]
        free = not any(s.references or s.keys for s in ends)
        if free and isinstance(_kind(case, late.table), IntType):
            data[late.table] = _number(data[late.table], random, [], 0 if keep else 2)
            rows = data[late.table][1]
            data[early.table] = _number(data[early.table], random, rows, random.choice([1, 3, 6]))
    if len(conditions) == len(query.conditions):
        return None
    for name, stream in streams.items():
        if keep and any(lag.one for lag in stream.lags):
            data[name] = _once(data[name], "a")
    union = replace(case.query, disjuncts=(replace(query, conditions=tuple(conditions)),))
    more = replace(case, catalog=replace(case.catalog, streams=streams), query=union, data=data)
    plain = {
        n: replace(s, lags=tuple(replace(g, one=False) for g in s.lags)) for n, s in streams.items()
    }
    return more, replace(more, catalog=replace(more.catalog, streams=plain))


def _kind(case: Case, table: str) -> ColumnType:
    column = case.catalog.streams[table].column("a")
    assert column is not None
    return column.type


def _number(table: Table, random: Random, to: list[Row], most: int) -> Table:
    """Other values of `a`: those of rows that come near, if some are given; else the place of the
    row, of some that of an earlier one."""
    columns, rows = table
    made = []
    for n, row in enumerate(rows):
        near = [r[0] for r in to if abs(r[-1] - row[-1]) <= most]
        other = random.choice(near) if near else -1
        made.append((other if to else n - random.choice([0, 0, most]), *row[1:]))
    return columns, made


def _once(table: Table, column: str) -> Table:
    """The rows without those whose value has come."""
    columns, rows = table
    place, seen, kept = columns.index(column), set(), []
    for row in rows:
        if row[place] is None or row[place] not in seen:
            seen.add(row[place])
            kept.append(row)
    return columns, kept


def _plans(case: Case) -> tuple[SynopsisPlan, ...]:
    query = replace(case.query, distinct=False)
    return check_query(query, case.catalog, disprove=False).plans or ()


def compare(seed: int, *, keep: bool) -> None:
    random = Random(seed)
    made = _join_one(make_case(random, style=random.choice(sorted(STYLES))), random, keep=keep)
    if made is None:
        return
    case, plain = made
    plans, without = _plans(case), _plans(plain)
    if not plans or not any(t.matched for p in plans for t in p.tables):
        return
    event("joined by one row")
    cuts = split_markers(random, case.markers)
    with few_touched() if seed % 2 else nullcontext():
        found, sizes = run_plans(plans, case.catalog, case.data, cuts)
    with nullcontext() if seed % 2 else few_touched():
        single = [(m, m) for m in range(case.markers)]
        assert run_plans(plans, case.catalog, case.data, single)[0] == found
    assert run_plans(plans, case.catalog, case.data, [(0, case.markers - 1)])[0] == found
    _, most = run_plans(without, plain.catalog, case.data, cuts)
    assert all(mine <= theirs for mine, theirs in zip(sizes, most, strict=True))
    if sum(sizes) < sum(most):
        event("keeps less")
    bound = total_bound([p.bound for p in plans])
    assert bound.rows is None or max(sizes, default=0) <= bound.rows
    union = apply_lags(replace(case.query, distinct=False), case.catalog)
    stamps = {name: s.timestamp for name, s in case.catalog.streams.items()}
    base = load(case.data, case.types)
    expected = answers(base, union.disjuncts[0], stamps, distinct=False, markers=case.markers)
    told: Counter[Row] = Counter()
    for marker, right in enumerate(expected):
        told.update(found.get(marker, Counter()))
        assert told <= right
        if keep:
            assert told == right, f"after marker {marker}"


@given(SEEDS)
@example(101_125_623_630)  # a third stream joins two tuples of the past
@budget(0.8)
def test_streams_that_keep_the_rule_have_all_answers_and_less_state(seed: int) -> None:
    compare(seed, keep=True)


@given(SEEDS)
@example(8_126_878_402)  # both streams have such a lag
@budget(0.4)
def test_streams_that_break_the_rule_have_no_invented_answer(seed: int) -> None:
    compare(seed, keep=False)
