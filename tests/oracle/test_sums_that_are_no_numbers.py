"""A sum of doubles that is not a number is an answer as DuckDB has it; where others are compared or
counted with it, the run stops, and says so."""

import math
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.errors import DataError
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.random_queries import Case, Tables
from tests.oracle.test_free_shapes import NULLABLE
from tests.oracle.test_stacked_queries import make_job
from tests.runtime.in_process import replay_here, store


def _replay(
    text: str, values: list[float], folder: Path, patch: pytest.MonkeyPatch
) -> list[dict[str, Any]]:
    rows = [(1, 0, "x", 0, None, v, n) for n, v in enumerate(values)]
    data: Tables = {
        "s": (["a", "b", "g", "h", "d", "f", "ts"], [*rows, (0, 0, "y", 1, None, 1.0, 99)]),
        "t": (["a", "b", "g", "h", "ts"], []),
        "r": (["h", "a", "g"], []),
    }
    union = parse_sql(text, NULLABLE, name="q", file="q.sql")
    verdict = check_query(union, NULLABLE)
    stored, statics = store(Case(NULLABLE, union, data, 100), Random(0), folder)
    job = make_job(verdict, union, stored)
    return replay_here(patch, job, folder / "1.parquet", statics=statics, ranges=1)[0]


_SPAN = "INTERVAL '3' MICROSECOND PRECEDING AND CURRENT ROW"
_OVER = f"OVER (PARTITION BY h ORDER BY ts RANGE BETWEEN {_SPAN})"
_SUMS = "SELECT time_bucket('8 microseconds', ts) AS w, SUM(f) AS m FROM s GROUP BY w"


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT MAX(m) AS z FROM ({_SUMS}) AS q",
        f"SELECT a, SUM(f) {_OVER} AS m FROM s WHERE h IS NOT NULL",
    ],
)
def test_the_run_stops(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match=r"not a number \(NaN\)"):
        _replay(text, [math.inf, -math.inf], tmp_path, monkeypatch)


def test_twin_infinity_is_a_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"SELECT MAX(m) AS z FROM ({_SUMS}) AS q"
    told = _replay(text, [math.inf, 1.0], tmp_path, monkeypatch)
    assert math.inf in [row["z"] for row in told]


def test_twin_as_an_answer_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (told,) = _replay(_SUMS, [math.inf, -math.inf], tmp_path, monkeypatch)
    assert math.isnan(told["m"])
