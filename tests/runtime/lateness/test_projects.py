"""A declared lateness from the project file to a verdict and a replay."""

import re
from pathlib import Path

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.errors import CatalogError, DataError
from ontoweir.project.write_tables import write_tables
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest
from ontoweir.runtime.replay.replay_summary import ReplaySummary
from tests.runtime.harness import Row, make_catalog, make_sql_job, read_rows

LATER = "SELECT x.k, y.a FROM S x JOIN S y ON x.k = y.k AND x.ts < y.ts WHERE x.a = 1"


def _toml(time: str, *, limit: str = "max_per_timestamp = 2\n", source: str = "") -> str:
    return (
        f'[streams.S]\nsource = {{ format = "csv", path = "s.csv"{source}, '
        'options = { header = "true" } }\n'
        f'timestamp = {{ column = "ts", unit = "1 second"{time} }}\n{limit}'
        '[streams.S.columns]\nk = { type = "int", min = 0, max = 9 }\n'
        'a = { type = "int", min = 0, max = 9 }\n'
    )


def _replay(folder: Path, toml: str, times: list[int]) -> tuple[list[Row], ReplaySummary]:
    rows = [f"{n % 3},{n % 2},2026-01-01T00:00:{s:02}" for n, s in enumerate(times)]
    (folder / "s.csv").write_text("\n".join(["k,a,ts", *rows]) + "\n")
    job = make_sql_job("SELECT k, a FROM S", make_catalog(folder, toml))
    output = folder / "out.parquet"
    request = ReplayRequest(output, "parquet", engine="driver", text_here=True, most_rejected=False)
    summary = replay_history(job, request)
    return read_rows(output), summary


def test_a_floor_is_read(tmp_path: Path) -> None:
    time = ', lateness = "1 minute", adapt = true, floor = "5 seconds", window = "1 hour"'
    stream = make_catalog(tmp_path, _toml(time)).streams["S"]
    assert (stream.lateness_us, stream.floor_us) == (60_000_000, 5_000_000)
    assert stream.window_us == 3_600_000_000
    again = write_tables(make_catalog(tmp_path, _toml(time)), {"S": "s.parquet"})
    assert 'lateness = "1 minute", adapt = true, floor = "5 seconds", window = "1 hour"' in again


@pytest.mark.parametrize(
    ("time", "said"),
    [
        (', adapt = true, floor = "5 seconds"', "adapt is declared, and no lateness"),
        (', lateness = "1 minute", adapt = true', "floor"),
        (', lateness = "1 minute", floor = "5 seconds"', "floor is declared, and adapt is not"),
        (', lateness = "1 minute", window = "1 hour"', "window is declared, and adapt is not"),
        (', lateness = "1 minute", adapt = true, floor = "2 minutes"', "greater than the lateness"),
        (', lateness = "1 minute", adapt = true, floor = "5 ms"', "not a whole number"),
        (
            ', lateness = "1 minute", adapt = true, floor = "5 seconds", window = "0 seconds"',
            "not a whole number",
        ),
        (', lateness = "1 minute", adapt = "yes", floor = "5 seconds"', "adapt"),
    ],
)
def test_what_is_wrong_of_a_floor_is_refused(time: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=said) as error:
        make_catalog(tmp_path, _toml(time))
    assert error.value.source is not None


def test_a_csv_in_order_of_arrival(tmp_path: Path) -> None:
    rows, summary = _replay(tmp_path, _toml(', lateness = "3 seconds"'), [0, 5, 2, 3, 1, 9, 6])
    assert [str(row[2])[-2:] for row in rows] == ["00", "02", "03", "05", "06", "09"]
    assert (summary.late, summary.tuples, summary.results) == (1, 7, 6)
    (late,) = summary.late_rows.values()
    assert late.describe() == {
        "rows": 1,
        "needs": "4 seconds",
        "within": {"10 seconds": 1},
        "more": 0,
    }
    assert summary.rejected == {"S.ts is late: more than 3 seconds after a later one": 1}


def test_what_is_sorted_has_no_late_rows(tmp_path: Path) -> None:
    toml = _toml(', lateness = "1 second"', source=", sort = true")
    rows, summary = _replay(tmp_path, toml, [9, 5, 2, 3])
    assert len(rows) == 4
    assert summary.late == 0


def test_half_of_the_rows_late_is_refused_with_what_they_would_need(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="2 of the 4 rows of S are rejected") as error:
        _replay(tmp_path, _toml(', lateness = "1 second"'), [9, 12, 2, 3])
    assert 'lateness = "10 seconds"' in error.value.fix
    assert not (tmp_path / "out.parquet").exists()


def test_the_bound_names_what_waits(tmp_path: Path) -> None:
    plain = make_catalog(tmp_path, _toml(""))
    late = make_catalog(tmp_path, _toml(', lateness = "90 seconds"'))
    union = parse_sql(LATER, plain, name="q", file="q.sql")
    before, after = check_query(union, plain).bound, check_query(union, late).bound
    assert before is not None
    assert after is not None
    assert before.rows is not None
    assert after.rows == before.rows + 2 * 90
    assert "R(S) · 90 open steps (lateness 90 seconds)" in after.formula
    untimed = check_query(union, late, timed=False).bound
    assert untimed is None or "open steps" not in untimed.formula


def test_of_many_streams_that_wait_alike_their_number_is_said(tmp_path: Path) -> None:
    for count, said in ((4, "R(S3) · 90 open steps"), (5, "5 streams · (R = 2) · 90 open steps")):
        one = _toml(', lateness = "90 seconds"')
        catalog = make_catalog(
            tmp_path, "\n".join(re.sub(r"\bS\b", f"S{n}", one) for n in range(count))
        )
        texts = (f"SELECT k, a FROM S{n}" for n in range(count))
        union = parse_sql(" UNION ALL ".join(texts), catalog, name="q", file="q.sql")
        bound = check_query(union, catalog).bound
        assert bound is not None
        assert said in bound.formula
        assert bound.rows == count * 2 * 90


@pytest.mark.parametrize(
    ("time", "limit", "said"),
    [
        (', lateness = "soon"', "max_per_timestamp = 2\n", "'soon' is not a duration"),
        (', lateness = "-PT3S"', "max_per_timestamp = 2\n", "is not a duration"),
        (', lateness = "3 seconds"', "", "no max_per_timestamp"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(
    time: str, limit: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(CatalogError, match=said) as error:
        make_catalog(tmp_path, _toml(time, limit=limit))
    assert error.value.source is not None
    assert error.value.source.line == 3


def test_a_written_project_says_it(tmp_path: Path) -> None:
    catalog = make_catalog(tmp_path, _toml(', lateness = "90 seconds"'))
    assert 'lateness = "90 seconds"' in write_tables(catalog, {"S": "s.parquet"})
