"""The first replay of rows that come late: few rows are put into order where few can be wanted."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.runtime.chunks import row_groups
from ontoweir.runtime.replay.ranges import prefetch_chunks
from ontoweir.runtime.sources.history import HeldTimes
from tests.runtime.harness import make_catalog
from tests.runtime.verified.test_verified import Replays, same, settled

__all__ = ["settled"]

TOML = """
[streams.S]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "1 second", start = "1970-01-01T00:00:03Z", lateness = "PT4S" }
max_per_timestamp = 50
[streams.S.columns]
k = "int"
a = { type = "int", min = 0, max = 9 }
t = { type = "string", enum = ["x", "y"] }
v = "float"
"""
ONE = "SELECT X.t, X.v FROM S X WHERE X.a = 3"
FEW = "SELECT X.t, Y.v FROM S X, S Y WHERE X.a = 3 AND Y.a = 3 AND X.ts <= Y.ts AND Y.k > 70"
MANY = "SELECT X.t, X.v FROM S X WHERE X.a > 3"
BAD: dict[str, tuple[str, Any]] = {
    "all good": ("a", 3),
    "beyond the domain": ("a", 12),
    "not a number": ("v", float("nan")),
    "no such text": ("t", "z"),
    "no timestamp": ("ts", None),
    "not in the years": ("ts", 1 << 61),
    "before the start": ("ts", 1_000_000),
}


def _write(folder: Path, seed: int, bad: str, toml: str = TOML) -> Catalog:
    """400 rows in two files, up to four seconds late, of which two are not as declared."""
    random = np.random.default_rng(seed)
    rows = 400
    seconds = np.sort(random.integers(4, 40, rows))
    seconds = seconds[np.argsort(seconds + random.integers(0, 5, rows), kind="stable")]
    cells: dict[str, list[Any]] = {
        "ts": [int(s) * 1_000_000 for s in seconds],
        "k": list(range(rows)),
        "a": [None if r % 17 == 0 else r % 8 for r in range(rows)],
        "t": random.choice(["x", "y"], rows).tolist(),
        "v": random.choice([1.5, 2.5], rows).tolist(),
    }
    column, value = BAD[bad]
    for place in random.integers(rows // 3, rows, 2):
        cells[column][place] = value
    kinds = {"ts": pa.timestamp("us"), "k": pa.int32(), "a": pa.int16(), "v": pa.float64()}
    table = pa.table({n: pa.array(c, kinds.get(n)) for n, c in cells.items()})
    (folder / "s").mkdir(exist_ok=True)
    pq.write_table(table.slice(0, 150), folder / "s" / "1.parquet", row_group_size=40)
    pq.write_table(table.slice(150), folder / "s" / "2.parquet", row_group_size=70)
    return make_catalog(folder, toml)


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize(("seed", "sql"), [(0, ONE), (1, FEW)])
def test_answers_and_rejects_are_as_if_all_were_put_into_order(
    seed: int, sql: str, bad: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the first replay, and of the next, which knows what the first one has rejected."""
    catalog = _write(tmp_path, seed, bad)
    replays = Replays(tmp_path, monkeypatch)
    taken = _watch(monkeypatch)
    for size in (37, 1000):
        found = replays.run(catalog, sql, again=True, rows_per_chunk=size)
        assert taken
        known = replays.run(catalog, sql, rows_per_chunk=size)
        with monkeypatch.context() as plain:
            plain.setattr(prefetch_chunks, "list_late", lambda *_: {})
            whole = replays.run(catalog, sql, known=False, rows_per_chunk=size)
        same(found, whole)
        same(known, whole)
        taken.clear()


@pytest.mark.parametrize(
    ("sql", "declared", "thin"),
    [(ONE, "", True), (MANY, "", False), (ONE, 'keys = [["k", "ts"]]\n', False)],
    ids=["few", "many", "a key"],
)
def test_many_are_put_into_order_and_all_of_a_stream_with_a_key(
    sql: str, declared: str, thin: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toml = TOML.replace("[streams.S.columns]", f"{declared}[streams.S.columns]")
    catalog = _write(tmp_path, 1, "all good", toml)
    taken = _watch(monkeypatch)
    Replays(tmp_path, monkeypatch).run(catalog, sql)
    assert bool(taken) == thin


@pytest.mark.parametrize("most", [0, 100, 1 << 22])
@pytest.mark.parametrize("sql", [ONE, "SELECT 1 AS one FROM S X"])
def test_timestamps_that_are_held_are_not_decoded_again(
    sql: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as there is room for; the answers are the same."""
    toml = TOML
    if sql != ONE:  # no column is read then
        toml = TOML.partition("a = {")[0]
    catalog = _write(tmp_path, 3, "all good", toml)
    replays = Replays(tmp_path, monkeypatch)
    read: list[list[str]] = []
    group: Any = vars(row_groups)["read_group"]

    def note(source: Any, footer: Any, piece: Any, wanted: Any, rows: Any) -> Any:
        read.append(list(wanted))
        return group(source, footer, piece, wanted, rows)

    monkeypatch.setattr(row_groups, "read_group", note)
    monkeypatch.setattr(HeldTimes, "MOST", most)
    found = replays.run(catalog, sql, known=False)
    times = sum("ts" in columns for columns in read)
    groups = 4 + 4  # of the two files
    held = {0: 0, 100: 2}.get(most, groups)
    assert groups + groups - held <= times <= 2 * groups + 4 - held
    monkeypatch.setattr(HeldTimes, "MOST", 0)
    same(found, replays.run(catalog, sql, known=False))


def _watch(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Notes what order_wanted is called with."""
    order: Any = vars(row_groups)["order_wanted"]
    taken: list[Any] = []

    def note(*given: Any) -> Any:
        taken.append(given)
        return order(*given)

    monkeypatch.setattr(row_groups, "order_wanted", note)
    return taken
