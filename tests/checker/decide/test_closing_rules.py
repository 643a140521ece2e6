"""Verdicts on queries over streams whose values a rule closes."""

from pathlib import Path

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.partition.partition import ByKey, NotDivided
from ontoweir.checker.verdict.find_pattern import UpdatePattern, find_pattern
from ontoweir.checker.verdict.verdict import Failing, Verdict
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.runtime.harness import make_catalog

GAP = 'clustered = [{ columns = ["k"], gap = "10 seconds" }]'
ROWS = 'clustered = [{ columns = ["k"], rows = 50 }]'
SLACK = 'ordered = [{ column = "cost", slack = 20 }]'
LATE = 'ordered = [{ column = "cost", rows = 50 }]'
ENDS = 'closed_by = [{ columns = ["k"], column = "done", max_open = 100 }]'
TOML = """[streams.page]
source = {{ format = "csv", path = "p.csv" }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 3
{rule}
[streams.page.columns]
k = "string"
kind = {{ type = "int", min = 0, max = 3 }}
url = "string"
cost = "int"
done = "boolean"
[streams.buy]
source = {{ format = "csv", path = "b.csv" }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 2
columns = {{ k = "string", price = "int" }}
"""
BOTH = "FROM page p, buy b WHERE p.k = b.k"
APART = "FROM page p, buy b WHERE p.ts <= b.ts"
WHILE_OPEN = (
    "while a value of k is open, a number would have to be kept for every value of page.url"
)
SOON = "AND p.ts <= b.ts AND b.ts <= p.ts + INTERVAL '5' SECOND"


def decide(sql: str, rule: str, folder: Path) -> Verdict:
    catalog = make_catalog(folder, TOML.format(rule=rule))
    return check_query(parse_sql(sql, catalog, name="q", file="q.sql"), catalog)


@pytest.mark.parametrize(
    ("sql", "bound"),
    [
        ("SELECT k, COUNT(*) AS n FROM page WHERE k IS NOT NULL GROUP BY k", 2 * 33),
        ("SELECT k, MAX(cost) AS n FROM page WHERE k <> 'a' GROUP BY k HAVING MAX(cost) < 3", 66),
        ("SELECT DISTINCT k FROM page WHERE k IS NOT NULL", 2 * 33),
        ("SELECT DISTINCT k, kind FROM page WHERE k <> '' AND kind >= 0", 33 + 4 * 33),
        (f"SELECT p.k, COUNT(*) AS n {BOTH} {SOON} GROUP BY p.k", 2 * 48 + 15),
        (f"SELECT b.k, COUNT(*) AS n {BOTH} {SOON} GROUP BY b.k", 2 * 48 + 15),
    ],
)
def test_a_gap_bounds_groups_and_answers(sql: str, bound: int, tmp_path: Path) -> None:
    verdict = decide(sql, GAP, tmp_path)
    assert verdict.name == "conditionally-bounded", verdict
    assert verdict.bound is not None
    assert verdict.bound.rows == bound, verdict.bound
    assert [c.kind for c in verdict.conditions if c.kind != "domain"] == ["closing"]
    assert verdict.closes_values


def test_groups_are_final(tmp_path: Path) -> None:
    sql = "SELECT k, COUNT(*) AS n FROM page WHERE k IS NOT NULL GROUP BY k"
    for rule in (GAP, ROWS, ENDS):
        verdict = decide(sql, rule, tmp_path)
        catalog = make_catalog(tmp_path, TOML.format(rule=rule))
        found = find_pattern(verdict.union, catalog, closed=verdict.closes_values)
        assert found is UpdatePattern.MON
        divided = NotDivided if rule is ROWS else ByKey  # other rows say when a value is closed
        assert isinstance(verdict.partition, divided)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        (
            "SELECT k, url, COUNT(*) AS n FROM page WHERE k > '' AND url > '' GROUP BY k, url",
            WHILE_OPEN,
        ),
        (
            "SELECT k, COUNT(DISTINCT url) AS n FROM page WHERE k IS NOT NULL GROUP BY k",
            WHILE_OPEN,
        ),
        (
            f"SELECT p.k, COUNT(*) AS n {BOTH} AND p.ts <= b.ts GROUP BY p.k",
            "their tuples may be any time apart",
        ),
        (
            f"SELECT p.k, COUNT(*) AS n {APART} AND p.k > '' GROUP BY p.k",
            "may wait for one of b for ever",
        ),
    ],
)
def test_why_a_rule_is_not_enough(sql: str, said: str, tmp_path: Path) -> None:
    for rule in (GAP, ROWS, ENDS):
        verdict = decide(sql, rule, tmp_path)
        assert verdict.plans is None
        failing = [d for d in verdict.disjuncts if isinstance(d, Failing)]
        assert said in failing[0].because[0].message


def test_rows_without_a_value_are_named(tmp_path: Path) -> None:
    verdict = decide("SELECT k, COUNT(*) AS n FROM page GROUP BY k", GAP, tmp_path)
    failing = next(d for d in verdict.disjuncts if isinstance(d, Failing))
    assert "WHERE k IS NOT NULL" in (failing.because[0].hint or "")


@pytest.mark.parametrize("rule", [GAP, ROWS, ENDS, GAP.replace("10 seconds", "1 hour")])
@pytest.mark.parametrize(
    ("sql", "verdict"),
    [
        # nothing closes these: there is a counterexample that keeps the rule
        ("SELECT DISTINCT url FROM page WHERE url IS NOT NULL", "unbounded"),
        ("SELECT url, COUNT(*) AS n FROM page WHERE url IS NOT NULL GROUP BY url", "unbounded"),
        (f"SELECT p.url {BOTH}", "unbounded"),
        # nor these, while one value stays open
        ("SELECT k, COUNT(DISTINCT url) AS n FROM page WHERE k > '' GROUP BY k", "unbounded"),
        ("SELECT p.url FROM page p, page q WHERE p.k = q.k AND p.ts < q.ts", "unbounded"),
        # a few open values are no proof that there may be many
        ("SELECT k FROM page GROUP BY k HAVING COUNT(*) >= 1", "undecided"),
    ],
)
def test_no_witness_breaks_a_rule(sql: str, verdict: str, rule: str, tmp_path: Path) -> None:
    assert decide(sql, rule, tmp_path).name == verdict


@pytest.mark.parametrize(
    ("sql", "bound"),
    [
        ("SELECT k, COUNT(*) AS n FROM page WHERE k IS NOT NULL GROUP BY k", 2 * 33),
        ("SELECT k, url, COUNT(*) AS n FROM page WHERE k > '' AND url > '' GROUP BY k, url", 66),
        ("SELECT k, COUNT(*) AS n FROM page WHERE k > '' GROUP BY k HAVING COUNT(*) < 3", 66),
        ("SELECT k, COUNT(*) AS n FROM page WHERE k IN ('a', 'b') GROUP BY k", 2),
        ("SELECT DISTINCT k FROM page WHERE k IS NOT NULL", None),
    ],
)
def test_a_span_closes_groups_that_nothing_else_bounds(
    sql: str, bound: int | None, tmp_path: Path
) -> None:
    verdict = decide(sql, GAP.replace("gap", "within"), tmp_path)
    assert (None if verdict.bound is None else verdict.bound.rows) == bound, verdict
    if bound == 66:
        assert [c.kind for c in verdict.conditions] == ["lag"]
    assert verdict.closes_values is (bound == 66)


@pytest.mark.parametrize(
    ("sql", "rule", "bound"),
    [
        ("SELECT cost, COUNT(*) AS n FROM page WHERE cost > 0 GROUP BY cost", SLACK, 2 * 24),
        ("SELECT cost, COUNT(*) AS n FROM page WHERE cost > 0 GROUP BY cost", LATE, 2 * 54),
        ("SELECT DISTINCT cost FROM page WHERE cost > 0", SLACK, 2 * 24),
        (f"SELECT p.cost, COUNT(*) AS n {BOTH} {SOON} AND p.cost > 0 GROUP BY p.cost", SLACK, 93),
    ],
)
def test_an_order_bounds_groups_and_answers(
    sql: str, rule: str, bound: int, tmp_path: Path
) -> None:
    verdict = decide(sql, rule, tmp_path)
    assert verdict.name == "conditionally-bounded", verdict
    assert verdict.bound is not None
    assert verdict.bound.rows == bound, verdict.bound
    assert isinstance(verdict.partition, NotDivided)


def test_an_order_says_nothing_of_texts_made_of_its_values(tmp_path: Path) -> None:
    sql = "SELECT CAST(cost AS VARCHAR) AS c, COUNT(*) AS n FROM page WHERE cost > 0 GROUP BY 1"
    assert decide(sql, SLACK, tmp_path).plans is None


def test_a_value_may_stay_open_for_ever(tmp_path: Path) -> None:
    """docs/semantics.md: an order says how many values are open, not how long one is."""
    sql = "SELECT p.url FROM page p, buy b WHERE p.cost = b.price"
    verdict = decide(sql, SLACK, tmp_path)
    assert verdict.name == "unbounded"
    assert verdict.witness is not None


OPEN = [(GAP, 3 * 11), (ROWS, 50 + 3), (ENDS, 100 + 3)]
URLS = "SELECT k, url, COUNT(*) AS n FROM page WHERE k > '' AND url > '' GROUP BY k, url"
WITHOUT_K = "SELECT url, COUNT(*) AS n FROM page WHERE url > '' GROUP BY url"


def _few(rule: str) -> str:
    return rule.replace(" }]", ", max_rows_per_value = 7 }]")


@pytest.mark.parametrize(("rule", "values"), OPEN)
def test_few_rows_of_a_value_bound_what_they_have(rule: str, values: int, tmp_path: Path) -> None:
    assert decide(URLS, rule, tmp_path).plans is None
    verdict = decide(URLS, _few(rule), tmp_path)
    assert verdict.bound is not None, verdict
    assert verdict.bound.rows == values + 7 * values
    assert "open k) · 7 rows" in verdict.bound.formula
    (said,) = [c.text for c in verdict.conditions if c.kind == "closing"]
    assert said.endswith("; at most 7 rows of page have one k")


@pytest.mark.parametrize(("rule", "values"), OPEN)
def test_few_rows_are_counted_where_they_are_fewer_than_values(
    rule: str, values: int, tmp_path: Path
) -> None:
    sql = "SELECT k, kind, COUNT(*) AS n FROM page WHERE k > '' AND kind >= 0 GROUP BY k, kind"
    for count, few in ((4, 4), (7, 4), (3, 3)):
        ruled = _few(rule).replace("= 7", f"= {count}")
        bound = decide(sql, ruled, tmp_path).bound
        assert bound is not None
        assert bound.rows == values + few * values


def test_distinct_values_and_matches_of_few_rows(tmp_path: Path) -> None:
    counted = "SELECT k, COUNT(DISTINCT url) AS n FROM page WHERE k > '' AND url > '' GROUP BY k"
    shown = "SELECT DISTINCT k, url FROM page WHERE k > '' AND url > ''"
    joined = f"SELECT p.k, p.url, COUNT(*) AS n {BOTH} {SOON} AND p.url > '' GROUP BY p.k, p.url"
    for sql, rows in ((counted, 33 + 33 + 7 * 33), (shown, 33 + 7 * 33), (joined, 8 * 48 + 15)):
        assert decide(sql, GAP, tmp_path).plans is None
        bound = decide(sql, _few(GAP), tmp_path).bound
        assert bound is not None
        assert bound.rows == rows, bound.formula


def test_few_rows_bound_nothing_else(tmp_path: Path) -> None:
    """What another stream's rows have, of which a value may have any number."""
    sql = f"SELECT p.k, b.price, COUNT(*) AS n {BOTH} {SOON} AND b.price > 0 GROUP BY p.k, b.price"
    for rule in (GAP, ROWS, ENDS):
        assert decide(sql, _few(rule), tmp_path).plans is None
    for rule in (GAP, ENDS, ROWS):
        for sql in ("SELECT DISTINCT url FROM page WHERE url > ''", WITHOUT_K):
            assert decide(sql, _few(rule), tmp_path).name == "unbounded"


def test_a_query_of_more_rows_than_a_value_has_is_not_said_to_be_unbounded(tmp_path: Path) -> None:
    """A witness that has many rows of one value breaks what is declared."""
    sql = "SELECT DISTINCT url FROM page WHERE cost = 1 AND url > ''"
    for rule in (SLACK, LATE):
        assert decide(sql, rule, tmp_path).name == "unbounded"
        assert decide(sql, _few(rule), tmp_path).name == "undecided"


FEW = 'clustered = [{ columns = ["k"], gap = "10 seconds", max_rows_per_value = 5 }]'
PAIRS = "FROM page a, page b WHERE a.k = b.k"
NEAR = "AND a.ts <= b.ts AND b.ts <= a.ts + INTERVAL '5' SECOND"


@pytest.mark.parametrize(
    ("select", "rule", "rows"),
    [
        (f"SELECT COUNT(*) AS n {PAIRS}", GAP, 3 * 33 + 1),  # a, b, what is open, and the count
        (f"SELECT COUNT(*) AS n {PAIRS}", ROWS, 3 * 53 + 1),
        (f"SELECT COUNT(*) AS n {PAIRS}", ENDS, 2 * 103 + 1),
        (f"SELECT b.url {PAIRS} AND a.ts < b.ts AND a.kind = 1", GAP, 2 * 33),
        (f"SELECT a.k {PAIRS} AND a.ts < b.ts", GAP, 2 * 33),
        (f"SELECT DISTINCT a.kind {PAIRS} AND b.kind = 2", GAP, 4 * 33 + 2 * 33 + 4),
        (f"SELECT a.url, b.url AS u {PAIRS} AND a.ts < b.ts", FEW, 5 * 33 + 33),
        (f"SELECT COUNT(*) AS n {PAIRS} AND a.cost < b.cost", FEW, 2 * 5 * 33 + 33 + 1),
        (f"SELECT a.k, COUNT(*) AS n {PAIRS} GROUP BY a.k", GAP, 3 * 33 + 2 * 33),
        ("SELECT COUNT(*) AS n FROM page a, page b WHERE a.cost = b.cost", SLACK, 3 * 24 + 1),
        ("SELECT COUNT(*) AS n FROM page a, page b WHERE a.cost = b.cost", LATE, 3 * 54 + 1),
    ],
)
def test_rows_wait_for_others_while_their_value_is_open(
    select: str, rule: str, rows: int, tmp_path: Path
) -> None:
    verdict = decide(select, rule, tmp_path)
    assert verdict.name == "conditionally-bounded", verdict
    assert verdict.bound is not None
    assert verdict.bound.rows == rows, verdict.bound
    assert [c.kind for c in verdict.conditions if c.kind != "domain"] == ["closing"]
    assert isinstance(verdict.partition, NotDivided)


@pytest.mark.parametrize(
    ("select", "rule"),
    [
        # a value may stay open for ever, and a row with it wait with all that it shows
        (f"SELECT a.url, b.url AS u {PAIRS} AND a.ts < b.ts", GAP),
        (f"SELECT COUNT(*) AS n {PAIRS} AND a.cost < b.cost", GAP),
        # another stream, for which the rule says nothing
        ("SELECT COUNT(*) AS n FROM page a, buy b WHERE a.k = b.k", GAP),
        # nothing is gained towards a third one
        (f"SELECT a.k {PAIRS.replace('WHERE', ', buy c WHERE')} AND c.price = 3", FEW),
        # other columns than those of the rule
        ("SELECT COUNT(*) AS n FROM page a, page b WHERE a.url = b.url", GAP),
        # a value and the next one
        ("SELECT COUNT(*) AS n FROM page a, page b WHERE a.cost = b.cost + 1", SLACK),
        # of sets, what is compared beside it
        (f"SELECT DISTINCT a.kind {PAIRS} AND a.cost < b.cost", FEW),
    ],
)
def test_twin_what_a_closed_value_does_not_end(select: str, rule: str, tmp_path: Path) -> None:
    assert decide(select, rule, tmp_path).name in ("unbounded", "undecided")


def test_rules_are_not_used_where_a_query_is_bounded_without(tmp_path: Path) -> None:
    verdict = decide(f"SELECT a.url, b.url AS u {PAIRS} {NEAR}", GAP, tmp_path)
    assert verdict.name == "bounded"
    assert verdict.plans is not None
    assert not any(plan.form.open for plan in verdict.plans)


def test_of_several_rules_the_one_that_leaves_the_fewest_open_counts(tmp_path: Path) -> None:
    rules = GAP.replace("}]", '}, { columns = ["k"], rows = 4 }]')
    verdict = decide(f"SELECT COUNT(*) AS n {PAIRS}", rules, tmp_path)
    assert verdict.bound is not None
    assert verdict.bound.rows == 3 * 7 + 1
    assert [c.text for c in verdict.conditions] == [
        "at most 4 rows of page come between two consecutive ones with one k"
    ]


def test_few_rows_of_a_value_help_where_values_are_few_too(tmp_path: Path) -> None:
    rule = 'clustered = [{ columns = ["kind"], gap = "10 seconds", max_rows_per_value = 5 }]'
    pairs = "FROM page a, page b WHERE a.kind = b.kind AND a.ts < b.ts"
    verdict = decide(f"SELECT a.url, b.url AS u {pairs}", rule, tmp_path)
    assert verdict.bound is not None
    assert verdict.bound.rows == 33 * 5 + 33
    assert decide(f"SELECT a.url, b.url AS u {pairs}", GAP, tmp_path).bound is None


def test_what_a_row_shows_while_its_value_is_open_is_named(tmp_path: Path) -> None:
    verdict = decide(f"SELECT a.url, b.url AS u {PAIRS} AND a.ts < b.ts", GAP, tmp_path)
    (failing,) = verdict.disjuncts
    assert isinstance(failing, Failing)
    (reason,) = failing.because  # not that k is remembered
    assert reason.message.startswith("a.url")
    assert reason.hint.endswith("; or declare max_rows_per_value of k")
