"""Random UNIONs of numbers of several types: as DuckDB answers, in the common type."""

from decimal import Decimal
from pathlib import Path
from random import Random

import pytest

import ontoweir
from ontoweir.api.python_api import OpenProject
from ontoweir.errors import QueryError
from tests.oracle.test_asked_sql import EARLY, ask_duckdb, told, write_project

VALUES = ("level", "amount", "value", "level * 2", "amount + 1", "1", "-2", "2.5", "level - 0.5")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("widened")
    write_project(made, 8, 80)
    return made


@pytest.fixture(scope="module")
def project(folder: Path) -> OpenProject:
    return ontoweir.open_project(folder)


@pytest.mark.parametrize("seed", range(8))
def test_random_unions_of_numbers(folder: Path, project: OpenProject, seed: int) -> None:
    random = Random(seed)
    word = random.choice(["UNION ALL", "UNION"])
    rows = [random.sample(VALUES, k=2) for _ in range(random.choice([2, 2, 3]))]
    parts = [f"SELECT ts, {a} AS v, {b} AS w FROM reading WHERE {EARLY}" for a, b in rows]
    text = f" {word} ".join(parts)
    found = told(project, text)
    assert found == ask_duckdb(folder, text), text
    assert found
    whole = f"SELECT date_trunc('hour', ts) AS h, v, COUNT(*) AS n FROM ({text}) x GROUP BY h, v"
    if word == "UNION ALL":
        assert told(project, whole) == ask_duckdb(folder, whole), whole


def test_all_answers_are_of_the_common_type(project: OpenProject) -> None:
    """1 and 1.0 are one answer, as a decimal and as a double."""
    found = told(
        project,
        f"SELECT ts, level AS v FROM reading WHERE {EARLY} UNION ALL "
        f"SELECT ts, amount FROM reading WHERE {EARLY}",
    )
    assert {type(row[1]) for row in found if row[1] is not None} <= {Decimal, int}
    made = project.check("SELECT level AS v FROM reading UNION ALL SELECT value FROM reading")
    assert made.bound is not None


@pytest.mark.parametrize(
    "text",
    [
        "SELECT level FROM reading UNION ALL SELECT sensor FROM reading",
        "SELECT level FROM reading UNION ALL SELECT level > 3 FROM reading",
        ("SELECT level FROM reading UNION ALL SELECT CAST(amount AS DECIMAL(38, 20)) FROM reading"),
        (
            "SELECT ts, MAX(level) AS v FROM reading GROUP BY ts UNION ALL "
            "SELECT ts, MAX(value) FROM reading GROUP BY ts"
        ),
    ],
)
def test_what_has_no_common_type_is_refused(project: OpenProject, text: str) -> None:
    with pytest.raises(QueryError, match="a UNION of int and"):
        project.check(text)
