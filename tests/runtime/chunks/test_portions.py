"""Rows of row groups, portion by portion, are those that the files have, from any place on."""

import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.errors import DataError
from ontoweir.runtime.chunks import portions as module
from ontoweir.runtime.chunks.portions import Portions
from ontoweir.runtime.chunks.reopened_file import open_again
from ontoweir.runtime.sources.history import Cursor, History
from ontoweir.runtime.sources.list_pieces import list_pieces
from tests.runtime.harness import make_catalog

CATALOG = """
[streams.s]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "1 second" }
[streams.s.columns]
k = "int"
t = "string"
d = "decimal(9, 2)"
x = "double"
"""


def write(folder: Path, rows: int, random: Random) -> tuple[History, pa.Table]:
    """A history of two files, of every kind of column that is read in its own way; its rows."""
    texts = ["", "a", "long " * 20, "ü"]
    table = pa.table(
        {
            "k": pa.array([random.choice([None, i]) for i in range(rows)], pa.int64()),
            "t": pa.array([random.choice([*texts, None, str(i)]) for i in range(rows)]),
            "d": pa.array(
                [random.choice([None, Decimal(i % 90) / 4]) for i in range(rows)],
                pa.decimal128(9, 2),
            ),
            "x": pa.array([i / 3 for i in range(rows)]),
            "ts": pa.array([i // 3 * 1_000_000 for i in range(rows)], pa.timestamp("us")),
        }
    )
    folder.mkdir(exist_ok=True)
    cut = random.randint(1, rows - 1)
    for name, part in (("1", table.slice(0, cut)), ("2", table.slice(cut))):
        pq.write_table(
            part,
            folder / f"{name}.parquet",
            row_group_size=random.choice([7, 50, 1000]),
            use_dictionary=random.choice([True, False, ["d"]]),
            data_page_size=random.choice([64, 1 << 20]),
        )
    stream = make_catalog(folder, CATALOG).streams["s"]
    columns = ("k", "t", "d", "x")
    files = [str(folder / f"{n}.parquet") for n in "12"]
    pieces = list_pieces(files, stream, (*columns, "ts"), start_us=None, stop_us=None)
    return History(stream, columns, pieces, staged=False), table


def move(history: History, row: int) -> Cursor:
    """The cursor of a row."""
    return Cursor().moved(history, row, None)


@pytest.mark.parametrize("seed", range(16))
def test_rows_from_any_place_on(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most often on from where it was, or a little before it, at times from anywhere."""
    random = Random(seed)
    rows = random.randint(20, 400)
    history, table = write(tmp_path, rows, random)
    monkeypatch.setattr(module, "FEWEST", random.choice([1, 5, 64]))
    monkeypatch.setattr(module, "_OPEN", random.choice([0, 64]))
    wanted = table.select([*history.columns, "ts"]).to_pylist()
    place, enough = 0, random.choice([None, 1, 100])
    with closing(Portions(enough=enough)) as portions:
        for _ in range(120):
            limit = random.randint(1, 60)
            stop = random.choice([None, None, random.randint(0, rows) * 1_000_000])
            read = portions.read(history, move(history, place), limit, stop)
            found = read.table.to_pylist()
            assert 0 < len(found) <= limit
            assert found == wanted[place : place + len(found)]
            place += len(found)
            drawn = random.randint(0, 9)
            if drawn == 0:
                place = random.randrange(rows)
            elif drawn < 3:
                place = max(0, place - random.randint(0, 5))
            place = place if place < rows else 0
            if random.random() < 0.5:
                portions.forget(history, move(history, place))


def test_only_what_may_be_asked_for_again_is_held(tmp_path: Path) -> None:
    history, table = write(tmp_path, 400, Random(1))
    with closing(Portions()) as portions:
        place = 0
        while place < 400:
            cursor = move(history, place)
            portions.forget(history, cursor)
            place += portions.read(history, cursor, 10, None).num_rows
            scan = portions._scans["s"]
            assert len(scan.held) <= 2
    assert place == table.num_rows


def test_a_row_group_that_ends_early_is_an_error_and_not_fewer_rows(tmp_path: Path) -> None:
    history, _ = write(tmp_path, 60, Random(2))
    first = history.pieces[0]
    longer = replace(history, pieces=(replace(first, rows=first.rows + 5),))

    def read_on(portions: Portions) -> None:
        place = Cursor()
        while place.piece == 0:
            found = portions.read(longer, place, 1000, None)
            place = place.moved(longer, found.num_rows, None)

    with closing(Portions()) as portions, pytest.raises(DataError, match="row group 0 has"):
        read_on(portions)


def test_a_file_that_is_gone_is_an_error(tmp_path: Path) -> None:
    history, _ = write(tmp_path, 60, Random(3))
    os.unlink(history.pieces[0].file)
    with closing(Portions()) as portions, pytest.raises(DataError, match=r"1\.parquet"):
        portions.read(history, Cursor(), 10, None)


@pytest.mark.parametrize("way", [open_again, pa.OSFile])
def test_a_file_opened_for_each_access_is_as_one_that_stays_open(
    way: Callable[[str], pa.NativeFile], tmp_path: Path
) -> None:
    (tmp_path / "f").write_bytes(bytes(range(100)))
    with way(str(tmp_path / "f")) as file:
        assert file.size() == 100
        assert file.read(3) == b"\x00\x01\x02"
        file.seek(98)
        assert file.read(10) == b"bc"
        assert file.tell() == 100


def test_the_next_piece_is_decoded_beside_and_only_its_beginning_is_held(tmp_path: Path) -> None:
    history = write_groups(tmp_path, groups=3, rows=40)
    with closing(Portions()) as portions:
        portions._find_scan(history, 10).size = 10
        portions.read(history, Cursor(), 10, None)
        scan = portions._scans["s"]
        assert set(scan.lanes) == {0, 1}
        coming = scan.lanes[1].coming
        assert coming is not None
        assert [p.num_rows for p in coming.result().portions] == [10, 10]
        place = 10
        while place < 40:
            cursor = move(history, place)
            portions.forget(history, cursor)
            place += portions.read(history, cursor, 10, None).num_rows
            assert scan.lanes[1].coming is coming
        portions.forget(history, move(history, 40))
        portions.read(history, move(history, 40), 10, None)
        assert set(scan.lanes) == {1, 2}
        assert [h.place for h in scan.held] == [(1, 0), (1, 10)]


@pytest.mark.parametrize(("streams", "beside"), [(1, True), (2, False)])
def test_of_several_streams_one_piece_each_is_decoded(
    streams: int, beside: bool, tmp_path: Path
) -> None:
    history = write_groups(tmp_path, groups=2, rows=40)
    with closing(Portions(streams=streams)) as portions:
        portions._find_scan(history, 10).size = 10
        portions.read(history, Cursor(), 10, None)
        assert (1 in portions._scans["s"].lanes) == beside


@pytest.mark.parametrize(("enough", "decoded"), [(None, {0, 1}), (20, {0, 1}), (10, {0})])
def test_nothing_is_decoded_ahead_of_what_is_enough(
    enough: int | None, decoded: set[int], tmp_path: Path
) -> None:
    history = write_groups(tmp_path, groups=3, rows=40)
    with closing(Portions(enough=enough)) as portions:
        scan = portions._find_scan(history, 10)
        scan.size = 10
        portions.read(history, Cursor(), 10, None)
        assert set(scan.lanes) == decoded
        assert (scan.lanes[0].coming is None) == (decoded == {0})


def test_what_is_wrong_with_the_next_piece_is_said_when_it_is_asked_for(tmp_path: Path) -> None:
    history = write_groups(tmp_path, groups=2, rows=40)
    longer = replace(history.pieces[1], rows=45)
    wrong = replace(history, pieces=(history.pieces[0], longer))
    with closing(Portions()) as portions:
        for piece in (0, 1):
            found = portions.read(wrong, Cursor(piece), 50, None)
            assert found.table.column("k").to_pylist() == [40 * piece + i for i in range(40)]
        for _ in range(2):
            with pytest.raises(DataError, match="row group 1 has 40 rows of 45"):
                portions.read(wrong, Cursor(1, 40), 50, None)


def write_groups(folder: Path, groups: int, rows: int) -> History:
    """A history of one file with so many row groups of so many rows, numbered by `k`."""
    (folder / "s").mkdir()
    numbers = range(groups * rows)
    table = pa.table(
        {
            "k": pa.array(numbers, pa.int64()),
            "ts": pa.array([i * 1_000_000 for i in numbers], pa.timestamp("us")),
        }
    )
    file = str(folder / "s" / "1.parquet")
    pq.write_table(table, file, row_group_size=rows)
    stream = make_catalog(folder, CATALOG).streams["s"]
    pieces = list_pieces([file], stream, ("k", "ts"), start_us=None, stop_us=None)
    return History(stream, ("k",), pieces, staged=False)
