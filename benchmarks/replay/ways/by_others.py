"""Pathway and Flink, with interpreters of their own."""

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from ways.iris import make_iris
from ways.queries import CLEARED, Run


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
            make_iris("sensor", rows.s.to_numpy()),
            make_iris("reading", rows.j.to_numpy()),
            make_iris("reading", rows.c.to_numpy()),
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
