"""GROUP BY a position, a name of SELECT or its expression are one query."""

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.test_sql_nulls import CATALOG

HOUR = "date_trunc('hour', x.ts)"
LATER = "y.h = x.h AND y.ts > x.ts AND y.ts <= x.ts + INTERVAL '3' MICROSECOND"


@pytest.mark.parametrize("group", ["1", "o", HOUR])
@pytest.mark.parametrize(
    "rest",
    [
        f"COUNT(*) AS n FROM s AS x WHERE EXISTS (SELECT 1 FROM t AS y WHERE {LATER})",
        f"SUM(x.a - y.a) AS n FROM s AS x LEFT JOIN t AS y ON {LATER}",
    ],
)
def test_a_bucket_is_told_by_its_place(rest: str, group: str) -> None:
    text = f"SELECT {HOUR} AS o, {rest} GROUP BY {group}"
    union = parse_sql(text, CATALOG, name="q", file="q.sql")
    assert check_query(union, CATALOG).tier is Tier.WINDOW_BOUNDED
