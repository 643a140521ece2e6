"""The pattern of a random query as a SELECT within it: its answers are rdflib's, each as often."""

import re
from collections import Counter

import pytest
from hypothesis import settings

from tests.sparql_counts import compare_answers, write_case
from tests.sparql_counts.case import Query
from tests.sparql_counts.run_cases import run_seed

FIRST, PROJECTS = 700_000, settings().max_examples // 25 + 1


def write_nested(query: Query) -> str:
    """The text of a query whose pattern is a SELECT of what the query names."""
    text = write_case.write_query(query)
    head, _, rest = text.partition("WHERE {\n")
    pattern, _, group = rest.rpartition("}\n")
    names = dict.fromkeys(re.findall(r"\?\w+", " ".join((*query.head, *query.group))))
    made = {f"?{name}" for name in re.findall(r"AS \?(\w+)", head)}
    shown = [name for name in names if name not in made and f"{name} " in f"{pattern} "]
    if not shown:
        return text
    distinct = "DISTINCT " if query.distinct else ""
    inner = f"  {{ SELECT {distinct}{' '.join(shown)} WHERE {{\n{pattern}  }} }}\n"
    return f"{head}WHERE {{\n{inner}}}\n{group}"


def test_a_pattern_within_a_query(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Counter[str]()
    monkeypatch.setattr(compare_answers, "write_query", write_nested)
    for seed in range(FIRST, FIRST + PROJECTS):
        outcomes, wrong = run_seed(seed)
        assert not wrong, wrong[0]
        told += outcomes
    assert told["with answers"] > 0.2 * sum(told.values())
