"""Spark's SQL, and its own stream-stream join."""

import os
import shutil
import sys
from pathlib import Path

from ways.iris import find_streets, make_road_iris
from ways.queries import CLEARED, LOCATED, PAIRS, ROAD, ROADS, SENSORS, Run

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
            names = find_streets(folder)[1]
            iris = dict(zip(names, make_road_iris(names).to_pylist(), strict=True))
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
