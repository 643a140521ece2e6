"""Comparisons of sums of doubles of two rows, each side of one row: as DuckDB compares them, to the
last bit. (Sums of both rows on one side: test_several_types.py.)"""

from random import Random

from hypothesis import event, given

from ontoweir.mappings.model.catalog import Catalog, Column, FloatType, Stream
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Tables
from tests.oracle.test_sql_nulls import MARKERS, NOTHING, Query, compare

_DOUBLES = (0.1, 0.2, 0.3, 0.30000000000000004, -0.1, 0.7, 0.8, 0.7999999999999999, 1e16, 1e16 + 2)
CATALOG = Catalog(
    {name: Stream(name, NOTHING, "ts", 1, 20, (Column("f", FloatType()),)) for name in "st"}, {}
)


def make_data(random: Random) -> Tables:
    data: Tables = {}
    for name in "st":
        times = sorted(random.randrange(MARKERS) for _ in range(random.randint(4, 14)))
        rows = [(random.choice((*_DOUBLES, None)), time) for time in times]
        data[name] = (["f", "ts"], rows)
    return data


def check(seed: int) -> str:
    random = Random(seed)
    left = random.choice(("s.f", "s.f", "s.f + 0.1", "s.f - 0.3", "0.2 + s.f", "0.3 - s.f"))
    right = random.choice(("t.f", "t.f + 0.2", "t.f - 0.1", "t.f + 0.1 + 0.2", "t.f * 2 - 0.1"))
    if random.random() < 0.5:
        left, right = right, left
    op = random.choice(("<", "<=", "=", "<>", ">=", ">"))
    order = random.choice(
        ("s.ts < t.ts", "s.ts <= t.ts AND t.ts <= s.ts + INTERVAL '3' MICROSECOND")
    )
    more = f" AND t.f < s.f + {random.choice(('0.1', '0.3', '5'))}" if random.random() < 0.3 else ""
    columns = (("x0", "COUNT(*)", "COUNT(*)"), ("x1", "MAX(s.f)", "MAX(s.f)"))
    query = Query(columns, (), f"s, t WHERE {order} AND {left} {op} {right}{more}")
    return str(compare(random, query, CATALOG, make_data(random)).tier)


@budget(0.3)
@given(seed=SEEDS)
def test_sums_of_doubles_compare_as_in_duckdb(seed: int) -> None:
    event(check(seed))
