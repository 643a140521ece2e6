"""Random filters with ||, IN and ! that stay inside a branch: the answers are rdflib's, each as
often, whether the stars that they filter are views or not."""

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings

from ontoweir.rewriter.sparql import distribute_unions
from ontoweir.rewriter.unfold import match_stars
from tests.sparql_counts.case import Branch, Query
from tests.sparql_counts.compare_answers import Difference, Equal, compare_queries
from tests.sparql_counts.random_cases import random_case, random_query
from tests.sparql_counts.random_tables import random_rows
from tests.sparql_counts.write_case import show_case, write_query

BLOCKS, QUERIES, CONTENTS = 2, 4, 3
PROJECTS = settings().max_examples // 7 + 1
_CHOICES = (
    "?n < 1 || ?n > 2",
    "?n IN (0, 2, 3)",
    "?n NOT IN (1, 2)",
    "?m = 1 || ?m = 3 || ?m = 1",
    "?n = 1 || ?m > 1",
    "?n < 1 || ?n > 2 || ?m = 2 || ?m > 3",
    "!(?n = 1 && ?m = 2)",
    "?n < ?m || ?n = 3",
    '?a IN ("x", "y")',
    '?a = "x" || ?n > 1',
    '?a != ?b || ?b = "1"',
    "?x IN (<http://e/1>, <http://e/2>, <http://g/1/x>)",
    "?x = <http://e/1> || ?y != <http://e/2>",
    "?x != ?y || ?n = 1",
    "?z NOT IN (<http://e/1>, <http://h/x>)",
    "?t1 < ?t2 || ?n = 1",
    '?t1 < "2020-01-01T00:05:00"^^xsd:dateTime || ?n != 1',
)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_answers_are_those_of_sparql(
    block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However few the cases; in half of the blocks stars with several matches are views."""
    monkeypatch.setattr(distribute_unions, "MAX_APART", 1)
    if block % 2:
        monkeypatch.setattr(match_stars, "MAX_APART", 1)
    told = Counter[str]()
    for seed in range(block * PROJECTS, (block + 1) * PROJECTS):
        case = random_case(seed)
        made = [case.query, *(random_query(QUERIES * seed + i, case) for i in range(1, QUERIES))]
        queries = [q for q in (_filter(query, seed) for query in made) if q is not None]
        contents = [random_rows(CONTENTS * seed + i, case) for i in range(CONTENTS)]
        if not queries:
            continue
        try:
            outcomes = [
                o
                for each in compare_queries(case, queries, contents, tmp_path / str(seed))
                for o in each
            ]
        except Exception as error:
            error.add_note("\n".join((show_case(case), *map(write_query, queries))))
            raise
        for outcome in outcomes:
            assert not isinstance(outcome, Difference), str(outcome)
            answered = isinstance(outcome, Equal) and outcome.answers
            told["with answers" if answered else type(outcome).__name__] += 1
    assert told["with answers"] > 0.2 * told.total(), told
    assert told["Refused"] < 0.3 * told.total(), told


def _filter(query: Query, seed: int) -> Query | None:
    """The query with filters for its variables; None if there are none for it."""
    draw = random.Random(f"{seed} {write_query(query)}")
    branches = tuple(_add(branch, draw) for branch in query.branches)
    return replace(query, branches=branches) if branches != query.branches else None


def _add(branch: Branch, draw: random.Random) -> Branch:
    names = {t for a in branch.atoms for t in (a.subject, a.object, f"?{a.time}")}
    fitting = [c for c in _CHOICES if {w.strip("(),!") for w in c.split() if "?" in w} <= names]
    chosen = draw.sample(fitting, min(len(fitting), draw.choice((1, 2, 2, 3))))
    return replace(branch, lines=(*branch.lines, *(f"FILTER({c})" for c in chosen)))
