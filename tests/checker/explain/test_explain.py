"""Because-trees: from the violated condition down to facts that the user can change."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.explain.explain_bounded import explain_bounded
from ontoweir.checker.verdict.explain_union import explain_union
from ontoweir.checker.verdict.verdict import Bounded, Failing, Verdict
from ontoweir.diagnostics import Diagnostic, Reason
from ontoweir.mappings.model.catalog import Catalog, StringType
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.parse_sql import parse_sql

CATALOG = """
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 3
[streams.s.columns]
a = "int"
b = { type = "int", min = 0, max = 9 }
name = "string"
ratio = "double"

[streams.t]
source = { format = "parquet", path = "t.parquet" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 3
[streams.t.columns]
a = "int"
b = "int"
name = "string"
ratio = "double"
"""

Check = Callable[[str], Verdict]


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    file = tmp_path_factory.mktemp("explain") / "ontoweir.toml"
    file.write_text(CATALOG, encoding="utf-8")
    return load_project(file, environ={}).catalog


@pytest.fixture(scope="module")
def check(catalog: Catalog) -> Check:
    def call(sql: str) -> Verdict:
        return check_query(parse_sql(sql, catalog, name="case", file="case.sql"), catalog)

    return call


def diagnostics(verdict: Verdict) -> list[Diagnostic]:
    return [d for f in verdict.disjuncts if isinstance(f, Failing) for d in f.because]


def leaves(reasons: tuple[Reason, ...]) -> Iterator[Reason]:
    for reason in reasons:
        if reason.because:
            yield from leaves(reason.because)
        else:
            yield reason


def told(verdict: Verdict) -> str:
    """The leaves of all trees, one a line."""
    return "\n".join(r.message for d in diagnostics(verdict) for r in leaves(d.because))


def test_an_unbounded_projection(check: Check) -> None:
    (d,) = diagnostics(check("SELECT s.a FROM s, t WHERE s.ts < t.ts"))
    assert d.code == "OW201"
    (tree,) = d.because
    assert tree.message == "s.a must be remembered"
    assert [r.message for r in tree.because] == [
        "s.a is still needed: the result a is made from it",
        "nothing bounds the lag from s to t: s comes before t, but nothing says how long before",
        "s.a is of type int, with no least and no greatest value",
    ]


def test_the_lag_is_named_the_right_way_round(check: Check) -> None:
    before = told(check("SELECT s.a FROM s, t WHERE s.ts < t.ts"))
    assert "s comes before t" in before
    unordered = told(check("SELECT s.a FROM s, t WHERE t.ts <= s.ts + INTERVAL 5 SECONDS"))
    assert "lag" not in unordered  # t comes at most 5 steps after s: nothing is kept for ever
    late = told(check("SELECT s.a FROM s, t WHERE s.ts <= t.ts + INTERVAL 5 SECONDS"))
    assert "s comes 5 steps after t at the latest, but may come any time before it" in late
    free = told(check("SELECT s.a FROM s, t"))
    assert "no time filter between them limits it" in free


def test_arrival_order_ignores_timestamps_and_says_so(catalog: Catalog) -> None:
    sql = "SELECT s.a FROM s, t WHERE s.ts < t.ts"
    union = parse_sql(sql, catalog, name="case", file="case.sql")
    assert "arrival order ignores timestamps" in told(check_query(union, catalog, timed=False))
    assert "arrival" not in told(check_query(union, catalog))


def test_a_minimum_distance_is_not_a_limit(check: Check) -> None:
    text = told(check("SELECT s.a FROM s, t WHERE t.ts >= s.ts + INTERVAL 10 SECONDS"))
    assert "s comes before t, by 10 steps or more, but nothing says how long before" in text


@pytest.mark.parametrize(
    ("column", "what", "hint"),
    [
        ("a", "s.a is of type int, with no least and no greatest value", "min = …, max = …"),
        ("name", "s.name is a string without an enumeration or a reference", "enum = [ … ]"),
        ("ratio", "between any two values there are more, whatever its range", "decimal"),
    ],
)
def test_what_to_declare_depends_on_the_type(
    check: Check, column: str, what: str, hint: str
) -> None:
    (d,) = diagnostics(check(f"SELECT s.{column} FROM s, t WHERE s.ts < t.ts"))
    leaf = list(leaves(d.because))[-1]
    assert what in leaf.message
    assert hint in (leaf.hint or "")
    assert leaf.label is not None
    assert (leaf.label.kind, leaf.label.mark) == ("catalog", column)
    line = CATALOG.splitlines()[(leaf.label.source.line or 0) - 1]
    assert line.startswith(f"{column} = ")


def test_a_limit_that_the_query_sets_is_not_missed(check: Check) -> None:
    text = told(check("SELECT s.a FROM s, t WHERE s.ts < t.ts AND s.a > 5"))
    assert "s.a is of type int, with no greatest value" in text


def test_equal_columns_are_one_value(check: Check) -> None:
    (d,) = diagnostics(check("SELECT 1 AS one FROM s, t WHERE s.ts < t.ts AND s.a = t.b"))
    assert d.code == "OW202"
    domain = d.because[0].because[-1]
    assert "the equal columns s.a = t.b have no finite domain" in domain.message
    assert [r.label.mark for r in domain.because if r.label] == ["a", "b"]


def test_a_comparison_names_both_sides(check: Check) -> None:
    (d,) = diagnostics(check("SELECT 1 AS one FROM s, t WHERE s.ts < t.ts AND s.a < t.a"))
    assert d.code == "OW203"
    assert d.because[0].message == "s.a and t.a must be remembered"
    names = [r.message.split()[0] for r in d.because[0].because]
    assert names[-2:] == ["s.a", "t.a"]


def test_distinct_itself_is_a_reason(check: Check) -> None:
    (d,) = diagnostics(check("SELECT DISTINCT s.a FROM s"))
    assert d.code == "OW211"
    marks = [label.mark for label in d.labels if label.kind == "query"]
    assert marks == ["a", "DISTINCT"]


def test_every_independent_comparison_is_named(check: Check) -> None:
    sql = "SELECT DISTINCT 1 AS one FROM s, t WHERE s.ts < t.ts AND s.a < t.a AND s.ratio < t.ratio"
    text = told(check(sql))
    assert "s.a and t.a are still needed" in text
    assert "s.ratio and t.ratio are still needed" in text


_CONDITIONS = (
    "s.ts < t.ts",
    "t.ts < s.ts",
    "s.ts <> t.ts",
    "t.ts <= s.ts + INTERVAL 3 SECONDS",
    "s.a = t.a",
    "s.a < t.b",
    "s.b <> t.b",
    "s.name = t.name",
    "s.ratio < t.ratio",
    "t.ratio <= s.ratio",
    "s.a > 3",
)


@given(
    st.lists(st.sampled_from(_CONDITIONS), unique=True, max_size=4),
    st.sampled_from(["s.a", "s.b", "t.name", "1 AS one"]),
    st.sampled_from(["", "DISTINCT "]),
)
def test_every_leaf_has_a_place_and_every_verdict_a_reason(
    check: Check, catalog: Catalog, conditions: list[str], output: str, distinct: str
) -> None:
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    verdict = check(f"SELECT {distinct}{output} FROM s, t{where}")
    for disjunct in verdict.disjuncts:
        if isinstance(disjunct, Failing):
            assert disjunct.because
            for d in disjunct.because:
                assert all(r.label is not None for r in leaves(d.because)), d
                assert {r.label for r in leaves(d.because)} <= set(d.labels)
        elif isinstance(disjunct, Bounded):
            assert explain_bounded(disjunct.plan, verdict.union, catalog)


def bound_column(catalog: Catalog, name: str) -> Catalog:
    """The catalog with one column (`table.column`) given a finite domain."""
    table, column = name.split(".")
    stream = catalog.streams[table]
    columns = tuple(
        c
        if c.name != column
        else replace(c, enum=("x", "y"))
        if isinstance(c.type, StringType)
        else replace(c, minimum=0, maximum=9)
        for c in stream.columns
    )
    return replace(catalog, streams={**catalog.streams, table: replace(stream, columns=columns)})


@given(
    st.lists(st.sampled_from(_CONDITIONS), unique=True, max_size=4),
    st.sampled_from(["s.a", "s.b", "t.name", "1 AS one"]),
    st.sampled_from(["", "DISTINCT "]),
)
def test_a_bounded_column_mends_its_leaf(
    check: Check, catalog: Catalog, conditions: list[str], output: str, distinct: str
) -> None:
    """Whatever catalog entry a leaf names: give it a domain, and the diagnostic is gone."""
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    sql = f"SELECT {distinct}{output} FROM s, t{where}"
    for d in diagnostics(check(sql)):
        for leaf in leaves(d.because):
            name = leaf.message.split()[0]
            if leaf.label is None or leaf.label.kind != "catalog" or name.endswith("ratio"):
                continue
            mended = bound_column(catalog, name)
            union = parse_sql(sql, mended, name="case", file="case.sql")
            after = diagnostics(check_query(union, mended))
            assert (d.code, d.message) not in {(x.code, x.message) for x in after}


def why(verdict: Verdict, catalog: Catalog) -> str:
    (d,) = verdict.disjuncts
    assert isinstance(d, Bounded)
    found = explain_bounded(d.plan, verdict.union, catalog)
    return "\n".join(r.message for top in found for r in (top, *leaves((top,))))


def test_bounded_by_a_declared_domain(check: Check, catalog: Catalog) -> None:
    text = why(check("SELECT s.b FROM s, t WHERE s.ts < t.ts"), catalog)
    assert "s.b is kept, and has finitely many values: |s.b| = 10" in text
    assert "s.b lies in 0..9" in text


def test_bounded_by_a_selection(check: Check, catalog: Catalog) -> None:
    text = why(check("SELECT s.a FROM s, t WHERE s.ts < t.ts AND s.a > 3 AND s.a < 6"), catalog)
    assert "the selection says s.a > 3" in text
    assert "the selection says s.a < 6" in text


def test_bounded_by_a_window(check: Check, catalog: Catalog) -> None:
    sql = "SELECT s.a FROM s, t WHERE s.ts < t.ts AND t.ts <= s.ts + INTERVAL 7 SECONDS"
    text = why(check(sql), catalog)
    assert "s.a has no finite domain, but is kept for 7 steps only" in text


def test_bounded_by_an_optimum(check: Check, catalog: Catalog) -> None:
    sql = "SELECT DISTINCT 1 AS one FROM s, t WHERE s.ts < t.ts AND s.a {} t.a"
    assert "of s.a only the least is kept" in why(check(sql.format("<")), catalog)
    assert "of s.a only the greatest is kept" in why(check(sql.format(">")), catalog)


def test_bounded_since_it_comes_last(check: Check, catalog: Catalog) -> None:
    text = why(check("SELECT t.a FROM s, t WHERE s.ts < t.ts"), catalog)
    assert "t.a has no finite domain, but is not kept" in text


def test_bounded_since_nothing_is_kept(check: Check, catalog: Catalog) -> None:
    assert "no part of a match is kept" in why(check("SELECT s.a FROM s"), catalog)


def test_of_a_union_the_disjunct_to_blame_is_named(check: Check) -> None:
    good, bad = "SELECT t.a FROM s, t WHERE s.ts < t.ts", "SELECT s.a FROM s, t WHERE s.ts < t.ts"
    one = explain_union(check(f"{good} UNION ALL {bad}"))
    assert one is not None
    assert one.message == (
        "1 of 2 disjuncts to blame: disjunct 2; without it the query would be bounded"
    )
    both = explain_union(check(f"{bad} UNION ALL {bad}"))
    assert both is not None
    assert both.message.startswith("each of the 2 disjuncts fails by itself")
    assert explain_union(check(bad)) is None
    assert explain_union(check(f"{good} UNION ALL {good}")) is None


def test_groups_of_null_are_no_disjunct_to_compare_with(check: Check) -> None:
    """The group of rows without a key is bounded; nobody wrote it as a part of a union."""
    verdict = check("SELECT a, COUNT(*) AS n FROM s GROUP BY a")
    assert len(verdict.disjuncts) == 2
    assert explain_union(verdict) is None


def test_what_a_window_holds_is_told(check: Check, catalog: Catalog) -> None:
    """Nothing waits for another row, but the rows of the window are held."""
    within = "SELECT s.a FROM s WHERE s.ts > NOW() - INTERVAL 7 SECONDS"
    assert "s.a has no finite domain, but is held with the rows of the window" in why(
        check(within), catalog
    )
    assert "is held" not in why(check("SELECT s.a FROM s"), catalog)
