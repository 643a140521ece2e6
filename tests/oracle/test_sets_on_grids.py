"""SELECT DISTINCT of rows in windows on a grid of time, which begin or end together: as DuckDB
answers the same text at every time, with NOW() as that time, live and replayed, within the
bound."""

from random import Random

from hypothesis import event, given

from ontoweir.errors import QueryError
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_told import compare_told, draw_data


def _draw_window(random: Random, alias: str) -> str:
    grid = f"time_bucket(INTERVAL '{random.choice([2, 3, 4])}' MICROSECOND, NOW())"
    back = f" - INTERVAL '{random.randint(1, 4)}' MICROSECOND"
    kind = random.random()
    if kind < 0.4:
        return f"{alias}.ts >= {grid}{random.choice(['', back])}"
    if kind < 0.75:
        return f"{alias}.ts < {grid} AND {alias}.ts >= {grid}{back}"
    if kind < 0.9:
        return f"{alias}.ts <= {grid} AND {alias}.ts > NOW(){back}"
    return f"{alias}.ts > NOW(){back}"


def make_query(random: Random) -> tuple[str, tuple[str, ...]]:
    """A query, and the names of its columns."""
    text, said = f"{random.choice('st')} AS x", [_draw_window(random, "x")]
    columns = [f"x.{c}" for c in "habg"]
    if random.random() < 0.5:
        text += f" JOIN {random.choice('st')} AS y ON y.h = x.h"
        said.append(_draw_window(random, "y"))
        columns += [f"y.{c}" for c in "ab"]
    if random.random() < 0.3:
        said.append(random.choice(["x.a <> 1", "x.g = 'x'", "x.a IS NOT NULL"]))
    shown = random.sample(columns, k=random.choice([1, 1, 2]))
    listed = ", ".join(f"{c} AS c{n}" for n, c in enumerate(shown))
    where = f" WHERE {' AND '.join(said)}"
    return f"SELECT DISTINCT {listed} FROM {text}{where}", tuple(f"c{n}" for n in range(len(shown)))


def check(seed: int) -> str:
    """One random query over random rows: what came of it."""
    random = Random(seed)
    text, names = make_query(random)
    catalog, data = draw_data(random)
    try:
        union = parse_sql(text, catalog, name="q", file="q.sql")
    except QueryError as error:
        return f"refused: {error.what[:60]}"
    return compare_told(random, text, names, union, (catalog, data))


@budget(0.08)
@given(seed=SEEDS)
def test_what_is_told_of_a_set_is_duckdbs(seed: int) -> None:
    event(check(seed))
