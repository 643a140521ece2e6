"""Ways to answer the queries of replay_speed.py, each run in a process of its own.

    python benchmarks/replay/speed_ways.py WAY QUERY FOLDER OUTPUT REPEAT [SETTING…]

A way reads FOLDER's Parquet, writes its answer to OUTPUT (Parquet: the variables, `at`,
`multiplicity` for bags), REPEAT times, and prints the seconds of each as JSON; starting Spark is
not counted. The hand-written ways know the query; only ours is given it as text.
"""

import json
import sys
import time
from pathlib import Path

from ways.by_duckdb import by_duckdb
from ways.by_numpy import by_numpy
from ways.by_others import by_flink, by_pathway
from ways.by_ours import kept, ours, ours_on_spark
from ways.by_polars import by_polars
from ways.by_spark import by_spark_sql, by_stream_join

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
