"""Registered queries served for an hour: latency, CPU, memory, threads and files over time.

    .venv/bin/python benchmarks/live/soak.py [--minutes 60] [--queries 10] [--rate 1]
        [--rotate 600] [--archive] [--composed] [--draw FILE.svg]

The streams and queries of serving.py. The files of a timestamp are removed when `--rotate` later
ones have come, as logs are rotated; with `--archive` the server moves those that are read to
archives, and nothing is removed. `--composed`: queries of groups of windows that are joined, or
united. Answers are merged (`--compact 16`) and kept for ten minutes of
their streams' time (`--keep`). Every ten seconds: memory of Python and Java, CPU, threads, open
files, and the files below the registry and the answers; of each timestamp in a file of answers that
was not merged yet, from its marker's arrival to when the file was written (null: none was). Prints
medians of each sixth of the time as JSON; `--draw` makes a picture.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "arrival"))

import pyarrow.parquet as pq
from draw_lines import Panel, draw_lines
from live_latency import STREAMS, produce
from serving import all_running, look, prepare, processes

EVERY = 10.0
KEPT = "10 minutes"
PANELS = (
    ("latency", "latency of a marker", "milliseconds, median of ten seconds"),
    ("python", "memory of Python", "MB"),
    ("java", "memory of Java", "MB"),
    ("cpu", "CPU", "cores"),
    ("files", "files below registry and answers", "files"),
    ("listed", "files in the folders of the streams", "files"),
    ("open", "open files", "descriptors"),
    ("threads", "threads", "threads"),
)


def main() -> None:
    """Serve, look, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--queries", type=int, default=10)
    parser.add_argument("--rate", type=float, default=1.0)
    parser.add_argument("--rotate", type=int, default=600)
    parser.add_argument("--archive", action="store_true")
    parser.add_argument("--composed", action="store_true")
    parser.add_argument("--draw", type=Path)
    parser.add_argument("--produce", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    markers = int(given.minutes * 60 * given.rate)
    if given.produce:
        produce_rotating(given.produce, markers, given.rate, given.rotate)
        return
    with tempfile.TemporaryDirectory(prefix="ontoweir-soak-") as name:
        looks = serve(Path(name) / "served", markers, given)
    if given.draw:
        draw(looks, given.draw)
    sixth = max(1, len(looks) // 6)
    parts = [looks[n : n + sixth] for n in range(0, sixth * (len(looks) // sixth), sixth)]
    print(json.dumps({"sixths": [summarize(part) for part in parts]}, indent=1))


def produce_rotating(folder: Path, markers: int, rate: float, rotate: int) -> None:
    """Move in the files of each timestamp, and remove those of `rotate` timestamps before."""
    begun = time.time()
    for marker in range(1, markers):
        wait = begun + marker / rate - time.time()
        if wait > 0:
            time.sleep(wait)
        produce(folder, marker, marker + 1, rate)
        for name in STREAMS if 0 < rotate <= marker else ():
            (folder / name / f"{marker - rotate:06d}.parquet").unlink()


Look = dict[str, float | None]
"""What is seen at a moment."""


def serve(folder: Path, markers: int, given: argparse.Namespace) -> list[Look]:
    """What was seen every ten seconds."""
    held = {"archive": given.archive, "composed": given.composed}
    prepare(folder, given.queries, markers, **held)
    produce(folder, 0, 1, given.rate)
    command = [sys.executable, "-m", "ontoweir", "run", str(folder), "--output", f"{folder}/out"]
    command += ["--registry", f"{folder}/registry", "--compact", "16", "--keep", KEPT]
    producer = [sys.executable, __file__, "--produce", str(folder), "--minutes", str(given.minutes)]
    producer += ["--rate", str(given.rate), "--rotate", "0" if given.archive else str(given.rotate)]
    said, moved = folder / "server.txt", folder / "moved.jsonl"
    looks: list[Look] = []
    written: list[list[tuple[int, float]]] = []
    with said.open("w") as text, moved.open("w") as lines:
        server = subprocess.Popen(command, stdout=text, stderr=text)
        try:
            while not all_running(folder, given.queries):
                if server.poll() is not None:
                    raise SystemExit(said.read_text())
                time.sleep(0.5)
            arriving = subprocess.Popen(producer, stdout=lines)
            begun, before = time.time(), look(server.pid)
            while arriving.poll() is None:
                time.sleep(EVERY)
                if server.poll() is not None:
                    raise SystemExit(said.read_text())
                now = look(server.pid)
                looks.append({"at": (time.time() - begun) / 60, **now})
                looks[-1]["cpu"] = (now["cpu"] - before["cpu"]) / EVERY
                looks[-1]["files"] = count_files(folder / "registry") + count_files(folder / "out")
                looks[-1]["listed"] = sum(count_files(folder / name) for name in STREAMS)
                looks[-1]["open"] = sum(
                    len(os.listdir(f"/proc/{pid}/fd")) for pid in processes(server.pid)
                )
                looks[-1]["python"], looks[-1]["java"] = memory(server.pid)
                before = now
                written.append(written_since(folder / "out", time.time() - EVERY))
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()
    arrived = dict(json.loads(line) for line in moved.read_text().splitlines())
    for seen, files in zip(looks, written, strict=True):
        late = [1000 * (at - arrived[t + 1]) for t, at in files if t + 1 in arrived]
        seen["latency"] = statistics.median(late) if late else None
        seen["p95"] = statistics.quantiles(late, n=20)[-1] if len(late) > 1 else None
    return looks


def memory(root: int) -> tuple[float, float]:
    """MB that Python and Java have."""
    held = {"python": 0.0, "java": 0.0}
    for pid in processes(root):
        try:
            name = Path(f"/proc/{pid}/comm").read_text().strip()
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        except OSError:
            continue
        held["java" if name == "java" else "python"] += pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    return held["python"], held["java"]


def count_files(folder: Path) -> int:
    """All files below a folder."""
    return sum(len(files) for _, _, files in os.walk(folder))


def written_since(folder: Path, since: float) -> list[tuple[int, float]]:
    """The timestamps (s) of files of answers that were written since, and when. A file has several
    where a micro-batch finished several, as under load; merged ones, whose names have two numbers,
    were written later."""
    found = []
    for file in folder.glob("q*/part-*.parquet"):
        if file.name.count("-") > 1:
            continue
        try:
            written = file.stat().st_mtime
            if written < since:
                continue
            times = set(pq.read_table(file, columns=["at"])["at"].cast("int64").to_pylist())
        except FileNotFoundError:
            continue  # merged since it was listed
        found += [(time // 1_000_000, written) for time in times]
    return found


def summarize(part: Sequence[Look]) -> dict[str, Any]:
    """Medians of some looks, of those that saw something."""
    shown: dict[str, Any] = {"until_minute": round(part[-1]["at"] or 0.0, 1)}
    names = ("latency", "p95", "python", "java", "cpu", "files", "listed", "open", "threads")
    for name in names:
        held = [value for seen in part if (value := seen[name]) is not None]
        shown[name] = round(statistics.median(held), 2) if held else None
    return shown


def draw(looks: Sequence[Look], file: Path) -> None:
    """Each figure over the minutes."""
    panels = []
    for name, title, up in PANELS:
        line = [(s["at"] or 0.0, value) for s in looks if (value := s[name]) is not None]
        panels.append(Panel(title, "minutes", up, {"": line}))
    draw_lines(panels, file)


if __name__ == "__main__":
    main()
