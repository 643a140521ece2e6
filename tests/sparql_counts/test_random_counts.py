"""Random mappings, data and queries: the answers of a replay are rdflib's, each as often.

1,080 cases; `--long`: 100,000; in parts, without pytest: `run_cases`. A case that fails is made
small and printed as a project.
"""

from collections import Counter

import pytest
from hypothesis import settings

from ontoweir.rewriter.unfold import match_stars
from tests.sparql_counts.run_cases import run_seed

BLOCKS = 3
PROJECTS = settings().max_examples // 5 + 1
"""In each block; `run_seed` asks each 4 queries over 5 contents of its tables."""


@pytest.mark.parametrize("block", range(BLOCKS))
def test_answers_are_those_of_sparql(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In half of the blocks all stars with several matches are views, however few."""
    if block % 2:
        monkeypatch.setattr(match_stars, "MAX_APART", 1)
    told = Counter[str]()
    for seed in range(block * PROJECTS, (block + 1) * PROJECTS):
        outcomes, wrong = run_seed(seed)
        assert not wrong, wrong[0]
        told += outcomes
    cases = sum(told[kind] for kind in ("with answers", "without", "refused"))
    assert told["with answers"] > 0.3 * cases
    assert told["refused"] < 0.1 * cases, told
