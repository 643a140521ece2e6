"""Values in the middle of many spans of rows, and at other places, against sorting each."""

from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.runtime.results.running_medians import Rank, find_ranked

ROWS = st.lists(
    st.tuples(st.integers(-4, 4) | st.integers(-(1 << 63), (1 << 63) - 1), st.integers(1, 3)),
    max_size=20,
)


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
