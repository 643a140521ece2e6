"""The queries of replay_speed.py, by name, and what a way gives."""

from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "traffic"
EXPECTED = ROOT / "tests" / "examples"
Q = (
    "SELECT T.b, U.e FROM S, T, U "
    "WHERE S.ts < T.ts AND T.ts < U.ts AND T.b = U.d AND T.b BETWEEN 0 AND 99"
)
SENSORS, ROADS = "sensors-fast-after-congestion", "roads-jammed-then-fast-then-jammed-again"
PAIRS = "every-fast-reading-after-a-congested-one-on-the-same-road"
CLEARED = "congestion-cleared-within-30-minutes"
MONTH = (SENSORS, PAIRS, ROADS, CLEARED)
ROAD = (
    "SELECT POINT_1_STREET AS street, min(POINT_1_CITY) AS city, min(ROAD_TYPE) AS road_type, "
    "max(NDT_IN_KMH) AS normal_speed FROM sensor WHERE POINT_1_STREET IS NOT NULL GROUP BY ALL"
)
LOCATED = (
    "WITH located AS (SELECT t.id, t.ts, t.avg_speed, t.vehicle_count, r.street FROM traffic t "
    "JOIN sensor s ON s.REPORT_ID = t.report_id JOIN road r ON r.street = s.POINT_1_STREET)"
)
Run = Callable[[Path], None]
