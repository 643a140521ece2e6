"""Forms of what holds until something ends it that were refused, or read wrongly, once."""

import pytest

from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.test_sql_nulls import CATALOG

LATER = "WHERE NOT EXISTS (SELECT 1 FROM {0} AS y WHERE {1} AND y.ts > x.ts)"


@pytest.mark.parametrize(
    "text",
    [
        # COUNT(*) is no SELECT *, which would show the key
        "SELECT COUNT(*) AS n FROM s AS x " + LATER.format("s", "y.a = x.a"),
        "SELECT COUNT(*) AS n FROM s AS x WHERE ts = (SELECT MAX(ts) FROM s AS y WHERE y.a = x.a)",
        # what HAVING, or SELECT, counts is the key
        "SELECT x.h, COUNT(*) AS n FROM s AS x "
        + LATER.format("t", "y.g = x.g")
        + " GROUP BY x.h HAVING COUNT(x.g) > 1",
        "SELECT COUNT(x.g) AS n, COUNT(x.g) + 1 AS m FROM s AS x " + LATER.format("t", "y.g = x.g"),
        # said twice, and both ways
        "SELECT x.a FROM s AS x " + LATER.format("t", "y.a + 1 = x.a AND x.a = y.a + 1"),
        "SELECT COUNT(x.a) AS n FROM s AS x " + LATER.format("t", "y.a = x.h AND x.h = y.h"),
    ],
)
def test_it_is_read(text: str) -> None:
    union = parse_sql(text, CATALOG, name="q", file="q.sql")
    standing = union.standing
    assert standing is not None
    assert len(standing.key) == 1
    groups = standing.groups
    if groups is not None:  # what is computed has all that it reads
        made = {*groups.group, *(a.name for a in groups.aggregates)}
        assert groups.read <= made
        assert set(groups.columns) <= made | {name for name, _ in groups.computed}
