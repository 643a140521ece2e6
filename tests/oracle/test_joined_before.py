"""LAG and the like over a stream that is joined with static relations in the same SELECT, against
DuckDB: rows are those that the relations meet."""

from pathlib import Path
from random import Random

import pytest

import ontoweir
from ontoweir.api.python_api import OpenProject
from ontoweir.errors import QueryError
from tests.oracle.test_asked_sql import ask_duckdb, told, write_project


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("before")
    write_project(made, 5, 60)
    return made


@pytest.fixture(scope="module")
def project(folder: Path) -> OpenProject:
    return ontoweir.open_project(folder)


CALLS = (
    "LAG(r.amount) OVER ({0})",
    "LAG(level, 2) OVER ({0})",
    "FIRST_VALUE(r.amount) OVER ({0} ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
    "SUM(r.amount) OVER ({0} ROWS BETWEEN 3 PRECEDING AND CURRENT ROW)",
    "COUNT(r.level) OVER ({0} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
    "SUM(r.amount) OVER ({0})",
    "MAX(r.level) OVER ({0})",
    "COUNT(*) OVER ({0})",
)


def make_query(random: Random) -> str:
    """A query of readings, what was before them, and what is registered of their sensors."""
    over = "PARTITION BY r.sensor ORDER BY r.ts"
    calls = [c.format(over) for c in random.sample(CALLS, k=random.choice([1, 1, 2]))]
    shown = [f"{c} AS w{n}" for n, c in enumerate(calls)]
    shown += random.sample(["r.sensor", "level", "s.city", "high", "r.level + s.high AS e"], k=2)
    random.shuffle(shown)
    left, rows = random.random() < 0.35, "FROM reading r "
    on = random.choice(["s.id = r.sensor", "r.sensor = s.id"])
    on += random.choice(["", "", " AND s.high > 3", " AND high <= level"])
    rows += f"{'LEFT ' if left else ''}JOIN sensor s ON {on}"
    said = [random.choice(["level > 2", "r.sensor <> 'c'", "r.note IS NOT NULL"])]
    if not left:
        said.append(random.choice(["s.city = 'Kiel'", "s.high < 9", "s.high > r.level"]))
    said = random.sample(said, k=random.randint(0, len(said)))
    where = f" WHERE {' AND '.join(said)}" if said else ""
    return f"SELECT {', '.join(shown)} {rows}{where}"


@pytest.mark.many(2)
@pytest.mark.parametrize("seed", range(16))
def test_it_is_as_duckdb_answers(folder: Path, project: OpenProject, seed: int) -> None:
    text = make_query(Random(seed))
    verdict = project.check(text)
    assert verdict.bound is not None, text
    answers = project.replay(text)
    assert answers.summary["state_rows_max"] <= (verdict.bound.rows or 0), text
    assert told(project, text) == ask_duckdb(folder, text), text


@pytest.mark.parametrize(
    "text",
    [
        # a row may meet several; a condition of what may not be there; a window of a relation
        (
            "SELECT LAG(r.level) OVER (PARTITION BY r.sensor ORDER BY r.ts) AS p, s.city "
            "FROM reading r JOIN sensor s ON s.high = r.level"
        ),
        (
            "SELECT LAG(r.level) OVER (PARTITION BY r.sensor ORDER BY r.ts) AS p, r.sensor "
            "FROM reading r LEFT JOIN sensor s ON s.id = r.sensor WHERE s.city = 'Kiel'"
        ),
        (
            "SELECT LAG(s.high) OVER (PARTITION BY r.sensor ORDER BY r.ts) AS p, r.sensor "
            "FROM reading r JOIN sensor s ON s.id = r.sensor"
        ),
    ],
)
def test_twins_are_refused(project: OpenProject, text: str) -> None:
    with pytest.raises(QueryError, match="over several tables"):
        project.check(text)
