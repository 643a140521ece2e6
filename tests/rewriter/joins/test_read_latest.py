"""Phrasings of the latest row of each key, and what is beyond them."""

from dataclasses import replace

import pytest

from ontoweir.errors import QueryError
from ontoweir.rewriter.model.aggregation import Standing
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import choose_emit
from tests.oracle.test_sql_nulls import CATALOG

KEYED = replace(CATALOG.streams["s"], keys=(("h", "ts"),))
WORLD = replace(CATALOG, streams={**CATALOG.streams, "s": KEYED})
RANKED = "SELECT h, a, RANK() OVER (PARTITION BY h ORDER BY ts DESC) AS n FROM s"
LATER = "NOT EXISTS (SELECT 1 FROM s y WHERE x.h = y.h AND x.ts < y.ts"
NUMBERED = "ROW_NUMBER() OVER (PARTITION BY g ORDER BY ts DESC)"
WINDOW = "ts > NOW() - INTERVAL '1' HOUR"
DESC = "(PARTITION BY h ORDER BY ts DESC)"
LAST = f"SELECT * FROM s QUALIFY RANK() OVER {DESC} = 1"


@pytest.mark.parametrize(
    ("text", "latest"),
    [
        (f"SELECT h, a FROM s QUALIFY ROW_NUMBER() OVER {DESC} = 1", ("h",)),
        (f"SELECT h AS k, ROW_NUMBER() OVER {DESC} AS n FROM s QUALIFY n <= 1", ("k",)),
        (f"SELECT * FROM s QUALIFY RANK() OVER {DESC} = 1", ("h",)),
        (
            f"SELECT w.h, w.b FROM (SELECT *, RANK() OVER {DESC} AS n FROM s) AS w WHERE n = 1",
            ("h",),
        ),
        (
            "SELECT h, g FROM t QUALIFY RANK() OVER (PARTITION BY g, h ORDER BY ts DESC) = 1",
            ("h", "g"),
        ),
        ("SELECT h, MAX_BY(a, ts) AS v FROM s GROUP BY h", ("h",)),
        (f"SELECT x.h FROM s x WHERE x.a > 0 AND {LATER} AND y.a > 0)", ("h",)),
        # a key that is equal to another one has a value
        (f"SELECT x.h, x.a FROM s x WHERE {LATER} AND y.h IS NOT NULL)", ("h",)),
    ],
)
def test_read(text: str, latest: tuple[str, ...]) -> None:
    assert parse_sql(text, WORLD, name="q", file="q.sql").standing == Standing(latest)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT a FROM s QUALIFY RANK() OVER (ORDER BY ts DESC) = 1", "the latest row of all"),
        (f"SELECT h FROM ({LAST}) AS w WHERE {WINDOW}", "asked of the latest row of each key"),
        (f"SELECT h FROM ({LAST}) AS w WHERE {WINDOW} AND a > 1", "asked of the latest row"),
        (f"SELECT COUNT(*) AS n FROM ({LAST}) AS w WHERE {WINDOW}", "asked of the latest row"),
        (f"SELECT h FROM s QUALIFY RANK() OVER {DESC} > 1", "QUALIFY RANK()"),
        (f"SELECT h, SUM(a) OVER {DESC} AS n FROM s", "the order of SUM"),
        (f"SELECT h FROM ({RANKED}) AS w WHERE n = 1 AND n + a = 2", "none of the subquery"),
        (f"SELECT h FROM ({RANKED}) AS w TABLESAMPLE (1 ROWS) WHERE n = 1", ""),
        (f"SELECT h, a FROM ({RANKED}) AS w (a, h, n) WHERE n = 1", ""),
        (f"SELECT s.h FROM s, r QUALIFY RANK() OVER {DESC} = 1", "joined rows"),
        (f"SELECT h FROM unheard QUALIFY RANK() OVER {DESC} = 1", "unknown table 'unheard'"),
        ("SELECT h, ARG_MAX(a, ts) AS v, COUNT(*) AS n FROM t GROUP BY h", "beside ARG_MAX"),
        (
            "SELECT date_trunc('day', ts), ARG_MAX(ts, a) AS v FROM t GROUP BY 1",
            "PARTITION BY DATE_TRUNC('day', ts) ORDER BY a DESC",
        ),
        ("SELECT h, MAX_BY(a, ts) AS v, MAX_BY(b, ts) AS w FROM t GROUP BY h", "several columns"),
        (f"SELECT x.h FROM s x WHERE {LATER} AND y.a > x.a)", "is never final"),
        (f"WITH w AS ({RANKED}) SELECT h FROM w", "RANK() OVER (PARTITION BY"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_sql(text, WORLD, name="q", file="q.sql")
    assert message in str(caught.value)


@pytest.mark.parametrize("emit", ["answers", "intervals"])
def test_what_is_replaced_is_no_answer(emit: str) -> None:
    text = f"SELECT h, a FROM s QUALIFY ROW_NUMBER() OVER {DESC} = 1"
    with pytest.raises(QueryError, match="holds until a later row ends it"):
        choose_emit(parse_sql(text, WORLD, name="q", file="q.sql"), emit)
