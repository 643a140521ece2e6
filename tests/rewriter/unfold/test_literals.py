"""Literals with datatypes and languages, typed comparisons, ranges and arithmetic: the rows that
a pattern finds in DuckDB, or the error that says which types do not compare."""

import duckdb
import pytest

from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.print_sql import print_sql

TOML = """
[project]
ontology = ["o.ttl"]
mappings = ["m.ttl"]
queries = ["q.rq"]
[relations.r]
source = { format = "csv", path = "r" }
keys = [["id"]]
[relations.r.columns]
id = "int"
n = "int"
x = "decimal(6,2)"
f = "double"
s = "string"
b = "boolean"
d = "date"
w = "timestamp"
"""
ROWS = """
INSERT INTO r VALUES
  (1, 1, 1.50, 0.5, 'a', true,  '2014-07-31', '2014-08-01 07:59:59'),
  (2, 2, 2.25, 1.5, 'b', false, '2014-08-01', '2014-08-01 08:00:00'),
  (3, 3, 3.00, 2.5, 'c', true,  '2014-08-02', '2014-08-02 00:00:00'),
  (4, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
"""
HEAD = (
    "@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix : <http://e/> .\n"
    '<#R> rr:logicalTable [ rr:tableName "r" ] ; rr:subjectMap [ rr:template "http://e/{id}" ]'
)
YEAR = '"n" ; rr:datatype <http://www.w3.org/2001/XMLSchema#gYear>'


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    made = tmp_path_factory.mktemp("literals")
    (made / "ontoweir.toml").write_text(TOML)
    (made / "o.ttl").write_text("<http://e/o> a <http://www.w3.org/2002/07/owl#Ontology> .")
    maps = "".join(
        f' ;\n  rr:predicateObjectMap [ rr:predicate :{c} ; rr:objectMap [ rr:column "{c}" ] ]'
        for c in "nxfsbdw"
    )
    tagged = (
        " ;\n  rr:predicateObjectMap [ rr:predicate :de ; "
        'rr:objectMap [ rr:column "s" ; rr:language "de-AT" ] ]'
    )
    year = tagged.replace(":de", ":year").replace('"s" ; rr:language "de-AT"', YEAR)
    (made / "m.ttl").write_text(HEAD + maps + tagged + year + " .\n")
    (made / "q.rq").write_text("")
    return Workspace(load_project(made, environ={}))


def ids(workspace: Workspace, pattern: str) -> list[int]:
    """The ids of the rows that a pattern of ?i finds, in order."""
    workspace.query_file("q").write_text(
        "PREFIX : <http://e/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
        f"SELECT ?i WHERE {{ {pattern} }}"
    )
    union = workspace.compile("q").union
    sql = print_sql(union, workspace.project.catalog, dialect="duckdb", comments=False)
    with duckdb.connect() as base:
        base.execute(
            "CREATE TABLE r (id INT, n INT, x DECIMAL(6,2), f DOUBLE, s TEXT, b BOOLEAN, "
            "d DATE, w TIMESTAMP)"
        )
        base.execute(ROWS)
        return sorted(int(row[0].rsplit("/", 1)[1]) for row in base.execute(sql).fetchall())


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        # a time has a zone; without one it is UTC
        ('?i :w ?v FILTER(?v >= "2014-08-01T10:00:00+02:00"^^xsd:dateTime)', [2, 3]),
        ('?i :w ?v FILTER(?v > "2014-08-01T08:00:00Z"^^xsd:dateTime)', [3]),
        ('?i :w ?v FILTER(?v > "2014-08-01T08:00:00"^^xsd:dateTime)', [3]),
        ('?i :w ?v FILTER(?v = "2014-08-01T24:00:00Z"^^xsd:dateTime)', [3]),
        ('?i :w "2014-08-01T03:00:00-05:00"^^xsd:dateTime', [2]),
        ('?i :d ?v FILTER(?v >= "2014-08-01"^^xsd:date)', [2, 3]),
        ('?i :d ?v FILTER(?v < "2014-08-01Z"^^xsd:date)', [1]),
        ('?i :d "2014-08-02"^^xsd:date', [3]),
        # numbers compare with numbers, whatever their datatypes
        ("?i :x ?v FILTER(?v > 1.5)", [2, 3]),
        ("?i :x ?v FILTER(?v >= 1.5e0)", [1, 2, 3]),
        ("?i :x ?v FILTER(?v = 3)", [3]),
        ("?i :n ?v FILTER(?v > 1.5)", [2, 3]),
        ("?i :n ?v FILTER(?v = 2.5)", []),
        ("?i :f ?v FILTER(?v >= 1.5)", [2, 3]),
        ("?i :n ?v . ?i :x ?y FILTER(?v = ?y)", [3]),
        ("?i :n ?v . ?i :x ?y FILTER(?v < ?y)", [1, 2]),
        # but a pattern matches terms: 1.0 is a decimal, the column holds integers
        ("?i :n 1.0", []),
        ("?i :n 1", [1]),
        ('?i :x "2.25"^^xsd:decimal', [2]),
        ("?i :f 1.5e0", [2]),
        # arithmetic with constants
        ("?i :n ?v FILTER(?v + 1 > 3)", [3]),
        ("?i :n ?v FILTER(4 - ?v >= 2)", [1, 2]),
        ("?i :n ?v . ?i :x ?y FILTER(?y - 0.5 >= ?v)", [1]),
        ("?i :x ?v FILTER(-?v < -2.25)", [3]),
        # ranges, IN and the connectives
        ("?i :n ?v FILTER(?v >= 2 && ?v <= 3)", [2, 3]),
        ("?i :n ?v FILTER(!(?v < 2 || ?v > 2))", [2]),
        ("?i :n ?v FILTER(?v IN (1, 3))", [1, 3]),
        ("?i :n ?v FILTER(?v NOT IN (1, 3))", [2]),
        ('?i :s ?v FILTER(?v >= "b")', [2, 3]),
        ("?i :b ?v FILTER(?v = true)", [1, 3]),
        ('?i :b "0"^^xsd:boolean', [2]),
        # languages: a tagged text is not a plain one, and tags have no case
        ('?i :de ?v FILTER(?v = "a"@de-at)', [1]),
        ('?i :de "b"@de-AT', [2]),
        ('?i :de ?v FILTER(?v != "a"@de-AT)', [2, 3]),
        ('?i :de "b"@de', []),
        ('?i :de "b"', []),
        ('?i :s "b"@de-at', []),
        ('?i :s "b"^^xsd:string', [2]),
        ('?i :year "2"^^xsd:gYear', [2]),
        ("?i :year 2", []),
    ],
)
def test_rows(workspace: Workspace, pattern: str, found: list[int]) -> None:
    assert ids(workspace, pattern) == found


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ('?i :n ?v FILTER(?v > "3")', "a number with a string"),
        ("?i :s ?v FILTER(?v > 3)", "a string with a number"),
        ("?i :n ?v . ?i :s ?y FILTER(?v = ?y)", "a number with a string"),
        ('?i :w ?v FILTER(?v = "2014-08-01"^^xsd:date)', "a timestamp with a date"),
        ('?i :d ?v FILTER(?v < "2014-08-01T00:00:00"^^xsd:dateTime)', "a date with a timestamp"),
        ('?i :n ?v FILTER(?v > "abc"^^xsd:integer)', "'abc' is not a number"),
        ('?i :w ?v FILTER(?v > "yesterday"^^xsd:dateTime)', "'yesterday' is not of type timestamp"),
        ('?i :d ?v FILTER(?v = "2014-08-32"^^xsd:date)', "'2014-08-32' is not of type date"),
        ('?i :s ?v FILTER(?v = "a"^^<http://e/mine>)', "a string with a http://e/mine"),
        ('?i :de ?v FILTER(?v < "x"@de)', "compare only by = and !="),
        ('?i :w ?v FILTER(?v - "PT1H"^^xsd:dayTimeDuration > ?v)', "used as a time"),
        (
            '?i :year ?v FILTER(?v = "2"^^xsd:gYear)',
            "(then it is http://www.w3.org/2001/XMLSchema#",
        ),
    ],
)
def test_what_does_not_compare(workspace: Workspace, pattern: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        ids(workspace, pattern)
    assert message in str(caught.value)
    assert caught.value.source is not None
    assert caught.value.source.line == 2
