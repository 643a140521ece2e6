"""What reviewers found wrong, kept for ever: each case with what is right."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Bounded, Failing, Tier, Verdict
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    IntType,
    Reference,
    Relation,
    Stream,
)
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.spj import Compare, Constant
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.run_kernel import run_kernel

_NOWHERE = DataSource("parquet", None)
STREAM = """
[streams.{0}]
source = {{ format = "parquet", path = "{0}" }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 10
columns = {{ e = {{ type = "int", min = 0, max = 5 }}, a = "int", b = "int", d = "decimal(1,0)" }}
"""


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    (tmp_path / "ontoweir.toml").write_text("".join(STREAM.format(n) for n in "stmu"))
    return load_project(tmp_path, environ={}).catalog


def decide(sql: str, catalog: Catalog) -> Verdict:
    return check_query(parse_sql(sql, catalog, name="q", file="q.sql"), catalog)


def test_two_frontier_values_have_an_entry_for_each_choice_of_what_ties_them(
    catalog: Catalog,
) -> None:
    verdict = decide(
        "SELECT DISTINCT 1 AS one FROM s, t, m, u WHERE s.ts < m.ts AND t.ts < m.ts AND "
        "s.e = m.e AND t.e = m.e AND m.ts < u.ts AND s.b < u.a AND t.b < u.b",
        catalog,
    )
    assert verdict.plans is not None
    assert verdict.bound is not None
    names = ["e", "a", "b", "d", "ts"]
    data = {
        "s": (names, [(i, 0, i, None, 0) for i in range(6)]),
        "t": (names, [(i, 0, 5 - i, None, 0) for i in range(6)]),
        "m": (names, [(i, 0, 0, None, 1) for i in range(6)]),
        "u": (names, []),
    }
    _, sizes = run_kernel(verdict.plans[0], catalog, data, [(0, 0), (1, 1)])
    assert verdict.bound.rows is not None
    assert 14 < max(sizes) <= verdict.bound.rows


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT DISTINCT s.d FROM s WHERE s.d > 9",
        "SELECT DISTINCT s.d FROM s WHERE s.d > 5",
        "SELECT s.d FROM s, t WHERE s.ts < t.ts AND s.d > 8",
        "SELECT s.d, COUNT(*) AS n FROM s GROUP BY s.d",
    ],
)
def test_no_witness_has_values_that_a_decimal_cannot_hold(sql: str, catalog: Catalog) -> None:
    assert decide(sql, catalog).tier is not Tier.UNBOUNDED


@pytest.mark.parametrize(
    "condition", ["s.a <= t.a AND t.a <= s.a", "s.a < t.a AND t.a < s.a + 2", "s.a = t.a"]
)
def test_published_criteria_see_equalities_that_inequalities_imply(
    condition: str, catalog: Catalog
) -> None:
    for head in ("SELECT", "SELECT DISTINCT"):
        verdict = decide(f"{head} 1 AS one FROM s, t WHERE {condition}", catalog)
        (only,) = verdict.disjuncts
        assert isinstance(only, Failing | Bounded)
        assert "C2" in only.criteria.arasu.failed
        assert "C4" in only.criteria.tree.failed


@pytest.mark.parametrize(
    ("condition", "empty"),
    [
        ("s.a >= 0 AND s.a <= 1 AND s.a <> 0 AND s.a <> 1", True),
        ("s.a >= 0 AND s.a <= 2 AND s.a <> 0 AND s.a <> 1", False),
        ("s.e NOT IN (0, 1, 2, 3, 4, 5)", True),
        ("s.e NOT IN (0, 1, 2, 3, 4)", False),
        ("s.k <> 'p' AND s.k <> 'q'", True),
        ("s.k <> 'p'", False),
        ("s.w <> TRUE AND s.w <> FALSE", True),
        ("s.w <> TRUE", False),
        ("s.n < 'a' AND s.n > 'b'", True),
        ("s.n > 'a' AND s.n < 'b'", False),
    ],
)
def test_what_no_value_satisfies_is_empty(condition: str, empty: bool, tmp_path: Path) -> None:
    more = ', k = { type = "string", enum = ["p", "q"] }, w = "boolean", n = "string" }'
    text = "".join(STREAM.format(n) for n in "st").replace(
        ' d = "decimal(1,0)" }', ' d = "decimal(1,0)"' + more
    )
    (tmp_path / "ontoweir.toml").write_text(text)
    declared = load_project(tmp_path, environ={}).catalog
    verdict = decide(f"SELECT s.a FROM s, t WHERE s.ts < t.ts AND {condition}", declared)
    assert (verdict.tier is Tier.UNSATISFIABLE) == empty


@pytest.mark.parametrize(("columns", "kept"), [(("a",), ["s", "r"]), (("a", "b"), ["s"])])
def test_a_reference_that_no_run_enforces_removes_no_disjunct(
    columns: tuple[str, ...], kept: list[str]
) -> None:
    """Of several columns: the second disjunct has results where r lacks the row."""
    numbers = tuple(Column(c, IntType()) for c in ("a", "b", "c"))
    reference = Reference(columns, "r", columns)
    catalog = Catalog(
        {"s": Stream("s", _NOWHERE, "ts", 1, 3, numbers, (), (reference,))},
        {"r": Relation("r", _NOWHERE, numbers, (("a", "b"),))},
    )
    joined = " AND ".join(f"s.{c} = r.{c}" for c in columns)
    texts = (
        f"SELECT DISTINCT 1 FROM s, r WHERE {joined} AND s.a > 0 AND s.b > 0",
        "SELECT DISTINCT 1 FROM s WHERE s.a > 0 AND s.b > 0",
    )
    one, other = (parse_sql(t, catalog, name="q", file="q.sql") for t in texts)
    union = replace(one, disjuncts=(*one.disjuncts, *other.disjuncts))
    verdict = check_query(union, catalog)
    assert [o.table for q in verdict.union.disjuncts for o in q.occurrences] == kept


def test_the_row_of_a_minimum_is_not_redundant(catalog: Catalog) -> None:
    """Another row of the table matches whenever it does, but need not have the least value."""
    verdict = decide(
        "SELECT MIN(x.a) AS least FROM s AS x, s AS y WHERE x.e >= 0 AND y.e = 1 AND y.a = 2",
        catalog,
    )
    part, _ = verdict.parts  # the other one says only whether there is a match
    assert [f.attribute.alias for q in part.part.union.disjuncts for f in q.folds or ()] == ["x"]
    twin = decide("SELECT MIN(x.e) AS least FROM s AS x, s AS y WHERE y.e = x.e", catalog)
    assert len(twin.parts[0].part.union.disjuncts[0].occurrences) == 1


def test_a_branch_that_gives_the_same_groups_may_give_a_lesser_minimum(catalog: Catalog) -> None:
    sql = "SELECT MIN({}) AS least FROM s WHERE e >= 0 AND d >= 0"
    one, other = (
        parse_sql(sql.format(c), catalog, name="q", file="q.sql").disjuncts[0] for c in "ed"
    )
    whole = parse_sql(sql.format("e"), catalog, name="q", file="q.sql")
    renamed = replace(other, outputs=((one.outputs[0][0], other.outputs[0][1]),))
    both = check_query(replace(whole, disjuncts=(one, renamed)), catalog)
    assert len(both.parts[0].part.union.disjuncts) == 2


def test_constants_of_several_types_are_compared(tmp_path: Path) -> None:
    """Decimals with doubles once ended in a TypeError."""
    text = STREAM.format("s").replace('"decimal(1,0)"', '"double"')
    (tmp_path / "ontoweir.toml").write_text(text)
    catalog = load_project(tmp_path, environ={}).catalog
    sql = "SELECT DISTINCT x.e FROM s AS x, s AS y WHERE x.d >= 2.5 AND y.d {} AND y.e = x.e"
    for limit, kept in ((">= 1", 1), ("<= 1", 2)):
        union = parse_sql(sql.format(limit), catalog, name="q", file="q.sql")
        query = union.disjuncts[0]
        several = tuple(
            replace(c, right=Constant(Decimal("2.5") if c.right.value == 2.5 else 1.0))
            if isinstance(c, Compare) and isinstance(c.right, Constant)
            else c
            for c in query.conditions
        )
        mixed = replace(union, disjuncts=(replace(query, conditions=several),))
        assert len(check_query(mixed, catalog).union.disjuncts[0].occurrences) == kept


@pytest.mark.parametrize(
    ("sql", "formula"),
    [
        ("SELECT a, COUNT(*) AS n FROM r WHERE a > 0 GROUP BY a", "groups of static data"),
        ("SELECT COUNT(*) AS n FROM r", "1"),
    ],
)
def test_aggregates_of_static_data(sql: str, formula: str, tmp_path: Path) -> None:
    (tmp_path / "ontoweir.toml").write_text(
        '[relations.r]\nsource = { format = "csv", path = "r" }\ncolumns = { a = "int" }\n'
    )
    catalog = load_project(tmp_path, environ={}).catalog
    verdict = check_query(parse_sql(sql, catalog, name="q", file="q.sql"), catalog)
    assert verdict.tier is Tier.STATELESS
    assert verdict.bound is not None
    assert verdict.bound.formula == formula
