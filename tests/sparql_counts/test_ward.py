"""What people ask in SPARQL of a hospital's streams (ward.py, ward.rq, random_ward.py): each
question is answered as rdflib answers it at every time, or refused with what to write instead."""

import re
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import event, given

from tests.oracle.budget import SEEDS, budget
from tests.sparql_counts.random_ward import WardDrawer
from tests.sparql_counts.test_parcels import WINDOW, list_names, read_questions
from tests.sparql_counts.ward import asks_unnamed, compare_ward, make_ward, write_ward

QUESTIONS = read_questions(Path(__file__).with_name("ward.rq"))
_SPAN = re.compile(r"D\((\d+)\)")


def ask(query: str, seed: int, folder: Path) -> str:
    """What came of a query over rows of a seed."""
    random = Random(seed)
    case = make_ward(random)
    write_ward(case, folder)
    text = WINDOW.sub(r'FILTER(?\1 > NOW() - "PT\2M"^^xsd:dayTimeDuration)', query)
    text = _SPAN.sub(r'"PT\1M"^^xsd:dayTimeDuration', text)
    return compare_ward(text, list_names(query), case, folder, random)


@pytest.mark.many(3)
@pytest.mark.parametrize(("said", "query"), QUESTIONS, ids=[line for _, line in QUESTIONS])
def test_it_is_answered_or_refused(said: str, query: str, tmp_path: Path) -> None:
    told = ask(query, 1 + len(query) % 3, tmp_path)
    if said:
        assert told.startswith("refused: ")
        assert said in told
    else:
        assert told.endswith((": with answers", ": without")), told


def run(seed: int, folder: Path) -> str:
    """What came of the query of a seed, which is drawn."""
    random = Random(seed)
    case = make_ward(random)
    write_ward(case, folder)
    query, names = WardDrawer(random).draw()
    if "GRAPH" not in query:
        return "of no stream"
    if asks_unnamed(query):
        return "of individuals without names"
    return compare_ward(query, names, case, folder, random)


def test_most_are_answered(tmp_path: Path) -> None:
    told = Counter[str]()
    for seed in range(10):
        folder = tmp_path / str(seed)
        folder.mkdir()
        told[run(seed, folder).partition(": ")[2]] += 1
    assert told["with answers"] > 1, told


@given(seed=SEEDS)
@budget(0.15)
def test_random_questions_are_rdflibs(seed: int) -> None:
    with TemporaryDirectory() as folder:
        event(run(seed, Path(folder)).partition(": ")[0])
