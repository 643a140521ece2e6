"""CPU seconds of what was not followed within 30 minutes, beside DuckDB:

    python -m benchmarks.windows.absence_speed [ROWS]

Of one stream: high levels of a device without a low one after them. Of two: alarms of 100,000
devices that were not cleared. DuckDB reads the same Parquet files, with one thread, by NOT EXISTS
and by an ASOF JOIN with the next row, whose difference is compared by hand; both write Parquet.
What was not followed when the history ends is no answer of ours, as it is not known yet; DuckDB is
told the last timestamp that is final. Answers are compared.
"""

import sys
import tempfile
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.windows.versions_speed import measure

from ontoweir.cli import main

DEVICES = 100_000
PROJECT = """
[project]
ontology = []

[streams.reading]
source = { format = "parquet", path = "reading.parquet" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 100

[streams.reading.columns]
device = { type = "int", min = 0, max = 299 }
level = { type = "int", min = 0, max = 99 }

[streams.alarm]
source = { format = "parquet", path = "alarm.parquet" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 100
columns = { device = "int" }

[streams.cleared]
source = { format = "parquet", path = "cleared.parquet" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 1000
columns = { device = "int" }
"""
LATE = "INTERVAL '30' MINUTE"
FINAL = f"(SELECT MAX(ts) FROM {{streams}}) - {LATE}"
QUERIES = {
    "high levels without a low one": (
        "reading",
        f"""SELECT a.device, a.ts AS t FROM reading a WHERE a.level >= 95 AND NOT EXISTS (SELECT 1
FROM reading b WHERE b.device = a.device AND b.level = 0 AND b.ts > a.ts AND b.ts <= a.ts + {LATE})
""",
        f"""SELECT a.device, a.ts AS t FROM (FROM reading WHERE level >= 95) a
ASOF LEFT JOIN (FROM reading WHERE level = 0) b ON b.device = a.device AND b.ts > a.ts
WHERE b.ts IS NULL OR b.ts > a.ts + {LATE}""",
    ),
    "alarms that were not cleared": (
        "(SELECT ts FROM alarm UNION ALL SELECT ts FROM cleared)",
        f"""SELECT a.device, a.ts AS t FROM alarm a WHERE NOT EXISTS (SELECT 1 FROM cleared b
WHERE b.device = a.device AND b.ts > a.ts AND b.ts <= a.ts + {LATE})""",
        f"""SELECT a.device, a.ts AS t FROM alarm a
ASOF LEFT JOIN cleared b ON b.device = a.device AND b.ts > a.ts
WHERE b.ts IS NULL OR b.ts > a.ts + {LATE}""",
    ),
}


def write_data(folder: Path, rows: int) -> None:
    """So many readings, a hundred a second; and half as many alarms, most of which are cleared
    within half an hour."""
    random = np.random.default_rng(1)

    def write(name: str, seconds: "np.ndarray", **columns: "np.ndarray") -> None:
        order = np.argsort(seconds, kind="stable")
        made = {"ts": pa.array(seconds[order] * 1_000_000).cast(pa.timestamp("us"))}
        made |= {key: pa.array(values[order]) for key, values in columns.items()}
        pq.write_table(pa.table(made), folder / f"{name}.parquet", row_group_size=1 << 17)

    level = random.integers(0, 100, rows)
    write("reading", np.arange(rows) // 100, device=random.integers(0, 300, rows), level=level)
    raised, device = np.arange(rows // 2) // 100, random.integers(0, DEVICES, rows // 2)
    write("alarm", raised, device=device)
    after = raised + 1 + random.exponential(600, rows // 2).astype(np.int64)
    kept = random.random(rows // 2) < 0.9
    write("cleared", after[kept], device=device[kept])


def replay(command: list[str]) -> None:
    """A replay, which prints nothing."""
    with redirect_stdout(StringIO()):
        main(command)


def run(rows: int) -> None:
    """Print a line for each query."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "ontoweir.toml").write_text(PROJECT)
        write_data(place, rows)
        for name, (streams, asked, joined) in QUERIES.items():
            (place / "asked.sql").write_text(asked)
            output = place / "answers.parquet"
            command = [
                "replay",
                folder,
                "--sql",
                str(place / "asked.sql"),
                "--quiet",
                "--summary",
                "json",
            ]
            command += ["--engine", "driver", "--output", str(output)]
            final = FINAL.format(streams=streams)

            def ask(text: str, final: str = final) -> None:
                text = f"SELECT * FROM ({text}) WHERE t < {final} ORDER BY t, device"
                with duckdb.connect() as base:
                    base.execute("SET threads = 1")
                    for table in ("reading", "alarm", "cleared"):
                        base.execute(f"CREATE VIEW {table} AS FROM '{folder}/{table}.parquet'")
                    base.execute(f"COPY ({text}) TO '{folder}/duck.parquet' (FORMAT parquet)")

            mine, theirs = measure(partial(replay, command)), measure(partial(ask, asked))
            by_hand = measure(partial(ask, joined))
            answers, expected = (
                pq.read_table(place / f) for f in ("answers.parquet", "duck.parquet")
            )
            order = [("t", "ascending"), ("device", "ascending")]
            counts = np.repeat(
                np.arange(answers.num_rows), answers.column("multiplicity").to_numpy()
            )
            answers = answers.select(["device", "t"]).take(pa.array(counts)).sort_by(order)
            same = answers.cast(expected.schema).equals(expected.sort_by(order))
            print(f"{name}: {rows:,} rows, {answers.num_rows:,} answers, equal: {same}")
            print(f"  ontoweir {mine:.2f} s")
            print(f"  DuckDB {theirs:.2f} s by NOT EXISTS, {by_hand:.2f} s by ASOF JOIN")


if __name__ == "__main__":
    run(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
