"""docs/python.md is run: what it prints is what it says."""

import contextlib
import gc
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ontoweir
from ontoweir.cli import main
from tests.paths import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = ROOT / "docs" / "python.md"


def _blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_page_is_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: "SparkSession"
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "rooms"]) == 0
    names: dict[str, Any] = {"spark": spark}
    for block in _blocks():
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(block, names)
        wanted = [m[1] for m in re.finditer(r"^# (.*)$", block, re.MULTILINE)]
        told = out.getvalue().rstrip().splitlines()
        assert len(told) == len(wanted), told
        for have, want in zip(told, wanted, strict=True):
            pattern = re.escape(want.rstrip()).replace("…", ".*")
            assert re.fullmatch(pattern, have.rstrip()), have
        assert wanted or "print" not in block


def test_a_query_of_no_project(tmp_path: Path) -> None:
    with pytest.raises(ontoweir.OntoweirError, match="no project file"):
        ontoweir.open_project(tmp_path)


def test_answers_without_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    main(["init", "rooms"])
    project = ontoweir.open_project("rooms")
    with pytest.raises(ontoweir.OntoweirError, match="unknown query 'nothing'"):
        project.check("nothing")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ontoweir.nothing


def test_rdf_terms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: "SparkSession") -> None:
    """IRIs, typed literals, counts of groups; a row for each multiplicity."""
    from rdflib import Literal, URIRef

    monkeypatch.chdir(tmp_path)
    main(["init", "rooms"])
    project = ontoweir.open_project("rooms", spark=spark)
    hot = project.replay("hot-readings", output=tmp_path / "hot.parquet")
    rows: list[Any] = list(hot.to_rdflib())
    assert len(rows) == sum(hot.to_arrow(raw=True).column("multiplicity").to_pylist()) > 0
    assert isinstance(rows[0].sensor, URIRef)
    assert isinstance(rows[0].celsius, Literal)
    assert rows[0].celsius.datatype is not None
    failed: Any = project.replay("how-often-each-sensor-failed").to_rdflib()
    assert all(row.faults.toPython() > 0 for row in failed)
    assert (tmp_path / "hot.parquet").exists()
    file = project.replay("hot-readings").file
    gc.collect()
    assert not file.exists()  # its answers are gone


def test_solutions_and_raw_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: "SparkSession"
) -> None:
    """A row for each solution, its terms told; raw: equal ones together."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    monkeypatch.chdir(tmp_path)
    main(["init", "rooms"])
    project = ontoweir.open_project("rooms", spark=spark)
    hot = project.replay("hot-readings", output=tmp_path / "hot.parquet")
    table = hot.to_arrow(raw=True)
    times = pa.array([n % 4 for n in range(table.num_rows)], pa.int64())
    place = table.column_names.index("multiplicity")
    pq.write_table(table.set_column(place, "multiplicity", times), hot.file)
    rows = hot.to_arrow()
    assert rows.column_names == ["sensor", "celsius", "at"]
    assert len(hot) == rows.num_rows == sum(times.to_pylist())
    assert hot.to_spark().count() == rows.num_rows
    assert hot.to_spark(raw=True).count() == table.num_rows
    assert hot.terms == {"sensor": "IRI", "celsius": "literal xsd:decimal"}
    assert rows.schema.field("sensor").metadata == {b"term": b"IRI"}
    terms: list[Any] = list(hot.to_rdflib())
    solutions = [(str(r.sensor), r.celsius.toPython()) for r in terms]
    plain = [(r["sensor"], r["celsius"]) for r in rows.to_pylist()]
    assert sorted(solutions) == sorted(plain)


def test_a_library_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: "SparkSession"
) -> None:
    monkeypatch.chdir(tmp_path)
    main(["init", "rooms"])
    answers = ontoweir.open_project("rooms", spark=spark).replay("hot-readings")
    monkeypatch.setattr("ontoweir.api.answers.find_spec", lambda name: None)
    with pytest.raises(ontoweir.OntoweirError, match="pandas is not installed"):
        answers.to_pandas()
    with pytest.raises(ontoweir.OntoweirError, match="polars is not installed"):
        answers.to_polars()
