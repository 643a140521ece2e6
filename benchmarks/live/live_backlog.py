"""How much memory a live run takes to catch up with a backlog: one long file, or many.

    .venv/bin/python benchmarks/live/live_backlog.py [--rows 10000000] [--files 1 20]
        [--formats parquet csv jsonl] [--kinds int decimal nested odd]

A run (`ontoweir run --once`) takes in ROWS rows that are there when it begins, in FILES files, in
the order of time, and counts those above a limit by key; the state has 1,000 rows. Prints its
seconds, the most memory that Python and Java had (MB), how many commits it took, after how many
seconds the first answers and the last were there, in how many files, and by how much Python and
Java had more than with a thousandth of the rows. For Python that must be at most `ALLOWED`: a
step's bytes, what its rows take as they are read and admitted, and what is decoded of a file at
once; for Java, through which no rows go where files are read here, `ALLOWED_JAVA`: heap that it has
not collected yet.

Kinds: whole numbers; a decimal; a key in a structure; `odd`: a key in a dictionary of texts, beside
columns of lists, structures in lists, maps and binary that no query reads.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq

ALLOWED = 450
"""MB of Python beyond a short run's."""
ALLOWED_JAVA = 250
"""MB of Java beyond a short run's."""
PROJECT = """
[project]
queries = []
[streams.readings]
source = {{ format = "{form}", path = "readings"{options} }}
timestamp = {{ column = "ts", unit = "1 second" }}
[streams.readings.columns]
device = {{ {device}{path} }}
level = "{level}"
"""
QUERY = """SELECT device, COUNT(*) AS n, MAX(level) AS most FROM readings
WHERE level > 90 GROUP BY device"""
_NAMES = pa.array([f"device {number:03d}" for number in range(1_000)])
_WHO = ("python", "java")
_PER_SECOND = 1_000
_PORTION = 500_000


def make_rows(first: int, count: int, kind: str) -> pa.Table:
    """Rows of the backlog, from one on."""
    random = np.random.default_rng(first)
    devices = pa.array(random.integers(0, 1_000, count))
    if kind == "nested":
        devices = pa.StructArray.from_arrays([devices], names=["id"])
    more = {}
    if kind == "odd":
        devices = pa.DictionaryArray.from_arrays(devices.cast(pa.int32()), _NAMES)
        more = _make_unread(random, count)
    levels = pa.array(random.integers(0, 100, count))
    if kind == "decimal":
        levels = levels.cast(pa.decimal128(19)).cast(pa.decimal128(21, 2))
        assert levels[0].as_py() == Decimal(levels[0].as_py())
    times = (first + np.arange(count)) // _PER_SECOND * 1_000_000
    stamps = pa.array(times).view(pa.timestamp("us"))
    return pa.table({"ts": stamps, "device": devices, "level": levels, **more})


def _make_unread(random: np.random.Generator, count: int) -> dict[str, pa.Array]:
    numbers = pa.array(random.integers(0, 9, 2 * count), pa.uint16())
    ends = pa.array(np.arange(0, 2 * count + 1, 2), pa.int32())
    pairs = pa.StructArray.from_arrays([numbers, numbers], names=["key", "value"])
    return {
        "list": pa.ListArray.from_arrays(ends, numbers),
        "pairs": pa.ListArray.from_arrays(ends, pairs),
        "map": pa.MapArray.from_arrays(ends, numbers, numbers),
        "raw": pa.array([b"\x00\xff"] * count),
    }


def write_files(folder: Path, rows: int, files: int, form: str, kind: str) -> None:
    """The backlog."""
    (folder / "readings").mkdir(parents=True)
    each = rows // files
    for number in range(files):
        target = folder / "readings" / f"{number:04d}.{form}"
        portions = (
            make_rows(number * each + start, min(_PORTION, each - start), kind)
            for start in range(0, each, _PORTION)
        )
        _write(target, portions, form)


def _write(target: Path, portions: Any, form: str) -> None:
    if form == "jsonl":
        with target.open("w") as opened:
            for table in portions:
                for row in table.to_pylist():
                    opened.write(json.dumps(row, default=str) + "\n")
        return
    writer: Any = None
    for table in portions:
        if writer is None:
            made = pq.ParquetWriter if form == "parquet" else pcsv.CSVWriter
            writer = made(str(target), table.schema)
        writer.write_table(table)
    writer.close()


def write_project(folder: Path, form: str, kind: str) -> None:
    """The project."""
    level = "decimal(10, 2)" if kind == "decimal" else "int"
    path = ', from = "device.id"' if kind == "nested" else ""
    device = 'type = "int", min = 0, max = 999'
    if kind == "odd":
        device = f'type = "string", enum = {json.dumps(_NAMES.to_pylist())}'
    options = ', options = { header = "true" }' if form == "csv" else ""
    form = "json" if form == "jsonl" else form
    text = PROJECT.format(form=form, level=level, path=path, options=options, device=device)
    (folder / "ontoweir.toml").write_text(text)
    (folder / "q.sql").write_text(QUERY)


def peaks(root: int, known: dict[str, float]) -> None:
    """The most memory that the Python process, and Java below it, have had (MB)."""
    found = [root]
    for pid in found:
        try:
            for task in Path(f"/proc/{pid}/task").glob("*/children"):
                found += [int(child) for child in task.read_text().split()]
            name = Path(f"/proc/{pid}/comm").read_text().strip()
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        except OSError:
            continue
        high = next((line.split()[1] for line in lines if line.startswith("VmHWM")), "0")
        who = "java" if name == "java" else "python"
        known[who] = max(known.get(who, 0.0), int(high) / 1000)


def measure(rows: int, files: int, form: str, kind: str) -> dict[str, Any]:
    """Catch up with a backlog."""
    with tempfile.TemporaryDirectory(prefix="ontoweir-backlog-") as name:
        folder = Path(name)
        write_files(folder, rows, files, form, kind)
        write_project(folder, form, kind)
        command = [
            sys.executable,
            "-m",
            "ontoweir",
            "run",
            name,
            "--sql",
            f"{name}/q.sql",
            "--once",
        ]
        command += ["--checkpoint", f"{name}/state", "--output", f"{name}/out"]
        begun, known = time.time(), dict[str, float]()
        said = (folder / "said.txt").open("w")
        with subprocess.Popen(command, stdout=said, stderr=said) as run:
            while run.poll() is None:
                peaks(run.pid, known)
                time.sleep(0.1)
        if run.returncode:
            raise SystemExit((folder / "said.txt").read_text())
        taken = time.time() - begun
        answers = [file.stat().st_mtime - begun for file in folder.glob("out/*/part-*.parquet")]
        lines = (folder / "out" / "metrics.jsonl").read_text().splitlines()
        total = sum(json.loads(line)["tuples"] for line in lines)
        assert total == rows, (total, rows)
    memory = {f"{who}_mb": round(most) for who, most in known.items()}
    came = {"answers_s": [round(min(answers), 1), round(max(answers), 1)], "files": len(answers)}
    return {"seconds": round(taken, 1), **memory, "commits": len(lines), **came}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--files", type=int, nargs="+", default=[1, 20])
    parser.add_argument("--formats", nargs="+", default=["parquet", "csv", "jsonl"])
    parser.add_argument("--kinds", nargs="+", default=["int", "decimal", "nested", "odd"])
    given = parser.parse_args()
    fine = True
    for form in given.formats:
        for kind in given.kinds:
            if (kind == "nested" and form == "csv") or (kind == "odd" and form != "parquet"):
                continue
            short = measure(given.rows // 1_000, 1, form, kind)
            for files in given.files:
                found = measure(given.rows, files, form, kind)
                more = {f"more_{who}": found[f"{who}_mb"] - short[f"{who}_mb"] for who in _WHO}
                fine &= more["more_python"] <= ALLOWED and more["more_java"] <= ALLOWED_JAVA
                said = {"format": form, "kind": kind, "of_files": files, **found, **more}
                print(json.dumps(said), flush=True)
    sys.exit(not fine)


if __name__ == "__main__":
    main()
