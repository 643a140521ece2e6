"""The rows with the first numbers of each key among those that a window shows: their changes and
snapshots, replayed in ranges and live, as DuckDB answers the same text at every time, with NOW() as
that time; DISTINCT and groups of them too."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.bound_changes import bound_changes
from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import Emit, choose_emit
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case
from tests.oracle.test_first_rows import make_query as make_numbered
from tests.oracle.test_latest import fold, make_rows, make_world
from tests.oracle.test_sql_nulls import MARKERS, upto
from tests.oracle.test_stacked_queries import Stacked, _plain, make_job
from tests.oracle.test_windows_beside import At, run_live
from tests.runtime.in_process import replay_here, store


def _us(number: int) -> str:
    return f"INTERVAL '{number}' MICROSECOND"


def _draw_window(random: Random) -> str:
    shown = f"x.ts > NOW() - {_us(random.randint(1, 5))}"
    if random.random() < 0.2:
        shown = f"x.ts >= NOW() - {_us(random.randint(0, 4))}"
    if random.random() < 0.2:
        shown = f"x.ts <= NOW() - {_us(random.randint(1, 2))} AND x.ts > NOW() - {_us(5)}"
    return shown


def put_window(text: str, window: str) -> str:
    """A query of which the rows are in a window."""
    before, rows, after = text.partition(" FROM s AS x")
    if after.startswith(" WHERE "):
        return f"{before}{rows} WHERE {window} AND {after.removeprefix(' WHERE ')}"
    for end in (") AS w", ") SELECT", " QUALIFY"):
        inner, found, rest = after.partition(end)
        if found:
            return f"{before}{rows} WHERE {window}{inner}{found}{rest}"
    raise AssertionError(text)


def make_query(random: Random, key: tuple[str, ...]) -> Stacked:
    query = make_numbered(random, key)
    window, ours, duck = _draw_window(random), query.ours, query.duck
    if "ROW_NUMBER" in ours and random.random() < 0.3:  # by time, the first ones too, which leave
        by = f"ORDER BY x.ts{random.choice(['', ' DESC'])}, "
        ours, duck = ours.replace("ORDER BY ", by), duck.replace("ORDER BY ", by)
    ours, duck = put_window(ours, window), put_window(duck, window)
    kind = random.random()
    if "n" in query.names or kind < 0.7 or not ours.startswith("SELECT c0"):
        return replace(query, ours=ours, duck=duck)
    listed = f"SELECT {', '.join(query.names)} FROM ("
    if kind < 0.85:
        made = [text.replace(listed, f"SELECT DISTINCT {listed[7:]}") for text in (ours, duck)]
        return Stacked(made[0], made[1], query.names)
    asked = f"SELECT c0, COUNT(*) AS m, MIN({query.names[-1]}) AS least FROM ("
    made = [text.replace(listed, asked) + " GROUP BY c0" for text in (ours, duck)]
    return Stacked(made[0], made[1], ("c0", "m", "least"))


def check(seed: int) -> None:
    """One random query over random rows."""
    random = Random(seed)
    catalog, key = make_world(random)
    query, data = make_query(random, key), make_rows(random, key)
    union = parse_sql(query.ours, catalog, name="q", file="q.sql")
    assert union.standing is not None
    assert union.standing.first is not None
    assert choose_emit(union) is Emit.CHANGES
    verdict = check_query(union, catalog)
    event(str(verdict.tier))
    if verdict.tier is Tier.UNSATISFIABLE:
        return
    assert verdict.bound is not None  # whatever the values are
    bound = bound_changes(verdict, catalog).rows
    case = Case(catalog, union, data, MARKERS)
    oracle = At(case)
    expected = [
        Counter(tuple(map(_plain, row)) for row in oracle.holding(query, m).elements())
        for m in range(MARKERS)
    ]
    last = max((row[-1] for row in data["s"][1]), default=-1)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        stored, statics = store(case, random, Path(folder))
        job = replace(make_job(verdict, union, stored), emit=Emit.CHANGES, bound=bound)
        options: dict[str, Any] = {"statics": statics, "rows_per_range": 1}
        options |= {"ranges": random.choice([1, 1, 3]), "rows_per_chunk": random.choice([1, 3, 99])}
        whole, summary = replay_here(patch, job, Path(folder, "1.parquet"), **options)
        assert bound is None or summary.state_rows_max <= bound
        for marker in range(last + 1):
            found = fold(upto(whole, marker), query.names)
            assert found == expected[marker], (query.ours, marker, found, expected[marker])
        live, done = run_live(replace(job, catalog=catalog), case, random, Path(folder))
        for marker in range(done + 1):
            found = fold(upto(live, marker), query.names)
            assert found == expected[marker], ("live", query.ours, marker)
        snapshots = replace(job, emit=Emit.SNAPSHOTS)
        told, _ = replay_here(patch, snapshots, Path(folder, "2.parquet"), **options)
        for moment in {row["at"] for row in told}:
            rows = [row for row in told if row["at"] == moment]
            marker = next(m for m in range(MARKERS) if upto(rows, m))
            assert fold(rows, query.names) == expected[marker], (query.ours, marker)


@budget(0.25)
@given(seed=SEEDS)
def test_the_first_rows_of_windows_are_duckdbs(seed: int) -> None:
    check(seed)
