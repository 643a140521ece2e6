"""DuckDB's SQL, by hand."""

from pathlib import Path

from ways.queries import CLEARED, EXPECTED, LOCATED, PAIRS, ROAD, ROADS, SENSORS, Run

ASOF = {
    "Q": """WITH
        s1 AS (SELECT ts, sum(n) OVER (ORDER BY ts) AS n
               FROM (SELECT ts, count(*) AS n FROM s GROUP BY ts)),
        t1 AS (SELECT b, ts, count(*) AS n FROM t WHERE b BETWEEN 0 AND 99 GROUP BY b, ts),
        t2 AS (SELECT t1.b, t1.ts, sum(t1.n * s1.n) OVER (PARTITION BY t1.b ORDER BY t1.ts) AS n
               FROM t1 ASOF JOIN s1 ON s1.ts < t1.ts)
        SELECT u.d AS b, u.e, u.ts AS at, t2.n::BIGINT AS multiplicity
        FROM (SELECT * FROM u WHERE d BETWEEN 0 AND 99) u
        ASOF JOIN t2 ON t2.b = u.d AND t2.ts < u.ts
    """,
    SENSORS: """WITH c AS (
          SELECT report_id, ts, sum(count(*)) OVER (PARTITION BY report_id ORDER BY ts) AS n
          FROM traffic WHERE avg_speed < 20 AND vehicle_count >= 10 GROUP BY report_id, ts)
        SELECT sensor_iri(f.report_id) AS sensor, f.ts AS at, sum(c.n)::BIGINT AS multiplicity
        FROM (SELECT * FROM traffic WHERE avg_speed > 110) f
        ASOF JOIN c ON c.report_id = f.report_id AND c.ts < f.ts GROUP BY ALL""",
    PAIRS: LOCATED
    + """, c AS (
          SELECT street, ts, sum(count(*)) OVER (PARTITION BY street ORDER BY ts) AS n
          FROM located WHERE avg_speed < 20 AND vehicle_count >= 10 GROUP BY street, ts)
        SELECT reading_iri(f.id) AS fast, f.avg_speed AS speed, road_iri(f.street) AS road,
               f.ts AS at, sum(c.n)::BIGINT AS multiplicity
        FROM (SELECT * FROM located WHERE avg_speed > 110) f
        ASOF JOIN c ON c.street = f.street AND c.ts < f.ts GROUP BY ALL""",
    ROADS: LOCATED
    + """, a AS (SELECT street, min(ts) AS ts FROM located
                 WHERE avg_speed < 10 AND vehicle_count >= 10 GROUP BY street),
        b AS (SELECT street, min(l.ts) AS ts FROM located l JOIN a USING (street)
              WHERE avg_speed > 110 AND a.ts < l.ts GROUP BY street)
        SELECT road_iri(street) AS road, street AS name, min(l.ts) AS at
        FROM located l JOIN b USING (street)
        WHERE avg_speed < 10 AND vehicle_count >= 10 AND b.ts < l.ts GROUP BY street""",
    CLEARED: (EXPECTED / "expected" / f"{CLEARED}.sql").read_text().strip().rstrip(";"),
}


def by_duckdb(query: str, folder: Path, settings: list[str]) -> Run:
    """The best SQL we know to write by hand: sums per key, then ASOF joins; two threads."""
    import duckdb

    database = duckdb.connect()
    database.execute("SET threads = 2")
    for file in folder.glob("*.parquet"):
        database.execute(f"CREATE VIEW {file.stem} AS FROM read_parquet('{file}')")
    if query != "Q":
        database.execute(f"CREATE VIEW sensor AS FROM read_csv('{folder}/sensor.csv')")
        database.execute(f"CREATE VIEW road AS {ROAD}")
        database.execute((EXPECTED / "macros.sql").read_text())

    def run(output: Path) -> None:
        database.execute(f"COPY ({ASOF[query]}) TO '{output}' (FORMAT parquet, COMPRESSION zstd)")

    return run
