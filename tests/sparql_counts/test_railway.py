"""What people ask in SPARQL of a railway (railway.py, railway.rq): each question is answered as
rdflib answers it at every time, or told to be not bounded, or refused with what to write instead.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.sparql_counts import compare_heating, railway
from tests.sparql_counts.compare_heating import list_columns
from tests.sparql_counts.heating import Rows
from tests.sparql_counts.test_heating import spell
from tests.sparql_counts.test_parcels import read_questions

QUESTIONS = read_questions(Path(__file__).with_name("railway.rq"))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Rows]]:
    folder, rows = tmp_path_factory.mktemp("railway"), railway.make_rows(Random(3))
    railway.write_railway(rows, folder)
    with pytest.MonkeyPatch.context() as patch:  # the tables of this project
        for name in ("COLUMNS", "STREAMS", "UNITS", "write_rows"):
            patch.setattr(compare_heating, name, getattr(railway, name))
        patch.setattr(compare_heating, "_LAST", railway.LAST)
        yield folder, rows


@pytest.mark.many(3)
@pytest.mark.parametrize(("said", "query"), QUESTIONS, ids=[line for _, line in QUESTIONS])
def test_it_is_answered_or_refused(said: str, query: str, project: tuple[Path, Rows]) -> None:
    folder, rows = project
    names = ["ask"] if query.startswith("ASK") else list_columns(query)
    told = compare_heating.compare_heating(spell(query), names, rows, folder, Random(len(query)))
    if not said:
        assert told.what == "answered", told
    elif said == "not bounded":
        assert told.what in ("undecided", "unbounded"), told
    else:
        assert told.what == "refused"
        assert said in told.more
