"""Predicates of a relation that changes: as of the time of the row beside which they stand."""

from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ontoweir.cli import main
from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project

PROJECT = """
[project]
mappings = ["map.ttl"]
queries = ["asked.rq"]

[streams.sale]
source = { format = "csv", path = "sale.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 10
keys = [["id", "ts"]]
columns = { id = "int", item = "string", amount = "int" }

[streams.update]
source = { format = "csv", path = "update.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 second" }
keys = [["item", "ts"]]
columns = { item = { type = "string", enum = ["a", "b"] }, price = "int", gone = "boolean" }

[relations.price]
versions = { stream = "update", key = ["item"], delete = "gone" }
"""
MAPPING = """
@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix : <http://x/> .
<#sale> rr:logicalTable [ rr:tableName "sale" ] ;
  rr:subjectMap [ rr:template "http://x/sale/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate :item ; rr:objectMap [ rr:template "http://x/i/{item}" ] ] ;
  rr:predicateObjectMap [ rr:predicate :amount ; rr:objectMap [ rr:column "amount" ] ] .
<#price> rr:logicalTable [ rr:sqlQuery "SELECT item, price, price / 2 AS half FROM price" ] ;
  rr:subjectMap [ rr:template "http://x/i/{item}" ] ;
  rr:predicateObjectMap [ rr:predicate :price ; rr:objectMap [ rr:column "price" ] ] ;
  rr:predicateObjectMap [ rr:predicate :half ; rr:objectMap [ rr:column "half" ] ] .
"""
SALES = ["00,1,a,2", "05,2,a,3", "06,3,b,4", "09,4,a,1", "12,5,a,1"]
UPDATES = ["01,a,10,false", "05,a,11,false", "07,b,5,", "08,a,0,true", "12,a,12,false"]
BOTH = "{ GRAPH ?t { ?s :item ?i ; :amount ?n . ?i :price ?p } }"
SALE = "GRAPH ?t { ?s :item ?i ; :amount ?n }"


def write(folder: Path, query: str) -> None:
    (folder / "ontoweir.toml").write_text(PROJECT)
    (folder / "map.ttl").write_text(MAPPING)
    (folder / "asked.rq").write_text(f"PREFIX : <http://x/> {query}")
    for name, head, rows in (
        ("sale", "ts,id,item,amount", SALES),
        ("update", "ts,item,price,gone", UPDATES),
    ):
        lines = [head, *(f"2020-01-01T00:00:{row}" for row in rows)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("query", "answers"),
    [
        (f"SELECT ?n ?p WHERE {BOTH}", [(1, 12), (3, 11)]),
        (f"SELECT ?n ?h WHERE {BOTH.replace(':price ?p', ':half ?h')}", [(1, 6), (3, 5.5)]),
        (f"SELECT ?n ?p WHERE {{ {SALE} GRAPH ?t {{ ?i :price ?p }} }}", [(1, 12), (3, 11)]),
        (f"SELECT (?n * ?p AS ?m) WHERE {BOTH}", [(12,), (33,)]),
        (
            f"SELECT ?n ?p WHERE {{ {SALE} OPTIONAL {{ GRAPH ?t {{ ?i :price ?p }} }} }}",
            [(1, 12), (1, None), (2, None), (3, 11), (4, None)],
        ),
        (
            f"SELECT ?n WHERE {{ {SALE} FILTER NOT EXISTS {{ GRAPH ?t {{ ?i :price ?p }} }} }}",
            [(1,), (2,), (4,)],
        ),
        (f"SELECT (SUM(?n * ?p) AS ?m) WHERE {BOTH}", [(33,), (45,)]),
    ],
)
def test_answers(query: str, answers: list[tuple[object, ...]], tmp_path: Path) -> None:
    write(tmp_path, query)
    output = tmp_path / "answers.parquet"
    assert main(["replay", str(tmp_path), "--query", "asked", "--output", str(output)]) == 0
    rows = [
        tuple(v for n, v in row.items() if n not in ("at", "multiplicity"))
        for row in pq.read_table(output).to_pylist()
    ]
    found = Counter(tuple(None if v is None else float(v) for v in row) for row in rows)
    assert found == Counter(answers)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (f"SELECT DISTINCT ?p WHERE {{ {SALE} ?i :price ?p }}", "read at no row's time"),
        (f"SELECT ?p WHERE {{ {SALE} GRAPH ?u {{ ?i :price ?p }} }}", "read at no row's time"),
        (f"SELECT ?p WHERE {{ {SALE} GRAPH ?t {{ ?j :price ?p }} }}", "its item equals no column"),
    ],
)
def test_refused(query: str, message: str, tmp_path: Path) -> None:
    write(tmp_path, query)
    with pytest.raises(QueryError) as caught:
        Workspace(load_project(tmp_path, environ={})).compile("asked")
    assert message in str(caught.value)
    assert "GRAPH" in caught.value.fix or "join" in caught.value.fix


def test_what_meets_a_version_is_a_row(tmp_path: Path) -> None:
    """Without a key, rows of a sale may make a triple twice, and the triples have no versions."""
    write(tmp_path, f"SELECT ?n ?p WHERE {BOTH}")
    catalog = tmp_path / "ontoweir.toml"
    catalog.write_text(PROJECT.replace('keys = [["id", "ts"]]\n', ""))
    with pytest.raises(
        QueryError, match=r"time of triples, not of rows; .* a key \(id, item, ts\)"
    ):
        Workspace(load_project(tmp_path, environ={})).compile("asked")


@pytest.mark.parametrize(
    "command", [["check", "--data"], ["measure"], ["check", "--mappings-only"]]
)
def test_the_relation_has_no_data_of_its_own(command: list[str], tmp_path: Path) -> None:
    write(tmp_path, f"SELECT ?n ?p WHERE {BOTH}")
    name, *options = command
    assert main([name, str(tmp_path), "--quiet", *options]) == 0
