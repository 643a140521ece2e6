"""A live run uses the k that rows show of a rule that closes values, never less than the floor."""

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.model.live_job import LiveJob, LiveState
from ontoweir.runtime.live.model.measure_limits import list_events, measure_limits
from ontoweir.runtime.sources.read_source import BAD
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case
from tests.read_given import read_catalog
from tests.runtime.live_cases import make_job

SECOND = 1_000_000
TOML = """
[streams.page]
source = {{ format = "parquet", path = "page.parquet" }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 9
{rule}
[streams.page.columns]
k = "int"
"""
SQL = "SELECT k, COUNT(*) AS n FROM page WHERE k IS NOT NULL GROUP BY k"
GAP = 'clustered = [{{ columns = ["k"], gap = "30 seconds"{0} }}]'
ROWS = 'clustered = [{{ columns = ["k"], rows = 40{0} }}]'
SLACK = 'ordered = [{{ column = "k", slack = 40{0} }}]'
ORDER = 'ordered = [{{ column = "k", rows = 40{0} }}]'
FLOORS = {GAP: '"5 seconds"', ROWS: "5", SLACK: "5", ORDER: "5"}


class _Run:
    """A live run of the query, fed by rows (session, second)."""

    def __init__(self, rule: str, *, adapts: bool) -> None:
        self.catalog = read_catalog(_toml(rule, adapts=adapts))
        union = parse_sql(SQL, self.catalog, name="q", file="q.sql")
        case = Case(self.catalog, union, {"page": (["k", "ts"], [])}, 0)
        self.job: LiveJob = make_job(case, check_query(union, self.catalog, disprove=False))
        self.state: LiveState = begin_live(self.job)
        self.rows: list[tuple[int, int, int]] = []
        self.events: list[str] = []
        self.used: list[float] = []

    def feed(self, rows: list[tuple[int, int]]) -> None:
        cells: dict[str, Any] = {
            "k": pa.array([k for k, _ in rows], pa.int64()),
            "ts": pa.array([ts * SECOND for _, ts in rows], pa.int64()),
            BAD: pa.nulls(len(rows), pa.string()),
        }
        before = measure_limits(self.job, self.state)
        outcome = advance_live(self.job, self.state, {"page": pa.table(cells)}, 0.0)
        self.state = outcome.state
        after = measure_limits(self.job, self.state)
        self.events += list_events(before, after)
        self.used += [limit["in_use"] for limit in after]
        for row in outcome.answers[0].to_pylist():
            at = row["at"]
            second = at.hour * 3600 + at.minute * 60 + at.second + 86_400 * (at.day - 1)
            self.rows.append((row["k"], row["n"], second))


def _toml(rule: str, *, adapts: bool) -> str:
    more = f", adapt = true, floor = {FLOORS[rule]}" if adapts else ""
    return TOML.format(rule=rule.format(more))


def _sessions(until: int, apart: int = 2) -> list[tuple[int, int]]:
    """A session of three pages begins every second, its pages so many seconds apart."""
    rows = [(n, n + apart * page) for n in range(until) for page in range(3)]
    return sorted(rows, key=lambda row: row[1])


def _feed(run: _Run, rows: list[tuple[int, int]], size: int = 50) -> None:
    for first in range(0, len(rows), size):
        run.feed(rows[first : first + size])


def test_a_gap_follows_what_rows_show() -> None:
    """After a window (ten gaps) sessions are final 5 seconds after their last page, not 30."""
    run, plain = _Run(GAP, adapts=True), _Run(GAP, adapts=False)
    rows = _sessions(900)
    _feed(run, rows)
    _feed(plain, rows)
    late = {k: at for k, _, at in run.rows}
    assert all(at == k + 4 + 30 for k, _, at in plain.rows)
    assert late[10] == 10 + 4 + 30
    assert late[800] == 800 + 4 + 5
    assert min(run.used) == 5
    assert any("5 seconds in use, as observed, and no longer 30 seconds" in e for e in run.events)
    assert [row[:2] for row in run.rows[: len(plain.rows)]] == [row[:2] for row in plain.rows]


def test_it_uses_more_at_once_and_tells_what_was_lost() -> None:
    """Pages 12 seconds apart, when 5 are in use: two rows of that session, of none after it."""
    run = _Run(GAP, adapts=True)
    rows = _sessions(900)
    _feed(run, rows)
    begun = rows[-1][1] + 50
    again = [
        (k, at + 12 * page) for k, at in ((5000, begun), (6000, begun + 60)) for page in (0, 1)
    ]
    for row in again:
        run.feed([row])
    run.feed([(7000, begun + 200)])
    assert Counter(k for k, _, _ in run.rows if k in (5000, 6000)) == {5000: 2, 6000: 1}
    assert any(
        "15 seconds in use, as observed, and no longer 5 seconds" in event for event in run.events
    )
    assert run.used[-1] == 15  # a fifth more than 12, in whole steps


@pytest.mark.parametrize("rule", sorted(FLOORS))
@given(SEEDS)
@budget(0.02)
def test_data_that_keeps_the_floor_has_the_same_rows(rule: str, seed: int) -> None:
    random = Random(seed)
    run, plain = _Run(rule, adapts=True), _Run(rule, adapts=False)
    most = 1 if rule in (ROWS, ORDER) else 2
    rows = []
    for n in range(4500):
        pages = random.choice([1, 1, 2])
        rows += [(n, 2 * n + random.randint(0, most) * page) for page in range(pages)]
    rows.sort(key=lambda row: row[1])
    for made in (run, plain):
        _feed(made, rows, random.choice([400, 900]))
    assert min(run.used) >= 5
    assert min(run.used) < max(run.used)
    mine, others = Counter(row[:2] for row in run.rows), Counter(row[:2] for row in plain.rows)
    assert others <= mine
    assert set(mine.values()) == {1}
    whole = Counter(k for k, _ in rows)
    assert all(whole[k] == n for k, n in mine)
    at = {k: at for k, _, at in plain.rows}
    assert all(when <= at[k] for k, _, when in run.rows if k in at)


def test_more_rows_of_a_value_than_declared_are_told() -> None:
    """Of 25 rows of a session where 20 are declared, as soon as they have come."""
    rule = GAP.replace("{0}", ", max_rows_per_value = 20{0}")
    run = _Run(rule, adapts=False)
    _feed(run, _sessions(100))
    (_, limit) = measure_limits(run.job, run.state)
    assert (limit["rule"], limit["unit"]) == ("rows of one k", "rows")
    assert (limit["in_use"], limit["observed"]) == (20, 3)
    assert not run.events
    run.feed([(5000, 200 + n) for n in range(25)] + [(6000, 400)])
    assert run.events == ["page: rows of one k: 25 rows observed, and 20 rows in use"]


def test_what_rests_on_it_does_not_change() -> None:
    """The verdict and its bound are those of what is declared."""
    bounds = []
    for adapts in (True, False):
        catalog = read_catalog(_toml(GAP, adapts=adapts))
        union = parse_sql(SQL, catalog, name="q", file="q.sql")
        bounds.append(check_query(union, catalog).bound)
    assert bounds[0] == bounds[1]
    assert bounds[0] is not None


def test_a_replay_uses_what_is_declared() -> None:
    (rule,) = read_catalog(_toml(GAP, adapts=True)).streams["page"].closing
    assert (rule.gap_us, rule.floor) == (30 * SECOND, 5 * SECOND)
    assert replace(rule, floor=None) == replace(
        read_catalog(_toml(GAP, adapts=False)).streams["page"].closing[0], source=rule.source
    )
