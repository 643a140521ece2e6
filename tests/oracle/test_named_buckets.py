"""Rows beside the greatest value of their bucket, by FILTER(ow:tumble(?t, …) = ?hour), against
DuckDB over the same file."""

import random
from datetime import datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from ontoweir.cli import main

QUERY = """PREFIX : <http://rooms.example/ns#>
PREFIX ow: <urn:ontoweir:>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
SELECT ?sensor ?value ?hour ?most WHERE {
  GRAPH ?t { ?row a :Reading ; :sensor ?sensor ; :celsius ?value }
  { SELECT ?hour (MAX(?any) AS ?most) WHERE { GRAPH ?u { ?other a :Reading ; :celsius ?any } }
    GROUP BY (ow:tumble(?u, "PT1H"^^xsd:dayTimeDuration) AS ?hour) }
  FILTER(ow:tumble(?t, "PT1H"^^xsd:dayTimeDuration) = ?hour)
}"""
SQL = """SELECT sensor, celsius, epoch(date_trunc('hour', ts)) AS hour,
  MAX(celsius) OVER (PARTITION BY date_trunc('hour', ts)) AS most
FROM read_csv('{file}')
QUALIFY date_trunc('hour', ts) < date_trunc('hour', MAX(ts) OVER ())"""


@pytest.mark.parametrize("seed", range(3))
def test_rows_beside_the_greatest_of_their_hour(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    file = tmp_path / "readings.csv"
    time, lines = datetime(2026, 3, 1), ["ts,sensor,celsius"]
    for _ in range(200):
        time += timedelta(minutes=chance.choice([1, 5, 20, 60, 130]))
        lines.append(f"{time.isoformat()}Z,s{chance.randrange(3)},{chance.randrange(80) / 4}")
    file.write_text("\n".join(lines) + "\n")
    project = tmp_path / "rooms"
    assert main(["init", str(project), "--from", str(file), "--quiet"]) == 0
    query, output = tmp_path / "q.rq", tmp_path / "answers.parquet"
    query.write_text(QUERY)
    given = ["--query", str(query), "--output", str(output), "--quiet"]
    assert main(["replay", str(project), *given]) == 0
    with duckdb.connect() as db:
        db.execute("SET TimeZone = 'UTC'")
        found = db.sql(
            f"SELECT sensor, value, epoch(hour), most, multiplicity FROM '{output}'"
        ).fetchall()
        wanted = db.sql(SQL.format(file=file)).fetchall()
    repeated = [(s, v, h, m) for s, v, h, m, n in found for _ in range(n)]
    assert sorted(repeated) == sorted(wanted)
    assert repeated
