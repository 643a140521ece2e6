"""A history that was replayed whole is not held to its declarations again, while its files stay."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.cache.open_cache import Cache
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.runtime.chunks.row_groups import RowGroups
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest
from ontoweir.runtime.replay.replay_summary import ReplaySummary
from ontoweir.runtime.sources import identify_file as module
from ontoweir.runtime.verified.identify_streams import identify_streams
from ontoweir.runtime.verified.verification import begin_verification
from tests.runtime.harness import Row, make_catalog, make_sql_job, read_rows
from tests.runtime.in_process import replay_here

TOML = """
[streams.S]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "1 second", start = "1970-01-01T00:00:03Z" }
max_per_timestamp = 50
keys = [["k", "ts"]]
references = [{ columns = ["a"], relation = "R", to = ["a"] }]
[streams.S.columns]
k = "int"
a = { type = "int", min = 0, max = 9 }
t = { type = "string", enum = ["x", "y"] }
v = "float"
w = "int"
[relations.R]
source = { format = "csv", path = "r.csv", options = { header = "true" } }
keys = [["a"]]
[relations.R.columns]
a = "int"
n = "string"
"""
JOIN = "SELECT X.a FROM S X, S Y WHERE X.a = Y.a AND X.ts < Y.ts AND X.t = 'x' AND Y.k IS NOT NULL"
SITES = "SELECT R.n, X.t FROM S X, R WHERE R.a = X.a AND X.t = 'y'"
TIMES = "SELECT X.t FROM S X WHERE X.a = 3"
WHOLE = "SELECT X.w FROM S X WHERE X.a = 2"


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as settled at once."""
    monkeypatch.setattr(module, "_SETTLED", -(10**12))


def write_history(folder: Path, seed: int, toml: str = TOML, *, wild: bool = True) -> Catalog:
    """Random rows; if `wild`, some break each of the declarations."""
    (folder / "s").mkdir(exist_ok=True)
    write_rows(folder, seed, wild=wild)
    (folder / "r.csv").write_text("a,n\n" + "".join(f"{i},n{i % 3}\n" for i in range(8)))
    return make_catalog(folder, toml)


def write_rows(folder: Path, seed: int, *, wild: bool = True) -> None:
    """The stream's two files."""
    random = np.random.default_rng(seed)
    rows, odd = 400, 13 if wild else 8
    times = np.sort(random.integers(0 if wild else 4, 40, rows)) * 1_000_000
    table = pa.table(
        {
            "ts": pa.array(times).cast(pa.timestamp("us")),
            "k": pa.array(random.integers(0, 12, rows) if wild else np.arange(rows), pa.int32()),
            "a": pa.array([None if r % 17 == 0 else int(r) % odd for r in range(rows)], pa.int16()),
            "t": pa.array(random.choice(["x", "y", "z"] if wild else ["x", "y"], rows)),
            "v": pa.array(random.choice([1.5, float("nan")] if wild else [1.5], rows)),
            "w": pa.array(random.choice([1.0, 2.0, 2.5] if wild else [1.0, 2.0], rows)),
        }
    )
    pq.write_table(table.slice(0, 150), folder / "s" / "1.parquet", row_group_size=40)
    pq.write_table(table.slice(150), folder / "s" / "2.parquet", row_group_size=70)


class Replays:
    """Replays with a cache; notes which columns are read."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.cache = folder, Cache(folder / "cache")
        self.cache.folder.mkdir()
        self.read: set[str] = set()
        load: Callable[..., Any] = RowGroups._load

        def noted(groups: RowGroups, history: Any, piece: Any) -> Any:
            self.read |= {*history.columns}
            return load(groups, history, piece)

        def scanned(groups: RowGroups, history: Any, piece: Any, rows: int, **more: Any) -> Any:
            self.read |= {*history.columns}
            return scan(groups, history, piece, rows, **more)

        scan = RowGroups.scan
        monkeypatch.setattr(RowGroups, "_load", noted)
        monkeypatch.setattr(RowGroups, "scan", scanned)

    def run(
        self, catalog: Catalog, sql: str, *, known: bool = True, again: bool = False, **options: Any
    ) -> tuple[list[Row], ReplaySummary]:
        """The answers, and the summary; `known`: what was verified is used, and kept."""
        verification = None
        if known:
            verification = begin_verification(self.cache, catalog, ["S", "R"], again=again)
        self.read.clear()
        output = self.folder / "out.parquet"
        chunk = {"rows_per_chunk": 90, **options}
        request = ReplayRequest(output, "parquet", verification=verification, **chunk)
        summary = replay_history(make_sql_job(sql, catalog), request)
        return read_rows(output), summary


def same(one: tuple[list[Row], ReplaySummary], other: tuple[list[Row], ReplaySummary]) -> None:
    """Equal answers, and equal counts."""
    assert one[0] == other[0]
    for name in ("tuples", "markers", "results", "state_rows_max"):
        assert getattr(one[1], name) == getattr(other[1], name)
    assert dict(one[1].rejected) == dict(other[1].rejected)


@pytest.mark.parametrize("seed", range(4))
def test_the_second_replay_reads_less(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of any query; the answers, and what is rejected, are the same, also of part of history."""
    catalog = write_history(tmp_path, seed)
    replays = Replays(tmp_path, monkeypatch)
    first = replays.run(catalog, JOIN)
    assert replays.read >= {"k", "a", "t", "v"}
    assert sorted(first[1].rejected) == [
        "S repeats the key (k, ts)",
        "S.a is not in R.a",
        "S.a is outside its declared domain",
        "S.t is outside its declared domain",
        "S.ts is before the declared start",
        "S.v is NaN",
    ]
    for size in (37, 1000):
        same(replays.run(catalog, JOIN, rows_per_chunk=size), first)
        assert replays.read == {"a", "t"}
    for sql in (SITES, TIMES):
        same(replays.run(catalog, sql), replays.run(catalog, sql, known=False))
    replays.run(catalog, TIMES)
    assert replays.read == {"a", "t"}
    part: dict[str, Any] = {
        "start": datetime.fromtimestamp(7, UTC),
        "stop": datetime.fromtimestamp(23, UTC),
    }
    same(replays.run(catalog, JOIN, **part), replays.run(catalog, JOIN, known=False, **part))


@pytest.mark.parametrize("seed", range(2))
def test_ranges_know_it_too(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks of Spark, each of a part of history."""
    catalog = write_history(tmp_path, seed)
    replays = Replays(tmp_path, monkeypatch)
    first = replays.run(catalog, JOIN)
    replays.read.clear()
    known = begin_verification(replays.cache, catalog, ["S", "R"], again=False)
    options = {"verification": known, "rows_per_chunk": 37, "rows_per_range": 60, "ranges": 4}
    job, out = make_sql_job(JOIN, catalog), tmp_path / "ranges.parquet"
    _, summary = replay_here(monkeypatch, job, out, engine="spark", **options)
    assert summary.ranges > 2
    assert replays.read == {"a", "t"}
    assert read_rows(out) == first[0]
    assert dict(summary.rejected) == dict(first[1].rejected)


def test_part_of_history_verifies_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = write_history(tmp_path, 1)
    replays = Replays(tmp_path, monkeypatch)
    replays.run(catalog, JOIN, stop=datetime.fromtimestamp(23, UTC))
    replays.run(catalog, JOIN)
    assert "v" in replays.read


def rewrite_in_place(folder: Path) -> None:
    """Another content of the same size, with the old times."""
    file = folder / "s" / "2.parquet"
    before = file.stat()
    table = pq.read_table(file)
    values = table.column("v").to_numpy().copy()
    values[::2] = 7.5
    place = table.schema.get_field_index("v")
    other = table.set_column(place, "v", pa.array(values))
    pq.write_table(other, file, row_group_size=70)
    with file.open("r+b") as opened:
        opened.truncate(before.st_size)
    pq.write_table(other, file, row_group_size=70)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def replace_file(folder: Path) -> None:
    """Another file of the name."""
    new = folder / "new.parquet"
    pq.write_table(pq.read_table(folder / "s" / "2.parquet").slice(3), new)
    os.replace(new, folder / "s" / "2.parquet")


def add_file(folder: Path) -> None:
    """One more file."""
    pq.write_table(pq.read_table(folder / "s" / "2.parquet").slice(249), folder / "s" / "3.parquet")


def change_relation(folder: Path) -> None:
    """Fewer values may be referenced."""
    (folder / "r.csv").write_text("a,n\n1,one\n2,two\n")


@pytest.mark.parametrize(
    "change", [rewrite_in_place, replace_file, add_file, change_relation], ids=lambda f: f.__name__
)
def test_what_changed_is_verified_again(
    change: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = write_history(tmp_path, 2)
    replays = Replays(tmp_path, monkeypatch)
    before = replays.run(catalog, JOIN)
    change(tmp_path)
    after = replays.run(catalog, JOIN)
    assert "v" in replays.read
    assert after[1].rejected != before[1].rejected
    same(after, replays.run(catalog, JOIN, known=False))


def test_one_byte_that_changed_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The size, the footer and the time of the last write are as they were."""
    catalog = write_history(tmp_path, 2)
    replays = Replays(tmp_path, monkeypatch)
    known = identify_streams(catalog, ["S"])
    replays.run(catalog, JOIN)
    file = tmp_path / "s" / "1.parquet"
    before = file.stat()
    with file.open("r+b") as opened:
        opened.seek(200)
        byte = opened.read(1)
        opened.seek(200)
        opened.write(bytes([byte[0] ^ 1]))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = file.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert identify_streams(catalog, ["S"]) != known


def test_declarations_that_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = write_history(tmp_path, 3)
    replays = Replays(tmp_path, monkeypatch)
    replays.run(catalog, JOIN)
    narrower = make_catalog(tmp_path, TOML.replace("max = 9", "max = 5"))
    same(replays.run(narrower, JOIN), replays.run(narrower, JOIN, known=False))
    replays.run(catalog, JOIN)
    assert "v" not in replays.read


def test_files_that_are_too_new_are_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SETTLED", 10**13)
    catalog = write_history(tmp_path, 3)
    assert identify_streams(catalog, ["S"]) == {}


def test_asked_to_verify(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = write_history(tmp_path, 3)
    replays = Replays(tmp_path, monkeypatch)
    first = replays.run(catalog, JOIN)
    same(replays.run(catalog, JOIN, again=True), first)
    assert "v" in replays.read


def test_a_record_that_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = write_history(tmp_path, 3)
    replays = Replays(tmp_path, monkeypatch)
    first = replays.run(catalog, JOIN)
    (record,) = replays.cache.folder.iterdir()
    record.write_bytes(record.read_bytes()[:-9] + b"}")
    same(replays.run(catalog, JOIN), first)
    assert "v" in replays.read


def test_a_column_that_may_not_be_of_its_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of doubles declared as whole numbers some are none: rows are rejected where they are read,
    so that who reads them first verifies again."""
    catalog = write_history(tmp_path, 5)
    replays = Replays(tmp_path, monkeypatch)
    replays.run(catalog, JOIN)
    first = replays.run(catalog, WHOLE)
    assert replays.read >= {"v", "w"}
    assert first[1].rejected["w is not of its type"]
    same(replays.run(catalog, WHOLE), first)
    assert replays.read == {"a", "w"}
    same(replays.run(catalog, WHOLE, known=False), first)


def test_columns_of_good_rows_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is rejected, each query's replay verifies its columns once."""
    catalog = write_history(tmp_path, 6, wild=False)
    replays = Replays(tmp_path, monkeypatch)
    replays.run(catalog, JOIN)
    replays.run(catalog, WHOLE)
    for sql, read in ((JOIN, {"a", "t"}), (WHOLE, {"a", "w"})):
        assert not replays.run(catalog, sql)[1].rejected
        assert replays.read == read


def test_rows_without_a_time_are_verified_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = write_history(tmp_path, 7)
    file = tmp_path / "s" / "2.parquet"
    table = pq.read_table(file)
    times = table.column("ts").to_pylist()
    times[5] = None
    pq.write_table(table.set_column(0, "ts", pa.array(times, pa.timestamp("us"))), file)
    replays = Replays(tmp_path, monkeypatch)
    first = replays.run(catalog, JOIN)
    assert first[1].rejected["S.ts is NULL"] == 1
    same(replays.run(catalog, JOIN), first)
    assert "v" in replays.read


def test_a_null_is_seen_although_its_column_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`k IS NOT NULL` reads k where a row group says that it has one, or says nothing."""
    catalog = write_history(tmp_path, 8, TOML.replace('keys = [["k", "ts"]]\n', ""), wild=False)
    replays = Replays(tmp_path, monkeypatch)
    replays.run(catalog, JOIN)
    assert "k" not in replays.read
    file = tmp_path / "s" / "2.parquet"
    table = pq.read_table(file)
    numbers = table.column("k").to_pylist()
    numbers[60] = None
    place = table.schema.get_field_index("k")
    other = table.set_column(place, "k", pa.array(numbers, pa.int32()))
    pq.write_table(other, file, row_group_size=20)
    fewer = replays.run(catalog, JOIN)
    assert "k" in replays.read
    pq.write_table(other, file, row_group_size=20, write_statistics=False)
    same(replays.run(catalog, JOIN), fewer)
    assert "k" in replays.read


@pytest.mark.parametrize("seed", range(8))
def test_whatever_happens_between_replays(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Queries, changes of data and of declarations in any order: as if nothing were known."""
    random = Random(seed)
    write_history(tmp_path, seed, wild=random.random() < 0.7)
    replays = Replays(tmp_path, monkeypatch)
    toml = TOML
    for _ in range(8):
        match random.choice(["query", "query", "query", "rows", "relation", "declare"]):
            case "rows":
                write_rows(tmp_path, random.randrange(99), wild=random.random() < 0.7)
            case "relation":
                keys = sorted(random.sample(range(10), random.randint(2, 10)))
                (tmp_path / "r.csv").write_text("a,n\n" + "".join(f"{k},n{k}\n" for k in keys))
            case "declare":
                toml = TOML.replace("max = 9", f"max = {random.randint(3, 12)}")
                toml = toml.replace('"x", "y"', random.choice(['"x", "y"', '"x", "y", "z"', '"x"']))
                if random.random() < 0.3:
                    toml = toml.replace('keys = [["k", "ts"]]', 'keys = [["a", "ts"]]')
            case _:
                pass
        catalog = make_catalog(tmp_path, toml)
        sql = random.choice([JOIN, SITES, TIMES, WHOLE])
        options: dict[str, Any] = {"rows_per_chunk": random.choice([30, 90, 1000])}
        same(replays.run(catalog, sql, **options), replays.run(catalog, sql, known=False))
