"""Whole programs, Spark and all, that are killed, or whose disk's power is cut, at random moments.

    .venv/bin/python benchmarks/outages/real_outages.py [--minutes 10] [--seed 1] [--each 4]
        [--engines driver spark cluster server] [--outages cut program java worker]

A turn serves one engine: a query whose state is in the driver, divided among Spark's workers
(`spark`), or executors that are processes of their own (`cluster`), or a registry of four queries
(`server`). While files of two streams arrive, it is struck `--each` times, and started again each
time, with no help. In the end it reads what there is; answers and rejected rows have to be those
of replays, each once; else the script prints what differs, and exits with 1.

- `program`: kill -9 of ontoweir; `java`: of Spark's process; `worker`: of a process that has a part
  of the state, or of an executor: then the run goes on.
- `cut`: state and answers are on a disk of its own, ext4 on a loop device, mounted without
  `auto_da_alloc`, so that renaming orders nothing. `EXT4_IOC_SHUTDOWN` (no flush of the log) drops
  all that was not written out: what is in the page cache, and transactions that are not committed.
  Then the processes are killed, and the disk is mounted, which replays its log. This needs root.
  What reached the device counts as written: a cache of its own without power is not simulated.
"""

import argparse
import fcntl
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq

STEPS, LAST = 400, datetime(2026, 3, 1, 1)
"""Timestamps that have rows, one a second, and a later one by which all are finished."""
_SHUTDOWN = (2 << 30) | (4 << 16) | (ord("X") << 8) | 125
"""EXT4_IOC_SHUTDOWN, _IOR('X', 125, __u32)."""
_NO_FLUSH = 2
PROJECT = """
[streams.orders]
source = { format = "csv", path = "orders", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 60
columns = { customer = PEOPLE, sku = "string", amount = "int" }

[streams.payments]
source = { format = "parquet", path = "payments" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 60
columns = { customer = PEOPLE, paid = "int" }
""".replace("PEOPLE", '{ type = "string", enum = ["ann", "bob", "cia", "dan", "eve"] }')
QUERIES = {
    "paid": "SELECT o.customer, o.sku, p.paid FROM orders o, payments p WHERE o.customer = "
    "p.customer AND o.ts <= p.ts AND p.ts <= o.ts + INTERVAL '3' SECOND AND o.amount > p.paid",
    "sums": "SELECT customer, COUNT(*) AS n, SUM(amount) AS total FROM orders GROUP BY customer",
    "seen": "SELECT DISTINCT p.customer, p.paid FROM orders o, payments p WHERE o.customer = "
    "p.customer AND o.ts < p.ts AND o.amount < 20 AND p.paid < 50 AND p.paid > 0",
    "minutes": "SELECT date_trunc('minute', ts) AS m, customer, MAX(amount) AS most FROM orders "
    "GROUP BY date_trunc('minute', ts), customer",
}
ENGINES = ("driver", "server", "spark", "cluster")
OUTAGES = ("cut", "program", "java", "worker")
MASTERS = {"cluster": "local-cluster[2,1,512]"}
PATIENCE = 240.0
"""Seconds after which a program that does not begin, or end, is a failure."""


class Failed(Exception):
    """What was seen that must not be."""


def main() -> None:
    """Turn after turn."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=4)
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--outages", nargs="+", choices=OUTAGES, default=OUTAGES)
    given = parser.parse_args()
    until, struck, failed = time.monotonic() + 60 * given.minutes, Counter[str](), list[str]()
    turn = 0
    while time.monotonic() < until:
        engine, seed = given.engines[turn % len(given.engines)], given.seed * 1000 + turn
        turn += 1
        with tempfile.TemporaryDirectory(prefix="ontoweir-outage-") as name:
            case = Turn(Path(name), engine, Random(seed), given.each)
            try:
                outages = [o for o in given.outages if o != "worker" or engine in PARTED]
                for _ in range(given.each):
                    outage = case.random.choice(outages)
                    case.strike(outage)
                    struck[f"{engine}, {outage}"] += 1
                case.finish()
            except (Failed, subprocess.SubprocessError) as error:
                failed.append(f"--seed {given.seed}, turn {turn}, {engine}: {error}")
                print(failed[-1], case.log.read_text()[-3000:], sep="\n", file=sys.stderr)
            finally:
                case.close()
        print(f"{turn} {engine}: {sum(struck.values())} outages", file=sys.stderr, flush=True)
        print(json.dumps(struck), file=sys.stderr, flush=True)
    told = {"outages": sum(struck.values()), "by engine": struck, "turns": turn, "failed": failed}
    print(json.dumps(told, indent=1))
    raise SystemExit(bool(failed))


PARTED = ("spark", "cluster")


class Turn:
    """One engine: its folders, the files that are still to come, and the program that runs."""

    def __init__(self, folder: Path, engine: str, random: Random, strikes: int) -> None:
        self.folder, self.engine, self.random = folder, engine, random
        self.left = strikes + 1
        self.disk, self.log = folder / "disk", folder / "log"
        self.program: subprocess.Popen[bytes] | None = None
        self.log.touch()
        self.disk.mkdir()
        with (folder / "image").open("wb") as image:
            image.truncate(400 << 20)
        run("mkfs.ext4", "-q", "-F", folder / "image")
        self._mount()
        self.staged = write_streams(folder, random)
        for name, text in QUERIES.items():
            (folder / f"{name}.sql").write_text(text)
            if engine == "server":
                file = str(folder / f"{name}.sql")
                run(*ONTOWEIR, "register", folder, "--sql", file, "--registry", self.disk / "r")
        os.sync()

    def _mount(self) -> None:
        run("mount", "-o", "loop,noauto_da_alloc", self.folder / "image", self.disk)

    def command(self, *more: str) -> list[str]:
        """The program as it is started each time."""
        command = [*ONTOWEIR, "run", str(self.folder), "--output", f"{self.disk}/out", *more]
        if self.engine == "server":
            return [*command, "--registry", f"{self.disk}/r", "--compact", "4"]
        names = ["paid", "sums"] if self.engine == "driver" else ["paid"]
        for name in names:
            command += ["--sql", f"{self.folder}/{name}.sql"]
        command += ["--checkpoint", f"{self.disk}/check"]
        if self.engine in PARTED:
            command += [
                "--engine",
                "spark",
                "--parts",
                "2",
                "--spark",
                "spark.executor.memory=512m",
            ]
        return command

    def start(self, *more: str) -> None:
        """Start it, in a group of its own."""
        environ = dict(os.environ)
        if self.engine in MASTERS:
            environ["SPARK_MASTER"] = MASTERS[self.engine]
        with self.log.open("ab") as log:
            self.program = subprocess.Popen(
                self.command(*more), stdout=log, stderr=log, env=environ, start_new_session=True
            )

    def strike(self, outage: str) -> None:
        """Let files come, and hit it: mostly when it has committed something, else any time."""
        if self.program is None:
            self.start()
        quota = len(self.staged) // self.left
        self.left -= 1
        begun, early = time.monotonic(), self.random.random() < 0.2
        wait, commits = self.random.uniform(0, 20 if early else 4), self._commits()
        while True:
            for file in self.staged[: min(quota, self.random.choice([0, 0, 0, 1, 2]))]:
                self._arrive(file)
                quota -= 1
            if early:
                if time.monotonic() - begun > wait:
                    break
            elif self._commits() > commits:
                early, begun = True, time.monotonic()
            if time.monotonic() - begun > PATIENCE:
                raise Failed("it commits nothing")
            time.sleep(0.05)
            assert self.program is not None
            if self.program.poll() is not None:
                raise Failed(f"it ended with {self.program.returncode}")
        self._hit(outage)

    def _hit(self, outage: str) -> None:
        assert self.program is not None
        if outage == "cut":
            handle = os.open(self.disk, os.O_RDONLY)
            fcntl.ioctl(handle, _SHUTDOWN, struct.pack("I", _NO_FLUSH))
            os.close(handle)
            self._end()
            run("umount", self.disk)
            self._mount()
        elif outage == "program":
            self._end(self.program.pid)
        else:
            names = {"java": "SparkSubmit", "worker": "CoarseGrainedExecutor"}
            found = [p for p, text in self._processes() if names[outage] in text]
            if outage == "worker" and not found:
                found = [p for p, text in self._processes() if "pyspark.daemon" in text]
            if found:
                os.kill(self.random.choice(found), signal.SIGKILL)
            if outage == "java" and found:
                self.program.wait(PATIENCE)
                if self.program.returncode not in (3, -signal.SIGKILL):
                    raise Failed(f"Java was killed, and it ended with {self.program.returncode}")
                self._end()

    def _end(self, *first: int) -> None:
        """Kill some of its processes, and those that do not end by themselves."""
        assert self.program is not None
        for process in first:
            os.kill(process, signal.SIGKILL)
        until = time.monotonic() + (20.0 if first else 0.0)
        while any(p not in first for p, _ in self._processes()) and time.monotonic() < until:
            time.sleep(0.05)
        while found := self._processes():
            for process, _ in found:
                os.kill(process, signal.SIGKILL)
            time.sleep(0.02)
            self.program.poll()
        self.program.wait()
        self.program = None

    def _processes(self) -> list[tuple[int, str]]:
        """The processes that are of it, with their command lines."""
        assert self.program is not None
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                fields = (place / "stat").read_text().rpartition(")")[2].split()
                text = (place / "cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
            if int(fields[3]) == self.program.pid and fields[0] != "Z":  # of its session
                found.append((int(place.name), text))
        return found

    def _commits(self) -> int:
        """The number of the last commit."""
        places = (self.disk / "check", self.disk / "r" / ".intake")
        found = [int(f.name) for p in places for f in (p / "commits").glob("[0-9]*")]
        return max(found, default=-1)

    def _arrive(self, file: Path) -> None:
        self.staged.remove(file)
        os.utime(file)
        file.rename(self.folder / file.parent.name.removesuffix(".staged") / file.name)

    def finish(self) -> None:
        """All files come, and it reads them; then compare with replays."""
        if self.program is not None:
            os.kill(self.program.pid, signal.SIGTERM)
            self.program.wait(PATIENCE)
            if self.program.returncode:
                raise Failed(f"it was asked to end, and ended with {self.program.returncode}")
            self._end()
        for file in list(self.staged):
            self._arrive(file)
        self.start("--once")
        assert self.program is not None
        if self.program.wait(PATIENCE):
            raise Failed(f"at last it ended with {self.program.returncode}")
        self._end()
        for name in QUERIES:
            if (self.disk / "out" / name).exists():
                self._compare(name)

    def _compare(self, name: str) -> None:
        output = self.folder / f"{name}.parquet"
        run(
            *ONTOWEIR,
            "replay",
            self.folder,
            "--sql",
            self.folder / f"{name}.sql",
            "--output",
            output,
        )
        wanted = count_rows([output])
        found = count_rows(sorted((self.disk / "out" / name).glob("part-*.parquet")))
        if found != wanted or not found:
            raise Failed(
                f"{name}: lost {wanted - found}, doubled or invented {found - wanted}"[:900]
            )
        rejects = self.disk / ("out" if self.engine != "server" else f"r/{name}") / "rejects"
        seen = sum(pq.read_metadata(f).num_rows for f in rejects.glob("part-*.parquet"))
        bad = count_bad(self.folder, "orders") if name in ("sums", "minutes") else None
        if bad is None:
            bad = sum(count_bad(self.folder, stream) for stream in ("orders", "payments"))
        if self.engine == "driver" and name == "sums":
            return  # it shares the rejected rows with `paid`
        if seen != bad:
            raise Failed(f"{name}: {seen} rejected rows, not {bad}")

    def close(self) -> None:
        """Nothing of it stays."""
        if self.program is not None:
            self._end()
        subprocess.run(["umount", str(self.disk)], check=False, capture_output=True)


ONTOWEIR = (sys.executable, "-m", "ontoweir")


def run(*command: object) -> None:
    """Run a program to its end."""
    done = subprocess.run([str(c) for c in command], check=False, capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command))}: {done.stderr[-500:]}")


def write_streams(folder: Path, random: Random) -> list[Path]:
    """The project, and its files, staged in the order in which they come."""
    (folder / "ontoweir.toml").write_text(PROJECT)
    for name in ("orders", "payments", "orders.staged", "payments.staged"):
        (folder / name).mkdir()
    files, number, step = [], 0, 0
    people = ["ann", "bob", "cia", "dan", "eve"]
    while step <= STEPS:
        held = range(step, min(STEPS + 1, step + random.randint(1, 4)))
        times = [LAST if s == STEPS else LAST - timedelta(seconds=STEPS - s + 9) for s in held]
        step = held.stop
        for stream, value in (("orders", "amount"), ("payments", "paid")):
            rows: list[dict[str, Any]] = []
            for at in times:
                for _ in range(random.randint(1, 12)):
                    who = (
                        "nobody" if random.random() < 0.01 and at < LAST else random.choice(people)
                    )
                    rows.append({"ts": at, "customer": who})
                    rows[-1] |= {"sku": f"sku {random.randrange(500)}"} if value == "amount" else {}
                    rows[-1] |= {value: random.randrange(1000)}
            table = pa.Table.from_pylist(rows)
            file = (
                folder
                / f"{stream}.staged"
                / f"{number:05d}.{'csv' if value == 'amount' else 'parquet'}"
            )
            (pcsv.write_csv if value == "amount" else pq.write_table)(table, file)
            files.append(file)
        number += 1
    return files


def count_rows(files: list[Path]) -> Counter[Any]:
    """How often each answer before the last timestamp is in some files."""
    rows = [tuple(row.items()) for file in files for row in pq.read_table(file).to_pylist()]
    return Counter(row for row in rows if dict(row)["at"].replace(tzinfo=None) < LAST)


def count_bad(folder: Path, stream: str) -> int:
    """The rows of a stream that break what is declared."""
    found = 0
    for file in (folder / stream).iterdir():
        table = pcsv.read_csv(file) if file.suffix == ".csv" else pq.read_table(file)
        found += table.column("customer").to_pylist().count("nobody")
    return found


if __name__ == "__main__":
    if shutil.which("mkfs.ext4") is None or os.geteuid() != 0:
        sys.exit("this needs root, and mkfs.ext4 (e2fsprogs)")
    main()
