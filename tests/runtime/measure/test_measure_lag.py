"""How long rows come after those with their value, against looking at all pairs."""

from random import Random

import numpy as np
import pyarrow as pa
import pytest

from ontoweir.mappings.model.catalog import Column, IntType
from ontoweir.runtime.measure.count_values import ValueCounter
from ontoweir.runtime.measure.measure_lag import measure_lag
from ontoweir.runtime.measure.measured import ValueSpans


def _spans(rows: list[tuple[int, int | None]], chunk: int, kind: pa.DataType) -> ValueSpans | None:
    """The spans of (time, value) pairs in the order of time, read in chunks."""
    counter = ValueCounter(Column("c", IntType()))
    for at in range(0, len(rows), chunk):
        part = rows[at : at + chunk]
        values = pa.chunked_array([pa.array([v for _, v in part], kind)])
        counter.add(values, np.array([t for t, _ in part], np.int64))
    return counter.spans()


@pytest.mark.parametrize("seed", range(40))
def test_all_pairs(seed: int) -> None:
    random = Random(seed)
    mine, others = _draw(random), _draw(random)
    one, other = _spans(mine, random.randint(1, 30), pa.int64()), _spans(others, 7, pa.int32())
    pairs: dict[int, int] = {}
    for t, v in mine:
        for s, w in others:
            if v is not None and v == w:
                pairs[v] = max(pairs.get(v, 0), t - s)
    if one is None or other is None:
        assert not pairs
        return
    found = measure_lag(one, other)
    assert found is not None
    assert (found.values, found.greatest_us) == (len(pairs), max(pairs.values(), default=0))
    if pairs:
        least = sorted(pairs.values())[-(-len(pairs) // 2) - 1]
        assert found.quantiles[0] == least


def _draw(random: Random) -> list[tuple[int, int | None]]:
    values = [None, *range(random.choice([3, 50]))]
    rows = [(random.randrange(200), random.choice(values)) for _ in range(random.randint(1, 80))]
    return sorted(rows, key=lambda row: row[0])


def test_kinds_that_are_not_compared() -> None:
    times = np.zeros(1, np.int64)
    texts = ValueSpans(pa.array(["1"]), times, times)
    assert measure_lag(texts, ValueSpans(pa.array([1]), times, times)) is None
