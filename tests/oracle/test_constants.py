"""Static relations of constants, VALUES in FROM, WITH and IN, against DuckDB."""

from pathlib import Path
from random import Random

import pytest

import ontoweir
from ontoweir.api.python_api import OpenProject
from ontoweir.errors import QueryError
from tests.oracle.test_asked_sql import EARLY, ask_duckdb, told, write_project


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("constants")
    write_project(made, 17, 60)
    return made


@pytest.fixture(scope="module")
def project(folder: Path) -> OpenProject:
    return ontoweir.open_project(folder)


def _draw_rows(random: Random) -> list[tuple[str, str, str, str]]:
    """Rows of a text, a whole number, a decimal and a truth, some NULL, some twice."""
    rows = []
    for _ in range(random.randint(1, 4)):
        rows.append(
            (
                random.choice(["'a'", "'b'", "'c'", "'d e'", "NULL"]),
                random.choice(["0", "1", "5", "-3", "NULL"]),
                random.choice(["1.50", "-2.5", "0.125", "3.0", "NULL"]),
                random.choice(["TRUE", "FALSE"]),
            )
        )
    rows.append(("'a'", "4", "2.25", "TRUE"))  # a value of each type
    return rows


def make_query(random: Random) -> str:
    """A query of readings beside constants."""
    rows = _draw_rows(random)
    listed = ", ".join(f"({', '.join(row)})" for row in rows)
    constants = random.choice(
        [
            f"(VALUES {listed}) AS v(k, n, d, o)",
            f"(SELECT * FROM (VALUES {listed}) AS w(k, n, d, o)) AS v",
        ]
    )
    beside, rows_of = "reading r JOIN v ON", f"reading r JOIN {constants} ON"
    said = random.choice(["v.k = r.sensor", "v.n = r.level", "v.k = r.sensor AND v.n <= r.level"])
    early = f"r.{EARLY}"
    texts = [f"('{k}')" for k in random.sample("abcd", k=2)]
    pairs = ", ".join(f"({k}, {n})" for k, n, *_ in rows)
    shown = random.choice(["r.sensor, v.n", "r.sensor, v.d, v.o", "r.level, v.k"])
    union = " UNION ALL ".join(
        f"SELECT {k} AS k, {n} AS n, {d} AS d, {o} AS o" for k, n, d, o in reversed(rows)
    )
    return random.choice(
        [
            f"SELECT {shown} FROM reading r JOIN {constants} ON {said}",
            f"SELECT {shown} FROM {constants}, reading r WHERE {said} AND r.level > 2",
            f"SELECT {shown} FROM reading r LEFT JOIN {constants} ON v.k = r.sensor",
            f"WITH v(k, n, d, o) AS (VALUES {listed}) SELECT {shown} FROM {beside} {said}",
            f"SELECT {shown} FROM reading r JOIN ({union}) AS v ON {said}",
            f"SELECT r.sensor FROM reading r WHERE r.sensor IN (VALUES {', '.join(texts)})",
            f"SELECT r.sensor FROM reading r WHERE (r.sensor, r.level) IN (VALUES {pairs})",
            (
                f"SELECT r.sensor FROM reading r "
                f"WHERE NOT EXISTS (SELECT 1 FROM {constants} WHERE {said})"
            ),
            (
                f"SELECT date_trunc('hour', r.ts) AS b, v.k, COUNT(*) AS c, MAX(v.d) AS m "
                f"FROM {rows_of} {said} WHERE {early} GROUP BY b, v.k"
            ),
            f"SELECT DISTINCT v.n, r.sensor FROM reading r JOIN {constants} ON {said}",
        ]
    )


@pytest.mark.many(2)
@pytest.mark.parametrize("seed", range(14))
def test_it_is_as_duckdb_answers(folder: Path, project: OpenProject, seed: int) -> None:
    text = make_query(Random(seed))
    verdict = project.check(text)
    assert verdict.bound is not None
    answers = project.replay(text)
    assert answers.summary["state_rows_max"] <= (verdict.bound.rows or 0)
    assert told(project, text) == ask_duckdb(folder, text), text


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ("(VALUES ('a', 1), ('b', 'x')) AS v(k, n)", "column n has values of no type, or of two"),
        ("(VALUES ('a', NULL)) AS v(k, n)", "column n has values of no type, or of two"),
        ("(VALUES ('a', 1), ('b')) AS v(k, n)", "rows of several lengths"),
        ("(VALUES ('a', 1)) AS v", "columns have no names"),
        ("(VALUES ('a', NOW())) AS v(k, n)", "VALUES of NOW()"),
        ("(VALUES ('a', 1e0)) AS v(k, n)", "VALUES of 1e0"),
        ("(VALUES ('a', 9223372036854775808)) AS v(k, n)", "numbers beyond 64 bits"),
    ],
)
def test_other_values_are_refused_by_name(project: OpenProject, values: str, said: str) -> None:
    with pytest.raises(QueryError) as caught:
        project.check(f"SELECT r.sensor, v.k FROM reading r JOIN {values} ON v.k = r.sensor")
    assert said.lower() in str(caught.value).lower()
    assert caught.value.fix
