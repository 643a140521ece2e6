"""A live run of which most rows are rejected warns once for each reason, and goes on."""

from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from ontoweir.run.state_alarm import StateAlarm
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.arrivals.list_arrivals import ArrivedFile
from ontoweir.runtime.live.arrivals.read_arrivals import open_arrivals
from tests.runtime.live.test_one_rule import _jobs

TOML = """
[streams.s]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "1 second" }
[streams.s.columns]
i = { type = "int", min = 0, max = 9 }
"""


def warn(folder: Path, *batches: list[tuple[str, int]]) -> list[list[str]]:
    """The warnings after each micro-batch of rows: timestamp, i."""
    (folder / "s").mkdir()
    _, _, live = _jobs(folder, TOML, "SELECT s.i FROM s")
    (history,) = live.histories
    told: list[list[str]] = []
    state = begin_live(live)
    alarm = StateAlarm(1_000_000, None, lambda text: told[-1].append(text))
    for number, rows in enumerate(batches):
        told.append([])
        file = folder / "s" / f"{number}.parquet"
        pq.write_table(pa.table({"ts": [t for t, _ in rows], "i": [i for _, i in rows]}), file)
        arrived = [ArrivedFile(file.as_uri(), str(file), number)]
        portions, _ = open_arrivals(history, arrived, cast(SparkSession, None), folder / "staged")
        table = pa.concat_tables([p.load() for p in portions])
        state = advance_live(live, state, {"s": table}, 0.0).state
        alarm(state, live)
    return told


def test_half_of_the_rows_are_told_of_once(tmp_path: Path) -> None:
    good, wrong = ("2026-01-01T00:00:00", 1), ("01/02/2026 13:00:05", 1)
    first, second, third = warn(tmp_path, [good], [wrong, wrong], [wrong])
    assert first == third == []
    (text,) = second
    assert "2 of the 3 rows of s are rejected: ts is not of its type" in text
    assert "toml:2: " in text
    assert "declare the format of its timestamp" in text


def test_fewer_than_half_are_not(tmp_path: Path) -> None:
    rows = [(f"2026-01-01T00:00:0{n}", 1 + 9 * (n == 3)) for n in range(9)]
    assert warn(tmp_path, rows, [("2026-01-01T00:01:00", 1)]) == [[], []]
