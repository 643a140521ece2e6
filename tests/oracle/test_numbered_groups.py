"""The groups with the first numbers, of sliding windows and of all rows so far: their changes and
snapshots, replayed in ranges and live, as DuckDB answers the same text at every time, with NOW() as
that time."""

from collections import Counter
from collections.abc import Iterable
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
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import Emit, choose_emit
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case
from tests.oracle.test_free_shapes import NULLABLE
from tests.oracle.test_latest import fold
from tests.oracle.test_sql_nulls import CATALOG, MARKERS, make_data, upto
from tests.oracle.test_stacked_queries import Stacked, _plain, make_job
from tests.oracle.test_windows_beside import At, run_live
from tests.runtime.in_process import replay_here, store

_FILL = {"a": 0, "b": 1, "g": "y", "h": 1}


def _us(number: int) -> str:
    return f"INTERVAL '{number}' MICROSECOND"


def _draw_groups(random: Random) -> tuple[str, list[str], list[str]]:
    """FROM and WHERE of rows that are grouped, what they may be grouped by, and aggregates."""
    window = f"x.ts > NOW() - {_us(random.randint(1, 5))}"
    kind = random.random()
    rows, keys = "FROM s AS x", ["x.h", "x.g", "x.a"]
    said = [window] if kind < 0.8 else []
    if kind < 0.3:
        rows += random.choice([" JOIN r ON r.h = x.h", " JOIN t AS y ON y.h = x.h"])
        if "t AS y" in rows:
            said.append(f"y.ts > NOW() - {_us(random.randint(1, 5))}")
    elif kind < 0.45:
        word = random.choice(["NOT EXISTS", "EXISTS"])
        said.append(
            f"{word} (SELECT 1 FROM t AS y WHERE y.h = x.h AND y.ts > NOW() - {_us(3)})"
        )
    if random.random() < 0.3:
        said.append(random.choice(["x.a > 0", "x.h <> 1", "x.g = 'x'"]))
    where = f" WHERE {' AND '.join(said)}" if said else ""
    calls = ["COUNT(*)", "COUNT(x.b)", "SUM(x.a)", "MIN(x.b)", "MAX(x.a)", "COUNT(DISTINCT x.a)"]
    if kind > 0.8:
        calls = ["COUNT(*)", "SUM(x.a)", "MAX(x.a)"]
    return rows + where, keys, calls


def make_query(random: Random) -> tuple[str, tuple[str, ...]]:
    """A query, and the names of its columns."""
    rest, keys, calls = _draw_groups(random)
    group = random.sample(keys, k=random.choice([1, 1, 2]))
    asked = random.sample(calls, k=random.choice([1, 1, 2]))
    names = [f"c{n}" for n in range(len(group) + len(asked))]
    values = dict(zip(names, [*group, *asked], strict=True))
    part = random.sample(names[: len(group)], k=1) if len(group) > 1 else []
    part = part if random.random() < 0.7 else []
    other = [n for n in names[: len(group)] if n not in part]
    order = [names[-1], *(random.sample(other, k=1) if random.random() < 0.3 else [])]
    function = random.choice(["RANK()", "DENSE_RANK()", "ROW_NUMBER()"])
    if function == "ROW_NUMBER()":
        order = [names[-1], *other]
    downs = [random.choice([" DESC", ""]) for _ in order]
    nulls = [random.choice([" NULLS LAST", " NULLS FIRST"]) for _ in order]
    by = f" GROUP BY {', '.join(group)}"
    if "NOW()" in rest and random.random() < 0.25:
        by += f" HAVING {random.choice(['COUNT(*) > 1', 'COUNT(*) < 3', asked[0] + ' > 0'])}"
    limit = random.choice([1, 1, 2, 3])
    listed = ", ".join(f"{values[n]} AS {n}" for n in names)
    groups = f"SELECT {listed} {rest}{by}"

    def window(named: bool) -> str:
        of = {n: n if named else values[n] for n in names}
        text = "".join(f"PARTITION BY {of[p]} " for p in part) + "ORDER BY "
        every = zip(order, downs, nulls, strict=True)
        return f"{function} OVER ({text}{', '.join(of[o] + d + n for o, d, n in every)})"

    kind, told = random.random(), tuple(names)
    chosen = f"= {limit}" if random.random() < 0.2 else f"<= {limit}"
    if not part and function == "ROW_NUMBER()" and kind < 0.5:
        every = zip(order, downs, nulls, strict=True)
        skip = random.choice(["", "", " OFFSET 1"])
        return f"{groups} ORDER BY {', '.join(map(''.join, every))} LIMIT {limit}{skip}", told
    if kind < 0.5:
        return f"{groups} QUALIFY {window(False)} {chosen}", told
    if kind < 0.6:
        return f"SELECT * FROM ({groups}) AS w QUALIFY {window(True)} {chosen}", told
    if kind < 0.75:
        numbered = f"SELECT *, {window(True)} AS n FROM ({groups}) AS w"
        shown = random.choice(["*", ", ".join(names)])
        told = (*told, "n") if shown == "*" else told
        more = random.choice(["", "", f" AND {names[-1]} > 0"])
        return f"SELECT {shown} FROM ({numbered}) AS v WHERE n {chosen}{more}", told
    where = random.choice(["", f" WHERE {names[-1]} > 0"]) if "NOW()" in rest else ""
    numbered = f"SELECT *, {window(True)} AS n FROM ({groups}) AS w{where}"
    return f"SELECT *, n AS m FROM ({numbered}) AS v WHERE n {chosen}".replace(", n AS m", ""), (
        *told,
        "n",
    )


def _draw_data(random: Random) -> tuple[Catalog, Any]:
    data = make_data(random)
    if random.random() < 0.5:
        return NULLABLE, data
    for name, (columns, rows) in data.items():
        made = [
            tuple(_FILL.get(c) if v is None else v for c, v in zip(columns, row, strict=True))
            for row in rows
        ]
        data[name] = columns, made
    return CATALOG, data


def check(seed: int) -> str:
    """One random query over random rows: what came of it."""
    random = Random(seed)
    text, names = make_query(random)
    catalog, data = _draw_data(random)
    try:
        union = parse_sql(text, catalog, name="q", file="q.sql")
    except QueryError as error:
        return f"refused: {error.what[:60]}"
    assert union.aggregation is not None
    assert union.aggregation.numbered is not None
    assert choose_emit(union) is Emit.CHANGES
    verdict = check_query(union, catalog)
    if verdict.plans is None or verdict.tier is Tier.UNSATISFIABLE:
        return str(verdict.tier)
    bound = bound_changes(verdict, catalog).rows
    case = Case(catalog, union, data, MARKERS)
    oracle, query = At(case), Stacked(text, text, names)
    expected = [
        Counter(tuple(map(_plain, row)) for row in oracle.holding(query, m).elements())
        for m in range(MARKERS)
    ]
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        stored, statics = store(case, random, Path(folder))
        job = replace(make_job(verdict, union, stored), emit=Emit.CHANGES, bound=bound)
        options: dict[str, Any] = {"statics": statics, "rows_per_range": 1}
        options |= {"ranges": random.choice([1, 1, 3]), "rows_per_chunk": random.choice([1, 3, 99])}
        whole, summary = replay_here(patch, job, Path(folder, "1.parquet"), **options)
        assert bound is None or summary.state_rows_max <= bound
        read = [row[-1] for n in "st" if n in union_streams(union) for row in data[n][1]]
        last = max(read, default=-1)
        _compare(whole, range(last + 1), expected, names, text)
        live, done = run_live(replace(job, catalog=catalog), case, random, Path(folder))
        _compare(live, range(done + 1), expected, names, f"live: {text}")
        snapshots = replace(job, emit=Emit.SNAPSHOTS)
        told, _ = replay_here(patch, snapshots, Path(folder, "2.parquet"), **options)
        for moment in {row["at"] for row in told}:
            rows = [row for row in told if row["at"] == moment]
            marker = next(m for m in range(MARKERS) if upto(rows, m))
            assert fold(rows, names) == expected[marker], (text, marker)
    return f"{verdict.tier}, answers: {bool(whole)}"


def union_streams(union: Any) -> set[str]:
    """The streams that a query reads."""
    return {o.table for q in union.disjuncts for o in q.occurrences}


def _compare(
    rows: Any, times: Iterable[int], expected: Any, names: tuple[str, ...], text: str
) -> None:
    for marker in times:
        found = fold(upto(rows, marker), names)
        assert found == expected[marker], (text, marker, found, expected[marker])


@budget(0.25)
@given(seed=SEEDS)
def test_the_first_groups_are_duckdbs(seed: int) -> None:
    event(check(seed))
