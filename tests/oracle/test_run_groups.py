"""Groups of all rows so far, joined with rows and groups of windows and static relations, and the
latest row of each key with those before it: their changes and snapshots, replayed in ranges and
live, as DuckDB answers the same text at every time, with NOW() as that time."""

import re
from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import event, given

from ontoweir.errors import QueryError
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import Emit, choose_emit
from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_told import compare_told, draw_data
from tests.oracle.test_sql_nulls import CATALOG


def _window(random: Random, alias: str) -> str:
    return f"{alias}.ts > NOW() - INTERVAL '{random.randint(1, 6)}' MICROSECOND"


def _draw_groups(random: Random, alias: str, *, window: bool = False) -> tuple[str, list[str]]:
    """Groups, and their numbers."""
    calls = ["COUNT(*)", "SUM(v.a)", "MAX(v.a)", "COUNT(v.g)", "AVG(v.a)", "MIN(v.b)", "SUM(v.b)"]
    one, other = random.sample(calls, k=2)
    shown = [
        f"{one} AS n",
        random.choice([f"{other} AS m", f"{other} + 1 AS m", f"{one} * 2 AS m"]),
    ]
    said = [_window(random, "v")] if window else []
    said += random.choice([[], [], ["v.a <> 1"], ["v.g = 'x'"]])
    where = f" WHERE {' AND '.join(said)}" if said else ""
    text = f"SELECT v.h, {', '.join(shown)} FROM {random.choice('st')} AS v{where} GROUP BY v.h"
    return f"({text}) AS {alias}", [f"{alias}.n", f"{alias}.m"]


def _draw_joined(random: Random) -> tuple[str, tuple[str, ...]]:
    item, numbers = _draw_groups(random, "y")
    kind = random.random()
    if kind < 0.4:
        first, mine = f"{random.choice('st')} AS x", ["x.a", "x.b"]
        said = [_window(random, "x")]
    elif kind < 0.7:
        first, mine = _draw_groups(random, "x", window=True)
        said = []
    else:
        first, mine, said = "r AS x", ["x.a"], []
    left = random.choice(["", "", "LEFT "])
    text = f"{first} {left}JOIN {item} ON y.h = x.h"
    numbers = [*mine, *numbers]
    if random.random() < 0.4:
        said.append(
            f"{random.choice(numbers)} {random.choice(['>', '<='])} {random.choice(numbers)}"
        )
    where = f" WHERE {' AND '.join(said)}" if said else ""
    one, other = random.sample(numbers, k=2)
    if random.random() < 0.25:
        shown = f"x.h AS k, COUNT(*) AS c, SUM({one}) AS d"
        return f"SELECT {shown} FROM {text}{where} GROUP BY x.h", ("k", "c", "d")
    shown = f"x.h AS k, {one} AS c, {random.choice([other, f'{other} - {one}'])} AS d"
    return f"SELECT {shown} FROM {text}{where}", ("k", "c", "d")


def _draw_latest(random: Random) -> tuple[str, tuple[str, ...]]:
    table = random.choice("st")
    calls = ["LAG({c})", "COUNT({c})", "SUM({c})", "MIN({c})", "LAG({c}, 2)"]
    calls = [c.format(c=random.choice("ab")) for c in random.sample(calls, k=2)]
    over = " OVER (PARTITION BY h ORDER BY ts)"
    one, other = (f"{call}{over}" for call in calls)
    shown = f"h, a, {random.choice([f'a - {one}', one])} AS c, {other} AS d"
    where = random.choice(["", "", " WHERE a > 0"])
    number = f"{random.choice(['ROW_NUMBER', 'RANK'])}() OVER (PARTITION BY h ORDER BY ts DESC)"
    if random.random() < 0.5:
        return f"SELECT {shown} FROM {table}{where} QUALIFY {number} = 1", ("h", "a", "c", "d")
    inner = f"SELECT {shown}, {number} AS n FROM {table}{where}"
    return f"SELECT h, a, c, d FROM ({inner}) AS q WHERE n = 1", ("h", "a", "c", "d")


def check(seed: int) -> str:
    """One random query over random rows: what came of it."""
    random = Random(seed)
    latest = random.random() < 0.4
    text, names = _draw_latest(random) if latest else _draw_joined(random)
    catalog, data = draw_data(random)
    catalog = replace(catalog, relations=CATALOG.relations)
    streams = dict(catalog.streams)
    for name in "st":
        columns, rows = data[name]
        kept = [r for r in rows if r[columns.index("h")] is not None]
        said = tuple(
            replace(c, nullable=c.nullable and c.name != "h") for c in streams[name].columns
        )
        streams[name] = replace(streams[name], columns=said)
        if latest:  # which row is the one before must be known
            streams[name] = replace(streams[name], keys=(("h", "ts"),))
            first = {(r[columns.index("h")], r[-1]): r for r in reversed(kept)}
            kept = sorted(first.values(), key=lambda row: row[-1])
        data[name] = columns, kept
    catalog = replace(catalog, streams=streams)
    try:
        union = parse_sql(text, catalog, name="q", file="q.sql")
    except QueryError as error:
        return f"refused: {error.what[:60]}"
    if choose_emit(union) is not Emit.CHANGES:
        return "rows of windows alone"
    read = [n for n in "st" if re.search(rf"(FROM|JOIN) {n}\b", text)]
    since = min((row[-1] for n in read for row in data[n][1]), default=0)
    return compare_told(random, text, names, union, (catalog, data), since)


@budget(0.1)
@given(seed=SEEDS)
def test_groups_of_all_rows_are_duckdbs(seed: int) -> None:
    event(check(seed))


def test_most_are_answered() -> None:
    told = Counter(check(seed).split(":")[0] for seed in range(6))
    assert told["refused"] < 3, told


def test_what_is_not_grouped_is_refused_beside_others() -> None:
    text = "SELECT r.h, y.n FROM r JOIN (SELECT COUNT(DISTINCT a) AS n FROM s) AS y ON y.n = r.h"
    with pytest.raises(QueryError, match="whose groups are not final"):
        parse_sql(text, CATALOG, name="q", file="q.sql")
