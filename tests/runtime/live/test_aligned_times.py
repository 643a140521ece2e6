"""Timestamps between two steps: refused, or moved to a step, by one rule for replays and live."""

from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.errors import CatalogError, DataError
from tests.runtime.harness import make_catalog
from tests.runtime.in_process import replay_here
from tests.runtime.live.test_one_rule import _jobs, _live

TOML = """
[streams.s]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "5 minutes", align = "%s" }
[streams.s.columns]
i = { type = "int", min = 0, max = 9 }
"""
SQL = (
    "SELECT a.i AS i, b.i AS j FROM s a, s b "
    "WHERE a.ts < b.ts AND b.ts <= a.ts + INTERVAL 10 MINUTES"
)
STEP = 300_000_000


def write(folder: Path, times: list[int], kind: pa.DataType, form: str = "parquet") -> list[Path]:
    """Three files of rows at times (µs), numbered."""
    (folder / "s").mkdir()
    files = []
    third = len(times) // 3
    for number in range(3):
        mine = times[number * third : (number + 1) * third]
        cells = pa.array([n % 10 for n in range(number * third, (number + 1) * third)])
        files.append(folder / "s" / f"{number}.{form}")
        if form == "parquet":
            moments = pa.array(mine, pa.timestamp("us")).cast(kind, safe=False)
            pq.write_table(pa.table({"ts": moments, "i": cells}), files[-1], row_group_size=4)
        else:
            lines = [
                f"{n},{datetime(1970, 1, 1) + timedelta(microseconds=t)}"
                for n, t in zip(cells.to_pylist(), mine, strict=True)
            ]
            files[-1].write_text("\n".join(["i,ts", *lines, ""]))
    return files


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("ranges", [1, 3])
@pytest.mark.parametrize("align", ["floor", "round"])
def test_times_are_moved_to_a_step(
    align: str, ranges: int, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = Random(3)
    times = sorted(draw.randrange(40 * STEP) for _ in range(60))
    times[10], times[20] = 3 * STEP + STEP // 2, 5 * STEP + STEP // 2 - 1
    files = write(tmp_path, sorted(times), pa.timestamp("us"), form)
    toml = TOML % align
    if form == "csv":
        toml = toml.replace('"parquet"', '"csv"').replace(
            'path = "s"', 'path = "s", options = { header = "true" }'
        )
    _, job, live = _jobs(tmp_path, toml, SQL)
    whole, _ = replay_here(monkeypatch, job, tmp_path / "out.parquet", ranges=ranges)
    steps = [(t + (STEP // 2 if align == "round" else 0)) // STEP for t in sorted(times)]
    rows = list(enumerate(steps))
    wanted = sorted(
        (a % 10, b % 10, datetime(1970, 1, 1) + timedelta(minutes=5 * q))
        for a, p in rows
        for b, q in rows
        if p < q <= p + 2
    )
    found = sorted(
        (r["i"], r["j"], r["at"]) for r in whole for _ in range(r.get("multiplicity", 1))
    )
    assert found == wanted
    answers, reasons, _ = _live(live, files)
    assert not reasons
    last = datetime(1970, 1, 1) + timedelta(minutes=5 * steps[-1])
    assert answers == [row for row in whole if row["at"] < last]


def test_times_between_two_steps_are_refused_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = write(tmp_path, [0, STEP, 2 * STEP, 3 * STEP, 4 * STEP + 1, 5 * STEP], pa.int64())
    _, job, live = _jobs(tmp_path, (TOML % "error"), SQL)
    with pytest.raises(DataError, match='align = "floor" or "round"'):
        replay_here(monkeypatch, job, tmp_path / "out.parquet", ranges=1)
    _, reasons, _ = _live(live, files)
    assert reasons == {"s.ts lies between two steps": 1}


def test_what_align_may_be(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="align is 'nearest'") as raised:
        make_catalog(tmp_path, TOML % "nearest")
    assert raised.value.source is not None
    assert raised.value.source.line == 4
