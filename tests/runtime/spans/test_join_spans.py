"""Rows that come and go, joined: the pairs that hold together, against looking at all pairs; and of
rows that follow each other no more pairs than that."""

from random import Random

import numpy as np
import pyarrow as pa
import pytest

from ontoweir.rewriter.model.joined import JoinedPart
from ontoweir.runtime.columnar.frame import LONG_AGO
from ontoweir.runtime.spans.join_spans import join_spans
from ontoweir.runtime.spans.spans import NEVER, Spans


def _draw(random: Random, side: str) -> Spans:
    count = random.randint(0, 12)
    keys = [random.choice([None, 0, 1, 2]) for _ in range(count)]
    begins = [random.choice([LONG_AGO, *range(6)]) for _ in range(count)]
    ends = [random.choice([NEVER, *range(7)]) for _ in range(count)]
    rows = pa.table({f"{side} k": pa.array(keys, pa.int64()), f"{side} n": range(count)})
    weights = np.array([random.randint(1, 3) for _ in range(count)], dtype=np.int64)
    return Spans(rows, np.array(begins, np.int64), np.array(ends, np.int64), weights)


def _part(*, keyed: bool, nulls: bool) -> JoinedPart[None]:
    return JoinedPart(None, equal=(("0 k", "1 k"),) if keyed else (), nulls=nulls)


@pytest.mark.parametrize("seed", range(40))
def test_pairs_are_those_that_hold_together(seed: int) -> None:
    random = Random(seed)
    one, other = _draw(random, "0"), _draw(random, "1")
    keyed, nulls = random.random() < 0.7, random.random() < 0.3
    made = join_spans(one, other, _part(keyed=keyed, nulls=nulls))
    found = [
        (a["0 n"], a["1 n"], int(b), int(e), int(w))
        for a, b, e, w in zip(
            made.rows.to_pylist(), made.begins, made.ends, made.weights, strict=True
        )
    ]
    wanted = []
    for i, mine in enumerate(one.rows.to_pylist()):
        for j, theirs in enumerate(other.rows.to_pylist()):
            same = mine["0 k"] == theirs["1 k"] and (nulls or mine["0 k"] is not None)
            begin, end = max(one.begins[i], other.begins[j]), min(one.ends[i], other.ends[j])
            if (same or not keyed) and begin < end:
                weight = one.weights[i] * other.weights[j]
                wanted.append((i, j, int(begin), int(end), int(weight)))
    assert found == wanted


def test_rows_that_follow_each_other_are_not_all_paired() -> None:
    """Of 200,000 rows of each side 40,000,000,000 pairs would be looked at."""
    steps = np.arange(200_000, dtype=np.int64)
    one, other = (
        Spans(
            pa.table({f"{n} k": np.zeros(len(steps), np.int64), f"{n} n": steps}),
            steps,
            steps + 1,
            np.ones(len(steps), np.int64),
        )
        for n in range(2)
    )
    for keyed in (True, False):
        made = join_spans(one, other, _part(keyed=keyed, nulls=False))
        assert made.begins.tolist() == steps.tolist()
