"""What has been so for some time and is not ended yet, beside DuckDB."""

import pytest

from tests.oracle.compare_told import compare_spelled

TEXTS = """
SELECT x.h AS c0, x.g AS c1 FROM S AS x WHERE x.g = 'x' AND OLD AND NOT FOLLOWED
SELECT x.h AS c0, x.ts AS c1 FROM S AS x WHERE OLD AND NOT FOLLOWED
SELECT x.h AS c0, x.ts AS c1 FROM S AS x WHERE x.g = 'x' AND OLDER AND NOT FOLLOWED_SO
SELECT x.h AS c0, x.ts AS c1 FROM S AS x WHERE x.ts = GREATEST_TIME AND OLDER
SELECT x.h AS c0, x.g AS c1 FROM STARRED AS x WHERE OLD
SELECT x.h AS c0, COUNT(*) AS c1 FROM S AS x WHERE OLD AND NOT ENDED GROUP BY x.h
SELECT x.g AS c0, MAX(x.h) AS c1 FROM S AS x WHERE OLD AND NOT MORE_THERE GROUP BY x.g
SELECT DISTINCT x.h AS c0 FROM S AS x WHERE OLDER AND NOT LEFT_X
SELECT DISTINCT x.h AS c0 FROM S AS x WHERE OLD AND NOT EVER
SELECT x.h AS c0, r.a AS c1 FROM S AS x JOIN r ON r.h = x.h WHERE OLD AND NOT ENDED
SELECT h AS c0, g AS c1 FROM LATEST AS x WHERE OLD
SELECT h AS c0, ts AS c1 FROM LATEST AS x WHERE g = 'x' AND NOW() - ts > LENGTH
SELECT COUNT(*) AS c0 FROM NUMBERED AS x WHERE n = 1 AND OLD
SELECT x.h AS c0, r.a AS c1 FROM LATEST AS x JOIN r ON r.h = x.h WHERE OLDER
SELECT x.h AS c0, COUNT(*) AS c1 FROM S AS x WHERE RECENT AND NOT ENDED GROUP BY x.h
SELECT x.h AS c0, x.g AS c1 FROM S AS x WHERE RECENT AND NOT FOLLOWED
SELECT x.h AS c0, x.g AS c1 FROM S AS x WHERE RECENT AND MORE_THERE
"""
WORDS = {
    "GREATEST_TIME": "(SELECT MAX(ts) FROM s AS y WHERE y.h = x.h)",
    "FOLLOWED_SO": "EXISTS (SELECT 1 FROM s AS y WHERE y.h = x.h AND y.g = 'x' AND x.ts < y.ts)",
    "FOLLOWED": "EXISTS (SELECT 1 FROM s AS y WHERE y.h = x.h AND y.ts > x.ts)",
    "ENDED": "EXISTS (SELECT 1 FROM t AS y WHERE y.h = x.h AND y.ts > x.ts)",
    "MORE_THERE": "EXISTS (SELECT 1 FROM t AS y WHERE y.h = x.h AND y.a > 0 AND y.ts >= x.ts)",
    "LEFT_X": "EXISTS (SELECT 1 FROM s AS y WHERE y.h = x.h AND y.g = 'y' AND x.ts < y.ts)",
    "EVER": "EXISTS (SELECT 1 FROM t AS y WHERE y.h = x.h AND y.a > 1)",
    "RECENT": "x.ts > NOW() - INTERVAL '4' MICROSECOND",
    "LENGTH": "INTERVAL '2' MICROSECOND",
    "OLDER": "x.ts < NOW() - INTERVAL '2' MICROSECOND",
    "OLD": "x.ts <= NOW() - INTERVAL '3' MICROSECOND",
    "FROM S AS x WHERE": "FROM s AS x WHERE x.h IS NOT NULL AND x.g IS NOT NULL AND",
    "FROM S AS x JOIN r ON": "FROM s AS x JOIN r ON x.g IS NOT NULL AND",
    "STARRED": (
        "(SELECT * FROM s WHERE h IS NOT NULL AND g IS NOT NULL "
        "QUALIFY RANK() OVER (PARTITION BY h ORDER BY ts DESC) = 1)"
    ),
    "LATEST": (
        "(SELECT h, g, ts FROM s WHERE h IS NOT NULL AND g IS NOT NULL "
        "QUALIFY RANK() OVER (PARTITION BY h ORDER BY ts DESC) = 1)"
    ),
    "NUMBERED": (
        "(SELECT h, ts, RANK() OVER (PARTITION BY h ORDER BY ts DESC) AS n FROM s "
        "WHERE h IS NOT NULL)"
    ),
}


@pytest.mark.parametrize(("seed", "text"), [*enumerate(TEXTS.strip().splitlines())])
def test_what_is_told_is_duckdbs(seed: int, text: str) -> None:
    compare_spelled(text, WORDS, seed)
