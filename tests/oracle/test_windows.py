"""Times in answers, and sliding windows: replayed in one range and in several, and live, as DuckDB
answers the same SQL at every time, with NOW() as that time."""

from collections import Counter
from datetime import datetime
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.bound_changes import bound_changes
from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier, Verdict
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import CHANGING, Emit, choose_emit
from ontoweir.runtime.engine.query_job import QueryJob
from tests.oracle.budget import SEEDS, budget
from tests.oracle.database import insert_rows, open_database
from tests.oracle.random_queries import Case, Tables
from tests.oracle.test_sql_nulls import CATALOG, MARKERS, make_data, run_live
from tests.runtime.in_process import EPOCH, replay_here, store

_TYPES = {
    "a": "BIGINT",
    "b": "DECIMAL(6,2)",
    "g": "VARCHAR",
    "h": "BIGINT",
    "d": "DATE",
    "f": "DOUBLE",
}
_WINDOWS = (
    "{t}.ts > NOW() - INTERVAL '{n}' MICROSECOND",
    "{t}.ts >= NOW() - INTERVAL '{n}' MICROSECOND",
    "NOW() < {t}.ts + INTERVAL '{n}' MICROSECOND",
    "NOW() - {t}.ts < INTERVAL '{n}' MICROSECOND",
    "{t}.ts BETWEEN NOW() - INTERVAL '{n}' MICROSECOND AND NOW()",
)


_GRID = "time_bucket(INTERVAL '{p}' MICROSECOND, NOW())"
_STEPS = (
    f"{{t}}.ts > {_GRID} - INTERVAL '{{n}}' MICROSECOND",
    f"{_GRID} <= {{t}}.ts",
    f"{{t}}.ts + INTERVAL '{{n}}' MICROSECOND >= {_GRID}",
)
_DELAYS = (
    "{t}.ts <= NOW() - INTERVAL '{n}' MICROSECOND",
    "{t}.ts < NOW() - INTERVAL '{n}' MICROSECOND",
    f"{{t}}.ts <= {_GRID}",
    f"{{t}}.ts < {_GRID}",
    f"{_GRID} - {{t}}.ts > INTERVAL '{{n}}' MICROSECOND",
)


def make_query(
    random: Random, *, windows: bool, steps: bool = False, computed: bool = False
) -> str:
    """A query that shows columns and times; of windows: in every part one; `steps`: also on grids,
    and delays; `computed`: also expressions of one row and of several, and self-joins."""
    distinct = random.random() < 0.5
    parts = random.choice([1, 1, 1, 2])
    kinds = random.choice([["h"], ["h", "ts"], ["a", "ts"], ["ts"], ["g", "a"], ["a", "h", "ts"]])
    if computed:
        kinds = random.choice([["e"], ["e", "ts"], ["h", "e"], ["e", "e"], *([kinds] * 2)])
    late = steps and random.random() < 0.5
    texts = [_make_part(random, kinds, distinct, windows, steps, late) for _ in range(parts)]
    if computed:
        texts = [_add_computed(random, text) for text in texts]
    return (" UNION " if distinct else " UNION ALL ").join(texts)


def _make_part(
    random: Random, kinds: list[str], distinct: bool, windows: bool, steps: bool, late: bool
) -> str:
    tables = random.choice([["s"], ["s", "t"], ["s", "t"], ["s", "r"], ["t", "s"]])
    streams = [t for t in tables if t != "r"]
    conditions = []
    if len(streams) == 2:
        orders = "s.ts < t.ts", "s.ts <= t.ts", "t.ts < s.ts", "s.ts = t.ts"
        if not windows or random.random() < 0.5:
            conditions.append(random.choice(orders))
        if random.random() < 0.6:
            conditions.append("t.ts <= s.ts + INTERVAL '3' MICROSECOND")
            conditions.append("s.ts <= t.ts + INTERVAL '2' MICROSECOND")
        if random.random() < 0.7:
            ties = "s.h = t.h", "s.a <= t.a", "s.g = t.g", "s.a <> t.a", "s.b < t.b"
            conditions.append(random.choice(ties))
    if "r" in tables:
        conditions.append("s.h = r.h")
    if windows:
        chosen = random.sample(streams, k=random.randint(1, len(streams)))
        for t in chosen:
            texts = _STEPS if steps and random.random() < 0.6 else _WINDOWS
            n, p = random.randint(1, 5), random.randint(2, 5)
            conditions.append(random.choice(texts).format(t=t, n=n, p=p))
        for t in random.sample(chosen, k=random.randint(1, len(chosen))) if late else ():
            n, p = random.randint(1, 4), random.randint(2, 5)
            conditions.append(random.choice(_DELAYS).format(t=t, n=n, p=p))
            if random.random() < 0.1:  # without a window, alone
                conditions = [c for c in conditions if "NOW" not in c or "<" in c]
    columns = [
        f"{'e' if c == 'e' else f'{random.choice(streams)}.{c}'} AS c{n}"
        for n, c in enumerate(kinds)
    ]
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    word = "DISTINCT " if distinct else ""
    return f"SELECT {word}{', '.join(columns)} FROM {', '.join(tables)}{where}"


_OF_ONE = ("{x}.a + 1", "{x}.h * 2 - {x}.a", "ABS({x}.a)", "{x}.h % 2", "COALESCE({x}.a, 7)")
_OF_TWO = ("{x}.a - {y}.a", "{x}.h + {y}.h", "CASE WHEN {x}.h > {y}.h THEN 1 ELSE {y}.h END")
_TESTS = (
    "{x}.a + 1 > {y}.h",
    "{x}.h % 2 = 0",
    "COALESCE({x}.a, 0) >= 0",
    "{x}.a + {x}.h <> 2",
    "({x}.a > 0 OR {y}.h = 1)",
    "{x}.h + {y}.h < 3",
    "{x}.g IS NOT NULL",
)


def _add_computed(random: Random, text: str) -> str:
    """The part with an expression for every `e`, now and then another condition, or with rows of
    one stream for both of its streams."""
    head, _, where = text.partition(" WHERE ")
    head, _, tables = head.partition(" FROM ")
    streams = [t for t in tables.split(", ") if t != "r"]

    def fill(texts: tuple[str, ...]) -> str:
        return random.choice(texts).format(x=random.choice(streams), y=random.choice(streams))

    while "e AS" in head:
        head = head.replace("e AS", f"{fill((*_OF_ONE, *_OF_TWO))} AS", 1)
    if random.random() < 0.4:
        where += f"{' AND ' if where else ''}{fill(_TESTS)}"
    if len(streams) == 2 and random.random() < 0.3:
        of = random.choice(streams)
        tables = ", ".join(f"{of} AS {t}" for t in streams)
    return f"{head} FROM {tables}" + (f" WHERE {where}" if where else "")


class _Oracle:
    """DuckDB at times."""

    def __init__(self, data: Tables) -> None:
        self.base, self.names = open_database(), tuple(data)
        for name, (columns, rows) in data.items():
            spec = ", ".join(f"{c} {_TYPES.get(c, 'TIMESTAMP')}" for c in columns)
            self.base.execute(f"CREATE TEMP TABLE all_{name} ({spec})")
            cells = (f"?::{_TYPES[c]}" if c in _TYPES else "make_timestamp(?)" for c in columns)
            insert_rows(self.base, f"all_{name}", ", ".join(cells), rows)

    def answers(self, text: str, now: int) -> Counter[Any]:
        """Rows without NULL."""
        for name in self.names:
            source = f"all_{name}" + ("" if name == "r" else f" WHERE ts <= make_timestamp({now})")
            self.base.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS FROM {source}")
        text = text.replace("NOW()", f"make_timestamp({now})")
        return Counter(r for r in self.base.execute(text).fetchall() if None not in r)


def standing(rows: list[dict[str, Any]], now: int) -> Counter[Any]:
    """The answers of a result that hold at a time; of changes, what they lead to."""
    found: Counter[Any] = Counter()
    for row in rows:
        if "op" in row:
            if _micros(row["at"]) <= now:
                hidden = ("at", "op", "multiplicity")
                sign = 1 if row["op"] == "+" else -1
                cells = (_plain(c) for name, c in row.items() if name not in hidden)
                found[tuple(cells)] += sign * row.get("multiplicity", 1)
            continue
        assert "until" not in row or row["at"] < row["until"]
        if _micros(row["at"]) <= now and ("until" not in row or now < _micros(row["until"])):
            hidden = ("at", "until", "multiplicity")
            cells = (_plain(c) for name, c in row.items() if name not in hidden)
            found[tuple(cells)] += row.get("multiplicity", 1)
    assert all(count >= 0 for count in found.values())
    return Counter({row: count for row, count in found.items() if count})


def _plain(cell: Any) -> Any:
    """Times without a zone, as DuckDB has them."""
    return cell.replace(tzinfo=None) if isinstance(cell, datetime) else cell


def _micros(moment: Any) -> int:
    return int((moment - EPOCH).microseconds)


def compare(random: Random, text: str, data: Tables, catalog: Catalog = CATALOG) -> Verdict:
    """Assert that a query, if it is bounded, is answered as DuckDB does at every time."""
    union = parse_sql(text, catalog, name="q", file="q.sql")
    emit = choose_emit(union)
    if random.random() < 0.5:
        emit = Emit.SNAPSHOTS if union.ends and random.random() < 0.4 else Emit.CHANGES
    case = Case(catalog, union, data, MARKERS)
    verdict = check_query(union, catalog, disprove=False)
    if verdict.plans is None or verdict.tier is Tier.UNSATISFIABLE or union.blocks:
        return verdict  # late rows: test_delays.py
    assert verdict.bound is not None
    bound = bound_changes(verdict, catalog) if emit in CHANGING else verdict.bound
    oracle = _Oracle(data)
    expected = [oracle.answers(text, m) for m in range(MARKERS)]
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        catalog, statics = store(case, random, Path(folder))
        job = QueryJob(
            "q", union, verdict.plans, catalog, bound.rows, verdict.declarations, (), emit=emit
        )
        options = {"statics": statics, "rows_per_range": 1}
        whole, _ = replay_here(patch, job, Path(folder, "1.parquet"), **options, ranges=1)
        read = {member.stream for plan in verdict.plans for member in plan.form.members}
        last = max((row[-1] for n in read & {"s", "t"} for row in data[n][1]), default=-1)
        for marker in range(last + 1 if emit in CHANGING else MARKERS):
            check_marker(emit, whole, marker, expected, text)
        ranges = random.choice([2, 3, 5])
        rows, _ = replay_here(patch, job, Path(folder, "n.parquet"), **options, ranges=ranges)
        if union.begins and emit not in CHANGING:  # they are written as they are found
            assert counted(rows) == counted(whole), text
        else:
            assert rows == whole, text
        live, done = run_live(case, verdict, random, Path(folder), emit)
        for marker in range(done + 1):
            check_marker(emit, live, marker, expected, text)
    return verdict


def counted(rows: list[dict[str, Any]]) -> Counter[Any]:
    """How often each row is there."""
    found: Counter[Any] = Counter()
    for row in rows:
        cells = tuple(c for n, c in row.items() if n != "multiplicity")
        found[cells] += row.get("multiplicity", 1)
    return found


def check_marker(
    emit: Emit,
    rows: list[dict[str, Any]],
    marker: int,
    expected: list[Counter[Any]],
    text: str,
) -> None:
    """Assert what holds at a time; of snapshots, that there is one if it has changed."""
    if emit is not Emit.SNAPSHOTS:
        assert standing(rows, marker) == expected[marker], (text, marker)
        return
    hidden = ("at", "multiplicity")
    found: Counter[Any] = Counter()
    for row in rows:
        if _micros(row["at"]) == marker:
            cells = (_plain(c) for name, c in row.items() if name not in hidden)
            found[tuple(cells)] += row.get("multiplicity", 1)
    changed = not marker or expected[marker] != expected[marker - 1]
    assert found == (expected[marker] if changed else Counter()), (text, marker)


def check(seed: int, *, windows: bool, steps: bool = False, computed: bool = False) -> str:
    random = Random(seed)
    text = make_query(random, windows=windows, steps=steps, computed=computed)
    try:
        return str(compare(random, text, make_data(random)).tier)
    except QueryError as error:  # a delay of what has no window, or a window that shows nothing
        if not steps and "NOW() beside an expression of several rows" not in error.what:
            raise
        return "refused"


@budget(0.2)
@given(seed=SEEDS)
def test_windows_of_expressions_and_of_one_stream_equal_duckdb_at_every_time(seed: int) -> None:
    event(check(seed, windows=seed % 4 > 0, steps=seed % 2 > 0, computed=True))


@budget(0.5)
@given(seed=SEEDS)
def test_times_in_answers_equal_duckdb(seed: int) -> None:
    event(check(seed, windows=False))


@budget(0.5)
@given(seed=SEEDS)
def test_windows_with_steps_and_delays_equal_duckdb_at_every_time(seed: int) -> None:
    event(check(seed, windows=True, steps=True))


@budget(0.5)
@given(seed=SEEDS)
def test_windows_equal_duckdb_at_every_time(seed: int) -> None:
    event(check(seed, windows=True))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT s.h + t.h AS c0 FROM s AS s, s AS t WHERE s.a <= t.a AND LATE",
        "SELECT s.h AS c0, s.a + t.a AS c1 FROM s AS s, s AS t WHERE s.a <= t.a AND LATE",
        "SELECT s.a AS c0, t.a * s.a AS c1 FROM s AS s, s AS t WHERE COALESCE(t.h, 0) = 0 AND LATE",
    ],
)
def test_what_is_null_though_not_declared_is_no_answer_of_several_rows(text: str) -> None:
    """As of one row; where it is asked for alone, a row with it is one."""
    data: Tables = {
        "s": ([*"abghdf", "ts"], [(3, None, "y", None, None, None, 1)]),
        "t": ([*"abgh", "ts"], []),
        "r": ([*"hag"], []),
    }
    late = "t.ts > NOW() - INTERVAL '2' MICROSECOND AND s.ts > NOW() - INTERVAL '2' MICROSECOND"
    compare(Random(3), text.replace("LATE", late), data)


_BOTH = "FROM t, s WHERE t.ts > NOW() - INTERVAL '3' MICROSECOND"
_BOTH += " AND s.ts > NOW() - INTERVAL '4' MICROSECOND"


@pytest.mark.parametrize(
    "shown",
    [
        "COALESCE(s.a, 7) AS c0, t.h + s.h AS c1",
        "s.a IS NULL AS c0, COALESCE(t.h, s.h) AS c1",
        "COALESCE(s.a, 7) AS c0, CASE WHEN s.h > t.h THEN 1 ELSE t.h END AS c1",
        "s.h AS c0, CASE WHEN s.h > t.h THEN 1 ELSE t.h END AS c1",
    ],
)
def test_a_value_is_asked_for_not_its_columns(shown: str) -> None:
    random = Random(600045)
    make_query(random, windows=True, steps=True, computed=True)
    data = make_data(random)
    assert any(row[0] is None for row in data["s"][1])
    compare(random, f"SELECT {shown} {_BOTH}", data)
