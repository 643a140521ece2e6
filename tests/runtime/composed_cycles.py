"""`composed_cycles.py FOLDER SEED SESSIONS [kill|cut] [keep] [compact] [archive]`: as
intake_cycles.py, of queries of what comes and goes that is joined, united, and grouped again."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.runtime import intake_cycles

SHORT = "ts > NOW() - INTERVAL '40' MINUTE"
LONG = "ts > NOW() - INTERVAL '90' MINUTE"


def grouped(stream: str, window: str) -> str:
    """The groups of a stream's window."""
    return f"(SELECT k, COUNT(*) AS n, SUM(a) AS t FROM {stream} WHERE {window} GROUP BY k)"


X, Y, LONG_Y = grouped("s", LONG), grouped("u", SHORT), grouped("u", LONG)
LATEST = "(SELECT k, a FROM v QUALIFY RANK() OVER (PARTITION BY k ORDER BY ts DESC) = 1)"
QUERIES = {
    "joined": f"SELECT x.k, x.n, y.t FROM {grouped('s', SHORT)} AS x JOIN {Y} AS y ON y.k = x.k",
    "lefts": f"SELECT x.k, x.n, y.t FROM {X} AS x LEFT JOIN {grouped('v', SHORT)} AS y "
    "ON y.k = x.k",
    "three": f"SELECT x.k, x.n, y.t, z.n AS m FROM {X} AS x JOIN {LONG_Y} AS y ON y.k = x.k "
    f"JOIN {grouped('v', LONG)} AS z ON z.k = x.k",
    "united": f"WITH x AS {X}, y AS {LONG_Y} SELECT k, n FROM x WHERE n > 1 "
    "UNION ALL SELECT k, n FROM y WHERE n > 2",
    "unique": f"WITH x AS {X}, y AS {Y} SELECT k FROM x WHERE n > 1 "
    "UNION SELECT k FROM y WHERE n > 1",
    "except": f"WITH x AS {X}, y AS {Y} SELECT k FROM x EXCEPT SELECT k FROM y",
    "rows": f"SELECT s.k, s.a, y.t FROM s JOIN {LONG_Y} AS y ON y.k = s.k WHERE s.{SHORT}",
    "average": f"WITH x AS {X} SELECT k, n FROM x WHERE n > (SELECT AVG(n) FROM x)",
    "first": f"SELECT k, COUNT(*) AS n FROM s WHERE {LONG} GROUP BY k ORDER BY n DESC, k LIMIT 2",
    "firsts": f"SELECT x.k, x.n FROM {X} AS x JOIN {LONG_Y} AS y ON y.k = x.k "
    "ORDER BY x.n DESC, x.k LIMIT 2",
    "exists": f"SELECT s.k, s.a FROM s WHERE s.{SHORT} AND EXISTS (SELECT u.k FROM u "
    f"WHERE u.{LONG} AND u.k = s.k GROUP BY u.k HAVING COUNT(*) > 1)",
    "latest": f"SELECT x.k, x.n, l.a FROM {X} AS x JOIN {LATEST} AS l ON l.k = x.k",
    "plain": f"SELECT k, COUNT(*) AS n FROM u WHERE {SHORT} GROUP BY k",
}
intake_cycles.QUERIES = QUERIES
intake_cycles.CHANGES = ()

if __name__ == "__main__":
    intake_cycles.main()
