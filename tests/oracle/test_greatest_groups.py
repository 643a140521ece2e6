"""The groups with the most, or the fewest, rows of all, of sliding windows and of all rows so far,
by comparisons with ALL and with MAX: their changes and snapshots, replayed and live, as DuckDB
answers the same text at every time, with NOW() as that time."""

from random import Random

import pytest
from hypothesis import event, given

from ontoweir.errors import QueryError
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_told import compare_told, draw_data
from tests.oracle.test_free_shapes import NULLABLE
from tests.oracle.test_sql_nulls import CATALOG


def _draw_groups(random: Random) -> tuple[str, str, str]:
    """FROM, WHERE and GROUP BY of the groups, what they are grouped by, and what is counted."""
    rows, said = "FROM s AS x", [f"x.ts > NOW() - INTERVAL '{random.randint(1, 5)}' MICROSECOND"]
    if random.random() < 0.2:
        said = []
    if random.random() < 0.2:
        rows += " JOIN r ON r.h = x.h"
    if random.random() < 0.3:
        said.append(random.choice(["x.a > 0", "x.h <> 1", "x.g = 'x'"]))
    where = f" WHERE {' AND '.join(said)}" if said else ""
    keys = random.choice(["x.h", "x.g", "x.a", "x.h, x.g"])
    more = random.choice(["", "", " HAVING COUNT(*) > 1"]) if "NOW()" in where else ""
    counted = random.choice(["COUNT(*)", "COUNT(*)", "COUNT(x.b)", "COUNT(DISTINCT x.a)"])
    return f"{rows}{where} GROUP BY {keys}{more}", keys, counted


def make_query(random: Random) -> tuple[str, tuple[str, ...]]:
    """A query, and the names of its columns."""
    rest, keys, counted = _draw_groups(random)
    names = tuple(f"c{n}" for n in range(keys.count(",") + 1))
    listed = ", ".join(f"{k} AS {c}" for k, c in zip(keys.split(", "), names, strict=True))
    groups, alone = f"SELECT {listed}, {counted} AS n {rest}", f"SELECT {counted} AS n {rest}"
    extreme, op = random.choice([("MAX", ">="), ("MIN", "<=")])
    best, same = f"(SELECT {extreme}(n) FROM ({alone}) AS z)", random.choice(["=", op])
    with_all = random.choice([alone, f"SELECT n FROM ({groups}) AS z"])
    and_more = random.choice(["", " AND w.n > 1"])
    if "NOW()" not in rest:
        and_more = ""
    word = "AND" if "HAVING" in rest else "HAVING"
    shown = ", ".join((*names, "n"))
    made = random.choice(
        [
            f"{groups} {word} {counted} {op} ALL ({with_all})",
            f"{groups} {word} {counted} {same} {best}",
            f"SELECT {shown} FROM ({groups}) AS w WHERE n {same} {best}{and_more}",
            f"SELECT * FROM ({groups}) AS w WHERE w.n {op} ALL ({with_all}){and_more}",
            (
                f"WITH c AS ({groups}) SELECT {shown} FROM c AS w "
                f"WHERE n {same} (SELECT {extreme}(n) FROM c){and_more}"
            ),
            (
                f"WITH c AS ({groups}) SELECT {shown} FROM c AS w "
                f"JOIN (SELECT {extreme}(n) AS m FROM c) AS d ON w.n {same} d.m"
            ),
        ]
    )
    return made, (*names, "n")


def check(seed: int) -> str:
    """One random query over random rows: what came of it."""
    random = Random(seed)
    text, names = make_query(random)
    catalog, data = draw_data(random)
    union = parse_sql(text, catalog, name="q", file="q.sql")
    assert union.aggregation is not None
    assert union.aggregation.numbered is not None
    return compare_told(random, text, names, union, (catalog, data))


@budget(0.15)
@given(seed=SEEDS)
def test_the_greatest_groups_are_duckdbs(seed: int) -> None:
    event(check(seed))


WINDOW = "WHERE ts > NOW() - INTERVAL '5' MICROSECOND"


@pytest.mark.parametrize(
    "text",
    [
        # of other rows, other groups, another number
        (
            f"SELECT h, COUNT(*) AS n FROM s {WINDOW} GROUP BY h "
            f"HAVING COUNT(*) >= ALL (SELECT COUNT(*) FROM t {WINDOW} GROUP BY h)"
        ),
        (
            f"SELECT h, COUNT(*) AS n FROM s {WINDOW} GROUP BY h "
            f"HAVING COUNT(*) >= ALL (SELECT COUNT(*) FROM s {WINDOW} GROUP BY a)"
        ),
        (
            f"SELECT h, COUNT(*) AS n FROM s {WINDOW} GROUP BY h "
            f"HAVING COUNT(*) >= ALL (SELECT COUNT(b) FROM s {WINDOW} GROUP BY h)"
        ),
        (
            f"SELECT h, COUNT(*) AS n, SUM(a) AS m FROM s {WINDOW} GROUP BY h HAVING m > 1 AND "
            f"COUNT(*) >= ALL (SELECT COUNT(*) AS m FROM s {WINDOW} GROUP BY h HAVING m > 1)"
        ),
        (
            f"SELECT h, COUNT(*) AS n FROM s AS x {WINDOW} GROUP BY h "
            f"HAVING COUNT(*) >= ALL (SELECT COUNT(*) FROM s {WINDOW} AND h = x.h GROUP BY h)"
        ),
    ],
)
def test_twins_are_refused(text: str) -> None:
    with pytest.raises(QueryError):
        parse_sql(text, CATALOG, name="q", file="q.sql")


def test_what_may_be_null_is_refused() -> None:
    text = (
        f"SELECT h, MAX(a) AS n FROM s {WINDOW} GROUP BY h "
        f"HAVING MAX(a) >= ALL (SELECT MAX(a) FROM s {WINDOW} GROUP BY h)"
    )
    assert parse_sql(text, CATALOG, name="q", file="q.sql").aggregation is not None
    with pytest.raises(QueryError, match="which may be NULL"):
        parse_sql(text, NULLABLE, name="q", file="q.sql")
