"""Where the rows of a stream that come late are in the order of time is found once, too."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.runtime.chunks import row_groups
from ontoweir.runtime.replay import open_history as module
from ontoweir.runtime.verified.verification import begin_verification
from tests.runtime.harness import make_catalog, make_sql_job, read_rows
from tests.runtime.in_process import replay_here
from tests.runtime.verified.test_verified import (
    JOIN,
    SITES,
    TIMES,
    TOML,
    Replays,
    add_file,
    replace_file,
    same,
    settled,
    write_history,
)

__all__ = ["settled"]

LATE = TOML.replace('unit = "1 second",', 'unit = "1 second", lateness = "4 seconds",')
TEXT = LATE.replace(
    'source = { format = "parquet", path = "s" }',
    'source = { format = "csv", path = "s/*.csv", options = { header = "true" } }',
)


ONE = "SELECT X.t FROM S X WHERE X.a = 3"
FEW = "SELECT X.t, Y.w FROM S X, S Y WHERE X.a = 3 AND Y.a = 3 AND X.ts <= Y.ts AND Y.k > 70"
MANY = "SELECT X.t, X.w FROM S X WHERE X.a > 3"


@pytest.fixture(autouse=True)
def looked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The streams whose timestamps were looked at for their order."""
    names: list[str] = []
    find: Any = vars(module)["find_disorder"]

    def note(stream: Any, *rest: Any, **more: Any) -> Any:
        names.append(stream.name)
        return find(stream, *rest, **more)

    monkeypatch.setattr(module, "find_disorder", note)
    return names


def shuffle(
    folder: Path, seed: int, toml: str = LATE, *, most: int = 4, wild: bool = True
) -> Catalog:
    """Random rows, up to `most` seconds after later ones; if `wild`, some break declarations."""
    catalog = write_history(folder, seed, toml, wild=wild)
    random = np.random.default_rng(seed)
    files = sorted((folder / "s").glob("*.parquet"))
    table = pa.concat_tables([pq.read_table(f) for f in files])
    seconds = table.column("ts").cast(pa.int64()).to_numpy() // 1_000_000
    order = np.argsort(seconds + random.integers(0, most + 1, len(seconds)), kind="stable")
    mixed = table.take(pa.array(order))
    pq.write_table(mixed.slice(0, 150), files[0], row_group_size=40)
    pq.write_table(mixed.slice(150), files[1], row_group_size=70)
    if toml is TEXT:
        for file in files:
            pa.csv.write_csv(pq.read_table(file), file.with_suffix(".csv"))
    return catalog


@pytest.mark.parametrize("toml", [LATE, TEXT], ids=["parquet", "csv"])
@pytest.mark.parametrize("most", [0, 4, 9], ids=["in order", "late", "too late"])
@pytest.mark.parametrize("seed", range(3))
def test_the_second_replay_knows_the_order(
    seed: int,
    most: int,
    toml: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    looked: list[str],
) -> None:
    """Its answers, and what it rejects, are the same: of any query, in any portions, in ranges."""
    catalog = shuffle(tmp_path, seed, toml, most=most)
    replays = Replays(tmp_path, monkeypatch)
    first = replays.run(catalog, JOIN)
    assert ("v" in replays.read, looked) == (True, ["S"])
    assert any("is late" in reason for reason in first[1].rejected) == (most == 9)
    looked.clear()
    for size in (37, 1000):
        again = replays.run(catalog, JOIN, rows_per_chunk=size)
        same(again, first)
        assert again[1].late_rows == first[1].late_rows
        assert ("v" in replays.read, looked) == (False, [])
    for sql in (SITES, TIMES):
        known = replays.run(catalog, sql)
        assert looked == []
        same(known, replays.run(catalog, sql, known=False))
        looked.clear()


@pytest.mark.parametrize("most", [4, 9], ids=["late", "too late"])
@pytest.mark.parametrize("sql", [ONE, FEW, MANY])
@pytest.mark.parametrize("seed", range(3))
def test_of_few_rows_only_these_are_put_in_order(
    seed: int, sql: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of rows none of which is rejected; their timestamps are all looked at."""
    catalog = shuffle(tmp_path, seed, most=most, wild=False)
    replays = Replays(tmp_path, monkeypatch)
    first = replays.run(catalog, sql)
    order: Any = vars(row_groups)["order_wanted"]
    taken: list[Any] = []

    def note(*given: Any) -> Any:
        taken.append(given)
        return order(*given)

    monkeypatch.setattr(row_groups, "order_wanted", note)
    for size in (37, 1000):
        same(replays.run(catalog, sql, rows_per_chunk=size), first)
    assert bool(taken) == (sql != MANY)


@pytest.mark.parametrize("sql", [ONE, JOIN])
@pytest.mark.parametrize("seed", range(2))
def test_ranges_know_the_order_too(
    seed: int, sql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, looked: list[str]
) -> None:
    """Tasks of Spark, each of a part of history."""
    catalog = shuffle(tmp_path, seed, wild=sql == JOIN)
    replays = Replays(tmp_path, monkeypatch)
    first = replays.run(catalog, sql)
    looked.clear()
    known = begin_verification(replays.cache, catalog, ["S", "R"], again=False)
    options: dict[str, Any] = {"verification": known, "rows_per_range": 60, "ranges": 4}
    job, out = make_sql_job(sql, catalog), tmp_path / "ranges.parquet"
    _, summary = replay_here(monkeypatch, job, out, engine="spark", rows_per_chunk=37, **options)
    assert (summary.ranges > 2, looked) == (True, [])
    assert read_rows(out) == first[0]
    assert dict(summary.rejected) == dict(first[1].rejected)


def test_a_part_of_history_has_an_order_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, looked: list[str]
) -> None:
    catalog = shuffle(tmp_path, 1, most=9)
    replays = Replays(tmp_path, monkeypatch)
    replays.run(catalog, JOIN)
    times = (datetime.fromtimestamp(s, UTC) for s in (7, 23))
    part: dict[str, Any] = dict(zip(("start", "stop"), times, strict=True))
    looked.clear()
    same(replays.run(catalog, JOIN, **part), replays.run(catalog, JOIN, known=False, **part))
    assert looked == ["S", "S"]


@pytest.mark.parametrize("change", [replace_file, add_file], ids=lambda f: f.__name__)
def test_other_files_have_another_order(
    change: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, looked: list[str]
) -> None:
    catalog = shuffle(tmp_path, 2)
    replays = Replays(tmp_path, monkeypatch)
    replays.run(catalog, JOIN)
    change(tmp_path)
    looked.clear()
    same(replays.run(catalog, JOIN), replays.run(catalog, JOIN, known=False))
    assert looked == ["S", "S"]


def test_another_lateness_has_another_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, looked: list[str]
) -> None:
    catalog = shuffle(tmp_path, 3)
    replays = Replays(tmp_path, monkeypatch)
    replays.run(catalog, JOIN)
    looked.clear()
    shorter = make_catalog(tmp_path, LATE.replace("4 seconds", "2 seconds"))
    found = replays.run(shorter, JOIN)
    assert looked == ["S"]
    same(found, replays.run(shorter, JOIN, known=False))
