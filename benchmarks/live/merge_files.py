"""What it costs to merge files of answers, and what it saves: `run --compact`.

    .venv/bin/python benchmarks/live/merge_files.py [--queries 30] [--commits 2000] [--rows 20]

Publishes so many small answers of so many queries in so many commits, without Spark, once as they
are and once merged: milliseconds of CPU of a commit's publishing (mean, and the most), files and
bytes of a query's folder in the end, the longest its folder was, lines of the list of parts, and
milliseconds of CPU to read one query's answers. Both are read, and must be the same.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.runtime.live.checkpoint.commit_record import PartsMark
from ontoweir.runtime.live.output import merge_parts
from ontoweir.runtime.live.output.drop_parts import let_go, remove_files
from ontoweir.runtime.live.output.list_parts import open_parts
from ontoweir.runtime.live.output.write_parts import PartFolder, PartWriter


def make_answers(batch: int, rows: int) -> pa.Table:
    """Some rows."""
    numbers = range(batch * rows, (batch + 1) * rows)
    times = pa.array([1_000_000 * batch] * rows, pa.timestamp("us"))
    texts = [f"sensor {n % 97}" for n in numbers]
    return pa.table({"at": times, "k": texts, "n": pa.array(numbers, pa.int64())})


def publish(folder: Path, given: argparse.Namespace, compact: int | None) -> dict[str, Any]:
    """Publish all, and measure."""
    parts = open_parts(folder, PartsMark(), None, compact)
    writer = PartWriter("run", parts, {"answers": folder / "out"}, waits=False)
    folders = [PartFolder("answers", f"q{n}", "parquet") for n in range(given.queries)]
    spent, longest = [], 0
    for batch in range(given.commits):
        answers = make_answers(batch, given.rows)
        begun = time.process_time()
        gone = let_go(writer)
        remove_files(gone, writer)
        writer.put_all([(place, answers) for place in folders], batch)
        spent.append(1000 * (time.process_time() - begun))
        writer.fresh.clear()
        if batch % 50 == 0:
            longest = max(longest, len(list((folder / "out" / "q0").iterdir())))
    files = sorted((folder / "out" / "q0").glob("part-*"))
    begun = time.process_time()
    found = pa.concat_tables([pq.read_table(file) for file in files])
    read = 1000 * (time.process_time() - begun)
    rows = given.commits * given.rows
    assert found["n"].to_pylist() == list(range(rows))
    return {
        "cpu_ms": round(sum(spent) / len(spent), 2),
        "cpu_ms_most": round(max(spent), 1),
        "files": len(files),
        "longest": longest,
        "kilobytes": round(sum(f.stat().st_size for f in files) / 1000),
        "lines": len(parts.file.read_bytes().splitlines()),
        "read_cpu_ms": round(read, 1),
    }


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=30)
    parser.add_argument("--commits", type=int, default=2000)
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("--compact", type=int, nargs="+", default=[16, 64])
    given = parser.parse_args()
    merge_parts.PATIENCE = 0.0  # commits follow one another faster than markers do
    found = {}
    for compact in (None, *given.compact):
        with tempfile.TemporaryDirectory() as folder:
            found[str(compact)] = publish(Path(folder), given, compact)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
