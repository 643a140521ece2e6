"""Rows that come late are read in the order of time, and those that come too late are not read."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given

from ontoweir.mappings.model.catalog import Column, DataSource, IntType, Stream
from ontoweir.runtime.chunks.row_groups import RowGroups
from ontoweir.runtime.lateness.find_disorder import find_disorder
from ontoweir.runtime.lateness.order_pieces import order_pieces
from ontoweir.runtime.sources.history import History, Piece
from ontoweir.runtime.sources.list_pieces import list_pieces
from ontoweir.runtime.sources.read_ordered import are_in_time, find_late
from ontoweir.runtime.times.late_rows import LateRows
from tests.oracle.budget import SEEDS, budget

Span = tuple[int | None, int | None]
EVERYTHING: Span = (None, None)


def _stream(lateness: int, folder: Path | str = "-") -> Stream:
    source = DataSource("parquet", str(folder))
    columns = (Column("n", IntType()),)
    return Stream("S", source, "ts", 1, 9, columns, lateness_us=lateness)


@dataclass
class Written:
    """Files of rows numbered as they come, with their timestamps, and the history of them."""

    stream: Stream
    times: Sequence[int | None]
    history: History


def _write(folder: Path, times: Sequence[int | None], lateness: int, random: Random) -> Written:
    files: list[str] = []
    at = 0
    kind = random.choice([pa.int64(), pa.timestamp("us"), pa.timestamp("us", "UTC")])
    while at < len(times) or not files:
        size = random.randint(1, max(1, len(times)))
        part = times[at : at + size]
        numbers = pa.array(range(at, at + len(part)), pa.int64())
        table = pa.table({"n": numbers, "ts": pa.array(part, pa.int64()).cast(kind)})
        files.append(str(folder / f"{len(files):03}.parquet"))
        pq.write_table(table, files[-1], row_group_size=random.randint(1, 7))
        at += size
    stream = _stream(lateness, folder)
    groups = list_pieces(files, stream, ("n", "ts"), start_us=None, stop_us=None)
    return Written(stream, times, History(stream, ("n",), groups, False))


def _find(written: Written, span: Span = EVERYTHING) -> History:
    history = written.history
    pieces, disorder, late = find_disorder(written.stream, history.pieces, span, staged=False)
    return replace(history, pieces=pieces, disorder=disorder, late=late)


def _expect(times: Sequence[int | None], lateness: int) -> tuple[list[int], dict[int, int]]:
    """The rows in the order of time, without those that have none; and how late the late are."""
    kept, late = [], {}
    reach = None
    for row, time in enumerate(times):
        if time is None:
            continue
        if reach is not None and reach - time > lateness:
            late[row] = reach - time
        else:
            kept.append((time, row))
        reach = time if reach is None else max(reach, time)
    return [row for _, row in sorted(kept)], late


def _read(history: History, indices: Sequence[int]) -> list[list[tuple[int, int | None]]]:
    with closing(RowGroups()) as reader:
        tables = [reader.read(history, i, 10, None) for i in indices]
        stamps = [t["ts"].cast(pa.int64()).to_pylist() for t in tables]
        return [
            list(zip(t["n"].to_pylist(), s, strict=True))
            for t, s in zip(tables, stamps, strict=True)
        ]


def _some_times(random: Random) -> list[int | None]:
    times: list[int | None] = []
    now = 0
    for _ in range(random.randint(0, 40)):
        now += random.choice([0, 1, 1, 5])
        late = random.choice([0, 0, 1, 3, 20])
        times.append(None if random.random() < 0.05 else max(0, now - late))
    return times


@given(SEEDS)
@budget(0.5)
def test_pieces_are_in_order_and_lack_late_rows_only(seed: int) -> None:
    random = Random(seed)
    times, lateness = _some_times(random), random.choice([0, 1, 2, 3, 19, 20, 100])
    with TemporaryDirectory() as folder:
        written = _write(Path(folder), times, lateness, random)
        history = _find(written)
        indices = list(range(len(history.pieces)))
        pieces = _read(history, indices)
        mixed = random.sample(indices, len(indices))
        assert _read(history, mixed) == [pieces[i] for i in mixed]
    kept, late = _expect(times, lateness)
    read = [(n, t) for piece in pieces for n, t in piece]
    assert [n for n, t in read if t is not None] == kept
    assert sorted(n for n, t in read if t is None) == [n for n, t in enumerate(times) if t is None]
    assert history.late.rows == len(late)
    assert history.late.needed_us == max(late.values(), default=0)
    for piece, rows in zip(history.pieces, pieces, strict=True):
        stamps = [t for _, t in rows if t is not None]
        assert piece.rows == len(rows) > 0
        if history.disorder is not None:
            assert (piece.low, piece.high) == (min(stamps, default=None), max(stamps, default=None))
    assert (history.disorder is None) == (kept == sorted(kept) and not late)


@given(SEEDS)
@budget(0.2)
def test_a_span_has_the_rows_and_the_late_ones_inside(seed: int) -> None:
    random = Random(seed)
    times, lateness = _some_times(random), random.choice([1, 3, 20])
    start, stop = (random.choice([None, random.randint(0, 60)]) for _ in range(2))

    def lies_inside(row: int) -> bool:
        time = times[row]
        assert time is not None
        return (start is None or time >= start) and (stop is None or time < stop)

    with TemporaryDirectory() as folder:
        written = _write(Path(folder), times, lateness, random)
        history = _find(written, (start, stop))
        pieces = _read(history, range(len(history.pieces)))
    kept, late = _expect(times, lateness)
    found = [n for piece in pieces for n, t in piece if t is not None and lies_inside(n)]
    assert found == [n for n in kept if lies_inside(n)]
    assert history.late.rows == sum(map(lies_inside, late))


def test_what_is_in_order_is_read_as_it_is(tmp_path: Path) -> None:
    written = _write(tmp_path, [0, 1, 1, 5, 7], 3, Random(1))
    history = _find(written)
    assert history.pieces == written.history.pieces
    assert history.disorder is None


def test_late_rows_say_what_they_would_have_needed() -> None:
    second = 1_000_000
    late = LateRows().add(
        pa.array([second, 11 * second, 12 * second, 90 * 86_400 * second]).to_numpy()
    )
    assert late.describe() == {
        "rows": 4,
        "needs": "90 days",
        "within": {"1 second": 1, "1 minute": 2},
        "more": 1,
    }


@given(SEEDS)
@budget(0.3)
def test_whether_all_are_in_time_is_found_by_blocks(seed: int) -> None:
    random = Random(seed)
    size, spread = random.choice([0, 1, 255, 256, 257, 600, 1024]), random.choice([1, 30, 400])
    times = np.array([i // 3 + random.randint(0, spread) for i in range(size)], dtype=np.int64)
    if size and random.random() < 0.5:  # one row that is far behind, anywhere
        times[random.randrange(size)] -= random.choice([1, 50, 1000])
    reach = random.choice([-(1 << 62), 0, 100, 700])
    timed = np.ones(size, dtype=np.bool_)
    _, behind = find_late(times, timed, reach, 0)
    most = int(behind.max(initial=0))
    for lateness in {max(0, most - 1), most, most + 1, random.randint(0, 500)}:
        assert are_in_time(times, reach, lateness) == (most <= lateness)


def _piece(shown: str, low: int, high: int) -> Piece:
    return Piece(shown, 0, 1, shown, 1, {}, low, high)


def test_files_stay_in_the_order_of_their_names_where_that_is_allowed() -> None:
    a, b, c = _piece("a", 0, 10), _piece("b", 8, 20), _piece("c", 5, 30)
    assert order_pieces([a, b, c], 15) == (a, b, c)
    assert order_pieces([c, a, b], 5) == (c, a, b)  # no order is: they came so, and some are late
    first, second = _piece("x", 100, 110), _piece("y", 0, 10)
    assert order_pieces([first, second], 15) == (second, first)
