"""Sets that show a time of one of three streams, chained by windows: replayed, against DuckDB."""

from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import duckdb
import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest
from tests.runtime.harness import make_catalog, read_rows

START = datetime(2026, 1, 1)
STREAM = """\
[streams.{0}]
source = {{ format = "csv", path = "{0}.csv", options = {{ header = "true" }} }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 9
columns = {{ k = {{ type = "int", min = 0, max = 2 }} }}
"""
SHORT, LONG = "INTERVAL '3' SECOND", "INTERVAL '9' SECOND"
CHAINS = (
    f"x.ts <= y.ts AND y.ts <= x.ts + {SHORT} AND y.ts <= z.ts AND z.ts <= y.ts + {SHORT}",
    f"x.ts <= y.ts AND y.ts <= x.ts + {SHORT} AND x.ts <= z.ts AND z.ts <= y.ts + {SHORT}",
    f"x.ts = y.ts AND y.ts <= z.ts AND z.ts <= y.ts + {SHORT}",
    f"x.ts <= y.ts + {SHORT} AND y.ts <= x.ts + {SHORT} AND z.ts >= y.ts AND z.ts <= y.ts + {LONG}",
)


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """Three streams of forty seconds."""
    folder, random = tmp_path_factory.mktemp("times"), Random(1)
    for name in "STU":
        rows = [
            f"{random.randrange(3)},{START + timedelta(seconds=second)}"
            for second in sorted(random.randrange(40) for _ in range(30))
        ]
        (folder / f"{name}.csv").write_text("\n".join(["k,ts", *rows]) + "\n")
    return make_catalog(folder, "".join(STREAM.format(name) for name in "STU"))


@pytest.mark.parametrize("joined", ["x.k = y.k AND y.k = z.k AND", "y.k = z.k AND", ""])
@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("shown", ["x.ts", "z.ts", "x.ts, z.ts"])
def test_a_time_of_three_streams(
    shown: str, chain: str, joined: str, streams: Catalog, tmp_path: Path
) -> None:
    names = [f"t{n}" for n in range(shown.count(",") + 1)]
    columns = ", ".join(f"{c} AS {n}" for c, n in zip(shown.split(", "), names, strict=True))
    sql = f"SELECT DISTINCT {columns} FROM S x, T y, U z WHERE {joined} {chain}"
    verdict = check_query(parse_sql(sql, streams, name="q", file="q.sql"), streams)
    assert verdict.plans is not None
    assert verdict.bound is not None
    job = QueryJob("q", verdict.union, verdict.plans, streams, verdict.bound.rows)
    output = tmp_path / "out.parquet"
    for rows in (3, 1000):
        request = ReplayRequest(
            output, "parquet", engine="driver", text_here=True, rows_per_chunk=rows
        )
        replay_history(job, request)  # which holds it to its bound
        found = [row[: len(names)] for row in read_rows(output)]
        base = duckdb.connect()
        for name, stream in streams.streams.items():
            base.execute(f"CREATE VIEW {name} AS FROM read_csv('{stream.data.path}')")
        right = [tuple(map(str, row)) for row in base.execute(sql).fetchall()]
        assert sorted(map(str, found)) == sorted(map(str, right))
        assert right
