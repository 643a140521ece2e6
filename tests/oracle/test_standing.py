"""What holds until a later row of its key ends it: changes and snapshots, replayed and live, as
DuckDB answers the same text over every prefix."""

from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import Emit
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case, Tables
from tests.oracle.test_latest import All, fold, run_live
from tests.oracle.test_sql_nulls import CATALOG, MARKERS, make_data, upto
from tests.oracle.test_stacked_queries import Stacked, make_job
from tests.runtime.in_process import replay_here, store

HELD = "abgh"
EITHER = "(x.h = 0 AND x.a > -1 OR x.h = 1 AND x.a < 1)"


def make_rows(random: Random) -> Tables:
    """Many rows of few keys, some of them at one time."""
    data: Tables = make_data(random)
    few: dict[str, list[Any]] = {"h": [0, 1, None], "g": ["x", "y", None], "a": [-1, 0, None]}
    for name in ("s", "t"):
        columns, rows = data[name]
        kept = []
        for row in [row for row in rows * 4 if random.random() < 0.6][:20]:
            cells = dict(zip(columns, row, strict=True))
            cells |= {c: random.choices(few[c], [6, 6, 1])[0] for c in few}
            cells["ts"] = random.randrange(MARKERS)
            kept.append(tuple(cells[c] for c in columns))
        data[name] = columns, sorted(kept, key=lambda row: row[-1])
    return data


def make_query(random: Random) -> tuple[Stacked, list[str]]:
    """A query, and its key."""
    other = random.choice(["t", "t", "t", "s"])
    key = random.sample("hga", k=random.choice([1, 1, 2]))
    shown = random.sample(HELD, k=random.randint(1, 3))
    names = tuple(f"c{n}" for n in range(len(shown)))
    listed = ", ".join(f"x.{c} AS {n}" for c, n in zip(shown, names, strict=True))
    later = random.choice(["y.ts > x.ts", "y.ts > x.ts", "y.ts >= x.ts", "x.ts < y.ts"])
    conditions = [*(random.choice([f"y.{c} = x.{c}", f"x.{c} = y.{c}"]) for c in key)]
    if random.random() < 0.7:  # else none may come before it either
        conditions.append(later)
    if random.random() < 0.4:
        conditions.append(random.choice(["y.a > -1", "y.h IN (0, 1)", "y.g IS NOT NULL"]))
    random.shuffle(conditions)
    mine = random.choice([None, None, "x.a > -2", "x.h IN (0, 1)", "x.g IS NOT NULL", EITHER])
    word = random.choice(["", "", "DISTINCT "])
    tables = "s AS x"
    if random.random() < 0.2:
        tables += " JOIN r ON r.h = x.h"
    if random.random() < 0.2:
        kinds: list[tuple[str, list[str]]] = [("ANTI", []), ("LEFT", ["y.ts IS NULL"])]
        kind, none = random.choice(kinds if later in conditions or other == "t" else kinds[:1])
        ours = f"SELECT {word}{listed} FROM {tables} {kind} JOIN {other} AS y ON "
        where = [*none, *([mine] if mine else [])]
        ours += " AND ".join(conditions) + (f" WHERE {' AND '.join(where)}" if where else "")
    else:
        beside = " JOIN r AS z ON z.h = y.h" if random.random() < 0.2 else ""
        inner = f"SELECT 1 FROM {other} AS y{beside} WHERE {' AND '.join(conditions)}"
        where = [f"NOT EXISTS ({inner})", *([mine] if mine else [])]
        if random.random() < 0.35:
            where[0] = _add_kind(random, inner, [c for c in conditions if "x." in c])
        ours = f"SELECT {word}{listed} FROM {tables} WHERE {' AND '.join(where)}"
    if random.random() < 0.1:
        theirs = ", ".join(f"y.{c}" for c in shown)
        where = [f" WHERE {random.choice(['y.a > -1', 'y.h IN (0, 1)'])}", ""]
        ours = f"SELECT {listed} FROM s AS x{f' WHERE {mine}' if mine else ''} EXCEPT "
        ours += f"SELECT {theirs} FROM {other} AS y{random.choice(where)}"
    # of what is selected, rows with NULL are none, as everywhere
    apart = " AND ".join(f"{n} IS NOT NULL" for n in names)
    return Stacked(ours, f"SELECT * FROM ({ours}) AS told WHERE {apart}", names), key


def _add_kind(random: Random, inner: str, conditions: list[str]) -> str:
    """That neither these rows nor others, of the same key, are there."""
    said = [c.replace("y.", "w.") for c in conditions]
    random.shuffle(said)
    said.append(random.choice(["w.a > 0", "w.h = 1", "w.g = 'x'", "w.b IS NOT NULL", "TRUE"]))
    more = f"SELECT 1 FROM {random.choice('st')} AS w WHERE {' AND '.join(said)}"
    return random.choice(
        [
            f"NOT EXISTS ({inner}) AND NOT EXISTS ({more})",
            f"NOT EXISTS ({inner}) AND NOT EXISTS ({more})",
            f"NOT EXISTS ({inner} UNION ALL {more})",
            f"NOT (EXISTS ({more}) OR EXISTS ({inner}))",
        ]
    )


def make_groups(random: Random) -> Stacked:
    """Groups of what stands, or of the latest rows."""
    key = random.sample("hga", k=random.choice([1, 1, 2]))
    group = random.sample(list("hga"), k=random.choice([0, 1, 1, 2]))
    calls = [
        *("COUNT(*)", "COUNT(x.a)", "SUM(x.a)", "MIN(x.b)", "MAX(x.a)", "AVG(x.a)", "SUM(x.b)"),
        *(
            "COUNT(DISTINCT x.h)",
            "SUM(DISTINCT x.a)",
            "MEDIAN(x.a)",
            "SUM(x.a) + COUNT(*)",
            "MAX(x.h)",
        ),
    ]
    shown = [f"x.{c}" for c in group] + random.sample(calls, k=random.randint(1, 3))
    names = tuple(f"c{n}" for n in range(len(shown)))
    listed = ", ".join(f"{c} AS {n}" for c, n in zip(shown, names, strict=True))
    grouped = f" GROUP BY {', '.join(f'x.{c}' for c in group)}" if group else ""
    mine = random.choice([None, None, "x.a > -1", "x.h IN (0, 1)", "x.g IS NOT NULL", EITHER])
    equal = " AND ".join(f"y.{c} = x.{c}" for c in key)
    if random.random() < 0.5:
        other = random.choice(["t", "t", "s"])
        times = random.choice([" AND y.ts > x.ts", " AND y.ts > x.ts", ""])
        inner = f"SELECT 1 FROM {other} AS y WHERE {equal}{times}"
        where = [f"NOT EXISTS ({inner})", *([mine] if mine else [])]
        ours = f"SELECT {listed} FROM s AS x WHERE {' AND '.join(where)}{grouped}"
    else:
        parts = ", ".join(key)
        inner = f"SELECT * FROM s QUALIFY RANK() OVER (PARTITION BY {parts} ORDER BY ts DESC) = 1"
        told = f" WHERE {mine}" if mine else ""
        ours = f"SELECT {listed} FROM ({inner}) AS x{told}{grouped}"
    return Stacked(ours, ours, names)


def check(seed: int) -> None:
    random = Random(seed)
    query, key = make_query(random)
    union = parse_sql(query.ours, CATALOG, name="q", file="q.sql")
    assert union.standing is not None
    if union.standing.ender is None:  # of the latest rows of a key, those of none are not told
        shown = query.ours.split(" FROM ")[0]
        known = [n for n in query.names if any(f"x.{c} AS {n}" in shown for c in key)]
        there = " AND ".join(f"{n} IS NOT NULL" for n in known)
        query = replace(query, duck=f"SELECT * FROM ({query.ours}) AS told WHERE {there}")
    compare(query, union, random)


def check_groups(seed: int) -> None:
    random = Random(seed)
    query = make_groups(random)
    union = parse_sql(query.ours, CATALOG, name="q", file="q.sql")
    assert union.standing is not None
    assert union.standing.groups is not None
    compare(query, union, random)


def compare(
    query: Stacked,
    union: SpjUnion,
    random: Random,
    catalog: Catalog = CATALOG,
    data: Tables | None = None,
) -> None:
    """Replayed, live and as snapshots; without GROUP BY from the first row that matters on."""
    data = make_rows(random) if data is None else data
    verdict = check_query(union, catalog)
    event(str(verdict.tier))
    if verdict.tier is Tier.UNSATISFIABLE:
        return
    assert verdict.bound is not None, query.ours
    case = Case(catalog, union, data, MARKERS)
    oracle = All(case)
    expected = [oracle.rows(query, m) for m in range(MARKERS)]
    last = max((row[-1] for name in ("s", "t") for row in data[name][1]), default=-1)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        stored, statics = store(case, random, Path(folder))
        job = replace(make_job(verdict, union, stored), emit=Emit.CHANGES)
        options = {"statics": statics, "rows_per_range": 1, "ranges": random.choice([1, 1, 3])}
        whole, done = replay_here(patch, job, Path(folder, "1.parquet"), **options)
        assert verdict.bound.rows is None or done.state_rows_max <= verdict.bound.rows
        groups = union.standing.groups if union.standing else None
        begun = 0 if groups is None or groups.group else first_marker(whole)
        for marker in range(begun, last + 1):
            found = fold(upto(whole, marker), query.names)
            assert found == expected[marker], (query.ours, marker, found, expected[marker])
        live, until = run_live(case, verdict, Emit.CHANGES, random, Path(folder), statics)
        for marker in range(begun, until + 1):
            found = fold(upto(live, marker), query.names)
            assert found == expected[marker], ("live", query.ours, marker)
        snapshots = replace(job, emit=Emit.SNAPSHOTS)
        told, _ = replay_here(patch, snapshots, Path(folder, "2.parquet"), **options)
        for moment in {row["at"] for row in told}:
            rows = [row for row in told if row["at"] == moment]
            marker = next(m for m in range(MARKERS) if upto(rows, m))
            assert fold(rows, query.names) == expected[marker], (query.ours, marker)


def first_marker(rows: list[dict[str, Any]]) -> int:
    """When something was told first."""
    return next((m for m in range(MARKERS) if upto(rows, m)), MARKERS)


@budget(0.15)
@given(seed=SEEDS)
def test_what_stands_is_duckdbs(seed: int) -> None:
    check(seed)


@pytest.mark.parametrize(
    "said",
    [
        "NOT EXISTS (SELECT 1 FROM t AS y WHERE {}) AND NOT EXISTS (SELECT 1 FROM s AS w WHERE {})",
        "NOT EXISTS (SELECT 1 FROM t AS y WHERE {} UNION ALL SELECT 1 FROM s AS w WHERE {})",
    ],
)
@budget(0.17)
@given(seed=SEEDS)
def test_rows_of_several_kinds_end_a_row(said: str, seed: int) -> None:
    later = said.format("y.h = x.h AND y.ts > x.ts AND y.a > 0", "w.a = x.h AND w.ts > x.ts")
    text = f"SELECT x.h AS c0 FROM s AS x WHERE {later}"
    query = Stacked(text, f"SELECT * FROM ({text}) AS told WHERE c0 IS NOT NULL", ("c0",))
    compare(query, parse_sql(text, CATALOG, name="q", file="q.sql"), Random(seed))


@budget(0.15)
@given(seed=SEEDS)
def test_groups_of_what_stands_are_duckdbs(seed: int) -> None:
    check_groups(seed)
