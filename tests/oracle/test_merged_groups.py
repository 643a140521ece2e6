"""SELECTs around groups of the rows of windows, with a static relation that is joined by its key:
their changes and snapshots, replayed in ranges and live, as DuckDB answers the same text at every
time, with NOW() as that time."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import event, given

from ontoweir.errors import QueryError
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_told import compare_told, draw_data
from tests.oracle.test_sql_nulls import CATALOG


def make_query(random: Random) -> tuple[str, tuple[str, ...]]:
    """A query, and the names of its columns."""
    table, keys = random.choice("st"), random.choice([["h"], ["h"], ["h", "g"]])
    calls = ["COUNT(*)", "SUM(v.a)", "MAX(v.a)", "COUNT(v.g)", "COUNT(DISTINCT v.a)"]
    where = f"v.ts > NOW() - INTERVAL '{random.randint(1, 6)}' MICROSECOND"
    where += random.choice(["", "", " AND v.a <> 1", " AND v.g = 'x'"])
    having = random.choice(["", "", " HAVING COUNT(*) > 1"])
    numbers = random.choice([False, True])
    group = ", ".join(str(n) if numbers else f"v.{k}" for n, k in enumerate(keys, 1))
    listed = ", ".join(f"v.{k} AS {k}" for k in keys)
    call, other = random.choice(calls), random.choice(calls)
    inner = f"SELECT {listed}, {call} AS n, {other} AS m FROM {table} AS v WHERE {where}"
    inner += f" GROUP BY {group}{having}"
    text, values = f"({inner}) AS x", ["x.n", "x.m", "x.n + x.m", "x.n > 1", "x.n * x.h"]
    said = ["x.n > 1", "x.m IS NOT NULL", "x.h <> 1", "x.n > x.h OR x.m = 2"]
    if random.random() < 0.6:
        more = random.choice(["", "", " AND u.a > 0"])
        text += f" {random.choice(['', 'LEFT '])}JOIN r AS u ON u.h = x.h{more}"
        values += ["u.a", "u.g", "x.n - u.a", "COALESCE(u.a, x.m)", "u.a + 1"]
        said += ["u.g = 'x'", "x.n > u.a", "u.a > x.h"]
    shown = [f"x.{k}" for k in keys] + random.sample(values, k=random.choice([1, 2]))
    random.shuffle(shown)
    names = tuple(f"c{n}" for n in range(len(shown)))
    chosen = ", ".join(f"{v} AS {n}" for v, n in zip(shown, names, strict=True))
    around = f" WHERE {random.choice(said)}" if random.random() < 0.6 else ""
    if random.random() < 0.3:
        return (
            f"WITH w AS ({inner}) SELECT {chosen} FROM {text.replace(f'({inner})', 'w')}{around}",
            names,
        )
    return f"SELECT {chosen} FROM {text}{around}", names


def check(seed: int) -> str:
    """One random query over random rows: what came of it."""
    random = Random(seed)
    text, names = make_query(random)
    catalog, data = draw_data(random)
    catalog = replace(catalog, relations=CATALOG.relations)
    try:
        union = parse_sql(text, catalog, name="q", file="q.sql")
    except QueryError as error:
        return f"refused: {error.what[:60]}"
    return compare_told(random, text, names, union, (catalog, data))


@budget(0.1)
@given(seed=SEEDS)
def test_what_is_shown_of_groups_is_duckdbs(seed: int) -> None:
    event(check(seed))


ROWS = "s WHERE ts > NOW() - INTERVAL '5' MICROSECOND"
INNER = f"(SELECT h, COUNT(*) AS n FROM {ROWS} GROUP BY h) AS x"


def test_what_is_more_is_refused() -> None:
    """Rows without a window."""
    text = f"SELECT x.h, x.n, t.a FROM {INNER} JOIN t ON t.h = x.h"
    with pytest.raises(QueryError, match=r"not final|not selected"):
        parse_sql(text, CATALOG, name="q", file="q.sql")
