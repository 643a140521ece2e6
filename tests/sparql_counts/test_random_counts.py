"""Random mappings, data and queries: the answers of a replay are rdflib's, each as often.

2,000 cases; `--long`: 100,000. A case that fails is made small and printed as a project.
"""

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import settings

from ontoweir.errors import OntoweirError
from ontoweir.rewriter.unfold import match_stars
from tests.sparql_counts.case import Case, Query
from tests.sparql_counts.compare_answers import (
    Difference,
    Equal,
    Refused,
    Rows,
    compare_case,
    compare_queries,
)
from tests.sparql_counts.random_cases import random_case, random_query, random_rows
from tests.sparql_counts.shrink_case import shrink_case
from tests.sparql_counts.write_case import show_case, write_query

BLOCKS, QUERIES, CONTENTS = 6, 4, 5
PROJECTS = settings().max_examples // 6
"""In each block; each is asked so many queries over so many contents of its tables."""


@pytest.mark.parametrize("block", range(BLOCKS))
def test_answers_are_those_of_sparql(
    block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In half of the blocks all stars with several matches are views, however few."""
    if block % 2:
        monkeypatch.setattr(match_stars, "MAX_APART", 1)
    told = Counter[str]()
    for seed in range(block * PROJECTS, (block + 1) * PROJECTS):
        case = random_case(seed)
        queries = [case.query, *(random_query(QUERIES * seed + i, case) for i in range(1, QUERIES))]
        contents = [random_rows(CONTENTS * seed + i, case) for i in range(CONTENTS)]
        try:
            told += _compare(case, queries, contents, tmp_path / str(seed))
        except Exception as error:
            error.add_note("\n".join((show_case(case), *map(write_query, queries))))
            raise
    assert told["with answers"] > 0.3 * told.total()
    assert told["refused"] < 0.1 * told.total(), told


def _compare(
    case: Case, queries: Sequence[Query], contents: Sequence[Rows], folder: Path
) -> Counter[str]:
    told = Counter[str]()
    for outcomes in compare_queries(case, queries, contents, folder):
        for outcome in outcomes:
            match outcome:
                case Difference(case=wrong):
                    pytest.fail(f"{compare_case(shrink_case(wrong, _differs), folder)}")
                case Equal(answers=answers):
                    told["with answers" if answers else "without"] += 1
                case Refused():
                    told["refused"] += 1
    return told


def _differs(case: Case) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        try:
            return isinstance(compare_case(case, Path(folder)), Difference)
        except (OntoweirError, StopIteration):  # it is no project any more
            return False
