"""Witnesses over streams whose values a rule closes: their data keep the rule, whichever optional
tuples are there, and DuckDB's answers tell all of these apart."""

import re
from collections import Counter
from collections.abc import Sequence, Set
from datetime import datetime, timedelta
from itertools import pairwise, product
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest
from hypothesis import event, given

from ontoweir.checker.criteria.decide_lag import decide_lag
from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.checker.witness.find_witness import find_witness
from ontoweir.checker.witness.witness import Witness, WitnessRow
from ontoweir.mappings.model.catalog import Catalog, ClosingRule
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.database import open_database
from tests.runtime.harness import make_catalog

Factory = pytest.TempPathFactory
TOML = """[streams.page]
source = {{ format = "csv", path = "p.csv" }}
timestamp = {{ column = "ts", unit = "1 second" }}
{rules}
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
RULES = (
    'clustered = [{{ columns = ["k"], gap = "{n} seconds" }}]',
    'clustered = [{{ columns = ["k"], rows = {n} }}]',
    'closed_by = [{{ columns = ["k"], column = "done", max_open = {n} }}]',
    'ordered = [{{ column = "cost", slack = {n} }}]',
    'ordered = [{{ column = "cost", rows = {n} }}]',
)
TIMES = (
    "p.ts < q.ts",
    "p.ts <= q.ts",
    "p.ts + INTERVAL '20' SECOND < q.ts",
    "p.ts < q.ts AND q.ts <= p.ts + INTERVAL '9' SECOND",
)
MORE = ("", " AND p.kind = 1", " AND q.kind = 2 AND p.kind < 3", " AND q.url <> 'a'")
SELECTS = (
    "SELECT p.url FROM page p, page q WHERE p.k = q.k AND {time}{more}",
    "SELECT DISTINCT p.url FROM page p, page q WHERE p.k = q.k AND {time}{more}",
    "SELECT p.url, q.url AS u FROM page p, page q WHERE p.k = q.k AND {time}{more}",
    "SELECT p.k FROM page p, page q WHERE p.k = q.k AND {time}{more}",
    "SELECT p.url FROM page p, page q WHERE p.cost = q.cost AND {time}{more}",
    "SELECT q.url FROM page p, page q WHERE p.k = q.k AND p.cost < q.cost AND {time}{more}",
    "SELECT p.url FROM page p, buy q WHERE p.k = q.k AND {time}",
    "SELECT p.k, q.price FROM page p, buy q WHERE {time}",
)


def _content(row: WitnessRow) -> dict[str, Any]:
    return dict(row.values)


def _keeps(rule: ClosingRule, rows: Sequence[WitnessRow]) -> bool:
    """Whether the rows of page keep a rule, by its definition and with its number."""
    rows = sorted(rows, key=lambda r: r.step or 0)
    steps = [r.step or 0 for r in rows]
    values = [tuple(_content(r)[c] for c in rule.columns) for r in rows]
    if rule.is_order:
        plain = [(s, v[0]) for s, v in zip(steps, values, strict=True) if v[0] is not None]
        for step, value in plain:
            greater = [s for s, v in plain if s < step and v > value]
            if rule.slack is not None:
                before = [v for s, v in plain if s < step]
                if before and max(before) - value > rule.slack:
                    return False
            elif greater and sum(min(greater) < s <= step for s in steps) > (rule.late_rows or 0):
                return False
        return True
    places: dict[tuple[Any, ...], list[int]] = {}
    for place, value in enumerate(values):
        if None not in value:
            places.setdefault(value, []).append(place)
    for value, mine in places.items():
        for a, b in pairwise(mine):
            if rule.gap_us is not None and (steps[b] - steps[a]) * 10**6 > rule.gap_us:
                return False
            between = [v for s, v in zip(steps, values, strict=True) if steps[a] < s < steps[b]]
            if rule.rows is not None and sum(v != value for v in between) > rule.rows:
                return False
    if rule.ends is None:
        return True
    ended = {v: [p for p in mine if _content(rows[p])[rule.ends]] for v, mine in places.items()}
    if any(steps[p] < steps[places[v][-1]] for v, mine in ended.items() for p in mine):
        return False
    return sum(not mine for mine in ended.values()) <= (rule.most_open or 0)


_TABLES = {
    "page": (("k", "TEXT"), ("kind", "INT"), ("url", "TEXT"), ("cost", "BIGINT"), ("done", "BOOL")),
    "buy": (("k", "TEXT"), ("price", "BIGINT")),
}


def _write(value: Any) -> str:
    return "NULL" if value is None else f"'{value}'"


def _load(marked: Sequence[tuple[int, WitnessRow]]) -> duckdb.DuckDBPyConnection:
    """Each row with its mark; views show those whose marks are `there`."""
    base = open_database()
    for name, columns in _TABLES.items():
        kinds = (*columns, ("ts", "TIMESTAMP"), ("mark", "INT"))
        typed = ", ".join(f"{column} {kind}" for column, kind in kinds)
        base.execute(f"CREATE TEMP TABLE all_{name}({typed})")
        lines = []
        for mark, row in marked:
            if row.table == name:
                moment = datetime(2026, 1, 1) + timedelta(seconds=row.step or 0)
                values = [*(_content(row)[c] for c, _ in columns), moment, mark]
                lines.append(f"({', '.join(map(_write, values))})")
        if lines:
            base.execute(f"INSERT INTO all_{name} VALUES {', '.join(lines)}")
        there = "list_contains(getvariable('there'), mark)"
        base.execute(f"CREATE TEMP VIEW {name} AS FROM all_{name} WHERE {there}")
    return base


def _answer(base: duckdb.DuckDBPyConnection, sql: str, there: Set[int]) -> Counter[tuple[Any, ...]]:
    """What a query answers over some rows; rows with NULL are no results, as in the language."""
    base.execute(f"SET VARIABLE there = {sorted(there)}")
    return Counter(row for row in base.execute(sql).fetchall() if None not in row)


def check_rules_kept(catalog: Catalog, witness: Witness) -> None:
    """Assert that every subset of the optional tuples, with every suffix, is data as declared."""
    page = catalog.streams["page"]
    for chosen in product((False, True), repeat=witness.size):
        taken = [r for r, there in zip(witness.optional, chosen, strict=True) if there]
        for suffix in ((), *witness.suffixes):
            rows = [r for r in (*witness.fixed, *taken, *suffix) if r.table == "page"]
            assert all(_keeps(rule, rows) for rule in page.closing), rows
            counts = Counter(r.step for r in rows)
            most = page.max_per_timestamp
            assert most is None or max(counts.values(), default=0) <= most
            for key in page.keys:
                seen = Counter(tuple(_content(r).get(c, r.step) for c in key) for r in rows)
                assert all(n == 1 for v, n in seen.items() if None not in v)


def check_told_apart(sql: str, witness: Witness) -> None:
    """Assert that what suffixes bring differs between all subsets of the optional tuples."""
    marked = [(0, row) for row in witness.fixed]
    marked += enumerate(witness.optional, 1)
    marked += [(-n, row) for n, suffix in enumerate(witness.suffixes, 1) for row in suffix]
    told, base = set(), _load(marked)
    for chosen in product((False, True), repeat=witness.size):
        taken = {0, *(n for n, there in enumerate(chosen, 1) if there)}
        before = _answer(base, sql, taken)
        brought = [
            _answer(base, sql, taken | {-n}) - before for n in range(1, len(witness.suffixes) + 1)
        ]
        told.add(tuple(frozenset(b.items()) for b in brought))
    assert len(told) == 2**witness.size


TWO = 'clustered = [{{ columns = ["k"], gap = "3 seconds" }}, {{ columns = [{}], gap = "{}" }}]'


@pytest.mark.parametrize("most", [None, 1, 2, 3])
@pytest.mark.parametrize("gap", ["1 second", "3 seconds", "20 seconds"])
@pytest.mark.parametrize("column", ['"cost"', '"k", "cost"'])
def test_values_of_two_gaps_stay_open(
    column: str, gap: str, most: int | None, tmp_path: Path
) -> None:
    """Rows that hold one value open keep the other gap, too."""
    lines = "" if most is None else f"max_per_timestamp = {most}\n"
    catalog = make_catalog(tmp_path, TOML.format(rules=lines + TWO.format(column, gap)))
    for select in (SELECTS[0], SELECTS[2]):
        sql = select.format(time=TIMES[0], more="")
        verdict = check_query(parse_sql(sql, catalog, name="q", file="q.sql"), catalog)
        if most == 1 and verdict.name == "undecided":
            continue  # there may be no time for the rows that hold both open
        assert verdict.name == "unbounded"
        assert verdict.witness is not None
        check_rules_kept(catalog, verdict.witness)
        check_told_apart(sql, verdict.witness)


def test_twin_what_the_other_gap_closes_is_no_counterexample(tmp_path: Path) -> None:
    """A value that is closed does not come again: it need not be kept to be counted once."""
    catalog = make_catalog(tmp_path, TOML.format(rules=TWO.format('"cost"', "9 seconds")))
    told = "FROM page WHERE k IS NOT NULL AND cost IS NOT NULL"
    for sql in (
        f"SELECT k, COUNT(DISTINCT cost) AS n {told} GROUP BY k",
        f"SELECT DISTINCT k, cost {told}",
        f"SELECT k, cost, COUNT(*) AS n {told} GROUP BY k, cost",
    ):
        verdict = check_query(parse_sql(sql, catalog, name="q", file="q.sql"), catalog)
        assert verdict.name == "undecided"


def _make(random: Random) -> tuple[str, str]:
    """A query, and a catalog."""
    rules = [random.choice(RULES).format(n=random.choice((1, 2, 3, 30)))]
    most = random.choice((None, 1, 2, 3))
    lines = [] if most is None else [f"max_per_timestamp = {most}"]
    if random.random() < 0.3:
        lines.append('keys = [["k", "ts"]]')
    if random.random() < 0.3:
        other = random.choice([r for r in RULES if r[:9] != rules[0][:9]])
        rules.append(other.format(n=random.choice((1, 5))))
    if rules[0].startswith("clustered") and random.random() < 0.3:
        columns = random.choice(('"cost"', '"url"', '"k", "kind"', '"kind"'))
        span = random.choice(("gap = {n}", "gap = {n}", "rows = {n}")).format(
            n=random.choice((1, 2, 9))
        )
        span = re.sub(r"gap = (\d+)", r'gap = "\1 seconds"', span)
        rules[0] = rules[0].replace("}]", f"}}, {{ columns = [{columns}], {span} }}]")
    sql = random.choice(SELECTS).format(time=random.choice(TIMES), more=random.choice(MORE))
    return sql, TOML.format(rules="\n".join([*lines, *rules]))


@budget(0.1)
@given(SEEDS)
def test_counterexamples_keep_the_rules(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    random = Random(seed)
    sql, toml = _make(random)
    catalog = make_catalog(tmp_path_factory.mktemp("c"), toml)
    verdict = check_query(parse_sql(sql, catalog, name="q", file="q.sql"), catalog)
    event(verdict.name)
    if verdict.witness is not None:
        check_rules_kept(catalog, verdict.witness)
        check_told_apart(sql, verdict.witness)


@pytest.mark.parametrize("most", [None, 1, 2, 3])
@pytest.mark.parametrize("rule", [r.format(n=2) for r in RULES])
def test_a_value_that_stays_open_is_a_counterexample(
    rule: str, most: int | None, tmp_path: Path
) -> None:
    lines = "" if most is None else f"max_per_timestamp = {most}\n"
    catalog = make_catalog(tmp_path, TOML.format(rules=lines + rule))
    for select in (SELECTS[0], SELECTS[2]):
        sql = select.format(time=TIMES[0], more="")
        verdict = check_query(parse_sql(sql, catalog, name="q", file="q.sql"), catalog)
        assert verdict.name == "unbounded"
        assert verdict.witness is not None
        check_rules_kept(catalog, verdict.witness)
        check_told_apart(sql, verdict.witness)


@pytest.mark.parametrize("rule", RULES[:3])
def test_twin_no_counterexample_to_what_a_rule_bounds(rule: str, tmp_path: Path) -> None:
    """Where the lag criterion alone fails, and the rule bounds what is open."""
    ruled = rule.format(n=2)
    few = ruled.replace(" }]", ", max_rows_per_value = 3 }]")
    joined = "FROM page p, page q WHERE p.k = q.k AND p.ts < q.ts"
    for lines, sql in (
        (ruled, f"SELECT p.k {joined}"),
        (ruled, f"SELECT COUNT(*) AS n {joined} AND p.kind = 1"),
        (few, f"SELECT p.url {joined}"),
        (few, f"SELECT p.url, q.cost {joined}"),
    ):
        catalog = make_catalog(tmp_path, TOML.format(rules="max_per_timestamp = 2\n" + lines))
        union = parse_sql(sql, catalog, name="q", file="q.sql")
        assert check_query(union, catalog).plans is not None
        plain = parse_sql(
            f"SELECT p.k {joined}" if "COUNT" in sql else sql, catalog, name="q", file="q.sql"
        )
        form = normalise_query(plain.disjuncts[0], distinct=False, catalog=catalog)
        failures = decide_lag(form).failures
        assert failures
        assert find_witness(form, plain, failures, catalog) is None
