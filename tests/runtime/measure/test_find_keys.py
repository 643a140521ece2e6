"""The columns that tell the rows of a timestamp apart, as chunks of rows come."""

from collections.abc import Sequence
from itertools import combinations
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from ontoweir.mappings.model.catalog import Column, IntType
from ontoweir.runtime.measure.find_keys import KeyFinder

COLUMNS = tuple(Column(name, IntType()) for name in "abc")


def _find(chunks: Sequence[Sequence[tuple[int | None, ...]]]) -> tuple[tuple[str, ...], ...]:
    """Of chunks of rows: the time, a, b and c."""
    finder = KeyFinder(COLUMNS)
    for rows in chunks:
        times, *values = zip(*rows, strict=True)
        arrays = [pa.array(column, pa.int64()) for column in values]
        finder.add(pa.table(arrays, names=list("abc")), np.array(times, dtype=np.int64))
    return finder.finish()


def test_a_key_and_the_same_with_a_column_more_break_at_once() -> None:
    first = [(1, 1, 1, 1), (1, 2, 1, 2)]
    assert _find([first]) == (("a",), ("c",))
    assert _find([first, [(2, 5, 5, 1), (2, 5, 5, 2)]]) == (("c",),)
    assert _find([first, [(2, 5, 5, 5), (2, 5, 5, 5)]]) == ()


@pytest.mark.parametrize("seed", range(20))
def test_chunks_are_as_the_whole(seed: int) -> None:
    random = Random(seed)
    values = [*range(random.randint(2, 6)), *([None] if random.random() < 0.3 else [])]
    chunks = []
    for time in range(6):
        rows = [
            (time, *(random.choice(values) for _ in "abc")) for _ in range(random.randint(1, 3))
        ]
        chunks.append(rows)
    every = [row for rows in chunks for row in rows]
    keys: list[tuple[str, ...]] = []
    for width in (1, 2):
        for key in combinations("abc", width):
            shown = [(row[0], *(row[1 + "abc".index(n)] for n in key)) for row in every]
            is_key = len(set(shown)) == len(shown) and all(None not in row for row in shown)
            if is_key and not any(set(less) <= set(key) for less in keys):
                keys.append(key)
    assert _find(chunks) == _find([every]) == tuple(keys)
