"""What holds at each of many moments, against looking at every moment by itself."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.results.running_medians import Rank
from ontoweir.runtime.spans.running_spans import (
    best_of_spans,
    count_distinct,
    rank_spans,
    sum_spans,
)


@pytest.mark.parametrize("seed", range(50))
def test_spans_are_what_holds_at_every_moment(seed: int) -> None:
    random = Random(seed)
    first = np.array([True, *(random.random() < 0.2 for _ in range(19))])
    starts = [*np.flatnonzero(first).tolist(), 20]
    spans = []
    for _ in range(random.randint(0, 30)):
        group = random.randrange(len(starts) - 1)
        low = random.randrange(starts[group], starts[group + 1])
        high = random.randint(low + 1, starts[group + 1])
        spans.append((low, high, random.randint(-5, 5), random.randint(1, 3)))
    columns = np.array(spans, dtype=np.int64).reshape(-1, 4)
    begin: Array = columns[:, 0]
    end: Array = columns[:, 1]
    values, weights = columns[:, 2], columns[:, 3]
    sums = sum_spans(begin, end, values * weights, 20)
    least = best_of_spans(begin, end, values, 20, greatest=False)
    most = best_of_spans(begin, end, values.astype(np.float64), 20, greatest=True)
    kinds = count_distinct(begin, end, values + 5 + 11 * (np.cumsum(first)[begin] - 1), 20)
    middle = rank_spans(
        begin,
        end,
        (values, weights),
        first,
        [Rank(Fraction(1, 2), between=True), Rank(Fraction(9, 10))],
    )
    ((lower, upper, _), (most_of, _, _)), there = middle
    for moment in range(20):
        held = sorted(v for b, e, v, w in spans if b <= moment < e for _ in range(w))
        assert sums[moment] == sum(held)
        assert kinds[moment] == len(set(held))
        assert there[moment] == bool(held)
        if held:
            assert (least[moment], most[moment]) == (held[0], held[-1])
            sides = held[(len(held) - 1) // 2], held[len(held) // 2]
            assert (lower[moment], upper[moment]) == sides
            assert most_of[moment] == held[max(-(-9 * len(held) // 10), 1) - 1]
