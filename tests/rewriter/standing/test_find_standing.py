"""Solutions that hold until something else comes, at any time later, in SPARQL."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.cli import main
from ontoweir.mappings.model.column_types import XSD
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from tests.rewriter.versions.test_versions_in_sparql import write

SOLD = "GRAPH ?t { ?s :item ?i }"
SALE = "GRAPH ?t { ?s :item ?i ; :amount ?n }"
CHEAP = "FILTER NOT EXISTS { GRAPH ?u { ?r :item ?i ; :amount 1 } FILTER(?u > ?t) }"
HOUR = '(ow:tumble(?t, "PT1H"^^xsd:dayTimeDuration) AS ?h)'
ANY = "FILTER NOT EXISTS { GRAPH ?u { ?r :item ?i } FILTER(?u > ?t) }"


def _limit(folder: Path) -> None:
    file = folder / "ontoweir.toml"
    limited = file.read_text().replace(
        'item = "string"', 'item = { type = "string", enum = ["a", "b"] }'
    )
    file.write_text(limited)


@pytest.mark.parametrize(
    ("query", "told"),
    [
        # at 9 a cheap sale ends two of them, and is one itself; at 12 the next one ends that
        (
            f"SELECT ?i WHERE {{ {SOLD} {CHEAP} }}",
            [("a", "+", 0, 1), ("a", "+", 5, 1), ("b", "+", 6, 1), ("a", "-", 9, 1)],
        ),
        (f"SELECT DISTINCT ?i WHERE {{ {SOLD} {CHEAP} }}", [("a", "+", 0, 1), ("b", "+", 6, 1)]),
        (
            f"SELECT ?i WHERE {{ {SOLD} {CHEAP.replace('?u >', '?u >=')} }}",
            [("a", "+", 0, 1), ("a", "+", 5, 1), ("b", "+", 6, 1), ("a", "-", 9, 2)],
        ),
        # of the last sales of each item, those that are cheap
        (
            f"SELECT ?i WHERE {{ GRAPH ?t {{ ?s :item ?i ; :amount 1 }} {ANY} }}",
            [("a", "+", 9, 1)],
        ),
        (
            f"SELECT ?i WHERE {{ GRAPH ?t {{ ?s :item ?i ; :amount 3 }} {ANY} }}",
            [("a", "+", 5, 1), ("a", "-", 9, 1)],
        ),
    ],
)
def test_told(query: str, told: list[tuple[str, str, int, int]], tmp_path: Path) -> None:
    write(tmp_path, query)
    _limit(tmp_path)
    output = tmp_path / "answers.parquet"
    assert main(["replay", str(tmp_path), "--query", "asked", "--output", str(output)]) == 0
    rows = [
        (r["i"][-1], r["op"], r["at"].second, r.get("multiplicity", 1))
        for r in pq.read_table(output).to_pylist()
    ]
    assert rows == told


def _check(folder: Path, query: str) -> Verdict:
    write(folder, query)
    _limit(folder)
    workspace = Workspace(load_project(folder, environ={}))
    return workspace.check(workspace.compile("asked"))


def test_the_last_ones_need_no_domain(tmp_path: Path) -> None:
    """What a row of one's own kind ends is kept once for each key, whatever it shows."""
    shown = "SELECT ?i ?n WHERE { GRAPH ?t { ?s :item ?i ; :amount ?n } FILTER(?n > 3) "
    verdict = _check(tmp_path, shown + ANY + " }")
    assert verdict.union.standing is not None
    assert verdict.union.standing.replaced
    assert verdict.bound is not None
    assert verdict.bound.rows == 20  # ten of a second, of each of two items


def test_what_others_end_does(tmp_path: Path) -> None:
    verdict = _check(tmp_path, f"SELECT ?i ?n WHERE {{ {SALE} {CHEAP} }}")
    assert verdict.union.standing is not None
    assert not verdict.union.standing.replaced
    assert verdict.bound is None


@pytest.mark.parametrize(
    ("query", "told"),
    [
        (
            f"SELECT (COUNT(*) AS ?c) WHERE {{ {SOLD} {CHEAP} }}",
            [
                (1, "+", 0),
                (1, "-", 5),
                (2, "+", 5),
                (2, "-", 6),
                (3, "+", 6),
                (3, "-", 9),
                (2, "+", 9),
            ],
        ),
        (
            f"SELECT (AVG(?n) AS ?c) WHERE {{ {SALE} {ANY} }}",
            [
                *((2, "+", 0), (2, "-", 5), (3, "+", 5), (3, "-", 6), (3.5, "+", 6)),
                *((3.5, "-", 9), (2.5, "+", 9)),
            ],
        ),
        (  # of the last sale of each item, by its hour
            f"SELECT ?h (COUNT(*) AS ?c) WHERE {{ {SALE} {ANY} }} GROUP BY {HOUR}",
            [(1, "+", 0), (1, "-", 6), (2, "+", 6)],
        ),
        (
            f"SELECT ?s (?n * 2 AS ?c) WHERE {{ {SALE} FILTER(?n > 3) {ANY} }}",
            [(8, "+", 6)],
        ),
    ],
)
def test_groups_and_expressions(
    query: str, told: list[tuple[float, str, int]], tmp_path: Path
) -> None:
    write(tmp_path, f"PREFIX ow: <urn:ontoweir:> PREFIX xsd: <{XSD}> {query}")
    _limit(tmp_path)
    output = tmp_path / "answers.parquet"
    assert main(["replay", str(tmp_path), "--query", "asked", "--output", str(output)]) == 0
    rows = [(r["c"], r["op"], r["at"].second) for r in pq.read_table(output).to_pylist()]
    assert rows == told
