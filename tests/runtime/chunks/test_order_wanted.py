"""Of rows that come late, those that can be wanted are read as if all were put into order."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given

from ontoweir.mappings.model.catalog import Column, DataSource, IntType, Stream
from ontoweir.runtime.chunks.late_rows import LateColumns, ReadRows
from ontoweir.runtime.chunks.order_wanted import sort_times
from ontoweir.runtime.chunks.row_groups import RowGroups
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.lateness.find_disorder import find_disorder
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.sources.list_pieces import list_pieces
from tests.oracle.budget import SEEDS, budget


def _find(table: pa.Table) -> Array | None:
    """The rows whose number is divisible by seven."""
    found: Array = np.flatnonzero(table.column("n").to_numpy() % 7 == 0)
    return found


def _open(folder: Path, random: Random, grid_us: int) -> History:
    """Rows numbered as they come, up to some steps late, some of them too late."""
    lateness = random.choice([1, 3, 8]) * grid_us
    delay = lateness + random.choice([0, 2 * grid_us])
    rows = random.randint(1, 60)
    times = sorted(random.randrange(30) * grid_us for _ in range(rows))
    order = sorted(range(rows), key=lambda i: times[i] + random.randint(0, delay))
    kind = random.choice([pa.int64(), pa.timestamp("us"), pa.timestamp("us", "UTC")])
    stamps = pa.array([times[i] for i in order], pa.int64()).cast(kind)
    table = pa.table({"n": pa.array(range(rows), pa.int64()), "ts": stamps})
    file = folder / "rows.parquet"
    pq.write_table(table, file, row_group_size=random.randint(1, 20))
    columns = (Column("n", IntType()),)
    source = DataSource("parquet", str(folder))
    stream = Stream("S", source, "ts", grid_us, 99, columns, lateness_us=lateness)
    groups = list_pieces([str(file)], stream, ("n", "ts"), start_us=None, stop_us=None)
    pieces, disorder, late = find_disorder(stream, groups, (None, None), staged=False)
    whole = History(stream, ("n",), groups, False)
    return replace(whole, pieces=pieces, disorder=disorder, late=late)


def _read(history: History, late: LateColumns | None, first: int) -> list[ReadRows]:
    """The pieces from one on, as they are read."""
    found = {} if late is None else {history.stream.name: late}
    with closing(RowGroups(found)) as reader:
        places = range(first, len(history.pieces))
        return [reader.read_rows(history, i, 9, None) for i in places]


@budget(0.3)
@given(SEEDS)
def test_the_wanted_rows_are_those_of_all_in_order(seed: int) -> None:
    random = Random(seed)
    with TemporaryDirectory() as place:
        history = _open(Path(place), random, random.choice([1, 1_000]))
        first = random.randrange(len(history.pieces))
        whole = _read(history, None, first)
        thin = _read(history, LateColumns(frozenset({"n"}), _find), first)
    for one, other in zip(whole, thin, strict=True):
        times = one.table.column("ts").cast(pa.int64())
        assert other.num_rows == one.num_rows
        assert other.table.column("ts").cast(pa.int64()).equals(times)
        if other.late is None:
            assert other.table.equals(one.table)
            continue
        index = _find(one.table)
        assert index is not None
        assert other.late.table.column("n").to_pylist() == one.table["n"].take(index).to_pylist()
        assert (np.diff(other.late.index) > 0).all()
        stamps = times.to_numpy()
        assert (stamps[other.late.index] == stamps[index]).all()


@given(SEEDS)
def test_times_in_order(seed: int) -> None:
    random = Random(seed)
    grid = random.choice([1, 5, 1_000_000])
    reach = random.choice([3, 1 << 40])
    times = np.array(
        [random.randrange(reach) * grid for _ in range(random.randrange(40))], np.int64
    )
    if random.random() < 0.3 and len(times):
        times[0] += 1
    assert (sort_times(times, grid) == np.sort(times)).all()
