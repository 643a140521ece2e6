"""Functions over windows of groups: the same as over a subquery of these."""

import pytest

from ontoweir.mappings.model.preceding import Preceding
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.rewriter.earlier.test_read_earlier import CATALOG

HOUR = "date_trunc('hour', ts)"


@pytest.mark.parametrize(
    ("text", "nested"),
    [
        (
            (
                f"SELECT {HOUR} AS h, COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY {HOUR}) AS d "
                f"FROM reading GROUP BY {HOUR}"
            ),
            (
                f"SELECT g AS h, n - LAG(n) OVER (ORDER BY g) AS d FROM (SELECT {HOUR} AS g, "
                f"COUNT(*) AS n FROM reading GROUP BY {HOUR}) AS x"
            ),
        ),
        (
            (
                f"SELECT {HOUR} AS h, sensor, MAX(value) FILTER (WHERE hum > 3) AS m FROM reading "
                "WHERE hum < 9 GROUP BY ALL HAVING COUNT(*) > 3 "
                "QUALIFY SUM(COUNT(*)) OVER (PARTITION BY sensor ORDER BY h) > 100"
            ),
            (
                f"SELECT g AS h, sensor, m FROM (SELECT {HOUR} AS g, sensor, "
                "MAX(value) FILTER (WHERE hum > 3) AS m, COUNT(*) AS n FROM reading WHERE hum < 9 "
                "GROUP BY g, sensor HAVING COUNT(*) > 3) AS x "
                "QUALIFY SUM(n) OVER (PARTITION BY sensor ORDER BY g) > 100"
            ),
        ),
        (
            (
                "SELECT CAST(ts AS DATE) AS day, SUM(hum) AS s, SUM(SUM(hum)) OVER w AS so_far "
                "FROM reading GROUP BY 1 WINDOW w AS (ORDER BY CAST(ts AS DATE))"
            ),
            (
                "SELECT g AS day, s, SUM(s) OVER (ORDER BY g) AS so_far FROM (SELECT "
                "CAST(ts AS DATE) AS g, SUM(hum) AS s FROM reading GROUP BY 1) AS x"
            ),
        ),
        (  # a column of the table is meant where an item of SELECT has its name, too
            (
                f"SELECT {HOUR} AS h, sensor AS hum, SUM(COUNT(*)) OVER (PARTITION BY {HOUR}) AS s "
                f"FROM reading GROUP BY {HOUR}, sensor, hum"
            ),
            (
                f"SELECT g AS h, sensor AS hum, SUM(n) OVER (PARTITION BY g) AS s FROM (SELECT "
                f"{HOUR} AS g, sensor, hum, COUNT(*) AS n FROM reading GROUP BY 1, 2, 3) AS x"
            ),
        ),
    ],
)
def test_windows_are_over_a_subquery_of_the_groups(text: str, nested: str) -> None:
    one, other = (parse_sql(t, CATALOG, name="q", file="q.sql") for t in (text, nested))
    assert one.variables == other.variables
    assert _describe(one) == _describe(other)


def _describe(union: SpjUnion) -> list[object]:
    """What does not depend on the names of columns inside."""
    made: list[object] = []
    for block in union.blocks:
        if isinstance(block.meeting, Preceding):
            kinds = [(c.function, c.first, c.last, c.peers) for c in block.meeting.columns]
            made.append((block.meeting.key, kinds))
            continue
        aggregation = block.union.aggregation
        assert aggregation is not None
        functions = [(a.function, a.argument is None) for a in aggregation.aggregates]
        made.append((len(aggregation.row), functions, aggregation.having is None))
    assert [m for m in made if m]
    return made
