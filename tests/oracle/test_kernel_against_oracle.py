"""Every plan the checker makes, run by the kernel, against DuckDB's plain relational join."""

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from decimal import Decimal
from random import Random

import pytest
from hypothesis import event, given

from ontoweir.checker.criteria.decide_lag import decide_lag
from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.model.plan import SynopsisPlan, total_bound
from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.checker.plans.make_plan import make_plan
from ontoweir.checker.verdict.verdict import Tier, Verdict
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    ColumnType,
    DataSource,
    DecimalType,
    FloatType,
    IntType,
    Reference,
    Relation,
    Stream,
    StringType,
)
from ontoweir.rewriter.model.spj import Attribute, Compare, Constant, Op
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import (
    STYLES,
    Case,
    R,
    Tables,
    make_case,
    make_data,
    split_markers,
    sql_types,
)
from tests.oracle.relational import Row, answers, load
from tests.oracle.run_kernel import few_touched, run_plans

_INT = IntType()


def _decide(case: Case) -> tuple[Verdict, tuple[SynopsisPlan, ...]]:
    verdict = check_query(case.query, case.catalog, disprove=False)
    return verdict, verdict.plans or ()


def _one_by_one(case: Case) -> list[tuple[int, int]]:
    return [(m, m) for m in range(case.markers)]


def _oracle(case: Case) -> list[Counter[Row]]:
    """The answer over the prefix, after every marker."""
    base = load(case.data, case.types)
    stamps = {name: s.timestamp for name, s in case.catalog.streams.items()}
    query = case.query.disjuncts[0]
    return answers(base, query, stamps, distinct=case.query.distinct, markers=case.markers)


def _check_run(
    case: Case,
    plans: Sequence[SynopsisPlan],
    chunks: Sequence[tuple[int, int]],
    expected: Sequence[Counter[Row]],
) -> dict[int, Counter[Row]]:
    """Run; after every marker the results so far are the oracle's, and the bound holds.

    Equality after every marker says that `at` is the marker that completed a result.
    """
    found, sizes = run_plans(plans, case.catalog, case.data, chunks)
    so_far: Counter[Row] = Counter()
    for marker, right in enumerate(expected):
        so_far.update(found.get(marker, Counter()))
        assert so_far == right, f"after marker {marker}"
    bound = total_bound([p.bound for p in plans])
    if bound.rows is not None:
        assert max(sizes, default=0) <= bound.rows, bound.formula
    return found


@pytest.mark.parametrize("style", sorted(STYLES))
@budget(0.6)
@given(seed=SEEDS)
def test_kernel_equals_oracle(style: str, seed: int) -> None:
    random = Random(seed)
    case = make_case(random, style=style)
    verdict, plans = _decide(case)
    event(str(verdict.tier))
    if verdict.tier is Tier.UNSATISFIABLE:
        assert not _oracle(case)[-1]
        return
    if not plans:
        return
    expected = _oracle(case)
    with few_touched() if seed % 2 else nullcontext():
        one = _check_run(case, plans, _one_by_one(case), expected)
    with nullcontext() if seed % 2 else few_touched():
        many = _check_run(case, plans, split_markers(random, case.markers), expected)
    whole, _ = run_plans(plans, case.catalog, case.data, [(0, case.markers - 1)])
    assert one == many == whole


@budget(0.5)
@given(seed=SEEDS)
def test_order_within_a_timestamp_is_arbitrary(seed: int) -> None:
    random = Random(seed)
    case = make_case(random)
    _, plans = _decide(case)
    if not plans:
        return
    shuffled: Tables = {}
    for name, (columns, rows) in case.data.items():
        mixed = random.sample(rows, k=len(rows))
        if name in case.catalog.streams:
            mixed.sort(key=lambda r: r[-1])
        shuffled[name] = (columns, mixed)
    chunks = split_markers(random, case.markers)
    found, sizes = run_plans(plans, case.catalog, case.data, chunks)
    with few_touched():
        assert run_plans(plans, case.catalog, shuffled, chunks) == (found, sizes)


@budget(0.4)
@given(seed=SEEDS)
def test_the_bound_holds_however_long_the_streams_are(seed: int) -> None:
    random = Random(seed)
    case = make_case(random)
    _, plans = _decide(case)
    bound = total_bound([p.bound for p in plans])
    if not plans or bound.rows is None:
        return
    markers = 10 * case.markers
    data = make_data(random, case.catalog, markers, wide=40, least=-20)
    _, sizes = run_plans(plans, case.catalog, data, split_markers(random, markers))
    assert max(sizes) <= bound.rows, bound.formula


@budget(0.3)
@given(seed=SEEDS)
def test_rows_of_nulls_change_nothing(seed: int) -> None:
    random = Random(seed)
    case = make_case(random)
    _, plans = _decide(case)
    if not plans:
        return
    mentioned = {m.stream for plan in plans for m in plan.form.members}
    used = {
        (m.stream, a.column)
        for plan in plans
        for m in plan.form.members
        for a in plan.form.class_of
        if a.alias == m.alias
    }  # fmt: skip
    data = dict(case.data)
    for name in mentioned:
        columns, rows = data[name]
        if not any(stream == name for stream, _ in used):
            continue
        # NULL in every column: whatever an occurrence compares, the row never matches
        if all(
            any((m.stream, a.column) in used for a in plan.form.class_of if a.alias == m.alias)
            for plan in plans
            for m in plan.form.members
            if m.stream == name
        ):
            nulls = [(None,) * (len(columns) - 1) + (m,) for m in range(case.markers)]
            data[name] = (columns, sorted([*rows, *nulls], key=lambda r: r[-1]))
    chunks = split_markers(random, case.markers)
    assert run_plans(plans, case.catalog, data, chunks) == run_plans(
        plans, case.catalog, case.data, chunks
    )


def test_a_seed_makes_one_case() -> None:
    for style in STYLES:
        once, again = (repr(make_case(Random(7), style=style)) for _ in range(2))
        assert once == again


def test_data_is_legal() -> None:
    for seed in range(40):
        case = make_case(Random(seed))
        for name, stream in case.catalog.streams.items():
            columns, rows = case.data[name]
            assert columns == [c.name for c in stream.columns] + [stream.timestamp]
            assert max(Counter(r[-1] for r in rows).values(), default=0) <= R
            for row in rows:
                for column, content in zip(stream.columns, row, strict=False):
                    if column.enum is not None and content is not None:
                        assert content in column.enum


@budget(1.5)
@given(seed=SEEDS)
def test_fixed_dates_limit_what_is_kept(seed: int) -> None:
    """First and last dates of some streams: what the lag criterion accepts by them has a plan."""
    random = Random(seed)
    case = make_case(random)
    query = case.query.disjuncts[0]
    conditions = list(query.conditions)
    if random.random() < 0.5:
        conditions = [c for c in conditions if not isinstance(c, Compare) or c.left.column != "ts"]
    for occurrence in query.occurrences:
        if occurrence.table in case.catalog.streams:
            stamp = Attribute(occurrence.alias, "ts")
            if random.random() < 0.7:
                conditions.append(Compare(stamp, Op.GE, Constant(random.randint(0, 3))))
            if random.random() < 0.4:
                conditions.append(Compare(stamp, Op.LE, Constant(random.randint(2, 7))))
    dated = replace(query, conditions=tuple(conditions))
    case = replace(case, query=replace(case.query, disjuncts=(dated,)))
    form = normalise_query(dated, distinct=case.query.distinct, catalog=case.catalog)
    if not form.satisfiable or not decide_lag(form).holds:
        return
    plan = make_plan(form)
    assert isinstance(plan, SynopsisPlan)
    event(f"limits from dates: {plan.form != form}")
    _check_run(case, (plan,), split_markers(random, case.markers), _oracle(case))


# -- cases that fuzzing found, kept for ever --------------------------------------------------


def _stream(name: str, *columns: tuple[str, ColumnType], reference: str | None = None) -> Stream:
    return Stream(
        name,
        DataSource("parquet", None),
        "ts",
        1,
        R,
        tuple(Column(c, kind) for c, kind in columns),
        (),
        () if reference is None else (Reference((reference,), "r", ("k",)),),
    )


def _case(
    sql: str, streams: Sequence[Stream], data: Tables, relations: Sequence[Relation] = ()
) -> Case:
    catalog = Catalog({s.name: s for s in streams}, {r.name: r for r in relations})
    union = parse_sql(sql, catalog, name="q", file="q.sql")
    markers = 1 + max(r[-1] for s in streams for r in data[s.name][1])
    return Case(catalog, union, data, markers, sql_types(catalog))


def _check(case: Case) -> Verdict:
    verdict, plans = _decide(case)
    assert plans
    expected = _oracle(case)
    assert expected[-1], "the case must have results, or it shows nothing"
    _check_run(case, plans, _one_by_one(case), expected)
    _check_run(case, plans, [(0, case.markers - 1)], expected)
    return verdict


def test_string_constants_are_equal_only_to_themselves() -> None:
    """Codes of two constants differ by a number, which makes their columns no value class."""
    case = _case(
        "SELECT 1 AS one FROM s, t WHERE s.ts < t.ts AND s.a = 'elm' AND t.a = 'ash'",
        [_stream("s", ("a", StringType())), _stream("t", ("a", StringType()))],
        {"s": (["a", "ts"], [("elm", 0), ("ash", 0)]), "t": (["a", "ts"], [("ash", 1)])},
    )
    _check(case)


def test_key_clipped_for_one_comparison_leaves_the_frontier_to_another() -> None:
    """t.b is clipped for t.b <> u.b + 1, and kept as a best value for u.a < t.b."""
    case = _case(
        "SELECT DISTINCT 1 AS one FROM s, t, u WHERE t.ts < u.ts AND u.a < t.b "
        "AND u.b <> t.b - 1 AND u.b >= 1 AND u.b <= 2 AND s.ts < t.ts",
        [_stream("s"), _stream("t", ("b", _INT)), _stream("u", ("a", _INT), ("b", _INT))],
        {
            "s": (["ts"], [(0,)]),
            "t": (["b", "ts"], [(30, 1)]),
            "u": (["a", "b", "ts"], [(20, 1, 2)]),
        },
    )
    _check(case)


def test_two_comparisons_of_one_value_are_clipped_together() -> None:
    """t.b <= u.b needs its low end up to 2, s.b <= t.b + 1 tells smaller values apart."""
    case = _case(
        "SELECT 1 AS one FROM t, u, s WHERE t.ts < u.ts AND t.ts < s.ts AND t.b <= u.b "
        "AND u.b >= 1 AND u.b <= 2 AND s.b <= t.b + 1 AND s.b >= 0 AND s.b <= 2",
        [_stream("s", ("b", _INT)), _stream("t", ("b", _INT)), _stream("u", ("b", _INT))],
        {
            "t": (["b", "ts"], [(-1, 0), (0, 0), (1, 0), (2, 0), (3, 0)]),
            "s": (["b", "ts"], [(0, 1), (1, 1), (2, 1)]),
            "u": (["b", "ts"], [(1, 2), (2, 2)]),
        },
    )
    _check(case)


def test_values_a_coarser_partner_cannot_have_are_not_kept() -> None:
    """A decimal column equated with a whole number: halves never match, and are never stored."""
    case = _case(
        "SELECT DISTINCT t.b FROM s, t WHERE s.a = t.b AND s.a >= 0 AND s.a <= 2",
        [_stream("s", ("a", _INT)), _stream("t", ("b", DecimalType(6, 1)))],
        {
            "s": (["a", "ts"], [(1, 40)]),
            "t": (["b", "ts"], [(Decimal(m % 21) / 10, m) for m in range(40)]),
        },
    )
    _check(case)


def test_a_disequality_is_not_checked_again_on_clipped_values() -> None:
    """s.a and t.a differ, and are one value to u, which comes later."""
    streams = [
        replace(_stream("s"), columns=(Column("a", _INT, 0, 20),)),
        replace(_stream("t"), columns=(Column("a", _INT, 0, 20),)),
        replace(_stream("u"), columns=(Column("c", _INT, 0, 5), Column("d", _INT, 0, 5))),
    ]
    case = _case(
        "SELECT 1 AS one FROM s, t, u WHERE s.ts < t.ts AND t.ts < u.ts AND s.a <> t.a "
        "AND s.a > u.c AND t.a > u.d",
        streams,
        {
            "s": (["a", "ts"], [(10, 0)]),
            "t": (["a", "ts"], [(11, 1)]),
            "u": (["c", "d", "ts"], [(1, 1, 2)]),
        },
    )
    _check(case)


def test_equal_timestamps_that_must_differ_are_unsatisfiable() -> None:
    case = _case(
        "SELECT 1 AS one FROM s, t, u WHERE s.ts = t.ts AND t.ts = u.ts AND s.ts <> u.ts",
        [_stream("s"), _stream("t"), _stream("u")],
        {"s": (["ts"], [(0,)]), "t": (["ts"], [(0,)]), "u": (["ts"], [(0,)])},
    )
    assert check_query(case.query, case.catalog).tier is Tier.UNSATISFIABLE


def test_values_out_of_reach_are_one() -> None:
    """Far below, within and far above u.c: eight values, however many arrive."""
    for op in ("<", "<=", ">", ">=", "<>"):
        case = _case(
            f"SELECT 1 AS one FROM s, u WHERE s.ts < u.ts AND s.a {op} u.c "
            "AND u.c >= 0 AND u.c <= 5",
            [_stream("s", ("a", _INT)), _stream("u", ("c", _INT))],
            {
                "s": (["a", "ts"], [(a, a + 50) for a in range(-50, 50)]),
                "u": (["c", "ts"], [(c, 100 + c) for c in range(-1, 7)]),
            },
        )
        verdict = _check(case)
        assert verdict.bound is not None
        assert verdict.bound.rows is not None
        assert verdict.bound.rows <= 9


def test_a_float_equals_the_decimal_it_is_nearest_to() -> None:
    """0.57 * 100 is 56.99999999999999 in doubles."""
    for condition in ("s.a = t.b", "s.a >= t.b", "s.a = 0.57 AND t.b > 0", "s.a = 0.125"):
        case = _case(
            f"SELECT 1 AS one FROM s, t WHERE s.ts = t.ts AND t.b >= 0 AND {condition}",
            [_stream("s", ("a", FloatType())), _stream("t", ("b", DecimalType(8, 2)))],
            {
                "s": (["a", "ts"], [(0.29, 0), (0.57, 1), (0.58, 2), (0.125, 2), (1e308, 2)]),
                "t": (["b", "ts"], [(Decimal(n) / 100, m) for m, n in enumerate((29, 57, 58))]),
            },
        )
        _check(case)


def test_a_float_below_a_whole_number() -> None:
    """1.5 <= s.a < t.b - 1 with t.b <= 3 is satisfiable: 1.5 < 2."""
    case = _case(
        "SELECT 1 AS one FROM s, t WHERE s.ts < t.ts AND s.a >= 1.5 AND s.a < t.b - 1 AND t.b <= 3"
        " AND t.ts <= s.ts + INTERVAL 5 SECONDS",
        [_stream("s", ("a", FloatType())), _stream("t", ("b", _INT))],
        {"s": (["a", "ts"], [(1.5, 0), (2.0, 0)]), "t": (["b", "ts"], [(2, 1), (3, 2)])},
    )
    _check(case)


def test_nothing_equals_nan() -> None:
    nan = float("nan")
    case = _case(
        "SELECT 1 AS one FROM s, t WHERE s.ts = t.ts AND s.a = t.a",
        [_stream("s", ("a", FloatType())), _stream("t", ("a", FloatType()))],
        {
            "s": (["a", "ts"], [(nan, 0), (None, 0), (0.5, 0)]),
            "t": (["a", "ts"], [(nan, 0), (None, 0), (0.5, 0)]),
        },
    )
    _check(case)
    assert sum(_oracle(case)[-1].values()) == 1


def test_erratum_4_no_result_is_invented() -> None:
    """Theory §6, 4: a per-stream minimum with an updated timestamp would answer at 4."""
    sql = "SELECT DISTINCT 1 AS one FROM s, t, u WHERE s.ts < t.ts AND t.ts < u.ts AND s.b < u.c"
    streams = [_stream("s", ("b", _INT)), _stream("t"), _stream("u", ("c", _INT))]
    data: Tables = {
        "s": (["b", "ts"], [(5, 1), (3, 3)]),
        "t": (["ts"], [(2,)]),
        "u": (["c", "ts"], [(4, 4)]),
    }
    case = _case(sql, streams, data)
    verdict, plans = _decide(case)
    assert plans
    assert verdict.name == "bounded"
    assert not _oracle(case)[-1]
    _check_run(case, plans, _one_by_one(case), _oracle(case))
    # its twin: after one more t, 3 is the best s with a t after it
    more: Tables = {**data, "t": (["ts"], [(2,), (4,)]), "u": (["c", "ts"], [(4, 4), (4, 5)])}
    _check(_case(sql, streams, more))
