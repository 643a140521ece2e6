"""Values in the middle of many spans of rows, and at other places, against sorting each."""

from collections import Counter
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.errors import RunError
from ontoweir.runtime.results.running_medians import Rank, find_ranked

ROWS = st.lists(
    st.tuples(st.integers(-4, 4) | st.integers(-(1 << 63), (1 << 63) - 1), st.integers(1, 3)),
    max_size=20,
)


@given(ROWS, st.lists(st.integers(0, 20), max_size=3), st.randoms())
def test_sums_of_distinct_values(rows: list[tuple[int, int]], cuts: list[int], random: Any) -> None:
    """Also of rows that are taken away again; some sums do not fit."""
    rows = [*rows, *((v, -w) for v, w in random.sample(rows, k=len(rows) // 2))]
    begins = sorted({0, *(min(cut, len(rows)) for cut in cuts)})
    spans = [
        (begin, stop)
        for begin, end in zip(begins, [*begins[1:], len(rows)], strict=True)
        for stop in range(begin, end + 1)
    ]
    expected = []
    for start, stop in spans:
        counts: Counter[int] = Counter()
        for value, weight in rows[start:stop]:
            counts[value] += weight
        there = [v for v, n in counts.items() if n > 0]
        expected.append((sum(there), len(there)))
    values = np.array([v for v, _ in rows], dtype=np.int64)
    weights = np.array([w for _, w in rows], dtype=np.int64)
    starts, stops = np.array(spans, dtype=np.int64).T
    ranks = [Rank(Fraction(1)), Rank(Fraction(1), adds=True)]
    if any(not -(1 << 63) <= total < 1 << 63 for total, _ in expected):
        with pytest.raises(RunError, match="does not fit 64 bits"):
            find_ranked(values, weights, starts, stops, ranks)
        return
    (_, (low, high, share)), _ = find_ranked(values, weights, starts, stops, ranks)
    assert list(zip(low.tolist(), share.tolist(), strict=True)) == expected
    assert high.tolist() == low.tolist()


@given(ROWS, st.booleans(), st.data())
def test_the_middles_of_spans(rows: list[tuple[int, int]], dense: bool, data: Any) -> None:
    bound = st.integers(0, len(rows))
    spans = [sorted(s) for s in data.draw(st.lists(st.tuples(bound, bound), max_size=8))]
    kind = np.float64 if dense else np.int64
    values = np.array([v for v, _ in rows], dtype=kind)
    weights = np.array([w for _, w in rows], dtype=np.int64)
    starts, stops = (np.array([s[i] for s in spans], dtype=np.int64) for i in (0, 1))
    parts = data.draw(st.fractions(0, 1, max_denominator=1 << 40))
    ranks = [Rank(Fraction(1, 2), between=True), Rank(parts, between=True), Rank(parts)]
    ((low, high, _), between, least), valid = find_ranked(values, weights, starts, stops, ranks)
    for place, (start, stop) in enumerate(spans):
        assert valid[place] == (stop > start)
        if stop > start:
            flat = sorted(np.repeat(values[start:stop], weights[start:stop]).tolist())
            assert low[place] == flat[(len(flat) - 1) // 2]
            assert high[place] == flat[len(flat) // 2]
            exact = parts * (len(flat) - 1)
            assert between.low[place] == flat[floor(exact)]
            assert between.high[place] == flat[ceil(exact)]
            assert between.share[place] == (exact - floor(exact)) * parts.denominator
            assert (
                least.low[place] == least.high[place] == flat[max(ceil(parts * len(flat)), 1) - 1]
            )
