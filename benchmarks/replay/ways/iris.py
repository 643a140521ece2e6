"""IRIs of the month's roads and sensors, as its mapping has them."""

from pathlib import Path
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def find_streets(folder: Path) -> tuple[np.ndarray, list[str]]:
    """A number of its street per report_id (-1: none), and their names."""
    import csv

    with (folder / "sensor.csv").open() as file:
        rows = [(int(r["REPORT_ID"]), r["POINT_1_STREET"]) for r in csv.DictReader(file)]
    names = sorted({street for _, street in rows if street})
    number = {street: i for i, street in enumerate(names)}
    found = np.full(max(i for i, _ in rows) + 1, -1)
    for i, street in rows:
        found[i] = number.get(street, -1)
    return found, names


def make_iris(kind: str, keys: np.ndarray) -> pa.Array:
    return pc.binary_join_element_wise(
        f"http://traffic.example/{kind}/", pa.array(keys).cast(pa.string()), ""
    )


def make_road_iris(names: list[str]) -> pa.Array:
    safe = ["".join(c if ord(c) >= 160 else quote(c, safe="") for c in n) for n in names]
    return pa.array([f"http://traffic.example/road/{n}" for n in safe])
