"""Generate the readings of a small waterworks, with faults, the same for the same seed.

    python examples/water/generate.py --output DIR --hours 6 --seed 1

writes DIR/level, DIR/flow, DIR/pressure (eight sensors, one reading a second each) and DIR/switch
(pumps and valves), one Parquet file an hour, and the registers DIR/sensor.csv and DIR/device.csv.
Pumps start and stop by the level of their tanks; a closing valve sends a surge through its line;
sensors get stuck, drop out, report 0, and say themselves that they are in doubt. Hours are made one
after the other, so memory stays flat.
"""

import argparse
import csv
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

START = datetime(2026, 3, 2)
SECONDS = 3600

# id, line, tank, unit, low, high
SENSORS = (
    ("LT101", "intake", "raw", "mm", 950, 2200),
    ("LT301", "network", "clean", "mm", 500, 2300),
    ("FT101", "intake", "", "l/s", 2, 45),
    ("FT201", "filter", "", "l/s", 2, 45),
    ("FT301", "network", "", "l/s", 2, 60),
    ("PT101", "intake", "", "kPa", 120, 450),
    ("PT201", "filter", "", "mbar", 1500, 4200),
    ("PT301", "network", "", "kPa", 250, 500),
)
# id, kind, line
DEVICES = (
    ("P101", "pump", "intake"),
    ("P301", "pump", "network"),
    ("V101", "valve", "intake"),
    ("V201", "valve", "filter"),
    ("V301", "valve", "network"),
)
LEVEL, FLOW, PRESSURE = SENSORS[:2], SENSORS[2:5], SENSORS[5:]

SCHEMAS = {
    "level": [("sensor", pa.string()), ("millimetres", pa.int32()), ("quality", pa.string())],
    "flow": [("sensor", pa.string()), ("litres", pa.decimal128(4, 1)), ("quality", pa.string())],
    "pressure": [("sensor", pa.string()), ("value", pa.int32()), ("quality", pa.string())],
    "switch": [("device", pa.string()), ("state", pa.string())],
}

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(slots=True)
class Plant:
    """What lasts from one second to the next."""

    levels: list[float] = field(default_factory=lambda: [1400.0, 1500.0])
    pumping: list[bool] = field(default_factory=lambda: [False, False])
    open: list[bool] = field(default_factory=lambda: [True, True, True])
    surge: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])


def make_hours(hours: int, seed: int) -> Iterator[dict[str, pa.Table]]:
    """The four streams, hour by hour, each in order of time."""
    plant = Plant()
    for hour in range(hours):
        yield _make_hour(plant, hour, np.random.default_rng([seed, hour]))


def _make_hour(plant: Plant, hour: int, rng: np.random.Generator) -> dict[str, pa.Table]:
    demand = 22 + 14 * np.sin((hour % 24 + np.arange(SECONDS) / SECONDS) / 24 * 2 * np.pi)
    turns = rng.random((SECONDS, 3)) < np.array([0.0008, 0.0006, 0.001])
    truth = np.zeros((SECONDS, 8))
    switched: list[tuple[int, str, str]] = []
    for second in range(SECONDS):
        switched += [(second, *event) for event in _switch(plant, turns[second])]
        truth[second] = _flow(plant, float(demand[second]))
    noise = rng.normal(0, 1, truth.shape) * np.array([2, 2, 0.3, 0.3, 0.3, 4, 40, 4])
    moment = np.datetime64(START + timedelta(hours=hour), "us")
    readings = _report(truth + noise, rng)
    tables = {
        name: _table(name, moment, values, quality, kept, sensors)
        for name, (values, quality, kept, sensors) in readings.items()
    }
    seconds = np.array([s for s, _, _ in switched], dtype=np.int64)
    tables["switch"] = pa.table(
        {
            "ts": moment + seconds.astype("timedelta64[s]"),
            "device": pa.array([d for _, d, _ in switched], pa.string()),
            "state": pa.array([s for _, _, s in switched], pa.string()),
        }
    )
    return tables


def _switch(plant: Plant, turned: npt.NDArray[np.bool_]) -> Iterator[tuple[str, str]]:
    """Pumps follow the levels, valves are turned by hand."""
    raw, clean = plant.levels
    wanted = [
        raw < 900 or (plant.pumping[0] and raw < 2000),
        clean > 1900 or (plant.pumping[1] and clean > 700),
    ]
    for place, on in enumerate(wanted):
        if on != plant.pumping[place]:
            plant.pumping[place] = on
            yield DEVICES[place][0], "on" if on else "off"
    for place, valve in enumerate(DEVICES[2:]):
        if turned[place]:
            plant.open[place] = not plant.open[place]
            plant.surge[place] = 0 if plant.open[place] else 210
            yield valve[0], "open" if plant.open[place] else "closed"


def _flow(plant: Plant, demand: float) -> tuple[float, ...]:
    """One second of water: the levels, flows and pressures."""
    inlet = (38.0 if plant.pumping[0] else 8.0) * plant.open[0]
    through = 24.0 * plant.open[1] * (plant.levels[0] > 150) * (plant.levels[1] < 2400)
    outlet = demand * (1.3 if plant.pumping[1] else 0.8) * plant.open[2]
    outlet *= plant.levels[1] > 150
    plant.levels[0] = min(max(plant.levels[0] + (inlet - through) / 12, 0), 2450)
    plant.levels[1] = min(max(plant.levels[1] + (through - outlet) / 12, 0), 2450)
    plant.surge = [0.55 * s for s in plant.surge]
    return (
        *plant.levels,
        inlet,
        through,
        outlet,
        330 + 60 * plant.pumping[0] + plant.surge[0],
        10 * (320 + plant.surge[1]),
        400 + 90 * plant.pumping[1] + plant.surge[2],
    )


def _report(
    values: Floats, rng: np.random.Generator
) -> dict[str, tuple[Floats, Ints, npt.NDArray[np.bool_], Sequence[tuple[Any, ...]]]]:
    """What the sensors make of it: stuck, dead (0, and known to be bad), suspect, or silent."""
    shape = values.shape
    quality = np.zeros(shape, dtype=np.int64)
    values = values.copy()
    for sensor in range(shape[1]):
        for begin, length in _episodes(rng, 0.0004, 90):
            values[begin : begin + length, sensor] = values[begin, sensor]
        for begin, length in _episodes(rng, 0.0002, 25):
            values[begin : begin + length, sensor] = 0
            quality[begin : begin + length, sensor] = 2
        for begin, length in _episodes(rng, 0.0006, 6):
            quality[begin : begin + length, sensor] = 1
    kept = rng.random(shape) > 0.002
    found, first = {}, 0
    for name, sensors in (("level", LEVEL), ("flow", FLOW), ("pressure", PRESSURE)):
        place = slice(first, first + len(sensors))
        found[name] = (values[:, place], quality[:, place], kept[:, place], sensors)
        first += len(sensors)
    return found


def _episodes(rng: np.random.Generator, chance: float, mean: int) -> list[tuple[int, int]]:
    begins = np.flatnonzero(rng.random(SECONDS) < chance)
    return [(int(b), int(rng.geometric(1 / mean))) for b in begins]


def _table(
    name: str,
    moment: np.datetime64,
    values: Floats,
    quality: Ints,
    kept: npt.NDArray[np.bool_],
    sensors: Sequence[tuple[Any, ...]],
) -> pa.Table:
    second, sensor = np.nonzero(kept)
    measured = np.maximum(values[second, sensor], 0)
    kinds = dict(SCHEMAS[name])
    value = next(c for c, _ in SCHEMAS[name] if c not in ("sensor", "quality"))
    cells: pa.Array
    if pa.types.is_decimal(kinds[value]):
        tenths = np.rint(measured * 10).astype(np.int64)
        cells = pa.array([Decimal(int(t)).scaleb(-1) for t in tenths], kinds[value])
    else:
        cells = pa.array(np.rint(measured).astype(np.int32))
    return pa.table(
        {
            "ts": moment + second.astype("timedelta64[s]"),
            "sensor": pa.array([s[0] for s in sensors]).take(pa.array(sensor)),
            value: cells,
            "quality": pa.array(["good", "suspect", "bad"]).take(pa.array(quality[second, sensor])),
        }
    )


def _write_register(path: Path, names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    partial = path.with_suffix(".partial")
    with partial.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(names)
        out.writerows(rows)
    partial.rename(path)


def generate(output: Path, hours: int = 6, seed: int = 1) -> int:
    """Write the streams and registers, replacing what is there; return the rows.

    An interrupted run leaves the old data as it was, or no registers.
    """
    partial = output / "partial"
    shutil.rmtree(partial, ignore_errors=True)
    for name in SCHEMAS:
        (partial / name).mkdir(parents=True)
    rows = 0
    columns = (
        TextColumn("generating water"),
        BarColumn(),
        TextColumn("hour {task.completed}/{task.total} · {task.fields[rows]:,} rows"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=hours, rows=0)
        for hour, tables in enumerate(make_hours(hours, seed)):
            for name, table in tables.items():
                pq.write_table(table, partial / name / f"part-{hour:05}.parquet")
                rows += len(table)
            progress.update(task, advance=1, rows=rows)
    for register in ("sensor.csv", "device.csv"):
        (output / register).unlink(missing_ok=True)
    for name in SCHEMAS:
        shutil.rmtree(output / name, ignore_errors=True)
        (partial / name).rename(output / name)
    partial.rmdir()
    _write_register(output / "device.csv", ("id", "kind", "line"), DEVICES)
    _write_register(output / "sensor.csv", ("id", "line", "tank", "unit", "low", "high"), SENSORS)
    return rows


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Generate the readings of a small waterworks.")
    here = Path(__file__).parent
    parser.add_argument("--output", type=Path, default=here / "data", help="folder to write to")
    parser.add_argument("--hours", type=int, default=6, help="from 2 March 2026")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    if options.hours < 1:
        parser.error("--hours counts from 1")
    rows = generate(options.output, options.hours, options.seed)
    print(f"{rows:,} rows of {len(SENSORS)} sensors in {options.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
