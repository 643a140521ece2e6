"""UNION inside of NOT EXISTS as several of these: texts stay as they are written."""

import pytest

from ontoweir.rewriter.clauses.open_unions import open_unions

QUERY = (
    "SELECT ?x WHERE {{ GRAPH ?t {{ ?x :w ?w }} FILTER NOT EXISTS {{ {{ GRAPH ?a {{ ?y :v ?w }} "
    "FILTER(?a < ?t) }} UNION {{ GRAPH ?a {{ ?z :u ?w }} FILTER(?a <= ?t) }} FILTER({}) }} }}"
)


@pytest.mark.parametrize(
    "condition",
    ['?a > ?t - "PT5S"^^xsd:dayTimeDuration', '?q != "x"@en', "?q = 'a  b'", '?q = """a\n b"""'],
)
def test_literals_stay_whole(condition: str) -> None:
    made = open_unions(QUERY.format(condition))
    assert made.count("FILTER NOT EXISTS") == 2
    assert made.count(condition) == 2
