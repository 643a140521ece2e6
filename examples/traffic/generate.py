"""Generate traffic readings and a register of sensors, in any size, the same for the same seed.

    python examples/traffic/generate.py --output DIR --sensors 60 --days 7 --seed 1

writes DIR/traffic/part-*.parquet, ordered by time, and DIR/sensor.csv. The data looks like the real
month of Aarhus: two rush hours on working days, congestion that spreads along a road and dissolves,
readings that are missing, sensors that go blind, and now and then a step delivered twice or thrice.
Days are made one after the other, so memory stays flat.
"""

import argparse
import csv
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

START = datetime(2014, 8, 1)
STEP = timedelta(minutes=5)
STEPS_PER_DAY = 288
DAYS_PER_FILE = 3
ROWS_PER_GROUP = 131_072

SCHEMA = pa.schema(
    [
        ("report_id", pa.int32()),
        ("ts", pa.timestamp("us")),
        ("status", pa.string()),
        ("avg_measured_time", pa.int32()),
        ("avg_speed", pa.int32()),
        ("vehicle_count", pa.int32()),
        ("id", pa.int64()),
    ]
)

REGISTER = (
    "POINT_1_STREET", "DURATION_IN_SEC", "POINT_1_CITY", "NDT_IN_KMH", "ROAD_TYPE", "REPORT_ID",
    "DISTANCE_IN_METERS",
)  # fmt: skip

CITIES = ("Aarhus", "Risskov", "Højbjerg", "Ega", "Tilst", "Hasselager", "Hinnerup", "Århus N")

# Street, city, normal driving speed in km/h.
EXPRESS = (("Østjyske Motorvej", 0, 99), ("Djurslandmotorvejen", 6, 95), ("Søftenvej", 0, 84))
STREETS = (
    "Randersvej", "Viborgvej", "Grenåvej", "Silkeborgvej", "Skanderborgvej", "Hasle Ringvej",
    "Nordre Ringgade", "Vestre Ringgade", "Søndre Ringgade", "Åby Ringvej", "Viby Ringvej",
    "Ringvej Syd", "Edwin Rahrs Vej", "Oddervej", "Marselis Boulevard", "Jyllands Alle",
    "Christian X's Vej", "Paludan-Müllers Vej", "Strandvejen", "Rosenvangs Alle", "Vejlby Ringvej",
    "Mejlbyvej", "Søren Frichs Vej", "Holmstrupgårdvej", "Anelystvej", "Møllebakken", "Lystrupvej",
    "Århusvej", "Genvejen", "Åhavevej",
)  # fmt: skip

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sensors:
    """The register: one entry per sensor in every array; `road` is -1 where no street is known."""

    report_id: Ints
    road: Ints
    city: Ints
    normal_speed: Ints
    metres: Ints
    streets: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.report_id)


@dataclass(slots=True)
class Situation:
    """What lasts from one step to the next: for how many steps a sensor stays jammed or blind."""

    jammed: Ints
    blind: Ints
    next_id: int = 1


def make_sensors(count: int, seed: int) -> Sensors:
    """The register of `count` sensors on at most 33 streets, about eight to a street."""
    rng = np.random.default_rng([seed, 0])
    places = [
        (street, i % len(CITIES) if i % 3 == 0 else 0, int(rng.integers(32, 75)))
        for i, street in enumerate(STREETS)
    ]
    for i, express in enumerate(EXPRESS):
        places.insert(3 * i, express)
    places = places[: max(4, min(len(places), count // 8))]
    road = np.arange(count) % len(places)
    city = np.array([places[i][1] for i in road])
    normal = np.array([places[i][2] for i in road]) + rng.integers(-6, 7, count)
    road[rng.random(count) < 0.01] = -1  # the register does not know every street
    return Sensors(
        report_id=158_000 + 31 * np.arange(count),
        road=road,
        city=city,
        normal_speed=normal,
        metres=rng.integers(320, 2_800, count),
        streets=tuple(street for street, _, _ in places),
    )


def make_days(sensors: Sensors, days: int, seed: int) -> Iterator[pa.Table]:
    """One table of readings per day, ordered by time."""
    traits = np.random.default_rng([seed, 1])
    busy = traits.lognormal(mean=1.8, sigma=0.8, size=len(sensors))  # vehicles a step at rush hour
    busy *= np.where(sensors.normal_speed >= 80, 2.5, 1)
    proneness = traits.gamma(shape=0.6, scale=1.6, size=len(sensors))
    nothing = np.zeros(len(sensors), dtype=np.int64)
    situation = Situation(jammed=nothing.copy(), blind=nothing.copy())
    for day in range(days):
        rng = np.random.default_rng([seed, 2, day])
        yield _make_day(sensors, busy, proneness, situation, day, rng)


def _rush(day: int) -> Floats:
    """How busy each step of a day is, from 0 to 1. Times are UTC, two hours behind the street."""
    hour = np.arange(STEPS_PER_DAY) / 12
    morning = np.exp(-(((hour - 5.8) / 1.1) ** 2))
    afternoon = np.exp(-(((hour - 13.6) / 1.7) ** 2))
    daytime = 0.65 / (1 + np.exp(-2 * (hour - 4.5))) / (1 + np.exp(1.1 * (hour - 16.5)))
    weekend = (START + timedelta(days=day)).weekday() >= 5
    if weekend:
        return np.asarray(daytime * 0.8)
    return np.asarray(np.clip(daytime + 0.6 * morning + 0.7 * afternoon, 0, 1))


def _make_day(
    sensors: Sensors,
    busy: Floats,
    proneness: Floats,
    situation: Situation,
    day: int,
    rng: np.random.Generator,
) -> pa.Table:
    size = (STEPS_PER_DAY, len(sensors))
    rush = _rush(day)
    jam, blind = _make_episodes(sensors, proneness, situation, rush, rng)

    count = rng.poisson(busy * rush[:, None] + 0.05)
    count = np.where(jam, count + rng.poisson(9, size), count)
    load = np.minimum(count / 60, 1)
    speed = sensors.normal_speed * (1.02 - 0.2 * load) + rng.normal(0, 5, size)
    outlier = rng.random(size) < 0.003  # a lone night rider
    speed = np.where(outlier & (count < 3), speed * rng.uniform(1.1, 1.5, size), speed)
    speed = np.where(jam, rng.gamma(5, 2.8, size), speed)
    speed = np.clip(np.rint(speed), 3, 150).astype(np.int64)
    seconds = np.rint(sensors.metres * 3.6 / speed).astype(np.int64)

    count[blind], speed[blind], seconds[blind] = 0, 0, 0

    kept = rng.random(size) > 0.06
    kept &= (rng.random(STEPS_PER_DAY) > 0.03)[:, None]  # steps that nobody delivered
    copies = np.where(rng.random(STEPS_PER_DAY) < 0.002, rng.integers(2, 4, STEPS_PER_DAY), 1)
    step, sensor = np.nonzero(kept)
    ids = situation.next_id + np.arange(len(step))
    situation.next_id += len(step)
    rows = np.repeat(np.arange(len(step)), copies[step])
    step, sensor, ids = step[rows], sensor[rows], ids[rows]

    first = np.datetime64(START + timedelta(days=day), "us")
    return pa.table(
        {
            "report_id": sensors.report_id[sensor].astype(np.int32),
            "ts": first + step * np.timedelta64(STEP),
            "status": pa.repeat("OK", len(step)),
            "avg_measured_time": seconds[step, sensor].astype(np.int32),
            "avg_speed": speed[step, sensor].astype(np.int32),
            "vehicle_count": count[step, sensor].astype(np.int32),
            "id": ids,
        },
        schema=SCHEMA,
    )


def _make_episodes(
    sensors: Sensors,
    proneness: Floats,
    situation: Situation,
    rush: Floats,
    rng: np.random.Generator,
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """For every step and sensor of a day: is it in a jam, is it blind?"""
    size = (STEPS_PER_DAY, len(sensors))
    jam, blind = np.zeros(size, dtype=bool), np.zeros(size, dtype=bool)
    jams_begin = rng.random(size) < 0.0016 * proneness * rush[:, None] ** 2
    blindness_begins = rng.random(size) < 0.0006
    jam_lengths = rng.geometric(1 / 5, size)
    blind_lengths = rng.geometric(1 / 40, size)
    spreads = rng.random(size) < 0.02
    for i in range(STEPS_PER_DAY):
        affected = np.unique(sensors.road[(situation.jammed > 0) & (sensors.road >= 0)])
        begins = jams_begin[i] | (spreads[i] & np.isin(sensors.road, affected) & (rush[i] > 0.3))
        situation.jammed = np.maximum(situation.jammed - 1, np.where(begins, jam_lengths[i], 0))
        situation.blind = np.maximum(
            situation.blind - 1, np.where(blindness_begins[i], blind_lengths[i], 0)
        )
        jam[i], blind[i] = situation.jammed > 0, situation.blind > 0
    return jam & ~blind, blind


def write_sensors(sensors: Sensors, path: Path) -> None:
    """Write the register as CSV, with those columns of the real one that the project declares."""
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(REGISTER)
        for i in range(len(sensors)):
            speed, metres = int(sensors.normal_speed[i]), int(sensors.metres[i])
            street = sensors.streets[sensors.road[i]] if sensors.road[i] >= 0 else ""
            city = CITIES[sensors.city[i]]
            row = [street, round(metres * 3.6 / speed), city, speed, "MAJOR_ROAD"]
            out.writerow([*row, int(sensors.report_id[i]), metres])


def generate(output: Path, sensors: int = 60, days: int = 7, seed: int = 1) -> int:
    """Write `output`/traffic and `output`/sensor.csv, replacing what is there; return the rows.

    An interrupted run leaves the old data as it was, or no sensor.csv.
    """
    register = make_sensors(sensors, seed)
    partial = output / "traffic.partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    rows = 0
    writer: pq.ParquetWriter | None = None
    console = Console(stderr=True)
    columns = (
        TextColumn("generating traffic"),
        BarColumn(),
        TextColumn("day {task.completed}/{task.total} · {task.fields[rows]:,} readings"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=days, rows=0)
        for day, table in enumerate(make_days(register, days, seed)):
            if day % DAYS_PER_FILE == 0:
                if writer is not None:
                    writer.close()
                file = partial / f"part-{day // DAYS_PER_FILE:05}.parquet"
                writer = pq.ParquetWriter(file, SCHEMA, compression="zstd")
            assert writer is not None
            writer.write_table(table, row_group_size=ROWS_PER_GROUP)
            rows += len(table)
            progress.update(task, advance=1, rows=rows)
        if writer is not None:
            writer.close()
    (output / "sensor.csv").unlink(missing_ok=True)
    shutil.rmtree(output / "traffic", ignore_errors=True)
    partial.rename(output / "traffic")
    write_sensors(register, output / "sensor.csv.partial")
    (output / "sensor.csv.partial").rename(output / "sensor.csv")
    return rows


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Generate traffic readings in any size.")
    here = Path(__file__).parent
    parser.add_argument("--output", type=Path, default=here / "data", help="folder to write to")
    parser.add_argument("--sensors", type=int, default=60)
    parser.add_argument("--days", type=int, default=7, help="from 1 August 2014")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    if options.sensors < 1 or options.days < 1:
        parser.error("--sensors and --days count from 1")
    rows = generate(options.output, options.sensors, options.days, options.seed)
    print(f"{rows:,} readings of {options.sensors} sensors in {options.output}", file=sys.stderr)
    if options.sensors > 449:
        print(
            "more sensors than ontoweir.toml declares: raise relations.sensor.max_rows and "
            "streams.traffic.max_per_timestamp (three times the sensors) with --set",
            file=sys.stderr,
        )


if __name__ == "__main__":
    main()
