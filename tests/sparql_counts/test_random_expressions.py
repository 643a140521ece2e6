"""Random expressions in SPARQL, replayed: at each timestamp the answers are rdflib's."""

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import settings

from tests.sparql_counts.compare_answers import Difference, Equal, Refused, compare_case
from tests.sparql_counts.random_expressions import make_case

BLOCKS = 2
CASES = settings().max_examples // 2


@pytest.mark.parametrize("block", range(BLOCKS))
def test_answers_are_rdflibs(block: int, tmp_path: Path) -> None:
    told: Counter[str] = Counter()
    for seed in range(CASES * block, CASES * (block + 1)):
        outcome = compare_case(make_case(Random(seed)), tmp_path / str(seed))
        assert not isinstance(outcome, Difference), f"seed {seed}: {outcome}"
        told[type(outcome).__name__] += 1
    assert told[Equal.__name__] > told[Refused.__name__]
