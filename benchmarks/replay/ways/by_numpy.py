"""What a programmer writes by hand, with numpy, who knows the query and the data."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from ways.iris import find_streets, make_iris, make_road_iris
from ways.queries import CLEARED, PAIRS, ROADS, SENSORS, Run


def by_numpy(query: str, folder: Path, settings: list[str]) -> Run:
    """What a programmer writes who knows the query and that the data is in order."""
    return {
        "Q": _numpy_q,
        SENSORS: _numpy_sensors,
        PAIRS: _numpy_pairs,
        ROADS: _numpy_roads,
        CLEARED: _numpy_cleared,
    }[query](folder)


def _numpy_q(folder: Path) -> Run:
    def groups(name: str, columns: list[str]) -> list[tuple[np.ndarray, ...]]:
        file = pq.ParquetFile(folder / f"{name}.parquet", memory_map=True)
        for i in range(file.num_row_groups):
            part = file.read_row_group(i, columns=columns)
            yield tuple(c.cast(pa.int64()).to_numpy() for c in (part.column(n) for n in columns))

    def run(output: Path) -> None:
        # bounded state: the number of S so far; per b, the number of (S, T) pairs
        schema = pa.schema(
            [
                ("b", pa.int64()),
                ("e", pa.int64()),
                ("at", pa.timestamp("us")),
                ("multiplicity", pa.int64()),
            ]
        )
        s_rows, t_rows = groups("s", ["ts"]), groups("t", ["ts", "b"])
        s_time = t_time = t_key = np.zeros(0, np.int64)
        s_done, pairs = 0, np.zeros(100, np.int64)
        last = -(1 << 62)
        with pq.ParquetWriter(output, schema, compression="zstd") as writer:
            for u_time, u_key, u_e in groups("u", ["ts", "d", "e"]):
                stop = int(u_time[-1])
                while last < stop and (more := next(t_rows, None)) is not None:
                    keep = (more[1] >= 0) & (more[1] < 100)
                    last = int(more[0][-1])
                    t_time = np.concatenate([t_time, more[0][keep]])
                    t_key = np.concatenate([t_key, more[1][keep]])
                while (not len(s_time) or s_time[-1] < stop) and (
                    found := next(s_rows, None)
                ) is not None:
                    s_time = np.concatenate([s_time, found[0]])
                before = int(np.searchsorted(t_time, stop, side="left"))
                weight = s_done + np.searchsorted(s_time, t_time[:before], side="left")
                keep = (u_key >= 0) & (u_key < 100)
                u_time, u_key, u_e = u_time[keep], u_key[keep], u_e[keep]
                order = np.argsort(t_key[:before].astype(np.uint8), kind="stable")
                sums = np.concatenate([[0], np.cumsum(weight[order])])
                counts = np.bincount(t_key[:before], minlength=100)
                starts = np.concatenate([[0], np.cumsum(counts)])
                times = t_time[:before][order]
                result = np.zeros(len(u_key), np.int64)
                mine = np.argsort(u_key.astype(np.uint8), kind="stable")
                u_starts = np.searchsorted(u_key[mine], np.arange(101))
                for b in range(100):
                    rows = mine[u_starts[b] : u_starts[b + 1]]
                    low, high = starts[b], starts[b + 1]
                    place = low + np.searchsorted(times[low:high], u_time[rows], side="left")
                    result[rows] = pairs[b] + sums[place] - sums[low]
                pairs += np.add.reduceat(np.append(sums[1:] - sums[:-1], 0), starts[:-1]) * (
                    counts > 0
                )
                passed = int(np.searchsorted(s_time, stop, side="left"))
                s_done, s_time = s_done + passed, s_time[passed:]
                t_time, t_key = t_time[before:], t_key[before:]
                hit = result > 0
                columns = [u_key[hit], u_e[hit], pa.array(u_time[hit]).cast(pa.timestamp("us"))]
                writer.write_table(pa.table([*columns, result[hit]], schema=schema))

    return run


def _month(folder: Path, *names: str) -> dict[str, np.ndarray]:
    table = pq.read_table(folder / "traffic.parquet", columns=["ts", *names])
    return {
        n: (c.cast(pa.int64()) if n == "ts" else c).to_numpy()
        for n, c in zip(table.column_names, table.columns, strict=True)
    }


def _as_of(key: np.ndarray, ts: np.ndarray, by: np.ndarray, at: np.ndarray) -> np.ndarray:
    """How many (key, ts) come before each (by, at), of the same key."""
    order = np.lexsort((ts, key))
    times, inner = np.unique(np.concatenate([ts, at]), return_inverse=True)
    span = len(times) + 1
    held = key[order].astype(np.int64) * span + inner[: len(ts)][order]
    upto = np.searchsorted(held, by.astype(np.int64) * span + inner[len(ts) :])
    return upto - np.searchsorted(held, by.astype(np.int64) * span)


def _instants(times: np.ndarray) -> pa.Array:
    return pa.array(times).cast(pa.timestamp("us"))


def _numpy_sensors(folder: Path) -> Run:
    def run(output: Path) -> None:
        t = _month(folder, "report_id", "avg_speed", "vehicle_count")
        jam = (t["avg_speed"] < 20) & (t["vehicle_count"] >= 10)
        fast = t["avg_speed"] > 110
        by, at = t["report_id"][fast], t["ts"][fast]
        count = _as_of(t["report_id"][jam], t["ts"][jam], by, at)
        hit = count > 0
        columns = [make_iris("sensor", by[hit]), _instants(at[hit]), pa.array(count[hit])]
        pq.write_table(pa.table(columns, ["sensor", "at", "multiplicity"]), output)

    return run


def _numpy_pairs(folder: Path) -> Run:
    def run(output: Path) -> None:
        t = _month(folder, "report_id", "avg_speed", "vehicle_count", "id")
        street, names = find_streets(folder)
        street = street[t["report_id"]]
        jam = (t["avg_speed"] < 20) & (t["vehicle_count"] >= 10) & (street >= 0)
        fast = (t["avg_speed"] > 110) & (street >= 0)
        by, at = street[fast], t["ts"][fast]
        count = _as_of(street[jam], t["ts"][jam], by, at)
        hit = count > 0
        columns = [
            make_iris("reading", t["id"][fast][hit]),
            pa.array(t["avg_speed"][fast][hit]),
            make_road_iris(names).take(pa.array(by[hit])),
            _instants(at[hit]),
            pa.array(count[hit]),
        ]
        pq.write_table(pa.table(columns, ["fast", "speed", "road", "at", "multiplicity"]), output)

    return run


def _numpy_roads(folder: Path) -> Run:
    def run(output: Path) -> None:
        t = _month(folder, "report_id", "avg_speed", "vehicle_count")
        street, names = find_streets(folder)
        street = street[t["report_id"]]
        grid = (t["avg_speed"] < 10) & (t["vehicle_count"] >= 10)
        never = np.iinfo(np.int64).max

        def first(rows: np.ndarray, after: np.ndarray) -> np.ndarray:
            mine = np.flatnonzero(rows & (street >= 0))
            mine = mine[t["ts"][mine] > after[street[mine]]]
            found = np.full(len(names), never)
            np.minimum.at(found, street[mine], t["ts"][mine])
            return found

        begun = np.full(len(names), -never)
        last = first(grid, first(t["avg_speed"] > 110, first(grid, begun)))
        hit = np.flatnonzero(last < never)
        columns = [
            make_road_iris(names).take(pa.array(hit)),
            pa.array(names).take(pa.array(hit)),
            _instants(last[hit]),
        ]
        pq.write_table(pa.table(columns, ["road", "name", "at"]), output)

    return run


def _numpy_cleared(folder: Path) -> Run:
    def run(output: Path) -> None:
        t = _month(folder, "report_id", "avg_speed", "vehicle_count", "id")
        speed, count = t["avg_speed"], t["vehicle_count"]
        jam = np.flatnonzero((speed < 20) & (count >= 10))
        clear = np.flatnonzero((speed > 110) | ((speed >= 60) & (count >= 5)))
        jam = jam[np.lexsort((t["ts"][jam], t["report_id"][jam]))]
        span = np.int64(1) << 40
        base = int(t["ts"][0])
        held = t["report_id"][jam].astype(np.int64) * span + (t["ts"][jam] - base) // 1_000_000
        wanted = t["report_id"][clear].astype(np.int64) * span
        wanted += (t["ts"][clear] - base) // 1_000_000
        high = np.searchsorted(held, wanted, side="left")
        low = np.searchsorted(held, wanted - 1800, side="left")
        length = high - low
        row = np.repeat(np.arange(len(clear)), length)
        offset = np.arange(len(row)) - np.repeat(np.cumsum(length) - length, length)
        left, right = jam[low[row] + offset], clear[row]
        columns = [
            make_iris("sensor", t["report_id"][left]),
            make_iris("reading", t["id"][left]),
            make_iris("reading", t["id"][right]),
            pa.array(speed[right]),
            _instants(t["ts"][right]),
            pa.array(np.ones(len(left), np.int64)),
        ]
        names = ["sensor", "jam", "clear", "speed", "at", "multiplicity"]
        pq.write_table(pa.table(columns, names), output)

    return run
