"""Comparisons of expressions of two rows, and of times with values: the answers are rdflib's."""

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import settings

from tests.sparql_counts.compare_answers import Difference, Equal, Refused, compare_case
from tests.sparql_counts.random_comparisons import make_case

BLOCKS = 2
CASES = settings().max_examples * 5 // 8


@pytest.mark.parametrize("block", range(BLOCKS))
def test_answers_are_rdflibs(block: int, tmp_path: Path) -> None:
    told: Counter[str] = Counter()
    for seed in range(CASES * block, CASES * (block + 1)):
        outcome = compare_case(make_case(Random(seed)), tmp_path / str(seed))
        assert not isinstance(outcome, Difference), f"seed {seed}: {outcome}"
        told[type(outcome).__name__] += 1
        told["with answers"] += isinstance(outcome, Equal) and bool(outcome.answers)
    assert told[Equal.__name__] > 6 * told[Refused.__name__]
    assert told["with answers"] > 0.3 * CASES
