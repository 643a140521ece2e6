"""The history of the example as if it came now: a live run over arriving files, beside its replay.

    .venv/bin/python examples/traffic/live.py --query NAME --replayed FILE [--seconds 15]

Moves the readings, an hour in a file, into an empty folder, starts `ontoweir run` on it, and shows
markers, answers and the state against its bound until all has been taken in. Last comes a
heartbeat, so that the last timestamp is finished too. Then it compares the answers with those of
the replay: the same rows, each with the same time.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.live import Live

HERE = Path(__file__).parent
HOUR_US = 3_600_000_000


def split_hours(data: Path) -> Iterator[pa.Table]:
    """The readings, an hour at a time; last a heartbeat, an hour later."""
    whole = pq.read_table(data)
    times = whole.column("ts").cast(pa.int64()).to_numpy()
    hours = times // HOUR_US
    starts = np.flatnonzero(np.diff(hours, prepend=hours[0] - 1))
    for first, last in zip(starts, [*starts[1:], len(times)], strict=True):
        yield whole.slice(first, last - first)
    beat = {name: pa.nulls(1, whole.schema.field(name).type) for name in whole.column_names}
    beat["ts"] = pa.array([int(times[-1]) + HOUR_US]).cast(whole.schema.field("ts").type)
    yield pa.table(beat, schema=whole.schema)


def arrive(table: pa.Table, folder: Path, number: int) -> None:
    """A file appears whole, by a rename."""
    scratch = folder / f".{number:04d}.parquet"
    pq.write_table(table, scratch)
    os.rename(scratch, folder / f"{number:04d}.parquet")


def last_record(output: Path) -> dict[str, Any] | None:
    """What the run said of its last micro-batch."""
    try:
        lines = (output / "metrics.jsonl").read_text().splitlines()
        return dict(json.loads(lines[-1])) if lines else None
    except (OSError, ValueError):
        return None


def show(record: dict[str, Any], query: str) -> str:
    """A line of it."""
    totals, held = record["totals"], record["queries"][query]
    return (
        f"  up to {record['finished'] or '':.16}: {totals['tuples']:,} readings,"
        f" {totals['results']:,} answers; state {held['state_rows']:,} of ≤ {held['bound_rows']:,}"
    )


def read_answers(files: list[Path]) -> Counter[str]:
    """Answers, each as often as it was given, whatever their order."""
    tables = [pq.read_table(file) for file in files]
    rows = pa.concat_tables(tables).to_pylist() if tables else []
    return Counter(map(repr, rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--query", required=True)
    parser.add_argument("--replayed", type=Path, required=True, metavar="FILE")
    parser.add_argument("--seconds", type=float, default=15.0)
    given = parser.parse_args()
    place = HERE / "out" / "live"
    shutil.rmtree(place, ignore_errors=True)
    arrivals, output = place / "arrivals", place / "answers"
    arrivals.mkdir(parents=True)
    hours = list(split_hours(HERE / "data" / "traffic"))
    command = [sys.executable, "-m", "ontoweir", "run", str(HERE), "--query", given.query]
    command += ["--set", f"streams.traffic.source.path={arrivals.absolute()}", "--quiet"]
    command += ["--output", str(output), "--checkpoint", str(place / "state")]
    arrive(hours[0], arrivals, 0)
    console = Console()
    rows = sum(hour.num_rows for hour in hours)
    sent, begun, taken = 1, 0.0, 0
    said = (place / "run.txt").open("w+")
    with (
        subprocess.Popen(command, stdout=said, stderr=said) as run,
        Live("  Spark starts …", console=console, refresh_per_second=4) as live,
    ):
        while run.poll() is None and taken < rows:
            time.sleep(0.1)
            record = last_record(output)
            if record is None:
                continue
            taken = record["totals"]["tuples"]
            live.update(show(record, given.query))
            begun = begun or time.monotonic()
            due = int((time.monotonic() - begun) / given.seconds * len(hours))
            for number in range(sent, min(len(hours), due)):
                arrive(hours[number], arrivals, number)
                sent = number + 1
        if run.poll() is None:
            run.terminate()  # it commits the micro-batch in progress
    if run.returncode:
        said.seek(0)
        raise SystemExit(f"The live run failed:\n{said.read()}")
    found = read_answers(sorted((output / given.query).glob("part-*.parquet")))
    wanted = read_answers([given.replayed])
    count = found.total()
    if found != wanted:
        raise SystemExit(f"The live run gave {count:,} answers, the replay {wanted.total():,}.")
    console.print(f"\n{count:,} answers, the same as the replay's, each with the same time.")


if __name__ == "__main__":
    main()
