"""Lists of the rows that hold at moments, against each moment listed by itself."""

from random import Random

import numpy as np
import pytest

from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction, Listing
from ontoweir.runtime.groups.list_spans import list_spans

WORDS = ["", "a", "b", "ab", "é", "\U0001f600", "Z"]


@pytest.mark.parametrize("falls", [False, True])
@pytest.mark.parametrize("function", [AggregateFunction.LIST, AggregateFunction.LIST_DISTINCT])
def test_as_listed_by_hand(function: AggregateFunction, falls: bool) -> None:
    for seed in range(20):
        random = Random(seed)
        moments = random.randint(1, 8)
        begins = [random.randrange(moments) for _ in range(random.randint(0, 12))]
        ends = [random.randint(b, moments) for b in begins]
        weights = [random.randint(1, 3) for _ in begins]
        texts = [random.choice(WORDS) for _ in begins]
        listing = Listing(separator="|", falls=falls)
        aggregate = Aggregate("l", function, "x", listing=listing)
        spans = (np.array(begins, int), np.array(ends, int), np.array(weights, int))
        made = list_spans(aggregate, spans, np.array(texts, object), moments)
        for moment in range(moments):
            held = [
                text
                for b, e, w, text in zip(begins, ends, weights, texts, strict=True)
                for _ in range(w)
                if b <= moment < e
            ]
            assert made.valid[moment] == bool(held)
            once = set(held) if function is AggregateFunction.LIST_DISTINCT else held
            assert made.values[moment] == "|".join(sorted(once, reverse=falls))
