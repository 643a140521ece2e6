"""A set of triples is not joined where what is asked beside it makes its triple."""

from pathlib import Path

import pytest

from tests.rewriter.views.view_project import open_project, triples_map

# by the range of :of, what a row of u names is a :C too, so that :C is a view of two streams
RANGE = ":of a owl:ObjectProperty ; rdfs:range :C . :v a owl:DatatypeProperty ."
OTHER = triples_map("U", "u", "http://e/of/{id}", ":of http://e/{n}")
ROWS = triples_map("S", "s", "http://e/{id}", ":C", ":v n")
BOTH = "SELECT ?x ?v { GRAPH ?t { ?x a :C ; :v ?v } }"


def read_tables(folder: Path, maps: str, query: str, axioms: str = RANGE) -> list[list[str]]:
    """The tables that the disjuncts of a query join."""
    union = open_project(folder, OTHER + maps, query, axioms).compile("q").union
    return [sorted(o.table for o in q.occurrences) for q in union.disjuncts]


@pytest.mark.parametrize(
    ("maps", "query"),
    [
        (ROWS, BOTH),
        (ROWS, "SELECT ?x ?v ?t { GRAPH ?t { ?x a :C ; :v ?v } FILTER(?v > 2) }"),
        (  # rows of the property are among those of the class
            triples_map("C", "SELECT id FROM s WHERE n > 1", "http://e/{id}", ":C")
            + triples_map("V", "SELECT id, n FROM s WHERE n > 2", "http://e/{id}", ":v n"),
            BOTH,
        ),
        (  # so says the query
            triples_map("C", "SELECT id FROM s WHERE n > 1", "http://e/{id}", ":C")
            + triples_map("V", "s", "http://e/{id}", ":v n"),
            "SELECT ?x ?v { GRAPH ?t { ?x a :C ; :v ?v } FILTER(?v > 1) }",
        ),
    ],
)
def test_a_class_whose_member_a_row_makes_is_not_joined(
    maps: str, query: str, tmp_path: Path
) -> None:
    assert read_tables(tmp_path, maps, query) == [["s"]]


def test_nor_is_a_view_that_another_view_covers(tmp_path: Path) -> None:
    axioms = RANGE + ":C rdfs:subClassOf :D . :E rdfs:subClassOf :D ."
    more = triples_map("E", "s", "http://e/{n}", ":E")
    found = read_tables(tmp_path, ROWS + more, "SELECT ?x { GRAPH ?t { ?x a :C, :D } }", axioms)
    assert found == [["C_members"]]


@pytest.mark.parametrize(
    ("maps", "query"),
    [
        (ROWS, "SELECT ?x ?v { GRAPH ?t { ?x a :C } GRAPH ?u { ?x :v ?v } FILTER(?u > ?t) }"),
        (ROWS, "SELECT ?x ?y ?v { GRAPH ?t { ?x a :C . ?y :v ?v } }"),
        (  # another row may make the class, or none
            triples_map("C", "SELECT id FROM s WHERE n > 2", "http://e/{id}", ":C")
            + triples_map("V", "SELECT id, n FROM s WHERE n > 1", "http://e/{id}", ":v n"),
            BOTH,
        ),
        (  # what always holds is not the view's
            ROWS + triples_map("R", "r", "http://e/{id}", ":C"),
            BOTH,
        ),
    ],
)
def test_others_are(maps: str, query: str, tmp_path: Path) -> None:
    found = read_tables(tmp_path, maps, query)
    assert any("C_members" in tables for tables in found), found


@pytest.mark.parametrize(("table", "tables"), [("r", ["s"]), ("w", ["s", "static_K_members"])])
def test_a_triple_that_all_rows_of_a_register_make(
    table: str, tables: list[str], tmp_path: Path
) -> None:
    """Its view has no columns. That r has a row is sure, as those of s refer to one of it."""
    logical = f'rr:logicalTable [ rr:tableName "{table}" ]'
    more = f"<#K> {logical} ; rr:subjectMap [ rr:constant :k ; rr:class :K ] ."
    query = "SELECT ?x ?v ?z { GRAPH ?t { ?z a :K . ?x :v ?v } }"
    assert read_tables(tmp_path, ROWS + more, query) == [tables]
