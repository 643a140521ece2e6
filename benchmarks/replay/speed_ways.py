"""Ways to answer the queries of replay_speed.py, each run in a process of its own.

    python benchmarks/replay/speed_ways.py WAY QUERY FOLDER OUTPUT REPEAT [SETTING…]

A way reads FOLDER's Parquet, writes its answer to OUTPUT (Parquet: the variables, `at`,
`multiplicity` for bags), REPEAT times, and prints the seconds of each as JSON; starting Spark is
not counted. The hand-written ways know the query; only ours is given it as text.
"""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[2]
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
Run = Callable[[Path], None]


# -- ours -----------------------------------------------------------------------------------------


def ours(
    query: str, folder: Path, settings: list[str], engine: Literal["auto", "spark"] = "auto"
) -> Run:
    """`ontoweir replay`, without the start of Python and Spark: what the first one verified of the
    files is known in the next ones, as on the command line."""
    from ontoweir.cache.open_cache import open_cache
    from ontoweir.pipeline.pipeline import Workspace
    from ontoweir.project.project import load_project
    from ontoweir.run.replay_query import ReplayOptions, replay_query
    from ontoweir.runtime.spark.start_session import start_session

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = start_session({"spark.master": "local[2]"}) if engine == "spark" else None
    project = load_project(folder if query == "Q" else EXAMPLE, overrides=settings)
    workspace = Workspace(project, cache=open_cache(str(folder / "cache")))
    compiled = workspace.compile_sql(folder / "q.sql") if query == "Q" else workspace.compile(query)

    def run(output: Path) -> None:
        options = ReplayOptions(output=output, progress=False, engine=engine)
        print(json.dumps(replay_query(workspace, compiled, options, spark)), file=sys.stderr)

    return run


def ours_on_spark(query: str, folder: Path, settings: list[str]) -> Run:
    """As ours, by Spark tasks also where the history is short."""
    return ours(query, folder, settings, engine="spark")


def kept(query: str, folder: Path, settings: list[str]) -> Run:
    """As ours, with `keep = true` for all streams: from the second replay on, rows are unpacked."""
    streams = "STU" if query == "Q" else ["traffic"]
    more = [f"streams.{name}.source.keep=true" for name in streams]
    return ours(query, folder, [*settings, *more])


# -- numpy, by hand -------------------------------------------------------------------------------


def by_numpy(query: str, folder: Path, settings: list[str]) -> Run:
    """What a programmer writes who knows the query and that the data is in order."""
    return {
        "Q": _numpy_q,
        SENSORS: _numpy_sensors,
        PAIRS: _numpy_pairs,
        ROADS: _numpy_roads,
        CLEARED: _numpy_cleared,
    }[query](folder)


def _numpy_q(folder: Path) -> Run:
    def groups(name: str, columns: list[str]) -> list[tuple[np.ndarray, ...]]:
        file = pq.ParquetFile(folder / f"{name}.parquet", memory_map=True)
        for i in range(file.num_row_groups):
            part = file.read_row_group(i, columns=columns)
            yield tuple(c.cast(pa.int64()).to_numpy() for c in (part.column(n) for n in columns))

    def run(output: Path) -> None:
        # bounded state: the number of S so far; per b, the number of (S, T) pairs
        schema = pa.schema(
            [
                ("b", pa.int64()),
                ("e", pa.int64()),
                ("at", pa.timestamp("us")),
                ("multiplicity", pa.int64()),
            ]
        )
        s_rows, t_rows = groups("s", ["ts"]), groups("t", ["ts", "b"])
        s_time = t_time = t_key = np.zeros(0, np.int64)
        s_done, pairs = 0, np.zeros(100, np.int64)
        last = -(1 << 62)
        with pq.ParquetWriter(output, schema, compression="zstd") as writer:
            for u_time, u_key, u_e in groups("u", ["ts", "d", "e"]):
                stop = int(u_time[-1])
                while last < stop and (more := next(t_rows, None)) is not None:
                    keep = (more[1] >= 0) & (more[1] < 100)
                    last = int(more[0][-1])
                    t_time = np.concatenate([t_time, more[0][keep]])
                    t_key = np.concatenate([t_key, more[1][keep]])
                while (not len(s_time) or s_time[-1] < stop) and (
                    found := next(s_rows, None)
                ) is not None:
                    s_time = np.concatenate([s_time, found[0]])
                before = int(np.searchsorted(t_time, stop, side="left"))
                weight = s_done + np.searchsorted(s_time, t_time[:before], side="left")
                keep = (u_key >= 0) & (u_key < 100)
                u_time, u_key, u_e = u_time[keep], u_key[keep], u_e[keep]
                order = np.argsort(t_key[:before].astype(np.uint8), kind="stable")
                sums = np.concatenate([[0], np.cumsum(weight[order])])
                counts = np.bincount(t_key[:before], minlength=100)
                starts = np.concatenate([[0], np.cumsum(counts)])
                times = t_time[:before][order]
                result = np.zeros(len(u_key), np.int64)
                mine = np.argsort(u_key.astype(np.uint8), kind="stable")
                u_starts = np.searchsorted(u_key[mine], np.arange(101))
                for b in range(100):
                    rows = mine[u_starts[b] : u_starts[b + 1]]
                    low, high = starts[b], starts[b + 1]
                    place = low + np.searchsorted(times[low:high], u_time[rows], side="left")
                    result[rows] = pairs[b] + sums[place] - sums[low]
                pairs += np.add.reduceat(np.append(sums[1:] - sums[:-1], 0), starts[:-1]) * (
                    counts > 0
                )
                passed = int(np.searchsorted(s_time, stop, side="left"))
                s_done, s_time = s_done + passed, s_time[passed:]
                t_time, t_key = t_time[before:], t_key[before:]
                hit = result > 0
                columns = [u_key[hit], u_e[hit], pa.array(u_time[hit]).cast(pa.timestamp("us"))]
                writer.write_table(pa.table([*columns, result[hit]], schema=schema))

    return run


def _month(folder: Path, *names: str) -> dict[str, np.ndarray]:
    table = pq.read_table(folder / "traffic.parquet", columns=["ts", *names])
    return {
        n: (c.cast(pa.int64()) if n == "ts" else c).to_numpy()
        for n, c in zip(table.column_names, table.columns, strict=True)
    }


def _streets(folder: Path) -> tuple[np.ndarray, list[str]]:
    """A number of its street per report_id (-1: none), and their names."""
    import csv

    with (folder / "sensor.csv").open() as file:
        rows = [(int(r["REPORT_ID"]), r["POINT_1_STREET"]) for r in csv.DictReader(file)]
    names = sorted({street for _, street in rows if street})
    number = {street: i for i, street in enumerate(names)}
    found = np.full(max(i for i, _ in rows) + 1, -1)
    for i, street in rows:
        found[i] = number.get(street, -1)
    return found, names


def _iri(kind: str, keys: np.ndarray) -> pa.Array:
    return pc.binary_join_element_wise(
        f"http://traffic.example/{kind}/", pa.array(keys).cast(pa.string()), ""
    )


def _road_iris(names: list[str]) -> pa.Array:
    safe = ["".join(c if ord(c) >= 160 else quote(c, safe="") for c in n) for n in names]
    return pa.array([f"http://traffic.example/road/{n}" for n in safe])


def _as_of(key: np.ndarray, ts: np.ndarray, by: np.ndarray, at: np.ndarray) -> np.ndarray:
    """How many (key, ts) come before each (by, at), of the same key."""
    order = np.lexsort((ts, key))
    times, inner = np.unique(np.concatenate([ts, at]), return_inverse=True)
    span = len(times) + 1
    held = key[order].astype(np.int64) * span + inner[: len(ts)][order]
    upto = np.searchsorted(held, by.astype(np.int64) * span + inner[len(ts) :])
    return upto - np.searchsorted(held, by.astype(np.int64) * span)


def _instants(times: np.ndarray) -> pa.Array:
    return pa.array(times).cast(pa.timestamp("us"))


def _numpy_sensors(folder: Path) -> Run:
    def run(output: Path) -> None:
        t = _month(folder, "report_id", "avg_speed", "vehicle_count")
        jam = (t["avg_speed"] < 20) & (t["vehicle_count"] >= 10)
        fast = t["avg_speed"] > 110
        by, at = t["report_id"][fast], t["ts"][fast]
        count = _as_of(t["report_id"][jam], t["ts"][jam], by, at)
        hit = count > 0
        columns = [_iri("sensor", by[hit]), _instants(at[hit]), pa.array(count[hit])]
        pq.write_table(pa.table(columns, ["sensor", "at", "multiplicity"]), output)

    return run


def _numpy_pairs(folder: Path) -> Run:
    def run(output: Path) -> None:
        t = _month(folder, "report_id", "avg_speed", "vehicle_count", "id")
        street, names = _streets(folder)
        street = street[t["report_id"]]
        jam = (t["avg_speed"] < 20) & (t["vehicle_count"] >= 10) & (street >= 0)
        fast = (t["avg_speed"] > 110) & (street >= 0)
        by, at = street[fast], t["ts"][fast]
        count = _as_of(street[jam], t["ts"][jam], by, at)
        hit = count > 0
        columns = [
            _iri("reading", t["id"][fast][hit]),
            pa.array(t["avg_speed"][fast][hit]),
            _road_iris(names).take(pa.array(by[hit])),
            _instants(at[hit]),
            pa.array(count[hit]),
        ]
        pq.write_table(pa.table(columns, ["fast", "speed", "road", "at", "multiplicity"]), output)

    return run


def _numpy_roads(folder: Path) -> Run:
    def run(output: Path) -> None:
        t = _month(folder, "report_id", "avg_speed", "vehicle_count")
        street, names = _streets(folder)
        street = street[t["report_id"]]
        grid = (t["avg_speed"] < 10) & (t["vehicle_count"] >= 10)
        never = np.iinfo(np.int64).max

        def first(rows: np.ndarray, after: np.ndarray) -> np.ndarray:
            mine = np.flatnonzero(rows & (street >= 0))
            mine = mine[t["ts"][mine] > after[street[mine]]]
            found = np.full(len(names), never)
            np.minimum.at(found, street[mine], t["ts"][mine])
            return found

        begun = np.full(len(names), -never)
        last = first(grid, first(t["avg_speed"] > 110, first(grid, begun)))
        hit = np.flatnonzero(last < never)
        columns = [
            _road_iris(names).take(pa.array(hit)),
            pa.array(names).take(pa.array(hit)),
            _instants(last[hit]),
        ]
        pq.write_table(pa.table(columns, ["road", "name", "at"]), output)

    return run


def _numpy_cleared(folder: Path) -> Run:
    def run(output: Path) -> None:
        t = _month(folder, "report_id", "avg_speed", "vehicle_count", "id")
        speed, count = t["avg_speed"], t["vehicle_count"]
        jam = np.flatnonzero((speed < 20) & (count >= 10))
        clear = np.flatnonzero((speed > 110) | ((speed >= 60) & (count >= 5)))
        jam = jam[np.lexsort((t["ts"][jam], t["report_id"][jam]))]
        span = np.int64(1) << 40
        base = int(t["ts"][0])
        held = t["report_id"][jam].astype(np.int64) * span + (t["ts"][jam] - base) // 1_000_000
        wanted = t["report_id"][clear].astype(np.int64) * span
        wanted += (t["ts"][clear] - base) // 1_000_000
        high = np.searchsorted(held, wanted, side="left")
        low = np.searchsorted(held, wanted - 1800, side="left")
        length = high - low
        row = np.repeat(np.arange(len(clear)), length)
        offset = np.arange(len(row)) - np.repeat(np.cumsum(length) - length, length)
        left, right = jam[low[row] + offset], clear[row]
        columns = [
            _iri("sensor", t["report_id"][left]),
            _iri("reading", t["id"][left]),
            _iri("reading", t["id"][right]),
            pa.array(speed[right]),
            _instants(t["ts"][right]),
            pa.array(np.ones(len(left), np.int64)),
        ]
        names = ["sensor", "jam", "clear", "speed", "at", "multiplicity"]
        pq.write_table(pa.table(columns, names), output)

    return run


# -- DuckDB ---------------------------------------------------------------------------------------

LOCATED = (
    "WITH located AS (SELECT t.id, t.ts, t.avg_speed, t.vehicle_count, r.street FROM traffic t "
    "JOIN sensor s ON s.REPORT_ID = t.report_id JOIN road r ON r.street = s.POINT_1_STREET)"
)
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


# -- polars ---------------------------------------------------------------------------------------


def by_polars(query: str, folder: Path, settings: list[str]) -> Run:
    """Running sums and join_asof; two threads."""
    import polars as pl

    def strictly(left: "pl.LazyFrame", right: "pl.LazyFrame", key: str) -> "pl.LazyFrame":
        """The last row of `right` strictly before each row of `left`."""
        return left.sort("ts").join_asof(
            right.sort("ts"), on="ts", by=key, strategy="backward", allow_exact_matches=False,
            check_sortedness=False,
        )  # fmt: skip

    def running(frame: "pl.LazyFrame", key: str) -> "pl.LazyFrame":
        counted = frame.group_by(key, "ts").agg(n=pl.len().cast(pl.Int64)).sort("ts")
        return counted.with_columns(n=pl.col("n").cum_sum().over(key))

    def q() -> "pl.LazyFrame":
        s = pl.scan_parquet(folder / "s.parquet").select("ts")
        s = s.group_by("ts").agg(m=pl.len().cast(pl.Int64)).sort("ts")
        s = s.with_columns(pl.col("m").cum_sum())
        t = pl.scan_parquet(folder / "t.parquet").select("ts", "b")
        t = t.filter(pl.col("b").is_between(0, 99))
        t = t.join_asof(s, on="ts", strategy="backward", allow_exact_matches=False)
        t = t.filter(pl.col("m").is_not_null()).group_by("b", "ts").agg(pl.col("m").sum())
        t = t.sort("ts").with_columns(pl.col("m").cum_sum().over("b"))
        u = pl.scan_parquet(folder / "u.parquet").rename({"d": "b"})
        u = u.filter(pl.col("b").is_between(0, 99))
        found = strictly(u, t, "b").filter(pl.col("m").is_not_null())
        return found.select("b", "e", at="ts", multiplicity="m")

    def month() -> "pl.LazyFrame":
        t = pl.scan_parquet(folder / "traffic.parquet")
        if query in (PAIRS, ROADS):
            street, names = _streets(folder)
            keys = {"report_id": np.arange(len(street)), "road": street}
            s = pl.LazyFrame(keys, schema={"report_id": pl.Int32, "road": pl.Int64})
            t = t.join(s.filter(pl.col("road") >= 0), on="report_id")
        jam = t.filter((pl.col("avg_speed") < 20) & (pl.col("vehicle_count") >= 10))
        fast = t.filter(pl.col("avg_speed") > 110)

        def iri(kind: str, column: str) -> "pl.Expr":
            return pl.format(f"http://traffic.example/{kind}/{{}}", pl.col(column))

        if query == SENSORS:
            found = strictly(fast, running(jam, "report_id"), "report_id")
            found = found.filter(pl.col("n").is_not_null())
            return found.select(sensor=iri("sensor", "report_id"), at="ts", multiplicity="n")
        if query == CLEARED:
            clear = (pl.col("avg_speed") >= 60) & (pl.col("vehicle_count") >= 5)
            right = t.filter((pl.col("avg_speed") > 110) | clear)
            both = jam.join(right, on="report_id", suffix="_c")
            gap = pl.col("ts_c") - pl.col("ts")
            both = both.filter((gap > pl.duration()) & (gap <= pl.duration(minutes=30)))
            return both.select(
                sensor=iri("sensor", "report_id"), jam=iri("reading", "id"),
                clear=iri("reading", "id_c"), speed="avg_speed_c", at="ts_c",
                multiplicity=pl.lit(1, pl.Int64),
            )  # fmt: skip
        iris = pl.LazyFrame(
            {"road": np.arange(len(names)), "iri": _road_iris(names).to_pylist(), "name": names}
        )
        if query == PAIRS:
            found = strictly(fast, running(jam, "road"), "road").filter(pl.col("n").is_not_null())
            found = found.join(iris, on="road")
            return found.select(
                fast=iri("reading", "id"), speed="avg_speed", road="iri", at="ts", multiplicity="n"
            )
        grid = jam.filter(pl.col("avg_speed") < 10)
        first = grid.group_by("road").agg(a=pl.col("ts").min())
        then = fast.join(first, on="road").filter(pl.col("ts") > pl.col("a"))
        then = then.group_by("road").agg(b=pl.col("ts").min())
        last = grid.join(then, on="road").filter(pl.col("ts") > pl.col("b"))
        last = last.group_by("road").agg(at=pl.col("ts").min()).join(iris, on="road")
        return last.select(road="iri", name="name", at="at")

    def run(output: Path) -> None:
        frame = q() if query == "Q" else month()
        frame.collect().write_parquet(output)

    return run


# -- Spark SQL ------------------------------------------------------------------------------------

WINDOWS = {
    "Q": """WITH events AS (
            SELECT 0 AS kind, ts, 0 AS b, 0 AS e FROM s
            UNION ALL SELECT 1, ts, b, 0 FROM t WHERE b BETWEEN 0 AND 99
            UNION ALL SELECT 2, ts, d, e FROM u WHERE d BETWEEN 0 AND 99),
        one AS (SELECT *, count_if(kind = 0) OVER (ORDER BY ts
                  RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL 1 SECOND PRECEDING) AS n
                FROM events),
        two AS (SELECT *, sum(if(kind = 1, n, 0)) OVER (PARTITION BY b ORDER BY ts
                  RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL 1 SECOND PRECEDING) AS m
                FROM one WHERE kind > 0)
        SELECT b, e, ts AS at, m AS multiplicity FROM two WHERE kind = 2 AND m > 0""",
    SENSORS: """WITH c AS (SELECT report_id, ts, avg_speed,
            count_if(avg_speed < 20 AND vehicle_count >= 10)
              OVER (PARTITION BY report_id ORDER BY ts
              RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL 1 SECOND PRECEDING) AS n FROM traffic)
        SELECT concat('http://traffic.example/sensor/', report_id) AS sensor, ts AS at,
               n AS multiplicity FROM c WHERE avg_speed > 110 AND n > 0""",
    PAIRS: LOCATED
    + """, c AS (SELECT *, count_if(avg_speed < 20 AND vehicle_count >= 10)
            OVER (PARTITION BY street ORDER BY ts
              RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL 1 SECOND PRECEDING) AS n FROM located)
        SELECT concat('http://traffic.example/reading/', id) AS fast, avg_speed AS speed,
               street AS road, ts AS at, n AS multiplicity FROM c
        WHERE avg_speed > 110 AND n > 0""",
    ROADS: LOCATED
    + """, one AS (SELECT *, avg_speed < 10 AND vehicle_count >= 10 AS grid, min(CASE WHEN
              avg_speed < 10 AND vehicle_count >= 10 THEN ts END) OVER (PARTITION BY street) AS a
            FROM located),
        two AS (SELECT *, min(CASE WHEN avg_speed > 110 AND ts > a THEN ts END)
                  OVER (PARTITION BY street) AS b FROM one)
        SELECT street AS road, street AS name, min(ts) AS at FROM two
        WHERE grid AND ts > b GROUP BY street""",
    CLEARED: """WITH c AS (SELECT *, collect_list(CASE WHEN avg_speed < 20 AND vehicle_count >= 10
              THEN id END) OVER (PARTITION BY report_id ORDER BY ts
              RANGE BETWEEN INTERVAL 1800 SECOND
              PRECEDING AND INTERVAL 1 SECOND PRECEDING) AS jams FROM traffic)
        SELECT concat('http://traffic.example/sensor/', report_id) AS sensor,
               concat('http://traffic.example/reading/', jam) AS jam,
               concat('http://traffic.example/reading/', id) AS clear, avg_speed AS speed, ts AS at,
               1L AS multiplicity
        FROM (SELECT *, explode(jams) AS jam FROM c
              WHERE avg_speed > 110 OR avg_speed BETWEEN 60 AND 110 AND vehicle_count >= 5)""",
}


def by_spark_sql(query: str, folder: Path, settings: list[str]) -> Run:
    """Spark SQL with window functions, on two threads."""
    spark = _spark()
    for file in folder.glob("*.parquet"):
        spark.read.parquet(str(file)).createOrReplaceTempView(file.stem)
    if query != "Q":
        sensors = spark.read.option("header", True).option("inferSchema", True)
        sensors.csv(str(folder / "sensor.csv")).createOrReplaceTempView("sensor")
        spark.sql(ROAD).createOrReplaceTempView("road")

    def run(output: Path) -> None:
        frame = spark.sql(WINDOWS[query])
        if query in (PAIRS, ROADS):
            names = _streets(folder)[1]
            iris = dict(zip(names, _road_iris(names).to_pylist(), strict=True))
            frame = frame.replace(iris, subset=["road"])
        frame.write.mode("overwrite").parquet(str(output))

    return run


def _spark() -> "object":
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "8g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def by_stream_join(query: str, folder: Path, settings: list[str]) -> Run:
    """Spark's stream-stream join. It needs an equality, and a limit in time to forget anything."""
    from pyspark.sql import functions as fn

    spark = _spark()

    def run(output: Path) -> None:
        for made in (output, Path(f"{output}.checkpoint")):  # a run before, which is resumed
            shutil.rmtree(made, ignore_errors=True)
        schema = spark.read.parquet(str(folder / "traffic.parquet")).schema
        source = spark.readStream.schema(schema).parquet(str(folder / "in"))
        source = source.withColumn("ts", fn.col("ts").cast("timestamp"))
        jam = source.where("avg_speed < 20 AND vehicle_count >= 10").withWatermark(
            "ts", "0 seconds"
        )
        clear = source.where(
            "avg_speed > 110 OR avg_speed BETWEEN 60 AND 110 AND vehicle_count >= 5"
        ).withWatermark("ts", "0 seconds")
        both = jam.alias("c").join(
            clear.alias("f"),
            fn.expr(
                "c.report_id = f.report_id AND c.ts < f.ts AND f.ts <= c.ts + INTERVAL 30 MINUTE"
            ),
        )
        found = both.selectExpr(
            "concat('http://traffic.example/sensor/', c.report_id) AS sensor",
            "concat('http://traffic.example/reading/', c.id) AS jam",
            "concat('http://traffic.example/reading/', f.id) AS clear",
            "f.avg_speed AS speed", "f.ts AS at", "1L AS multiplicity",
        )  # fmt: skip
        writing = found.writeStream.format("parquet").option("path", str(output))
        writing = writing.option("checkpointLocation", f"{output}.checkpoint")
        writing.trigger(availableNow=True).start().awaitTermination()

    (folder / "in").mkdir(exist_ok=True)
    if not list((folder / "in").iterdir()):
        os.link(folder / "traffic.parquet", folder / "in" / "traffic.parquet")
    return run


# -- others ---------------------------------------------------------------------------------------


def by_pathway(query: str, folder: Path, settings: list[str]) -> Run:
    """Pathway's interval join (it has no running sums as of a time)."""
    import datetime

    import pathway as pw

    def run(output: Path) -> None:
        t = pq.read_table(
            folder / "traffic.parquet",
            columns=["ts", "report_id", "avg_speed", "vehicle_count", "id"],
        )
        t = t.rename_columns(["ts", "report_id", "avg_speed", "vehicle_count", "rid"]).to_pandas()
        jam = t[(t.avg_speed < 20) & (t.vehicle_count >= 10)]
        clear = t[(t.avg_speed > 110) | ((t.avg_speed >= 60) & (t.vehicle_count >= 5))]
        c, f = pw.debug.table_from_pandas(jam), pw.debug.table_from_pandas(clear)
        span = pw.temporal.interval(datetime.timedelta(seconds=1), datetime.timedelta(minutes=30))
        both = pw.temporal.interval_join(c, f, c.ts, f.ts, span, c.report_id == f.report_id)
        found = both.select(s=c.report_id, j=c.rid, c=f.rid, speed=f.avg_speed, at=f.ts)
        rows = pw.debug.table_to_pandas(found, include_id=False)
        columns = [
            _iri("sensor", rows.s.to_numpy()),
            _iri("reading", rows.j.to_numpy()),
            _iri("reading", rows.c.to_numpy()),
            pa.array(rows.speed.to_numpy()),
            pa.array(rows["at"].to_numpy()).cast(pa.timestamp("us")),
            pa.array(np.ones(len(rows), np.int64)),
        ]
        names = ["sensor", "jam", "clear", "speed", "at", "multiplicity"]
        pq.write_table(pa.table(columns, names), output)

    return run


FLINK = {
    "Q": """WITH events AS (
            SELECT 0 AS src, ts, CAST(0 AS BIGINT) AS b, CAST(0 AS BIGINT) AS e FROM s
            UNION ALL SELECT 1, ts, b, CAST(0 AS BIGINT) FROM t WHERE b BETWEEN 0 AND 99
            UNION ALL SELECT 2, ts, d, e FROM u WHERE d BETWEEN 0 AND 99),
        counted AS (SELECT *,
                  SUM(CASE WHEN src = 0 THEN CAST(1 AS BIGINT) ELSE 0 END) OVER (ORDER BY ts
                    RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
                  - SUM(CASE WHEN src = 0 THEN CAST(1 AS BIGINT) ELSE 0 END)
                    OVER (PARTITION BY ts) AS n FROM events),
        summed AS (SELECT *,
                  SUM(CASE WHEN src = 1 THEN n ELSE 0 END) OVER (PARTITION BY b ORDER BY ts
                    RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
                  - SUM(CASE WHEN src = 1 THEN n ELSE 0 END) OVER (PARTITION BY b, ts) AS m
                FROM counted WHERE src > 0)
        SELECT b, e, ts AS `at`, m AS multiplicity FROM summed WHERE src = 2 AND m > 0""",
    CLEARED: """SELECT
          CONCAT('http://traffic.example/sensor/', CAST(c.report_id AS STRING)) AS sensor,
          CONCAT('http://traffic.example/reading/', CAST(c.id AS STRING)) AS `jam`,
          CONCAT('http://traffic.example/reading/', CAST(f.id AS STRING)) AS `clear`,
          f.avg_speed AS `speed`, f.ts AS `at`, CAST(1 AS BIGINT) AS multiplicity
        FROM traffic c JOIN traffic f ON c.report_id = f.report_id
          AND f.ts > c.ts AND f.ts <= c.ts + INTERVAL '30' MINUTE
        WHERE c.avg_speed < 20 AND c.vehicle_count >= 10
          AND (f.avg_speed > 110 OR f.avg_speed BETWEEN 60 AND 110 AND f.vehicle_count >= 5)""",
}


def by_flink(query: str, folder: Path, settings: list[str]) -> Run:
    """Flink SQL in batch mode, two slots, from and to CSV (the wheel has no Parquet reader)."""
    import pyarrow.csv as pcsv
    from pyflink.table import EnvironmentSettings, TableEnvironment

    table = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    table.get_config().set("parallelism.default", "2")
    types = {"timestamp[us]": "TIMESTAMP(6)", "int32": "INT", "int64": "BIGINT"}
    for file in folder.glob("*.parquet"):
        opened = pq.ParquetFile(file)
        names = [f.name for f in opened.schema_arrow if str(f.type) in types]
        text = folder / f"{file.stem}.csv"
        if not text.exists():
            options = pcsv.WriteOptions(include_header=False)
            pcsv.write_csv(opened.read(columns=names), text, options)
        fields = [f"`{n}` {types[str(opened.schema_arrow.field(n).type)]}" for n in names]
        table.execute_sql(
            f"CREATE TABLE {file.stem} ({', '.join(fields)}) WITH "
            f"('connector' = 'filesystem', 'path' = 'file://{text}', 'format' = 'csv')"
        )

    def run(output: Path) -> None:
        found = table.sql_query(FLINK[query])
        schema = found.get_schema()
        made = Path(f"{output}.csv")
        shutil.rmtree(made, ignore_errors=True)
        names, kinds = schema.get_field_names(), schema.get_field_data_types()
        fields = ", ".join(f"`{n}` {k}" for n, k in zip(names, map(_sql_type, kinds), strict=True))
        table.execute_sql("DROP TABLE IF EXISTS answer")
        table.execute_sql(
            f"CREATE TABLE answer ({fields}) WITH "
            f"('connector' = 'filesystem', 'path' = 'file://{made}', 'format' = 'csv')"
        )
        found.execute_insert("answer").wait()
        parts = [
            pcsv.read_csv(f, pcsv.ReadOptions(column_names=names))
            for f in made.iterdir()
            if f.is_file() and f.stat().st_size
        ]
        pq.write_table(pa.concat_tables(parts), output)

    return run


def _sql_type(kind: object) -> str:
    name = str(kind).upper()
    return (
        next(k for k in ("TIMESTAMP(6)", "BIGINT", "INT", "STRING") if k[:4] in name)
        if ("VARCHAR" not in name and "CHAR" not in name)
        else "STRING"
    )


WAYS = {
    "pathway": by_pathway,
    "flink": by_flink,
    "ours": ours,
    "kept": kept,
    "ours-spark": ours_on_spark,
    "numpy": by_numpy,
    "duckdb": by_duckdb,
    "polars": by_polars,
    "spark-sql": by_spark_sql,
    "stream-join": by_stream_join,
}


def main() -> None:
    """Run one way."""
    way, query, folder, output, repeat, *settings = sys.argv[1:]
    run = WAYS[way](query, Path(folder), settings)
    seconds = []
    for _ in range(int(repeat)):
        start = time.perf_counter()
        run(Path(output))
        seconds.append(time.perf_counter() - start)
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
