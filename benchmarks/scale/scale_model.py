"""The model of docs/scale.md: what rows divided by key cost, and a simulation of its batches.

    python benchmarks/scale/scale_model.py [--rows 4000000] [--draw] [--quick]

Measured, here: CPU seconds for a row that is read and admitted, for one that the kernel advances,
and for a row of state that a batch settles (replays of key_replay.py's join, in this process).
Assumed: what `Assumed` says of Spark, disks and networks. Computed: all else. The simulation draws
the rows of every partition and batch, of keys with unequal rates, and loses a machine midway; it
exits with 1 if its batches are not those of the formula within a quarter. `--draw` writes
docs/scale-model.svg.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import ceil, exp, log10
from pathlib import Path

import numpy as np
from key_replay import QUERIES, generate, make_job

from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest

ROOT = Path(__file__).resolve().parents[2]
NOTHING = "SELECT R.sensor FROM R WHERE R.v > 100000"
"""Reads all rows of R, and selects none."""
PORTION = 100_000
"""Rows of a chunk."""


@dataclass(frozen=True, slots=True)
class Units:
    """CPU seconds for a row read, for a row advanced, and for a row of state in a batch."""

    read: float
    advance: float
    settle: float


@dataclass(frozen=True, slots=True)
class Assumed:
    """What is not measured here: seconds of Spark for a batch, and for each of its tasks in the
    driver; bytes a second of a network and of a disk for each machine; cores of a machine; bytes
    of a row on the network, of a row of state, and of a changed row in a commit; seconds from one
    batch to the next."""

    batch: float = 0.35
    task: float = 0.002
    network: float = 1e9
    disk: float = 2e8
    cores: int = 8
    row_bytes: int = 40
    state_bytes: int = 24
    commit_bytes: int = 32
    interval: float = 5.0


ASSUMED = Assumed()
_HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="880" height="330" font-family="sans-serif" '
    'font-size="11"><rect width="100%" height="100%" fill="#fff"/>'
)


def batch_seconds(u: Units, a: Assumed, sensors: float, rate: float, parts: int) -> float:
    """How long a batch takes: `rate` rows a second of each of `sensors`, one row of state each."""
    rows, state = sensors * rate * a.interval / parts, sensors / parts
    moved = rows * a.row_bytes * a.cores / a.network
    kept = min(rows, state) * a.commit_bytes * a.cores / a.disk
    work = rows * (u.read + u.advance) + state * u.settle
    return a.batch + a.task * parts + work + moved + kept


def parts_needed(u: Units, a: Assumed, sensors: float, rate: float) -> int | None:
    """The fewest partitions whose batches end before the next one begins (None: no number does)."""
    parts = 1
    while batch_seconds(u, a, sensors, rate, parts) > a.interval:
        parts = max(parts + 1, ceil(parts * 1.02))
        if a.batch + a.task * parts > a.interval:
            return None
    return parts


def simulate(
    u: Units, a: Assumed, sensors: int, rate: float, parts: int, batches: int, seed: int = 1
) -> list[float]:
    """Seconds from the end of a batch's interval to its commit, batch after batch. In the middle a
    machine is lost: its partitions read their state again, and its batch is repeated."""
    random = np.random.default_rng(seed)
    # keys have unequal rates (a tenth has half of the rows); what a partition has is a sum of many
    keys = random.multinomial(sensors, np.full(parts, 1 / parts))
    loud = random.binomial(keys, 0.1)
    shares = loud * 5 + (keys - loud) * (5 / 9)
    behind, lags = 0.0, []
    for batch in range(batches):
        rows = random.poisson(shares * rate * a.interval)
        moved = rows * a.row_bytes * a.cores / a.network
        kept = np.minimum(rows, keys) * a.commit_bytes * a.cores / a.disk
        work = rows * (u.read + u.advance) + keys * u.settle + moved + kept
        work *= random.normal(1, 0.03, parts).clip(0.8)  # other work on the machine
        seconds = a.batch + a.task * parts + float(work.max())
        if batch == batches // 2:
            again = float(keys[: a.cores].sum()) * a.state_bytes / min(a.network, a.disk)
            seconds += seconds + again
        behind = max(0.0, behind + seconds - a.interval) if lags else max(0.0, seconds - a.interval)
        lags.append(seconds if not behind else behind + a.interval)
    return lags


def measure(rows: int) -> Units:
    """Unit costs, from replays in this process."""
    with tempfile.TemporaryDirectory() as place:
        used, held, chunks = [], [], ceil(rows / PORTION)
        for keys in (1_000, max(rows // 8, 2_000)):
            folder = Path(place, str(keys))
            generate(folder, rows, keys)
            used.append(_replay(folder, QUERIES["join"]))
            seen = (keys * (1 - exp(-PORTION * n * 0.8 / keys)) for n in range(1, chunks + 1))
            held.append(sum(seen))
        read = _replay(Path(place, "1000"), NOTHING) / (rows * 4 / 5)
    settle = max(used[1] - used[0], 0.0) / (held[1] - held[0])
    advance = max(used[0] - settle * held[0], 0.0) / rows - read
    return Units(read, max(advance, read / 10), settle)


def _replay(folder: Path, sql: str) -> float:
    """CPU seconds of a replay, the lesser of two."""
    job, output = make_job(folder, sql), folder / "answers.parquet"
    seconds = []
    for _ in range(2):
        begun = time.process_time()
        request = ReplayRequest(output, "parquet", engine="driver", rows_per_chunk=PORTION)
        replay_history(job, request)
        seconds.append(time.process_time() - begun)
    return min(seconds)


def draw(points: Sequence[tuple[int, float, int]], lags: Sequence[float], file: Path) -> None:
    """Cores over sensors, for each rate; and the seconds of simulated batches."""
    left, top, wide, high = 70, 40, 330, 220
    rates = sorted({rate for _, rate, _ in points})
    colours = dict(zip(rates, ("#1b6ca8", "#3b7d4f", "#b5562b"), strict=False))
    parts = [
        _HEAD,
        _text(left, 22, "cores needed, over the number of sensors (computed)"),
        _text(left + 440, 22, "seconds until a batch is committed (simulated; a machine is lost)"),
    ]
    sizes = [n for n, _, _ in points]
    low, wide_by = log10(min(sizes)), log10(max(sizes) / min(sizes))
    most = ceil(log10(max(c for _, _, c in points)))
    for power in range(most + 1):
        y = top + high - power / most * high
        parts.append(f'<line x1="{left}" y1="{y}" x2="{left + wide}" y2="{y}" stroke="#ddd"/>')
        parts.append(_text(left - 6, y + 4, f"{10**power:,}", "end"))
    for size in sorted(set(sizes)):
        x = left + (log10(size) - low) / wide_by * wide
        parts.append(_text(x, top + high + 16, f"{size:,}", "middle"))
    for rate, colour in colours.items():
        mine = [
            (left + (log10(n) - low) / wide_by * wide, top + high - log10(c) / most * high)
            for n, r, c in points
            if r == rate
        ]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in mine)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        place = top + 14 + 16 * rates.index(rate)
        parts.append(
            f'<rect x="{left + 10}" y="{place - 6}" width="18" height="4" fill="{colour}"/>'
        )
        parts.append(_text(left + 34, place, f"{rate:g} rows a second of each"))
    begin, longest = left + 440, max(lags)
    for part in range(5):
        y, value = top + high - part / 4 * high, longest * part / 4
        parts.append(f'<line x1="{begin}" y1="{y}" x2="{begin + wide}" y2="{y}" stroke="#ddd"/>')
        parts.append(_text(begin - 6, y + 4, f"{value:.1f}", "end"))
    line = " ".join(
        f"{begin + n / (len(lags) - 1) * wide:.1f},{top + high - lag / longest * high:.1f}"
        for n, lag in enumerate(lags)
    )
    parts.append(f'<polyline points="{line}" fill="none" stroke="#1b6ca8" stroke-width="2"/>')
    parts.append(_text(begin + wide / 2, top + high + 16, f"{len(lags)} batches", "middle"))
    file.write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#222">{text}</text>'


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--quick", action="store_true", help="few rows: a smoke test")
    options = parser.parse_args(arguments)
    units = measure(200_000 if options.quick else options.rows)
    named = {name: f"{1e9 * value:.0f} ns" for name, value in asdict(units).items()}
    print("measured, a row:", json.dumps(named))
    points: list[tuple[int, float, int]] = []
    for rate in (0.1, 1.0, 10.0):
        for sensors in (10**5, 10**6, 10**7, 10**8, 10**9):
            parts = parts_needed(units, ASSUMED, sensors, rate)
            if parts is None:
                print(f"{sensors:,} sensors, {rate:g} a second: no number of cores is enough")
                continue
            points.append((sensors, rate, parts))
            memory = sensors * ASSUMED.state_bytes / parts
            print(
                f"{sensors:,} sensors, {rate:g} a second: {parts:,} cores, "
                f"{memory / 1e6:,.1f} MB of state in each, "
                f"{batch_seconds(units, ASSUMED, sensors, rate, parts):.2f} s a batch"
            )
    sensors, rate = 10**7, 1.0
    parts = ceil((parts_needed(units, ASSUMED, sensors, rate) or 1) * 1.3)
    lags = simulate(units, ASSUMED, sensors, rate, parts, 60)
    usual, computed = float(np.median(lags)), batch_seconds(units, ASSUMED, sensors, rate, parts)
    print(
        f"simulated, {sensors:,} sensors on {parts:,} cores: {usual:.2f} s a batch (the formula: "
        f"{computed:.2f}), at most {max(lags):.2f} s when a machine is lost; "
        f"{sum(lag > ASSUMED.interval for lag in lags)} batches late"
    )
    if options.draw:
        draw(points, lags, ROOT / "docs" / "scale-model.svg")
    return 0 if abs(usual / computed - 1) < 0.25 else 1


if __name__ == "__main__":
    sys.exit(main())
