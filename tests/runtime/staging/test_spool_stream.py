"""Streams that are not Parquet in the order of time are made ready without Spark."""

from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from ontoweir.errors import DataError
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest
from ontoweir.runtime.replay.replay_summary import ReplaySummary
from ontoweir.runtime.staging.sort_parts import sort_parts
from tests.runtime.harness import Row, make_catalog, make_sql_job, read_rows

TOML = """
[relations.r]
source = {{ format = "csv", path = "r", options = {{ header = "true" }} }}
keys = [["k"]]
columns = {{ k = "int", t = "date" }}
[streams.s]
source = {{ format = "csv", path = "s", options = {{ header = "true" }}{sort} }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 9
references = [{{ columns = ["k"], relation = "r", to = ["k"] }}]
[streams.s.columns]
k = {{ type = "int", min = 0, max = 5 }}
v = "decimal(6,2)"
"""
SQL = "SELECT a.k, a.v, b.v AS w FROM s a, s b WHERE a.k = b.k AND b.ts > a.ts AND b.ts <= a.ts + 3"
SQL = SQL.replace("+ 3", "+ INTERVAL '3' SECOND")


def _never() -> SparkSession:
    raise AssertionError("a session was asked for")


class Told:
    """Keeps what a listener is told before anything is replayed."""

    def __init__(self) -> None:
        self.rows: list[int] = []

    def update(self, progress: object) -> None:
        """See ProgressListener."""

    def prepare(self, *, stream: str, tuples: int) -> None:
        """See PreparationListener."""
        assert stream == "s"
        self.rows.append(tuples)


def _lines() -> list[str]:
    random = Random(3)
    cells = ("1.25", "-7", "", "1.255", "many")
    return [
        f"{random.choice(cells)},1970-01-01 00:00:{n // 2:02d},{random.randint(0, 6)}"
        for n in range(100)
    ]


def _write(folder: Path, lines: list[str], sort: str = "") -> None:
    (folder / "r").mkdir(parents=True)
    (folder / "r" / "1.csv").write_text("k,t\n0,2020-01-01\n1,\n2,2020-1-3\n")
    (folder / "r" / "2.csv").write_text("t,k\n,3\n,4\n,5\n")
    (folder / "s").mkdir()
    for number, part in enumerate((lines[:40], [], lines[40:])):
        text = "\r\n".join(["v,ts,k", *part, ""])
        (folder / "s" / f"{'ca'[number == 2]}{number}.csv").write_text(text)
    (folder / "s" / "empty.csv").write_bytes(b"")
    (folder / "ontoweir.toml").write_text(TOML.format(sort=sort))


def _run(folder: Path, listener: Told | None = None) -> tuple[list[Row], ReplaySummary]:
    catalog = make_catalog(folder, (folder / "ontoweir.toml").read_text())
    job = make_sql_job(SQL, catalog)
    output = folder / "out.parquet"
    summary = replay_history(job, ReplayRequest(output, "parquet"), spark=_never, progress=listener)
    assert not [p for p in folder.iterdir() if p.name.startswith(".")]
    return read_rows(output), summary


def test_csv_in_order_and_to_be_sorted(tmp_path: Path) -> None:
    """The files by the times inside, whatever their names; sorted, the rows may stand anyhow."""
    lines = _lines()
    told = Told()
    _write(tmp_path / "one", lines)
    rows, summary = _run(tmp_path / "one", told)
    assert len(rows) > 5
    assert (told.rows[0], told.rows[-1]) == (60, 100)
    assert summary.tuples == 100
    assert summary.rejected["v is not of its type"] > 10
    Random(5).shuffle(lines)
    _write(tmp_path / "two", lines, ", sort = true")
    again, sorted_summary = _run(tmp_path / "two")
    assert sorted(map(str, again)) == sorted(map(str, rows))
    assert sorted_summary.rejected == summary.rejected


def test_a_file_that_goes_backwards_is_refused_with_its_row(tmp_path: Path) -> None:
    lines = _lines()
    lines[10], lines[50] = lines[50], lines[10]
    _write(tmp_path, lines)
    with pytest.raises(DataError, match="goes backwards") as error:
        _run(tmp_path)
    assert str(error.value.source) == f"{tmp_path / 's' / 'c0.csv'}:13"


@pytest.mark.parametrize("far", [1, 10**15, 1 << 58])
@pytest.mark.parametrize("at_once", [1, 7, 60, 1000])
def test_rows_are_sorted_in_spans(at_once: int, far: int, tmp_path: Path) -> None:
    random = Random(at_once)
    parts = []
    for number in range(3):
        times = [random.choice([None, *range(-9 * far, 30 * far, far)]) for _ in range(80)]
        table = pa.table(
            {"t": pa.array(times, pa.int64()), "n": [f"{number}-{i}" for i in range(80)]}
        )
        parts.append(tmp_path / str(number))
        pq.write_table(table, parts[-1], row_group_size=11)
    sort_parts(parts, "t", tmp_path / "all", at_once)
    assert len(list(tmp_path.iterdir())) == 4
    rows = [row for part in parts for row in pq.read_table(part).to_pylist()]
    wanted = sorted(rows, key=lambda row: -100 * far if row["t"] is None else row["t"])
    assert pq.read_table(tmp_path / "all").to_pylist() == wanted
