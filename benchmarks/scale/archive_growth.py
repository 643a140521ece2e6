"""A million files, a few for each marker: what their folder's listing takes, and what logs hold.

    .venv/bin/python benchmarks/scale/archive_growth.py [--files 1000000] [--each 4] [--twin 40000]

Without Spark and queries: files arrive, are listed as Spark lists them (each entry of the folder
and its times), logged as Spark logs them, and, as a commit would have it, moved to the archive by
the code that live runs have; logs are renewed as a server renews them. Then the same without an
archive, for as many files as `--twin` says. Prints for each tenth: files that have come,
milliseconds for a listing (median and the most), files in the folder and entries in the logs (at
most), and MB of this process.
"""

import argparse
import json
import os
import resource
import statistics
import tempfile
import time
from pathlib import Path

from ontoweir.mappings.model.catalog import DataSource, Stream
from ontoweir.runtime.live.archive.move_files import FORGOTTEN, ArchiveKeeper
from ontoweir.runtime.live.arrivals.open_sources import LiveSources
from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord
from ontoweir.runtime.live.checkpoint.spark_folder import SparkFolder

COMPACT = 100
"""So many entries of a log become one, as tune_session has it."""


class Arrivals:
    """A stream of files in a folder. `entry`: the last of Spark's log; `logged`: the files that it
    has."""

    def __init__(self, folder: Path, *, archived: bool) -> None:
        self.place = folder / "in"
        self.place.mkdir()
        data = DataSource("csv", str(self.place), archive=str(folder / "old") if archived else None)
        self.stream = Stream("s", data, "ts", 1, None, (), (), ())
        self.sources = LiveSources(frozenset("s"), {"s": 0}, {}, [["s"]])
        self.spark = SparkFolder(folder / "spark")
        self.log = self.spark.sources / "0"
        self.log.mkdir(parents=True)
        self.keeper = ArchiveKeeper(folder, print)
        self.keeper.hold([self.stream], CommitRecord("run"), -1)
        self.entry, self.logged, self.come = -1, set[str](), 0
        self.lines: list[str] = []

    def arrive(self, count: int) -> None:
        """Some files arrive."""
        for _ in range(count):
            with open(self.place / f"{self.come:09d}.csv", "wb"):
                self.come += 1

    def list(self) -> tuple[float, int]:
        """A micro-batch: how long its listing takes, and how many files there were."""
        begun = time.perf_counter()
        with os.scandir(self.place) as entries:
            there = [(e.path, e.stat().st_mtime_ns // 1_000_000) for e in entries]
        taken = time.perf_counter() - begun
        self.entry += 1
        fresh = [(path, modified) for path, modified in there if path not in self.logged]
        self.logged |= {path for path, _ in fresh}
        lines = [
            json.dumps({"path": f"file://{path}", "timestamp": when, "batchId": self.entry})
            for path, when in fresh
        ]
        self.lines += lines
        if self.entry % COMPACT:
            (self.log / str(self.entry)).write_text("\n".join(["v1", *lines]))
        else:
            self.compact()
        return taken, len(there)

    def compact(self) -> None:
        """An entry of all files, as Spark writes one now and then."""
        for old in self.log.iterdir():
            old.unlink()
        (self.log / f"{self.entry}.compact").write_text("\n".join(["v1", *self.lines]))

    def commit(self) -> None:
        """All that is listed is read, and on the disk."""
        self.keeper.move(self.spark, self.sources, {"s": self.entry}, self.entry)
        if self.keeper.held and len(self.logged) > FORGOTTEN:
            self.keeper.settle()
            self.entry, self.logged = 0, set()
            self.lines.clear()
            self.compact()
            self.keeper.begin()


def simulate(folder: Path, files: int, each: int, *, archived: bool) -> None:
    """Let so many files arrive, and print what happens."""
    arrivals = Arrivals(folder, archived=archived)
    taken: list[float] = []
    most = logged = 0
    part = max(each, files // 10)
    while arrivals.come < files:
        arrivals.arrive(each)
        seconds, there = arrivals.list()
        arrivals.commit()
        taken.append(1000 * seconds)
        most, logged = max(most, there), max(logged, len(arrivals.logged))
        if arrivals.come % part < each:
            shown = {
                "archive": archived,
                "files": arrivals.come,
                "listing_ms": round(statistics.median(taken), 4),
                "most_ms": round(max(taken), 2),
                "in_folder": most,
                "logged": logged,
                "mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000),
            }
            print(json.dumps(shown), flush=True)
            taken.clear()
            most = logged = 0
    arrivals.keeper.release()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=1_000_000)
    parser.add_argument("--each", type=int, default=4)
    parser.add_argument("--twin", type=int, default=40_000)
    given = parser.parse_args()
    for files, archived in ((given.files, True), (given.twin, False)):
        with tempfile.TemporaryDirectory(prefix="ontoweir-archive-") as name:
            simulate(Path(name), files, given.each, archived=archived)


if __name__ == "__main__":
    main()
