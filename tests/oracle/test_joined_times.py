"""Groups by the time of an earlier row of a match, of values of several rows, against DuckDB."""

from collections import Counter
from pathlib import Path
from random import Random

import pytest

import ontoweir
from ontoweir.api.python_api import OpenProject
from tests.oracle.test_asked_sql import EARLY, ask_duckdb, told, write_project


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("joined")
    write_project(made, 8, 250)
    return made


@pytest.fixture(scope="module")
def project(folder: Path) -> OpenProject:
    return ontoweir.open_project(folder)


BUCKETS = (
    "date_trunc('hour', {0}.ts)",
    "date_trunc('day', {0}.ts)",
    "CAST({0}.ts AS DATE)",
    "date_trunc('week', {0}.ts)",
    "{0}.ts",
    "time_bucket(INTERVAL '45' MINUTE, {0}.ts)",
    "time_bucket(INTERVAL '25' MINUTE, {0}.ts, TIMESTAMP '2026-01-01 00:10:00')",
    *(
        OTHER := {
            "TUMBLE({0}.ts, INTERVAL '50' MINUTE, INTERVAL '10' MINUTE)": (
                "time_bucket(INTERVAL '50' MINUTE, {0}.ts, TIMESTAMP '1970-01-01 00:10:00')"
            ),
            "TUMBLE_END({0}.ts, INTERVAL '90' MINUTE)": (
                "time_bucket(INTERVAL '90' MINUTE, {0}.ts, TIMESTAMP '1970-01-01') "
                "+ INTERVAL '90' MINUTE"
            ),
            "FLOOR({0}.ts TO HOUR)": "date_trunc('hour', {0}.ts)",
        }
    ),
)
"""`OTHER`: with what DuckDB calls them."""
VALUES = (
    "AVG(r.level - a.grade)",
    "SUM(r.amount * a.grade)",
    "MAX(EXTRACT(EPOCH FROM r.ts - a.ts))",
    "MIN(r.level + a.grade)",
    "COUNT(DISTINCT r.level - a.grade)",
    "COUNT(*)",
)


@pytest.mark.many(2)
@pytest.mark.parametrize("seed", range(14))
def test_it_is_as_duckdb_answers(folder: Path, project: OpenProject, seed: int) -> None:
    """Each group is told when its bucket is over, and all that may come has come; state stays
    within the bound."""
    random = Random(seed)
    first, last = random.choice([("a", "r"), ("r", "a")])
    of = random.choice([first, first, last])
    written, minutes = random.choice(BUCKETS), random.choice([10, 30, 70, 300])
    bucket, known = written.format(of), OTHER.get(written, written).format(of)
    near, there = random.choice([">", ">="]), random.choice(["", " AND r.level IS NOT NULL"])
    values = [random.choice(VALUES[:-1]), *random.sample(VALUES, k=random.randint(0, 2))]
    shown = ", ".join(f"{value} AS v{n}" for n, value in enumerate(values))
    keys = random.choice(["", "a.sensor, ", "r.level, "])
    text = (
        f"SELECT {keys}{bucket} AS b, {shown} FROM alarm a JOIN reading r ON a.sensor = r.sensor "
        f"AND {last}.ts {near} {first}.ts "
        f"AND {last}.ts <= {first}.ts + INTERVAL '{minutes}' MINUTE "
        f"WHERE a.{EARLY} AND r.{EARLY}{there} GROUP BY {keys}{bucket}"
    )
    verdict = project.check(text)
    assert verdict.bound is not None, text
    answers = project.replay(text)
    assert answers.summary["state_rows_max"] <= (verdict.bound.rows or 0)
    found = told(project, text)
    assert found == ask_duckdb(folder, text.replace(bucket, known)), text
    assert found
    _told_as_early_as_plain_groups(project, text, bucket, shown)


def _told_as_early_as_plain_groups(
    project: OpenProject, text: str, bucket: str, shown: str
) -> None:
    """As those that count rows, whose bucket is the stream's own."""
    plain = text.replace(shown, "COUNT(*) AS v0")
    both = [project.replay(t).to_arrow() for t in (text, plain)]
    times = [
        Counter(zip(*(t.column(n).to_pylist() for n in ("b", "at")), strict=True)) for t in both
    ]
    assert times[0] == times[1], (text, bucket)


def test_the_end_of_a_bucket_is_bounded_as_its_begin(project: OpenProject) -> None:
    text = (
        "SELECT {0}(a.ts, INTERVAL '1' HOUR) AS b, MAX(r.level + a.grade) AS n FROM alarm a "
        "JOIN reading r ON a.sensor = r.sensor AND r.ts > a.ts "
        "AND r.ts <= a.ts + INTERVAL '30' MINUTE GROUP BY b"
    )
    bounds = [project.check(text.format(f"TUMBLE_{end}")).bound for end in ("START", "END")]
    assert bounds[0] is not None
    assert bounds[0] == bounds[1]
