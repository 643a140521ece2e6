"""Columns whose names are alike have properties of their own."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.ontoweir.conftest import Run


def test_each_column_has_its_own_property(run: Run, tmp_path: Path) -> None:
    times = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=n) for n in range(130)]
    rows = {
        "at": times,
        "temp": [n / 2 for n in range(130)],
        "Temp": [n * 1000.5 for n in range(130)],
    }
    pq.write_table(pa.table(rows | {"temp €": [0.25] * 130}), tmp_path / "r.parquet")
    project = tmp_path / "p"
    ran = run("init", project, "--from", tmp_path / "r.parquet")
    assert ran.code == 0, ran.err
    mapping = (project / "mapping.r2rml.ttl").read_text()
    for name, column in (("temp", "temp"), ("temp2", "Temp"), ("temp3", "temp €")):
        assert f'[ rr:predicate :{name} ; rr:objectMap [ rr:column "{column}" ] ]' in mapping
    ontology = (project / "ontology.ttl").read_text()
    assert all(ontology.count(f":{n} a owl:DatatypeProperty") == 1 for n in ("temp", "temp2"))
    asked = "PREFIX : <http://p.example/ns#> SELECT ?v { GRAPH ?t { ?r :temp ?v } FILTER(?v > 60) }"
    shown = run("show", asked, "--project", project, "--limit", "0").out
    assert "9 rows" in shown
