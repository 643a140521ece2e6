"""Solutions beside which patterns are there, or are not: what their parts are asked for."""

from ontoweir.rewriter.absence.split_text import split_text

QUERY = """
PREFIX : <http://e/>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
SELECT ?x WHERE {
  GRAPH ?t { ?x :p ?y . ?x :q ?z }
  FILTER NOT EXISTS { GRAPH ?u { ?y :p ?w } FILTER(?u <= ?t) }
  FILTER EXISTS { GRAPH ?v { ?z :p ?a } FILTER(?v <= ?t) }
  MINUS { GRAPH ?t { ?x :r ?b } }
}
"""


def test_all_parts_are_of_the_same_keys() -> None:
    """By which they say that something is beside a solution, whatever variables are their own."""
    split = split_text(QUERY, "q.rq")
    assert split is not None
    (one,) = split.write_solutions(split.head, distinct=split.distinct)
    assert [part.present for part in one.parts] == [False, True, False]
    assert len({part.keys for part in one.parts}) == 1
    assert set(one.parts[0].keys) == {"x", "y", "z", "t"}


def test_what_has_no_variable_in_common_takes_nothing_away() -> None:
    split = split_text(QUERY.replace("GRAPH ?t { ?x :r ?b }", "GRAPH ?s { ?c :r ?b }"), "q.rq")
    assert split is not None
    (one,) = split.write_solutions(split.head, distinct=split.distinct)
    assert [set(part.keys) for part in one.parts] == [{"y", "z", "t"}] * 2
