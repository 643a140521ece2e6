"""Replay against its peers: the same input, the same answers, ratios in one run.

    python benchmarks/replay/replay_speed.py [--tuples 1000000,10000000,50000000] [--repeat 3]
        [--quick]

Queries: Q of three generated streams (seeded), and four of the example over the real month
(../shared). Every way runs in a process of its own (speed_ways.py), REPEAT times, those
that take long twice; the start of Python or of a JVM is not counted, for any. The table has the
best run (what others do on the machine only adds), the median, the first, which is not warm, the
ratio, and the peak memory of driver, JVM and the largest Python worker. Answers are compared by
count and hash. Writes replay_speed.json to --out, and the plots (draw_speed.py) to
--svg, docs/replay-speed.svg. `--quick`: a short history, few ways, no month, the plots in --out.
`--python flink=PATH` gives a way an interpreter of its own (apache-flink and pathway want other
versions of our dependencies); a way that fails is named. Exits with 1 if answers differ.
"""

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from draw_speed import TARGETS, draw_speed
from matrix_data import SETTLED_S
from rich.console import Console
from rich.table import Table
from speed_ways import WAYS
from ways.by_others import FLINK
from ways.by_spark import WINDOWS
from ways.queries import CLEARED, MONTH, Q

ROOT = Path(__file__).resolve().parents[2]
CITYBENCH = ROOT.parent / "shared" / "data" / "citybench"
KNOWN = {"flink": tuple(FLINK), "pathway": (CLEARED,), "stream-join": (CLEARED,)}
SLOW = ("spark-sql", "flink", "pathway", "stream-join")
"""They run twice, over at most so many tuples."""
MAX_ROWS = 10_000_000
QUICK = "ours,ours-spark,numpy,duckdb,polars"


@dataclass(slots=True)
class Outcome:
    """One way, one query: seconds of every run, the answer's count and hash, peaks in MB."""

    query: str
    way: str
    tuples: int
    seconds: list[float] = field(default_factory=list)
    rows: int | None = None
    hash: int | None = None
    peaks: dict[str, float] = field(default_factory=dict)
    problem: str | None = None

    @property
    def median(self) -> float | None:
        """The median run."""
        return statistics.median(self.seconds) if self.seconds else None

    @property
    def best(self) -> float | None:
        """The shortest run."""
        return min(self.seconds, default=None)


def generate(folder: Path, tuples: int) -> None:
    """S(a, ts), T(b, c, ts), U(d, e, ts): about 100 tuples a step, b and d uniform in 0..199."""
    folder.mkdir(parents=True)
    random, rows = np.random.default_rng(1), tuples // 3
    toml = ""
    for name, columns in (("S", "a"), ("T", "bc"), ("U", "de")):
        stamps = np.sort(random.integers(0, max(tuples // 100, 1), rows)) * 1_000_000
        made = {"ts": pa.array(stamps + 1_577_836_800_000_000).cast(pa.timestamp("us"))}
        toml += (
            f'[streams.{name}]\nsource = {{ format = "parquet", path = "{name.lower()}.parquet" }}'
        )
        toml += f'\ntimestamp = {{ column = "ts", unit = "1 second" }}\n[streams.{name}.columns]\n'
        for c in columns:
            domain = (0, 200) if c in "bd" else (-(1 << 40), 1 << 40)
            made[c] = pa.array(random.integers(*domain, rows))
            toml += f'{c} = "int"\n'
        pq.write_table(pa.table(made), folder / f"{name.lower()}.parquet", row_group_size=131_072)
    (folder / "ontoweir.toml").write_text(toml)
    (folder / "q.sql").write_text(Q)


def take_month(folder: Path) -> int:
    """The real month without repeated deliveries, in order of time: every way's input."""
    folder.mkdir(parents=True)
    duckdb.execute(
        f"COPY (SELECT DISTINCT ON (id, ts) * FROM '{CITYBENCH}/traffic_2014_08.parquet' "
        f"ORDER BY ts, id) TO '{folder}/traffic.parquet' (FORMAT parquet)"
    )
    shutil.copy(CITYBENCH / "traffic_sensor_static.csv", folder / "sensor.csv")
    return pq.ParquetFile(folder / "traffic.parquet").metadata.num_rows


def peak_memory(root: int, stop: threading.Event, peaks: dict[str, float]) -> None:
    """Follow a process and its children: resident MB of driver, JVM and largest worker."""
    while not stop.wait(0.05):
        parents, kinds, sizes = {}, {}, {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                pid = int(entry.name)
                parents[pid] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                kinds[pid] = (entry / "cmdline").read_bytes()
                sizes[pid] = int((entry / "statm").read_text().split()[1]) * 4096 / 1e6
            except (OSError, IndexError, ValueError):
                continue
        mine = {root}
        for _ in range(6):
            mine |= {p for p, parent in parents.items() if parent in mine}
        for pid in mine & sizes.keys():
            command = kinds[pid]
            java = command.split(b"\0")[0].endswith(b"java")
            kind = "driver" if pid == root else "jvm" if java else "worker"
            peaks[kind] = max(peaks.get(kind, 0), sizes[pid])


def measure(outcome: Outcome, folder: Path, python: str, options: argparse.Namespace) -> None:
    """Run one way in a process of its own."""
    output = folder / "out" / f"{outcome.way}.parquet"
    output.parent.mkdir(exist_ok=True)
    query = "Q" if outcome.query == "Q" else outcome.query
    settings = [] if query == "Q" else [
        f"streams.traffic.source.path={folder}/traffic.parquet",
        f"relations.sensor.source.path={folder}/sensor.csv",
    ]  # fmt: skip
    repeat = min(2, options.repeat) if outcome.way in SLOW else options.repeat
    ours = outcome.way.startswith(("ours", "kept"))
    chosen = {"ARROW_DEFAULT_MEMORY_POOL": "jemalloc"} if ours else {}  # as the command line does
    command = [
        python,
        str(Path(__file__).parent / "speed_ways.py"),
        outcome.way,
        query,
        str(folder),
    ]
    process = subprocess.Popen(
        [*command, str(output), str(repeat), *settings],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "POLARS_MAX_THREADS": "2", **chosen},
    )  # fmt: skip
    stop = threading.Event()
    watch = threading.Thread(target=peak_memory, args=(process.pid, stop, outcome.peaks))
    watch.start()
    try:
        out, err = process.communicate(timeout=options.limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        outcome.problem = f"over {options.limit:.0f} s"
        return
    finally:
        stop.set()
        watch.join()
    if process.returncode:
        outcome.problem = " ".join(err.split())[-300:]
        return
    outcome.seconds = json.loads(out.strip().splitlines()[-1])
    source = output / "*.parquet" if output.is_dir() else output
    relation = f"read_parquet('{source}')"
    names = sorted(r[0] for r in duckdb.execute(f"DESCRIBE FROM {relation}").fetchall())
    cells = ", ".join(
        'epoch_us("at"::TIMESTAMP)' if n == "at" else f'"{n}"::VARCHAR'
        for n in names
        if n != "multiplicity"
    )
    weight = "sum(multiplicity)::BIGINT" if "multiplicity" in names else "1"
    outcome.rows, outcome.hash = duckdb.execute(
        f"SELECT count(*), bit_xor(hash(x)) FROM (SELECT ({cells}, {weight}) AS x FROM {relation} "
        f"GROUP BY {cells})"
    ).fetchone() or (None, None)


def show(outcomes: list[Outcome]) -> Table:
    """The table a reader sees: a ratio above 1 says that ours is faster."""
    table = Table(caption="M/s, way/ours: of the best run, reading and writing")
    for name in (
        "query",
        "tuples",
        "way",
        "best s",
        "median",
        "first",
        "M/s",
        "way/ours",
        "rows",
        "equal",
    ):
        table.add_column(name, justify="left" if name in ("query", "way") else "right")
    table.add_column("peak MB: driver, JVM, worker", justify="right")
    for o in outcomes:
        peers = [p for p in outcomes if (p.query, p.tuples) == (o.query, o.tuples) and p.seconds]
        mine = next((p.best for p in peers if p.way == "ours"), None)
        peaks = ", ".join(f"{o.peaks.get(k, 0):,.0f}" for k in ("driver", "jvm", "worker"))
        if o.best is None:
            problem = (o.problem or "")[-40:]
            table.add_row(o.query[:30], f"{o.tuples:,}", o.way, problem, *[""] * 6, peaks)
            continue
        equal = {p.hash for p in peers} == {o.hash}
        table.add_row(
            o.query[:30], f"{o.tuples:,}", o.way, f"{o.best:.2f}", f"{o.median:.2f}",
            f"{o.seconds[0]:.2f}",
            f"{o.tuples / o.best / 1e6:.2f}", f"{o.best / mine:.2f}" if mine else "",
            f"{o.rows:,}", "yes" if equal else "NO", peaks,
        )  # fmt: skip
    return table


def ratios(outcomes: list[Outcome]) -> list[dict[str, object]]:
    """Of every query and size, the best seconds of each way over ours."""
    found: list[dict[str, object]] = []
    for o in outcomes:
        mine = [p for p in outcomes if (p.query, p.tuples, p.way) == (o.query, o.tuples, "ours")]
        ours = mine[0].best if mine else None
        if o.way != "ours" and o.best and ours:
            place = {"query": o.query, "tuples": o.tuples, "way": o.way}
            found.append({**place, "ratio": round(o.best / ours, 3)})
    return found


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a smoke test")
    parser.add_argument("--tuples", default="1000000,10000000,50000000", help="sizes of Q; 0: none")
    parser.add_argument("--month", default=",".join(MONTH), help="queries over the month; '': none")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=float, default=300, help="seconds for a way and query")
    parser.add_argument("--python", action="append", default=[], metavar="WAY=PATH")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "out")
    parser.add_argument("--svg", type=Path, default=ROOT / "docs" / "replay-speed.svg")
    parser.add_argument("--scratch", type=Path)
    options = parser.parse_args()
    if options.quick:
        options.tuples, options.month, options.ways, options.repeat = "30000,60000", "", QUICK, 1
        options.svg = options.out / "replay-speed.svg"
    pythons = dict(p.split("=", 1) for p in options.python)
    work = Path(tempfile.mkdtemp(prefix="ontoweir-speed-", dir=options.scratch))
    console = Console(stderr=True)
    outcomes: list[Outcome] = []
    try:
        jobs: list[tuple[str, int, Path]] = []
        for tuples in (int(n) for n in options.tuples.split(",")):
            if tuples:
                generate(work / f"q{tuples}", tuples)
                jobs.append(("Q", tuples // 3 * 3, work / f"q{tuples}"))
        names = [n for n in options.month.split(",") if n]
        rows = take_month(work / "month") if names else 0
        jobs += [(name, rows, work / "month") for name in names]
        time.sleep(SETTLED_S)
        for query, tuples, folder in jobs:
            for way in options.ways.split(","):
                if query not in KNOWN.get(way, tuple(WINDOWS)):
                    continue
                if way in SLOW and tuples > MAX_ROWS:
                    continue
                outcome = Outcome(query, way, tuples)
                with console.status(f"{query} {tuples:,} {way}"):
                    measure(outcome, folder, pythons.get(way, sys.executable), options)
                outcomes.append(outcome)
                told = outcome.problem or ", ".join(f"{s:.2f} s" for s in outcome.seconds)
                console.print(f"{query} {tuples:,} {way}: {told}", markup=False, highlight=False)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    Console(width=None if sys.stdout.isatty() else 170).print(show(outcomes))
    options.out.mkdir(parents=True, exist_ok=True)
    record: dict[str, object] = {
        "when": time.strftime("%FT%TZ", time.gmtime()),
        "processors": os.cpu_count(),
        "load": os.getloadavg(),
        "targets": TARGETS,
        "ratios": ratios(outcomes),
    }
    found = {**record, "outcomes": [asdict(o) for o in outcomes]}
    (options.out / "replay_speed.json").write_text(json.dumps(found, indent=2) + "\n")
    draw_speed(outcomes, options.svg)
    groups = {(o.query, o.tuples) for o in outcomes}
    hashes = [{o.hash for o in outcomes if (o.query, o.tuples) == g and o.seconds} for g in groups]
    return 1 if any(len(h) > 1 for h in hashes) else 0


if __name__ == "__main__":
    sys.exit(main())
