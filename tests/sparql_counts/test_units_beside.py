"""Streams of different units of time beside each other: in NOT EXISTS, EXISTS, MINUS and OPTIONAL,
and where the solutions themselves are of several; the answers are rdflib's at every time."""

from pathlib import Path

import pytest

from tests.sparql_counts.case import Branch, Case, Map, Query, Row, Table
from tests.sparql_counts.compare_answers import Equal, compare_case

SUBJECT = 'rr:template "http://e/{id}"'
TABLES = (
    Table("s", (("id", "int"), ("n", "int")), stream=True),
    Table("u", (("id", "int"), ("m", "int")), stream=True, unit="150 seconds"),
)
MAPS = (
    Map("s", SUBJECT, ("A",), (("n", 'rr:column "n"'),)),
    Map("u", SUBJECT, (), (("m", 'rr:column "m"'),)),
    Map("u", 'rr:template "http://e/u/{id}"', ("A",), (("k", SUBJECT),)),
)
ROWS: dict[str, tuple[Row, ...]] = {
    "s": ((0, 1, 5), (0, 2, 1), (1, 3, 7), (3, 1, 2), (5, 2, 4)),
    "u": ((0, 1, 5), (1, 1, 4), (2, 3, None), (2, 2, 0), (6, 1, 1), (8, 9, 9)),
}
EARLIER = 'GRAPH ?u { ?x :m ?m } FILTER(?u <= ?t && ?u >= ?t - "PT10M"^^xsd:dayTimeDuration)'


@pytest.mark.parametrize(
    ("head", "lines"),
    [
        (("?x", "?n"), f"GRAPH ?t {{ ?x :n ?n }} FILTER NOT EXISTS {{ {EARLIER} }}"),
        (("?x", "?n"), f"GRAPH ?t {{ ?x :n ?n }} FILTER EXISTS {{ {EARLIER} }}"),
        (("?x", "?n", "?m"), f"GRAPH ?t {{ ?x :n ?n }} OPTIONAL {{ {EARLIER} }}"),
        (("?x", "?y"), "GRAPH ?t { ?x a :A } OPTIONAL { GRAPH ?t { ?x :k ?y } }"),
        (("?x",), "GRAPH ?t { ?x a :A } FILTER NOT EXISTS { GRAPH ?t { ?x :n ?n } }"),
        (("?x",), "GRAPH ?t { ?x a :A } MINUS { GRAPH ?t { ?x :m ?m } }"),
        (
            ("?x", "(COUNT(*) AS ?c)"),
            (
                "{ GRAPH ?t { ?x :n ?v } MINUS { GRAPH ?t { ?x :m ?m } } } "
                "UNION { GRAPH ?t { ?x :m ?v } }"
            ),
        ),
        (
            ("?x", "(COUNT(*) AS ?c)"),
            "GRAPH ?t { ?x a :A } FILTER NOT EXISTS { GRAPH ?t { ?x :n 1 } }",
        ),
    ],
)
def test_units_meet(head: tuple[str, ...], lines: str, tmp_path: Path) -> None:
    group = head[:1] if any(name[0] == "(" for name in head) else ()
    query = Query(head, (Branch((), (lines,)),), group=group)
    outcome = compare_case(Case(TABLES, MAPS, query, ROWS), tmp_path)
    assert isinstance(outcome, Equal), str(outcome)
    assert outcome.answers
