"""Groups so far in UNION, EXCEPT, INTERSECT and subqueries with HAVING, and groupings of all times,
beside DuckDB."""

from random import Random

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, IntType, Stream
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.compare_told import compare_text

NOTHING = DataSource("parquet", "none")

TEXTS = """
SELECT h AS c0, SUM(a) AS c1 FROM S GROUP BY h BESIDE
SELECT 's' AS c0, h AS c1, COUNT(*) AS c2 FROM S GROUP BY h AND_T
SELECT h AS c0, MAX(a) AS c1 FROM S GROUP BY h UNION SELECT h, MIN(a) FROM T GROUP BY h
SELECT h AS c0, COUNT(*) AS c1 FROM S GROUP BY h EXCEPT SELECT h, COUNT(*) FROM T GROUP BY h
SELECT h AS c0, MAX(a) AS c1 FROM S GROUP BY h INTERSECT SELECT h, MAX(a) FROM T GROUP BY h
SELECT h AS c0, AVG(a) AS c1 FROM S GROUP BY h HAVING AVG(a) > 1 BESIDE
SELECT CASE WHEN h > 1 THEN 1 ELSE 0 END AS c0, COUNT(*) AS c1 FROM S GROUP BY 1 BESIDE
SELECT h AS c0, COUNT(*) AS c1 FROM S AND ts > NOW() - INTERVAL '3' MICROSECOND GROUP BY h BESIDE
SELECT h AS c0, g AS c1, COUNT(*) AS c2 FROM S GROUP BY GROUPING SETS ((h), (g), (g, h))
SELECT x.h AS c0, x.m AS c1 FROM HAVING_MEAN AS x
SELECT COUNT(*) AS c0, MAX(m) AS c1 FROM HAVING_MEAN AS x
SELECT x.h AS c0, x.m AS c1, t.a AS c2 FROM HAVING_MEAN AS x JOIN t ON t.h = x.h AND RECENT
SELECT x.h AS c0, x.m AS c1, y.n AS c2 FROM HAVING_MEAN AS x LEFT JOIN HAVING_MORE AS y ON y.h = x.h
"""
"""Groups so far beside others, and HAVING of such groups in subqueries."""

WORDS = {
    "HAVING_MEAN": "(SELECT h, AVG(a) AS m FROM S GROUP BY h HAVING AVG(a) > 1)",
    "HAVING_MORE": "(SELECT h, COUNT(*) AS n FROM T GROUP BY h HAVING COUNT(*) > 2)",
    "RECENT": "t.ts > NOW() - INTERVAL '3' MICROSECOND",
    "BESIDE": "UNION ALL SELECT h, COUNT(*) FROM T GROUP BY h",
    "AND_T": "UNION ALL SELECT 't', h, MAX(a) FROM T GROUP BY h",
}
GIVEN = {
    "S": "s WHERE h IS NOT NULL AND g IS NOT NULL",
    "T": "t WHERE h IS NOT NULL",
}


def spell(text: str) -> str:
    for word, meant in WORDS.items():
        text = text.replace(word, meant)
    for word, rows in GIVEN.items():
        text = text.replace(f"FROM {word} ", f"FROM {rows} ")
    return text


@pytest.mark.parametrize("text", TEXTS.strip().splitlines())
@pytest.mark.parametrize("seed", range(2))
def test_what_is_told_is_duckdbs(text: str, seed: int) -> None:
    names = ("c0", "c1", "c2") if " AS c2" in text else ("c0", "c1")
    done = compare_text(spell(text), names, Random(seed))
    assert "refused" not in done


def test_streams_of_other_units_are_united_in_their_common_steps() -> None:
    columns = (Column("k", IntType(), 0, 9),)
    streams = {
        "s": Stream("s", NOTHING, "ts", 1_000, 5, columns),
        "m": Stream("m", NOTHING, "ts", 60_000_000, 5, columns),
    }
    catalog = Catalog(streams, {})
    text = "SELECT k, COUNT(*) AS n FROM s GROUP BY k UNION ALL SELECT k, MAX(k) FROM m GROUP BY k"
    union = parse_sql(text, catalog, name="q", file="q.sql")
    assert check_query(union, catalog).plans is not None
