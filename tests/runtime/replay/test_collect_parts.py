"""Answers of ranges come out in the order of time, whoever is done first."""

import pickle
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.errors import RunError
from ontoweir.runtime.engine.execution import ExecutionState
from ontoweir.runtime.kernel.kernel import KernelState
from ontoweir.runtime.pool.string_pool import no_texts
from ontoweir.runtime.replay.ranges.collect_parts import PartCollector
from ontoweir.runtime.replay.ranges.replay_range import (
    RangeOutcome,
    RangeProgress,
    part_file,
    progress_file,
)
from ontoweir.runtime.results.group_state import GroupState
from ontoweir.runtime.results.write_results import ResultWriter, write_part

SCHEMA = pa.schema([("x", pa.int64()), ("multiplicity", pa.int64())])


def _part(folder: Path, index: int, part: int, *values: int) -> None:
    table = pa.table({"x": values, "multiplicity": [2] * len(values)}, schema=SCHEMA)
    file = part_file(str(folder), index, part)
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, SCHEMA) as writer:
        writer.write_table(table)


def _progress(folder: Path, index: int, parts: int, *, done: bool) -> RangeOutcome:
    progress = RangeProgress(parts=parts, done=done)
    progress_file(str(folder), index).write_bytes(pickle.dumps(progress))
    state = ExecutionState({}, (KernelState(),), (no_texts(),), GroupState())
    return RangeOutcome(index, state, progress, 0, {})


def test_parts_come_in_order_and_leave_no_files(tmp_path: Path) -> None:
    with ResultWriter(tmp_path / "out.parquet", "parquet", SCHEMA) as writer:
        collector = PartCollector(str(tmp_path), writer, None, expand=False)
        _part(tmp_path, 1, 0, 3, 4)
        last = _progress(tmp_path, 1, 1, done=True)
        collector.take()
        assert writer.rows == 0  # the first range has told nothing yet
        _part(tmp_path, 0, 0, 1)
        _progress(tmp_path, 0, 1, done=False)
        collector.take()
        assert writer.rows == 1
        _part(tmp_path, 0, 1, 2)
        first = _progress(tmp_path, 0, 2, done=True)
        collector.take()
        assert writer.rows == 4
        collector.take([first, last])
        writer.commit()
    assert pq.read_table(tmp_path / "out.parquet").column("x").to_pylist() == [1, 2, 3, 4]
    assert not list(tmp_path.glob("*.part"))


def test_parquet_parts_are_put_together(tmp_path: Path) -> None:
    with ResultWriter(tmp_path / "out.parquet", "parquet", SCHEMA) as writer:
        collector = PartCollector(str(tmp_path), writer, None, expand=False, joined=True)
        outcomes = []
        for index, values in enumerate(([3, 1], [2])):
            table = pa.table({"x": values, "multiplicity": [2] * len(values)}, schema=SCHEMA)
            write_part(table, str(part_file(str(tmp_path), index, 0)))
            outcomes.append(_progress(tmp_path, index, 1, done=True))
        collector.take(outcomes)
        assert writer.rows == 3
        writer.commit()
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.schema == SCHEMA
    assert table.column("x").to_pylist() == [3, 1, 2]
    assert not list(tmp_path.glob("*.part"))


def test_parts_of_other_columns_are_refused(tmp_path: Path) -> None:
    with ResultWriter(tmp_path / "out.parquet", "parquet", SCHEMA) as writer:
        collector = PartCollector(str(tmp_path), writer, None, expand=False, joined=True)
        write_part(pa.table({"x": [1]}), str(part_file(str(tmp_path), 0, 0)))
        write_part(pa.table({"x": ["1"]}), str(part_file(str(tmp_path), 1, 0)))
        with pytest.raises(RunError, match="the same version of pyarrow"):
            collector.take([_progress(tmp_path, i, 1, done=True) for i in range(2)])
    assert not (tmp_path / "out.parquet").exists()


def test_no_parts_make_an_empty_file(tmp_path: Path) -> None:
    with ResultWriter(tmp_path / "out.parquet", "parquet", SCHEMA) as writer:
        collector = PartCollector(str(tmp_path), writer, None, expand=False, joined=True)
        collector.take([_progress(tmp_path, 0, 0, done=True)])
        writer.commit()
    assert pq.read_table(tmp_path / "out.parquet").equals(SCHEMA.empty_table())


def test_first_answers_only_and_repeated_rows(tmp_path: Path) -> None:
    with ResultWriter(tmp_path / "out.parquet", "parquet", SCHEMA.remove(1)) as writer:
        collector = PartCollector(str(tmp_path), writer, ["x"], expand=True)
        _part(tmp_path, 0, 0, 1, 2)
        _part(tmp_path, 1, 0, 3, 2, 1, 4)
        _part(tmp_path, 2, 0, 4, 5)
        collector.take([_progress(tmp_path, i, 1, done=True) for i in range(3)])
        writer.commit()
    rows = pq.read_table(tmp_path / "out.parquet").column("x").to_pylist()
    assert rows == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]


def test_a_part_that_is_not_there(tmp_path: Path) -> None:
    with ResultWriter(tmp_path / "out.parquet", "parquet", SCHEMA) as writer:
        collector = PartCollector(str(tmp_path), writer, None, expand=False)
        outcome = _progress(tmp_path, 0, 1, done=True)
        with pytest.raises(RunError, match="file system that all of them see"):
            collector.take([outcome])
