"""What people ask in SPARQL of a district heating network (heating.py, heating.rq,
random_heating.py): each question is answered as rdflib answers it at every time, or told to be
undecided or not bounded, or refused with what to write instead."""

import re
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import event, given

from tests.oracle.budget import SEEDS, budget
from tests.sparql_counts.compare_heating import Told, compare_heating, list_columns
from tests.sparql_counts.heating import make_rows, write_heating
from tests.sparql_counts.random_heating import HeatingDrawer, draw_final
from tests.sparql_counts.test_parcels import read_questions

QUESTIONS = read_questions(Path(__file__).with_name("heating.rq"))
_WINDOW = re.compile(r"W\((\w+),([\w.]+)\)")
_SPAN = re.compile(r"D\(([\d.]+)(\w)\)")


def spell(query: str) -> str:
    """A question with its windows, W(t,1m), and durations, D(1m)."""
    text = _WINDOW.sub(r"FILTER(?\1 > NOW() - D(\2))", query)
    return _SPAN.sub(
        lambda m: f'"P{"" if m[2] == "d" else "T"}{m[1]}{m[2].upper()}"^^xsd:dayTimeDuration', text
    )


def ask(query: str, seed: int, folder: Path) -> Told:
    """What came of a query over rows of a seed."""
    random = Random(seed)
    rows = make_rows(random)
    write_heating(rows, folder)
    return compare_heating(spell(query), list_columns(query), rows, folder, random)


@pytest.mark.many(3)
@pytest.mark.parametrize(("said", "query"), QUESTIONS, ids=[line for _, line in QUESTIONS])
def test_it_is_answered_or_refused(said: str, query: str, tmp_path: Path) -> None:
    told = ask(query, 1 + len(query) % 3, tmp_path)
    if not said:
        assert told.what in ("answered", "nothing"), told
    elif said == "not bounded":
        assert told.what in ("undecided", "unbounded"), told
    else:
        assert told.what == "refused"
        assert said in told.more


@pytest.mark.parametrize("shown", ["DISTINCT ?w", "(COUNT(DISTINCT ?w) AS ?w_1)"])
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_equal_numbers_of_two_datatypes_are_two_in_ranges(
    shown: str, seed: int, tmp_path: Path
) -> None:
    # at 23:59 a meter counts 3.0 litres, and five minutes later a probe has 3 degrees
    rows = make_rows(Random(1))
    write_heating(rows, tmp_path)
    query = f"SELECT {shown} {{ GRAPH ?t {{ ?s :amount ?w }} }}"
    told = compare_heating(query, list_columns(query), rows, tmp_path, Random(seed))
    assert told.what == "answered"


def run(seed: int, folder: Path) -> Told:
    """What came of the query of a seed, which is drawn."""
    random = Random(seed)
    rows = make_rows(random)
    write_heating(rows, folder)
    final = random.random() < 0.35
    query, names = draw_final(random) if final else HeatingDrawer(random).draw()
    if "GRAPH" not in query:
        return Told("of no stream")
    if rests_on_unnamed(query):
        return Told("of individuals without names")
    return compare_heating(query, names, rows, folder, random)


def rests_on_unnamed(query: str) -> bool:
    """Whether certain answers of sets may rest on individuals without names, which rdflib does not
    know."""
    some = any(word in query for word in (":fedBy", ":feeds", ":inZone", ":hasZone", ":of "))
    return some and any(word in query for word in ("DISTINCT", "MAX(", "MIN("))


def test_most_are_answered(tmp_path: Path) -> None:
    told = Counter[str]()
    for seed in range(10):
        folder = tmp_path / str(seed)
        folder.mkdir()
        told[run(seed, folder).what] += 1
    assert told["answered"] > 3, told


@given(seed=SEEDS)
@budget(0.15)
def test_random_questions_are_rdflibs(seed: int) -> None:
    with TemporaryDirectory() as folder:
        event(run(seed, Path(folder)).what)
