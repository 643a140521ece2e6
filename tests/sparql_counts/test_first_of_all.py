"""The first of all solutions that came, by ORDER BY, LIMIT and OFFSET: each holds until as many
others come before it, as rdflib finds at every time."""

from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import event, given

from tests.oracle.budget import SEEDS, budget
from tests.sparql_counts.test_before import LATER
from tests.sparql_counts.test_ward import ask


def draw_question(random: Random) -> str:
    """A question of the first rows: equal ones are equal in all that is shown."""
    text = f"GRAPH ?t {{ {random.choice(LATER)} }} ?p :age ?a "
    text += random.choice(
        [
            "",
            "FILTER(?v > 1) ",
            "FILTER NOT EXISTS { GRAPH ?u { ?x a :Heat ; :of ?p } FILTER(?u < ?t) } ",
        ]
    )
    first, second = random.sample(["?v", "?a"], 2)
    if random.random() < 0.3:
        head, order = "?v", random.choice(["?v", "DESC(?v)"])
    else:
        head, order = "?v ?a", f"{random.choice([f'DESC({first})', first])} {second}"
    skipped = random.choice(["", " OFFSET 1"])
    limit = random.choice([1, 2, 3])
    return f"SELECT {head} {{ {text}}} ORDER BY {order} LIMIT {limit}{skipped}"


def run(seed: int, folder: Path) -> str:
    """What came of the question of a seed."""
    return ask(draw_question(Random(seed)), seed, folder)


def test_most_are_answered(tmp_path: Path) -> None:
    told = Counter[str]()
    for seed in range(8):
        folder = tmp_path / str(seed)
        folder.mkdir()
        told[run(seed, folder)] += 1
    assert told["changes: with answers"] > 4, told


@given(SEEDS)
@budget(0.2)
def test_the_first_are_rdflibs(seed: int) -> None:
    with TemporaryDirectory() as folder:
        event(run(seed, Path(folder)))


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("SELECT ?p ?v { GRAPH ?t { ?o1 a :Pulse ; :of ?p ; :val ?v } } ORDER BY ?p LIMIT 2", "?p"),
        ("SELECT DISTINCT ?v { GRAPH ?t { ?o1 :of ?p ; :mg ?v } } ORDER BY ?v LIMIT 2", "ORDER BY"),
    ],
)
def test_others_are_refused(query: str, word: str, tmp_path: Path) -> None:
    told = ask(query, 1, tmp_path)
    assert told.startswith("refused: ")
    assert word in told
