"""Aggregates without GROUP BY of the first rows of each key in a window, which have a row also
where the window shows none: as DuckDB answers the same text, with NOW() as the time."""

from random import Random

from hypothesis import event, given

from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_told import compare_told, draw_data

CALLS = ("COUNT(*)", "MAX(q.b)", "SUM(q.a)", "MIN(q.a)", "COUNT(q.b)", "COUNT(DISTINCT q.a)")
ORDERS = ("v.b DESC NULLS LAST", "v.a NULLS LAST, v.b DESC NULLS LAST", "v.g NULLS FIRST")


def make_query(random: Random, table: str) -> str:
    """A query with the columns `c0` and `c1`."""
    where = f"WHERE v.ts > NOW() - INTERVAL '{random.choice([1, 2, 3, 5, 9])}' MICROSECOND"
    key = random.choice(["v.g", "v.b", "v.h", "v.g, v.h"])
    call = random.choice(["RANK()", "DENSE_RANK()"])
    window = f"{call} OVER (PARTITION BY {key} ORDER BY {random.choice(ORDERS)})"
    limit = random.choice([1, 2, 3])
    source = f"(SELECT v.a, v.b FROM {table} AS v {where} QUALIFY {window} <= {limit}) AS q"
    if random.random() < 0.5:
        rows = f"SELECT v.a, v.b, {window} AS n FROM {table} AS v {where}"
        source = f"({rows}) AS q WHERE n <= {limit}"
    one, other = random.sample(CALLS, k=2)
    having = random.choice(["", "", "", " HAVING COUNT(*) > 1"])
    return f"SELECT {one} AS c0, {other} AS c1 FROM {source}{having}"


def check(seed: int) -> str:
    """One random query over random rows, the first of which comes at the first time: before it
    there is no row of the group."""
    random = Random(seed)
    table = random.choice("st")
    text = make_query(random, table)
    catalog, data = draw_data(random)
    columns, rows = data[table]
    first = tuple(1 if c == "h" else 0 if c == "ts" else None for c in columns)
    if catalog.streams[table].columns[0].nullable:
        data[table] = columns, [first, *rows]
    elif rows:
        data[table] = columns, [(*rows[0][:-1], 0), *rows]
    else:
        return "no rows"
    union = parse_sql(text, catalog, name="q", file="q.sql")
    return compare_told(random, text, ("c0", "c1"), union, (catalog, data))


@budget(0.05)
@given(seed=SEEDS)
def test_one_group_is_duckdbs(seed: int) -> None:
    event(check(seed))
