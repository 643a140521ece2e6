"""Runs in pages, beside what Arrow reads."""

from collections.abc import Callable
from io import BytesIO
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from ontoweir.runtime.parquet.filled_column import FilledLeaf
from ontoweir.runtime.parquet.open_filled import open_filled
from ontoweir.runtime.parquet.page_headers import DICTIONARY
from ontoweir.runtime.parquet.read_runs import read_runs
from ontoweir.runtime.times.time_runs import (
    count_before,
    cut_times,
    find_runs,
    join_times,
    pick_times,
    read_runs_of,
    spell_times,
)

LENGTHS: dict[str, Callable[[Random], int]] = {
    "equal": lambda random: 100,
    "of two bytes": lambda random: random.randint(64, 8_191),
    "of one byte": lambda random: random.randint(32, 63),
    "of both": lambda random: random.randint(40, 90),
    "short": lambda random: random.randint(1, 9),
    "long and short": lambda random: random.choice([1, 3, 900]),
    "very long": lambda random: random.randint(8_000, 40_000),
}
NEVER = ("of both", "short", "very long")


def never(group: int = 0) -> pa.ChunkedArray:
    raise AssertionError("Arrow need not read it")


@pytest.mark.parametrize("kind", LENGTHS)
def test_what_arrow_reads(kind: str) -> None:
    """Of all kinds of lengths; pages of the first version and the second, of several encodings."""
    by_runs = 0
    for seed in range(12):
        random = Random(seed)
        values: list[int] = []
        time = 0
        while len(values) < 60_000:
            time += random.choice([1, 1, 1, 1_000])
            values += [time] * LENGTHS[kind](random)
        values = values[random.randrange(50) :]
        stamps = pa.array(values, pa.int64()).cast(pa.timestamp("us"))
        content = BytesIO()
        size = random.choice([len(values), 25_000])
        codec, version = random.choice(["snappy", "zstd", "none"]), random.choice(["1.0", "2.0"])
        pages = {"compression": codec, "data_page_version": version, "row_group_size": size}
        pq.write_table(pa.table({"ts": stamps}), content, data_page_size=1 << 20, **pages)
        source = pa.BufferReader(content.getvalue())
        footer = pq.read_metadata(source)
        groups = range(footer.num_row_groups)
        leaf = FilledLeaf(0, 2, stamps.type, runs=True)
        column = open_filled(source, footer, groups, leaf, never)
        if column is None:  # the last row group is too short
            continue
        parts, left = [], len(values)
        while left:
            parts.append(column.take(min(left, random.choice([777, 30_000]))))
            left -= len(parts[-1])
        read: list[int] = []
        for part in parts:
            runs = read_runs_of(part)
            by_runs += runs is not None
            plain = part if runs is not None else part.cast(pa.int64())
            read += runs.all().tolist() if runs is not None else plain.to_pylist()
            if runs is not None:
                assert (np.diff(runs.marks) != 0).all()
                assert pc.run_end_decode(part.combine_chunks()).cast(pa.int64()).to_pylist() == (
                    runs.all().tolist()
                )
        assert read == values
    assert (by_runs > 0) == (kind not in NEVER), by_runs


def test_pages_that_are_not_understood() -> None:
    """Each is left to Arrow, and none is read wrongly."""
    good = bytes([3, 200, 1, 5, 200, 1, 6])
    assert read_runs([(memoryview(good), 200)]) is not None
    for bad, count in (
        (good, 199),
        (good, 201),
        (good[:-1], 200),
        (good + b"\x00", 200),
        (good[:1], 200),
        (b"", 200),
        (bytes([0]) + good[1:], 200),
        (bytes([40]) + good[1:], 200),
        (bytes([3, 201, 1, 5, 200, 1, 6]), 200),
        (bytes([3, 0, 5, 200, 1, 6]), 100),
        (bytes([3, 200, 129, 1, 5]), 200),
    ):
        if len(bad):
            assert read_runs([(memoryview(bad), count)]) is None, bad
    assert read_runs([]) is None


def test_a_place_that_the_dictionary_lacks_is_left_to_arrow() -> None:
    stamps = pa.array(np.repeat(np.arange(3), 20_000)).cast(pa.timestamp("us"))
    content = BytesIO()
    pq.write_table(pa.table({"ts": stamps}), content)
    source = pa.BufferReader(content.getvalue())
    footer = pq.read_metadata(source)
    whole = pa.chunked_array([stamps])
    leaf = FilledLeaf(0, 2, stamps.type, runs=True)
    column = open_filled(source, footer, [0], leaf, lambda group: whole)
    assert column is not None
    assert DICTIONARY == 2
    column._values = column._values[:2]  # type: ignore[union-attr, index]
    assert column.take(60_000).cast(pa.int64()).to_pylist() == whole.cast(pa.int64()).to_pylist()


@pytest.mark.parametrize("seed", range(20))
def test_timestamps_by_runs_are_those_of_each_row(seed: int) -> None:
    random = Random(seed)
    values = np.sort([random.randrange(12) for _ in range(random.choice([1, 7, 60]))])
    runs = find_runs(values)
    assert runs.all() is values
    ends = pa.RunEndEncodedArray.from_arrays(
        pa.array(np.append(runs.first[1:], len(values)), pa.int32()),
        pa.array(runs.marks).cast(pa.timestamp("us")),
    )
    start, stop = sorted(random.sample(range(len(values) + 1), 2))
    held = read_runs_of(pa.chunked_array([ends[:start], ends[start:]]))
    assert held is not None
    assert held.marks.tolist() == runs.marks.tolist()
    assert held.first.tolist() == runs.first.tolist()
    cut = cut_times(held, start, stop)
    assert spell_times(cut).tolist() == values[start:stop].tolist()
    assert len(cut) == stop - start
    index = np.array(random.choices(range(len(values)), k=9))
    limits = np.array([-1, 0, 5, 11, 12, np.iinfo(np.int64).min, np.iinfo(np.int64).max])
    fresh = read_runs_of(pa.chunked_array([ends]))
    assert fresh is not None
    for times in (fresh, runs, values):
        assert pick_times(times, index).tolist() == values[index].tolist()
        assert count_before(times, limits).tolist() == np.searchsorted(values, limits).tolist()
    cuts = sorted(random.choices(range(len(values) + 1), k=3))
    parts = [cut_times(held, a, b) for a, b in zip([0, *cuts], [*cuts, len(values)], strict=True)]
    joined = join_times(parts)
    assert spell_times(joined).tolist() == values.tolist()
    assert spell_times(join_times([values, *parts])).tolist() == [*values, *values]
