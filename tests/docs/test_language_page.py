"""What docs/query-language.md says is read is read; what it says is refused is refused by name."""

import pytest

from ontoweir.errors import QueryError
from ontoweir.pipeline.compiling.compile_text import compile_text
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from tests.paths import ROOT

PREFIXES = """PREFIX : <http://traffic.example/ns#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""
BODY = "GRAPH ?t { ?r :averageSpeed ?v ; :reportedBy ?s }"
TWO = "GRAPH ?t1 { ?a :averageSpeed ?v ; :reportedBy ?s } GRAPH ?t2 { ?b :averageSpeed ?w }"

OTHER = "GRAPH ?u { ?q :averageSpeed ?w ; :reportedBy ?s }"
HALF_HOUR = '"PT30M"^^xsd:dayTimeDuration'
LATER = 'FILTER(?t2 > ?t1 && ?t2 - ?t1 <= "PT30M"^^xsd:dayTimeDuration)'
HOUR = 'GROUP BY (<urn:ontoweir:tumble>(?t2, "PT1H"^^xsd:dayTimeDuration) AS ?hour)'

READ = [
    f"CONSTRUCT {{ ?s a :Seen ; :x ?v }} WHERE {{ {BODY} }}",
    f"SELECT ?v ?b {{ {BODY} BIND(EXISTS {{ ?s :monitors ?x }} AS ?b) }}",
    f"SELECT ?v {{ {BODY} VALUES (?s ?v) {{ (UNDEF 3) (UNDEF 4) }} }}",
    f"SELECT ?v {{ {BODY} }}",
    f"SELECT DISTINCT ?s {{ {BODY} }}",
    f"SELECT * {{ {BODY} }}",
    "SELECT ?v { GRAPH ?t { [] a :Reading ; :averageSpeed ?v, ?w } }",
    *(f"SELECT ?v {{ {TWO} FILTER(?t1 {op} ?t2) }}" for op in ("<", "<=", "=", "!=", ">=", ">")),
    *(
        f'SELECT ?v {{ {TWO} FILTER(?t2 - ?t1 {op} "PT30M"^^xsd:dayTimeDuration) }}'
        for op in ("<", "<=", "=", ">=", ">")
    ),
    f'SELECT ?v {{ {TWO} FILTER(?t2 > ?t1 + "PT30M"^^xsd:dayTimeDuration) }}',
    f'SELECT ?v {{ {BODY} FILTER(?t <= "2014-09-01T00:00:00"^^xsd:dateTime) }}',
    f"SELECT ?v {{ {BODY} FILTER(?v + 10 < 50 && !(?v = 3 || ?v != 5)) }}",
    f"SELECT ?v {{ {BODY} FILTER(?v IN (1, 2) && ?v NOT IN (3)) }}",
    f"SELECT ?s {{ {{ {BODY} }} UNION {{ GRAPH ?t {{ ?r :vehicleCount 5 ; :reportedBy ?s }} }} }}",
    f"SELECT ?v {{ {BODY} FILTER NOT EXISTS {{ ?s :monitors ?x }} }}",
    f"SELECT ?v {{ {BODY} FILTER EXISTS {{ GRAPH ?u {{ ?q :reportedBy ?s }} FILTER(?u < ?t) }} }}",
    f"SELECT ?v {{ {BODY} MINUS {{ ?s :monitors ?x }} }}",
    f"SELECT ?v ?x {{ {BODY} OPTIONAL {{ ?s :monitors ?x }} }}",
    f"SELECT ?v ?x {{ {BODY} OPTIONAL {{ ?s :monitors ?x }} OPTIONAL {{ ?s :standsIn ?x }} }}",
    f"SELECT ?v {{ {{ SELECT ?s ?v {{ {BODY} MINUS {{ ?s :monitors ?x }} }} }} }}",
    f"SELECT ?v {{ {BODY} MINUS {{ ?s :monitors ?x }} FILTER(?t > NOW() - {HALF_HOUR}) }}",
    f"SELECT ?s ?v {{ {BODY} FILTER NOT EXISTS {{ {OTHER} FILTER(?w > ?v) }} }}",
    f"SELECT ?s {{ {{ {BODY} MINUS {{ ?s :monitors ?x }} }} }}",
    "SELECT * { GRAPH ?t { ?r :averageSpeed ?v OPTIONAL { ?r :vehicleCount ?x } } } ORDER BY ?t",
    f"SELECT ?s (COUNT(?x) AS ?n) {{ {BODY} OPTIONAL {{ ?s :monitors ?x }} }} GROUP BY ?s",
    f"SELECT (COALESCE(?x, 3) AS ?y) {{ {BODY} OPTIONAL {{ ?s :normalSpeed ?x }} }}",
    f"SELECT ?v {{ {BODY} OPTIONAL {{ ?s :normalSpeed ?x }} FILTER(!BOUND(?x) || ?x > 3) }}",
    f"SELECT ?v {{ {BODY} FILTER(?v > 3 && !EXISTS {{ ?s :monitors ?x }}) }}",
    f"SELECT ?v {{ {BODY} FILTER(?v > 3 || EXISTS {{ ?s :monitors ?x }}) }}",
    f"SELECT ?v {{ {BODY} FILTER(!(?v > 3 && EXISTS {{ ?s :monitors ?x }}) || ?v = 5) }}",
    f"ASK {{ {BODY} FILTER(?v < 3) }}",
    f"ASK {{ {BODY} OPTIONAL {{ ?s :monitors ?x }} FILTER(!BOUND(?x)) }}",
    f"SELECT ?hour (AVG(?w - ?v) AS ?more) {{ {TWO} {LATER} }} {HOUR}",
    f"SELECT REDUCED ?v {{ {BODY} }} ORDER BY ?t",
    f"SELECT ?s {{ VALUES ?v {{ 1 2 }} {BODY} }}",
    f"SELECT ?s ?c {{ {BODY} BIND(7 AS ?c) }}",
    "SELECT ?x { GRAPH ?t { ?r :reportedBy ?s } ?s :monitors/:locatedIn ?x }",
    "SELECT ?x { GRAPH ?t { ?r :reportedBy ?s } ?s :monitors|:standsIn ?x . ?x ^:monitors ?s }",
    f"SELECT ?s {{ {{ SELECT ?s {{ {BODY} }} }} }}",
    f"SELECT ?s (MEDIAN(?v) AS ?m) (COUNT(DISTINCT ?v) AS ?d) {{ {BODY} }} GROUP BY ?s",
    f"SELECT ?s (SAMPLE(?v) AS ?one) {{ {BODY} }} GROUP BY ?s",
    f"SELECT ?hour {{ {TWO} {LATER} }} {HOUR}",
    f"SELECT ?s (SUM(?v) * 2 AS ?a) {{ {BODY} }} GROUP BY ?s HAVING(COUNT(*) > 3 && MIN(?v) < 9)",
    f"SELECT (COUNT(*) AS ?n) (SUM(?v) AS ?a) (AVG(?v) AS ?b) (MIN(?v) AS ?c) {{ {BODY} }}",
]

REFUSED = {
    "OPTIONAL": f"SELECT ?v {{ {BODY} MINUS {{ ?s :monitors ?x OPTIONAL {{ ?x :p ?v }} }} }}",
    "MINUS": f"SELECT ?v {{ {BODY} OPTIONAL {{ ?s :monitors ?x MINUS {{ ?x :locatedIn ?y }} }} }}",
    "EXISTS": f"SELECT ?v {{ {BODY} FILTER(EXISTS {{ ?s :monitors ?x }} = true) }}",
    "which may have no value": f"SELECT ?v {{ {BODY} OPTIONAL {{ ?s :normalSpeed ?y }} "
    f"FILTER(?y > 3 || EXISTS {{ ?s :monitors ?x }}) }}",
    "in no pattern of its group": f"SELECT ?v {{ {BODY} "
    f"FILTER(?y > 3 || EXISTS {{ ?s :monitors ?x }}) }}",
    "LIMIT ": f"SELECT ?v ?x {{ {BODY} OPTIONAL {{ ?s :monitors ?x }} }} LIMIT 3",
    "whose patterns do not bind it": f"SELECT ?v {{ {{ {BODY} MINUS {{ ?s :monitors ?x }} "
    f"FILTER(?x = 3) }} }}",
    "never final": f"SELECT ?v {{ {BODY} FILTER NOT EXISTS {{ GRAPH ?u {{ ?q a :Reading }} }} }}",
    "aggregates what may have no value": f"SELECT (MAX(?x) AS ?w) {{ {BODY} "
    f"OPTIONAL {{ ?s :normalSpeed ?x }} }}",
    "ORDER BY": f"SELECT ?v {{ {BODY} }} ORDER BY ?v",
    "LIMIT": f"SELECT ?v {{ {BODY} }} LIMIT 5",
    "HAVING": f"SELECT (AVG(?v) AS ?m) {{ {BODY} }} HAVING(AVG(?v) > 1)",
    "an aggregate in a subquery": f"SELECT ?v {{ {{ SELECT ?v {{ {BODY} }} GROUP BY ?v }} }}",
    "path": f"SELECT ?v {{ {BODY} ?s :monitors+ ?x }}",
    "function": f"SELECT ?v {{ {BODY} FILTER(rand() < ?v) }}",
    "predicate": "SELECT ?v { GRAPH ?t { ?r ?p ?v } }",
    "a blank node, or a list, in CONSTRUCT": f"CONSTRUCT {{ [] :x ?v }} WHERE {{ {BODY} }}",
    "LIMIT or OFFSET": f"ASK {{ {BODY} }} LIMIT 1",
    "DESCRIBE": f"DESCRIBE ?s {{ {BODY} }}",
    "a time compared with a value": f"SELECT ?v {{ {BODY} FILTER(?t < ?v) }}",
    "a time in a triple": "SELECT ?v { GRAPH ?t { ?r :averageSpeed ?v . ?r :reportedBy ?t } }",
}


@pytest.fixture(scope="module")
def workspace() -> Workspace:
    return Workspace(load_project(ROOT / "examples" / "traffic", environ={}))


def _check(workspace: Workspace, text: str) -> None:
    workspace.check(compile_text(workspace, PREFIXES + text, "q", "q.rq"))


@pytest.mark.parametrize("text", READ)
def test_read(workspace: Workspace, text: str) -> None:
    _check(workspace, text)


@pytest.mark.parametrize("what", REFUSED)
def test_refused(workspace: Workspace, what: str) -> None:
    with pytest.raises(QueryError) as caught:
        _check(workspace, REFUSED[what])
    error = caught.value
    assert not what.startswith(("which", "in no")) or what in error.what
    assert error.source is not None
    assert error.fix
