"""Functions over windows of the rows of a bucket of time, against DuckDB."""

from pathlib import Path
from random import Random

import pytest

import ontoweir
from ontoweir.api.python_api import OpenProject
from tests.oracle.test_asked_sql import EARLY, ask_duckdb, told, write_project


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("numbered")
    write_project(made, 9, 150)
    return made


@pytest.fixture(scope="module")
def project(folder: Path) -> OpenProject:
    return ontoweir.open_project(folder)


BUCKETS = (
    "date_trunc('hour', ts)",
    "CAST(ts AS DATE)",
    "time_bucket(INTERVAL '70' MINUTE, ts, TIMESTAMP '2026-01-01')",
)
NUMBERS = ("RANK()", "DENSE_RANK()", "ROW_NUMBER()")
SHARES = ("SUM(level)", "COUNT(*)", "MAX(amount)", "COUNT(level)", "SUM(amount)")


@pytest.mark.parametrize("seed", range(8))
def test_it_is_as_duckdb_answers(folder: Path, project: OpenProject, seed: int) -> None:
    """Ranks, by QUALIFY and around a subquery; and shares of the bucket; within the bound."""
    random = Random(seed)
    bucket = random.choice(BUCKETS)
    parts = ", ".join(random.sample([bucket, random.choice(["sensor", "grade"])], k=2))
    parts = random.choice([bucket, parts]).replace("grade", "level")
    order = ", ".join(
        f"{by}{random.choice(['', ' DESC'])} NULLS {random.choice(['FIRST', 'LAST'])}"
        for by in random.sample(["amount", "level", "note"], k=random.randint(1, 2))
    )
    number = random.choice(NUMBERS)
    order += ", sensor, ts" if number == "ROW_NUMBER()" else ""
    over = f"OVER (PARTITION BY {parts} ORDER BY {order})"
    keep = random.choice(["", " AND level > 2", " AND sensor <> 'b'"])
    limit = random.choice(["<= 2", "= 1", "< 4", "<= 5"])
    shown = random.choice(["sensor, ts, amount", "*", f"sensor, {bucket} AS b, ts, level"])
    keep += " AND level IS NOT NULL" if "level" in parts else ""
    where = f"WHERE {EARLY}{keep}"
    texts = [
        f"SELECT {shown} FROM reading {where} QUALIFY {number} {over} {limit}",
        (
            f"SELECT * FROM (SELECT {shown}, {number} {over} AS n FROM reading {where}) AS w "
            f"WHERE n {limit}"
        ),
    ]
    share = random.choice(SHARES)
    texts.append(
        f"SELECT sensor, ts, {share} OVER (PARTITION BY {parts}) AS s FROM reading r {where}"
    )
    for text in texts:
        verdict = project.check(text)
        assert verdict.bound is not None, text
        assert project.replay(text).summary["state_rows_max"] <= (verdict.bound.rows or 0)
        found = told(project, text)
        assert found == ask_duckdb(folder, text), text
        assert found


TUMBLED = "TABLE(TUMBLE(TABLE reading, DESCRIPTOR(ts), INTERVAL '70' MINUTE))"
BEGINS = "time_bucket(INTERVAL '70' MINUTE, ts, TIMESTAMP '1970-01-01')"
ENDS = f"{BEGINS} + INTERVAL '70' MINUTE"


@pytest.mark.parametrize("seed", range(6))
def test_windows_of_a_table_are_buckets(folder: Path, project: OpenProject, seed: int) -> None:
    """Flink's first rows of a window, by a subquery or QUALIFY; DuckDB has time_bucket."""
    random = Random(seed)
    number = random.choice(NUMBERS)
    order = random.choice(["amount DESC NULLS LAST", "level NULLS FIRST, amount NULLS LAST"])
    order += ", sensor, ts" if number == "ROW_NUMBER()" else ""
    more = random.choice(["", "sensor, "])
    parts = random.choice(["window_start", "window_start, window_end", "window_end"])
    shown = random.choice(["*", "sensor, ts, amount, window_start", "window_end, sensor, level"])
    within = random.choice(["", " AND sensor = 'b'", " AND level > 1"])
    over = f"{number} OVER (PARTITION BY {more}{parts} ORDER BY {order})"
    rows = f"{TUMBLED} WHERE {EARLY}{within}"
    text = random.choice(
        [
            f"SELECT * FROM (SELECT {shown}, {over} AS n FROM {rows}) w WHERE n <= 2",
            f"SELECT {shown} FROM {rows} QUALIFY {over} <= 2",
        ]
    )
    table = f"(SELECT *, {BEGINS} AS window_start, {ENDS} AS window_end FROM reading) AS t"
    known = text.replace(TUMBLED, table)
    verdict = project.check(text)
    assert verdict.bound is not None, text
    found = told(project, text)
    assert found, text
    assert found == ask_duckdb(folder, known), text


@pytest.mark.parametrize("bucket", ["date_trunc('hour', ts)", "CAST(ts AS DATE)"])
def test_what_begins_anew_in_each_bucket_is_forgotten_with_it(
    folder: Path, project: OpenProject, bucket: str
) -> None:
    """One row of each of three sensors is kept, however many buckets there are."""
    over = f"OVER (PARTITION BY sensor, {bucket} ORDER BY ts)"
    text = f"SELECT sensor, ts, SUM(amount) {over} AS s, ROW_NUMBER() {over} AS n FROM reading"
    verdict = project.check(text)
    assert verdict.bound is not None
    assert verdict.bound.rows == 3
    assert project.replay(text).summary["state_rows_max"] <= 3
    assert told(project, text) == ask_duckdb(folder, text)
