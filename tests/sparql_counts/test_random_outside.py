"""Random queries that ask outside GRAPH for what streams make: the answers are rdflib's over the
merge of all triples so far, from the time on at which they first hold."""

import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings

from ontoweir.rewriter.unfold import match_stars
from tests.sparql_counts.case import Case
from tests.sparql_counts.compare_answers import Difference, Equal, Refused, compare_queries
from tests.sparql_counts.random_outside import random_outside, random_question
from tests.sparql_counts.random_tables import random_rows

BLOCKS = 2
PROJECTS = settings().max_examples // 6 + 1
QUERIES, CONTENTS = 4, 3


def run_seed(seed: int, folder: Path) -> Counter[str]:
    """Compare the cases of a seed."""
    case: Case = random_outside(seed)
    queries = [
        case.query,
        *(random_question(QUERIES * seed + i, case.maps) for i in range(1, QUERIES)),
    ]
    contents = [random_rows(CONTENTS * seed + i, case) for i in range(CONTENTS)]
    told = Counter[str]()
    for outcome in (o for each in compare_queries(case, queries, contents, folder) for o in each):
        match outcome:
            case Difference():
                raise AssertionError(str(outcome))
            case Equal(answers=answers):
                told["with answers" if answers else "without"] += 1
            case Refused(reason=reason):
                told["refused"] += 1
                told[f"refused: {reason}"] += 1
    return told


@pytest.mark.parametrize("block", range(BLOCKS))
def test_answers_outside_graph_are_those_of_sparql(
    block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if block % 2:
        monkeypatch.setattr(match_stars, "MAX_APART", 1)
    told = Counter[str]()
    for seed in range(block * PROJECTS, (block + 1) * PROJECTS):
        told += run_seed(seed, tmp_path / str(seed))
    cases = sum(told[kind] for kind in ("with answers", "without", "refused"))
    assert told["with answers"] > 0.25 * cases, told
    assert told["refused"] < 0.5 * cases, told


if __name__ == "__main__":
    import tempfile

    total = Counter[str]()
    for number in range(int(sys.argv[1]), int(sys.argv[2])):
        match_stars.MAX_APART = 1 if number % 2 else 12
        with tempfile.TemporaryDirectory() as place:
            total += run_seed(number, Path(place) / "case")
    for kind, count in total.most_common(40):
        print(count, kind)
