"""What keeps solutions that come and go from being read side by side is said as it is written."""

from pathlib import Path
from random import Random

import pytest

from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from tests.sparql_counts.test_computed_absence import PREFIXES, make_case
from tests.sparql_counts.test_joined_solutions import WINDOW
from tests.sparql_counts.write_case import write_case


def _rows(number: int, triple: str) -> str:
    return f"GRAPH ?t{number} {{ {triple} }} {WINDOW.format(n=number, m=20)}"


COUNTED = f"{{ SELECT ?x (COUNT(*) AS ?c) {{ {_rows(1, '?x :n ?n')} }} GROUP BY ?x }}"
LATEST = "GRAPH ?u { ?x :p ?v } FILTER NOT EXISTS { GRAPH ?w { ?x :p ?o } FILTER(?w > ?u) }"
INNER = f"OPTIONAL {{ {_rows(3, '?x :p ?b')} }}"


@pytest.mark.parametrize(
    ("where", "what"),
    [
        (
            f"{COUNTED} FILTER NOT EXISTS {{ {_rows(2, '?y :m ?a')} {INNER} }}",
            r"\?x in .*OPTIONAL inside of NOT EXISTS, whose other patterns do not bind it",
        ),
        (
            f"{COUNTED} OPTIONAL {{ {_rows(2, '?x :m ?b')} }} {INNER}",
            r"\?b, which an OPTIONAL before it",
        ),
        (f"{COUNTED} MINUS {{ {_rows(2, '?z :m ?a')} }}", "MINUS that shares no variable"),
        (f"{COUNTED} :a :f 2", "patterns without variables"),
        (f"{COUNTED} {{ }}", "patterns without variables"),
        (f"{COUNTED} VALUES ?x {{ UNDEF }} ?x :f ?f", "UNDEF in VALUES"),
        (f"{COUNTED} SERVICE <urn:s> {{ {_rows(2, '?x :m ?v')} }}", "SERVICE"),
        (f"{COUNTED} SERVICE <urn:s> {{ ?x :f ?f }}", "SERVICE"),
        (f"{COUNTED} {{ SELECT ?x {{ SERVICE <urn:s> {{ {LATEST} }} }} }}", "SERVICE"),
        (f"BIND(1 AS ?c) SERVICE SILENT <urn:s> {{ {LATEST} }}", "SERVICE"),
        (
            f"{COUNTED} FILTER(?c > 2 || EXISTS {{ {_rows(2, '?x :m ?v')} FILTER(?v > ?c) }})",
            "EXISTS in an expression",
        ),
    ],
)
def test_a_part_is_named(where: str, what: str, tmp_path: Path) -> None:
    write_case(make_case(Random(0)), tmp_path)
    (tmp_path / "q.rq").write_text(f"{PREFIXES}SELECT ?x ?c {{ {where} }}", encoding="utf-8")
    with pytest.raises(QueryError, match=what):
        Workspace(load_project(tmp_path, environ={})).compile("q")
