"""What has been so for some time and is not ended yet, beside DuckDB."""

from random import Random

import pytest

from tests.oracle.compare_told import compare_text

TEXTS = """
SELECT x.h AS c0, x.g AS c1 FROM S AS x WHERE x.g = 'x' AND OLD AND NOT EXISTS (SELECT 1 FROM s AS y WHERE y.h = x.h AND y.ts > x.ts)
SELECT x.h AS c0, COUNT(*) AS c1 FROM S AS x WHERE OLD AND NOT EXISTS (SELECT 1 FROM t AS y WHERE y.h = x.h AND y.ts > x.ts) GROUP BY x.h
SELECT COUNT(*) AS c0, MAX(x.h) AS c1 FROM S AS x WHERE OLD AND NOT EXISTS (SELECT 1 FROM t AS y WHERE y.h = x.h AND y.a > 0 AND y.ts >= x.ts)
SELECT DISTINCT x.h AS c0 FROM S AS x WHERE OLDER AND NOT EXISTS (SELECT 1 FROM s AS y WHERE y.h = x.h AND y.g = 'y' AND x.ts < y.ts)
SELECT DISTINCT x.h AS c0 FROM S AS x WHERE OLD AND NOT EXISTS (SELECT 1 FROM t AS y WHERE y.h = x.h AND y.a > 1)
SELECT x.h AS c0, r.a AS c1 FROM S AS x JOIN r ON r.h = x.h WHERE OLD AND NOT EXISTS (SELECT 1 FROM t AS y WHERE y.h = x.h AND y.ts > x.ts)
SELECT h AS c0, g AS c1 FROM LATEST AS x WHERE OLD
SELECT h AS c0, ts AS c1 FROM LATEST AS x WHERE g = 'x' AND NOW() - ts > INTERVAL '2' MICROSECOND
SELECT COUNT(*) AS c0 FROM NUMBERED AS x WHERE n = 1 AND OLD
SELECT x.h AS c0, r.a AS c1 FROM LATEST AS x JOIN r ON r.h = x.h WHERE OLDER
"""
WORDS = {
    "OLDER": "x.ts < NOW() - INTERVAL '2' MICROSECOND",
    "OLD": "x.ts <= NOW() - INTERVAL '3' MICROSECOND",
    "FROM S AS x WHERE": "FROM s AS x WHERE x.h IS NOT NULL AND x.g IS NOT NULL AND",
    "FROM S AS x JOIN r ON": "FROM s AS x JOIN r ON x.g IS NOT NULL AND",
    "LATEST": (
        "(SELECT h, g, ts FROM s WHERE h IS NOT NULL AND g IS NOT NULL "
        "QUALIFY RANK() OVER (PARTITION BY h ORDER BY ts DESC) = 1)"
    ),
    "NUMBERED": (
        "(SELECT h, ts, RANK() OVER (PARTITION BY h ORDER BY ts DESC) AS n FROM s "
        "WHERE h IS NOT NULL)"
    ),
}


def spell(text: str) -> str:
    for word, meant in WORDS.items():
        text = text.replace(word, meant)
    return text


@pytest.mark.parametrize(("seed", "text"), enumerate(TEXTS.strip().splitlines()))
def test_what_is_told_is_duckdbs(seed: int, text: str) -> None:
    names = tuple(n for n in ("c0", "c1") if f" AS {n}" in text)
    done = compare_text(spell(text), names, Random(seed))
    assert "answers" in done
