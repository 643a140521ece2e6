"""Models of dbt, from the manifest that it writes."""

import json
from pathlib import Path
from typing import Any

import pytest

from ontoweir.cli import main

SOURCE = {
    "name": "bids",
    "identifier": "raw_bids",
    "loaded_at_field": "ts",
    "columns": {
        "auction": {"name": "auction", "data_type": "bigint"},
        "ts": {"name": "ts", "data_type": "timestamp"},
    },
}


def _model(name: str, code: str | None, *needs: str, materialized: str = "view") -> dict[str, Any]:
    return {
        "resource_type": "model",
        "name": name,
        "compiled_path": f"target/compiled/p/models/{name}.sql",
        "compiled_code": code,
        "config": {"materialized": materialized},
        "depends_on": {"nodes": [f"model.p.{n}" for n in needs]},
    }


def _write(folder: Path, *models: dict[str, Any], source: dict[str, Any] = SOURCE) -> str:
    nodes = {f"model.p.{m['name']}": m for m in models} | {
        "test.p.t": {"resource_type": "test", "name": "t", "compiled_code": "select 1"}
    }
    held = {
        "metadata": {"adapter_type": "risingwave"},
        "nodes": nodes,
        "sources": {"source.p.raw.bids": source},
    }
    file = folder / "manifest.json"
    file.write_text(json.dumps(held))
    return str(file)


PAIRS = """
select x.auction
from "dev"."public"."dear" as x
join "dev"."public"."dear" as y on x.auction = y.auction
"""
DEAR = 'select auction, ts from "dev"."raw"."raw_bids" where auction > 9'


def test_a_verdict_of_each_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the order in which they are built; ephemeral ones are parts of others."""
    models = (
        _model("pairs", PAIRS, "dear"),
        _model("dear", DEAR),
        _model("part", "select 1", materialized="ephemeral"),
    )
    file = _write(tmp_path, *models)
    assert main(["check", "--dbt", file, "--format", "json", "--fail-on", "unbounded"]) == 1
    dear, pairs = json.loads(capsys.readouterr().out)
    assert (dear["query"], dear["verdict"]) == ("dear", "bounded")
    assert (pairs["query"], pairs["verdict"]) == ("pairs", "unbounded")
    where = pairs["disjuncts"][0]["because"][0]["source"]
    assert where == {"file": "target/compiled/p/models/pairs.sql", "line": 3}


def test_a_catalog_declares_what_dbt_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = _write(tmp_path, _model("dear", DEAR), source={**SOURCE, "loaded_at_field": None})
    assert main(["check", "--dbt", file]) == 2
    assert "unknown table" in capsys.readouterr().err
    side = tmp_path / "side.toml"
    side.write_text(
        '[streams.raw_bids]\nsource = { format = "parquet", path = "b.parquet" }\n'
        'timestamp = { column = "ts", unit = "1 second" }\ncolumns = { auction = "int" }\n'
    )
    assert main(["check", "--dbt", file, "--catalog", str(side)]) == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "manifest.json cannot be read"),
        ("{", "it is no manifest of dbt"),
        ("[]", "it is no manifest of dbt"),
        ('{"nodes": {}}', "the dbt project has no models"),
    ],
)
def test_what_is_no_manifest(
    text: str | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "manifest.json"
    if text is not None:
        file.write_text(text)
    assert main(["check", "--dbt", str(file)]) == 2
    assert said in capsys.readouterr().err


def test_models_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--dbt", _write(tmp_path, _model("m", None))]) == 2
    assert "the model 'm' has no compiled SQL" in capsys.readouterr().err
    round_about = (_model("a", "select 1", "b"), _model("b", "select 1", "a"))
    assert main(["check", "--dbt", _write(tmp_path, *round_about)]) == 2
    assert "models read each other" in capsys.readouterr().err
    assert main(["check", "x.sql", "y.sql", "--dbt", "m.json"]) == 2
    assert "--dbt does not go with a script" in capsys.readouterr().err
