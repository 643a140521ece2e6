"""Row groups that are read as one have the rows that they have one by one."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.runtime.chunks import portions as read_module
from ontoweir.runtime.chunks import unite_groups as module
from ontoweir.runtime.chunks.portions import Portions
from ontoweir.runtime.chunks.unite_groups import unite_groups
from ontoweir.runtime.sources.history import Cursor, History, Piece
from ontoweir.runtime.sources.list_pieces import list_pieces
from tests.runtime.harness import make_catalog

CATALOG = """
[streams.s]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "1 second" }
[streams.s.columns]
k = "int"
x = "double"
b = "boolean"
t = "string"
d = "decimal(9, 2)"
"""


def _write(folder: Path, rows: int, random: Random) -> tuple[History, pa.Table]:
    """A history of two files with many row groups, the columns that Arrow reads by itself."""
    table = pa.table(
        {
            "k": pa.array([random.choice([None, i]) for i in range(rows)], pa.int64()),
            "x": pa.array([i / 3 for i in range(rows)]),
            "b": pa.array([random.choice([True, False, None]) for _ in range(rows)]),
            "ts": pa.array([i // 3 * 1_000_000 for i in range(rows)], pa.timestamp("us")),
        }
    )
    folder.mkdir(exist_ok=True)
    cut = random.randint(1, rows - 1)
    size = random.choice([3, 7, 20])
    for name, part in (("1", table.slice(0, cut)), ("2", table.slice(cut))):
        pq.write_table(part, folder / f"{name}.parquet", row_group_size=size)
    stream = make_catalog(folder, CATALOG).streams["s"]
    files = [str(folder / f"{n}.parquet") for n in "12"]
    columns = ("k", "x", "b")
    pieces = list_pieces(files, stream, (*columns, "ts"), start_us=None, stop_us=None)
    return History(stream, columns, pieces, staged=False), table


@pytest.mark.parametrize("seed", range(12))
def test_rows_of_united_groups(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From any place on, most often from where it was; and where a row is in its file."""
    random = Random(seed)
    rows = random.randint(40, 400)
    single, table = _write(tmp_path, rows, random)
    monkeypatch.setattr(module, "_PIECES", random.choice([2, 5]))
    monkeypatch.setattr(read_module, "FEWEST", random.choice([1, 5, 64]))
    pieces = unite_groups(single.pieces, single.stream, single.columns, least=0)
    history = replace(single, pieces=pieces)
    assert len(pieces) < len(single.pieces)
    assert history.rows == rows
    assert history.size == single.size
    assert [p.low for p in pieces] == sorted(p.low or 0 for p in pieces)
    wanted, place = table.select([*history.columns, "ts"]).to_pylist(), 0
    with closing(Portions()) as portions:
        for _ in range(120):
            limit, cursor = random.randint(1, 60), Cursor().moved(history, place, None)
            found = portions.read(history, cursor, limit, None).table.to_pylist()
            assert 0 < len(found) <= limit
            assert found == wanted[place : place + len(found)]
            assert history.place(cursor, 0) == single.place(Cursor(), place)
            place += len(found)
            if random.random() < 0.1 or place >= rows:
                place = random.randrange(rows)
            if random.random() < 0.5:
                portions.forget(history, Cursor().moved(history, place, None))


def _piece(group: int, first: int, low: int | None, high: int | None, file: str = "f") -> Piece:
    return Piece(file, group, 10, file, first, {}, low, high, 80)


def test_what_is_united(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PIECES", 1)
    stream = make_catalog(tmp_path, CATALOG).streams["s"]

    def unite(*pieces: Piece, columns: tuple[str, ...] = ("k", "x"), least: int = 0) -> list[int]:
        return [p.groups for p in unite_groups(pieces, stream, columns, least)]

    first, second = _piece(0, 1, 0, 5), _piece(1, 11, 5, 9)
    assert unite(first, second) == [2]
    assert unite(first, second, columns=()) == [2]
    assert unite(_piece(0, 1, None, None), _piece(1, 11, None, None)) == [2]
    # twins: one thing differs
    assert unite(first, second, columns=("k", "t")) == [1, 1]
    assert unite(first, second, columns=("d",)) == [1, 1]
    assert unite(first, second, columns=("folder",)) == [1, 1]
    assert unite(first, second, least=21) == [1, 1]
    assert unite(first, _piece(1, 11, 4, 9)) == [1, 1]
    assert unite(first, _piece(1, 11, None, None)) == [1, 1]
    assert unite(first, _piece(2, 11, 5, 9)) == [1, 1]
    assert unite(first, _piece(1, 12, 5, 9)) == [1, 1]
    assert unite(first, _piece(1, 11, 5, 9, "g")) == [1, 1]
    assert unite() == []
    monkeypatch.setattr(module, "_MOST", 19)
    assert unite(first, second) == [1, 1]
