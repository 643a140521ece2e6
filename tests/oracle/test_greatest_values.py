"""The greatest, and the least, values of sliding windows, and the groups that have them, by >= ALL
and by comparison with MAX or MIN: as DuckDB answers the same text at every time."""

from random import Random

from hypothesis import event, given

from ontoweir.errors import QueryError
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_told import compare_told, draw_data


def make_query(random: Random) -> tuple[str, tuple[str, ...]]:
    """A query, and the names of its columns."""
    table, value = random.choice("st"), random.choice("abh")
    window = f"ts > NOW() - INTERVAL '{random.randint(1, 5)}' MICROSECOND"
    said = window + random.choice(["", "", " AND g = 'x'", " AND a <> 0"])
    most, op = random.choice([("MAX", ">="), ("MIN", "<=")])
    if random.random() < 0.5:
        call = random.choice([f"SUM({value})", f"MAX({value})", f"MIN({value})", "COUNT(*)"])
        groups = f"FROM {table} WHERE {said} GROUP BY g"
        named = f"SELECT {call} AS n {groups}"
        extreme = random.choice(
            [f"{op} ALL (SELECT {call} {groups})", f"= (SELECT {most}(n) FROM ({named}) AS y)"]
        )
        if random.random() < 0.5:
            return f"SELECT g AS c0, {call} AS c1 {groups} HAVING {call} {extreme}", ("c0", "c1")
        rows = f"SELECT g AS c0, {call} AS c1 {groups}"
        return f"SELECT c0, c1 FROM ({rows}) AS w WHERE c1 {extreme}", ("c0", "c1")
    alias = [f"{p}.ts{said[2:]}" for p in "xy"]
    alias = [a.replace(" AND ", f" AND {p}.") for a, p in zip(alias, "xy", strict=True)]
    key = random.choice(["", " AND y.h = x.h", " AND y.g = x.g"])
    extreme = random.choice([f"{op} ALL (SELECT y.{value}", f"= (SELECT {most}(y.{value})"])
    inner = f"{extreme} FROM {table} AS y WHERE {alias[1]}{key})"
    text = f"SELECT x.h AS c0, x.a AS c1 FROM {table} AS x WHERE {alias[0]} AND x.{value} {inner}"
    return text, ("c0", "c1")


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


@budget(0.1)
@given(seed=SEEDS)
def test_the_greatest_values_are_duckdbs(seed: int) -> None:
    event(check(seed))
