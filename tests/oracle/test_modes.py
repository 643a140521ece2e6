"""MODE, the value that most rows of a group have, beside DuckDB's least of these at all times."""

from random import Random

import pytest
from hypothesis import event, given

from ontoweir.errors import QueryError
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_told import compare_told, fill_nulls
from tests.oracle.test_free_shapes import NULLABLE
from tests.oracle.test_sql_nulls import CATALOG, make_data
from tests.oracle.test_stacked_queries import Stacked

SHAPES = ("MODE({0})", "mode() WITHIN GROUP (ORDER BY {0})")


def make_query(random: Random) -> Stacked:
    """A text, and the least of the values that most rows have."""
    key, value = random.sample("gha", k=2)
    mine = random.choice(["a > -2", "h < 2", "ts > NOW() - INTERVAL '4' MICROSECOND"])
    call = random.choice(SHAPES).format(value)
    ours = f"SELECT {key} AS c0, {call} AS c1 FROM s WHERE {mine} GROUP BY {key}"
    counted = f"SELECT {key} AS c0, {value} AS c1, COUNT(*) AS n FROM s WHERE {mine} GROUP BY 1, 2"
    first = "ROW_NUMBER() OVER (PARTITION BY c0 ORDER BY n DESC, c1) = 1"
    return Stacked(ours, f"SELECT c0, c1 FROM ({counted}) AS v QUALIFY {first}", ("c0", "c1"))


def check(seed: int) -> str:
    random = Random(seed)
    query, data = make_query(random), fill_nulls(make_data(random))
    union = parse_sql(query.ours, CATALOG, name="q", file="q.sql")
    return compare_told(random, query.duck, query.names, union, (CATALOG, data))


@budget(0.4)
@given(SEEDS)
def test_modes_are_duckdbs(seed: int) -> None:
    event(check(seed))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT h, MODE(g) AS m, COUNT(*) AS n FROM s GROUP BY h",
        "SELECT h, MODE(g) AS m, MODE(a) AS n FROM s GROUP BY h",
        "SELECT MODE(g) AS m FROM s",
        "SELECT r.h, MODE(s.g) AS m FROM r LEFT JOIN s ON s.h = r.h GROUP BY r.h",
        "SELECT h, MODE(g) AS m FROM s GROUP BY h HAVING COUNT(*) > 2",
    ],
)
def test_beside_others_it_is_refused(text: str) -> None:
    with pytest.raises(QueryError, match=r"(?i)mode"):
        parse_sql(text, CATALOG, name="q", file="q.sql")


def test_of_what_may_be_null_it_is_refused() -> None:
    """A group without a value has NULL, which no count of values shows."""
    with pytest.raises(QueryError, match=r"MODE\(g\)"):
        parse_sql("SELECT h, MODE(g) AS m FROM s GROUP BY h", NULLABLE, name="q", file="q.sql")
