"""Random mappings whose SQL computes: the answers of a replay are rdflib's, over the triples of
what DuckDB makes of the SQL as it stands.

180 cases; `--long`: 8,340; in parts, without pytest: `run_cases --computed`.
"""

from collections import Counter

from hypothesis import settings

from tests.sparql_counts.run_cases import run_seed

PROJECTS = settings().max_examples // 12 + 1
"""`run_seed` asks each 4 queries over 5 contents of its tables."""


def test_answers_are_those_of_sparql() -> None:
    told = Counter[str]()
    for seed in range(PROJECTS):
        outcomes, wrong = run_seed(seed, computed=True)
        assert not wrong, wrong[0]
        told += outcomes
    cases = sum(told[kind] for kind in ("with answers", "without", "refused"))
    assert told["with answers"] > 0.3 * cases
    assert told["refused"] < 0.2 * cases, told
