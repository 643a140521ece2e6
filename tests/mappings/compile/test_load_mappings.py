"""R2RML: what is read, and that what is wrong is refused at its line."""

from pathlib import Path

import pytest

from ontoweir.errors import MappingError
from ontoweir.mappings.compile.load_mappings import load_mappings
from ontoweir.mappings.model.assertion import (
    ColumnMap,
    ConstantMap,
    MappingSet,
    SourceColumn,
    SourceCompare,
    SourceConstant,
    TemplateMap,
)
from ontoweir.mappings.r2rml.parse_template import parse_template
from ontoweir.project.project import load_project

TOML = """
[streams.traffic]
source = { format = "parquet", path = "t" }
timestamp = { column = "ts", unit = "5 minutes" }
columns = { id = "int", n = "int", road = "string" }
[streams.other]
source = { format = "parquet", path = "o" }
timestamp = { column = "ts", unit = "5 minutes" }
columns = { id = "int" }
[relations.sensor]
source = { format = "csv", path = "s" }
columns = { id = "int", "POINT_1_STREET" = "string", "day" = "date" }
"""
HEAD = """@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix : <http://ex.org/> .

"""
EX = "http://ex.org/"


def load(folder: Path, body: str) -> MappingSet:
    (folder / "ontoweir.toml").write_text(TOML)
    (folder / "m.ttl").write_text(HEAD + body)
    return load_mappings([folder / "m.ttl"], load_project(folder, environ={}).catalog)


SENSOR = """<#S> rr:logicalTable [ rr:tableName "sensor" ] ;
  rr:subjectMap [ rr:template "http://ex.org/s/{id}" ; rr:class :Sensor, :Thing2 ] ;
"""
TRAFFIC = """<#T> rr:logicalTable [ rr:tableName "traffic" ] ;
  rr:subjectMap [ rr:template "http://ex.org/r/{id}" ] ;
"""


def test_what_is_only_a_type_may_be_called_anything(tmp_path: Path) -> None:
    """Published mappings have `a rr:Subject`: types say nothing. Twins: wrong terms."""
    plain = load(tmp_path, SENSOR + ".")
    typed = SENSOR.replace("rr:template", "a rr:Subject ; rr:template")
    assert load(tmp_path, typed + ".") == plain


def test_table_classes_and_natural_datatypes(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        SENSOR
        + """
  rr:predicateObjectMap [ rr:predicate :street, :label ;
    rr:objectMap [ rr:column "\\"POINT_1_STREET\\"" ] ; rr:object :x ] ;
  rr:predicateObjectMap [ rr:predicate :day ; rr:objectMap [ rr:column "day" ] ] ;
  rr:predicateObjectMap [ rr:predicate a ; rr:object :Third ] .
""".replace("rr:predicate a ", "rr:predicate <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "),
    )
    for cls in ("Sensor", "Thing2", "Third"):
        (assertion,) = found.classes_of(EX + cls)
        assert assertion.stream_alias is None
        assert assertion.subject == TemplateMap((EX + "s/", SourceColumn("sensor", "id")), "iri")
        assert (assertion.id, assertion.place.line) == ("<#S>", 4)
    column = ColumnMap(SourceColumn("sensor", "POINT_1_STREET"))
    constant = ConstantMap(EX + "x", is_iri=True)
    for name in ("street", "label"):
        assert {a.object for a in found.properties_of(EX + name)} == {column, constant}
    (day,) = found.properties_of(EX + "day")
    assert isinstance(day.object, ColumnMap)
    assert day.object.datatype == "http://www.w3.org/2001/XMLSchema#date"


def test_sql_is_flattened_and_the_stream_is_named(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        """<#Q> rr:logicalTable [ rr:sqlQuery \"\"\"SELECT t.id AS k FROM traffic AS t
     JOIN sensor s ON t.id = s.id WHERE t.n >= 3 AND s.POINT_1_STREET IS NOT NULL\"\"\" ] ;
  rr:subjectMap [ rr:template "http://ex.org/r/{k}" ; rr:class :Busy ] .
""",
    )
    (busy,) = found.classes_of(EX + "Busy")
    assert busy.stream_alias == "t"
    assert [(t.alias, t.table) for t in busy.source.tables] == [("t", "traffic"), ("s", "sensor")]
    assert SourceCompare(SourceColumn("t", "n"), ">=", SourceConstant(3)) in busy.source.conditions
    assert busy.subject == TemplateMap((EX + "r/", SourceColumn("t", "id")), "iri")


def test_parent_triples_map_joins(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        TRAFFIC
        + """  rr:predicateObjectMap [ rr:predicate :by ; rr:objectMap [
    rr:parentTriplesMap <#S> ; rr:joinCondition [ rr:child "id" ; rr:parent "id" ] ] ] .
"""
        + SENSOR.replace(" ;\n", " .\n").replace('"sensor" ] .', '"sensor" ] ;'),
    )
    (by,) = found.properties_of(EX + "by")
    assert [t.table for t in by.source.tables] == ["traffic", "sensor"]
    assert by.source.conditions == (
        SourceCompare(SourceColumn("traffic", "id"), "=", SourceColumn("parent_sensor", "id")),
    )
    assert by.object == TemplateMap((EX + "s/", SourceColumn("parent_sensor", "id")), "iri")


def query(sql: str) -> str:
    return (
        f'<#Q> rr:logicalTable [ rr:sqlQuery """{sql}""" ] ;\n'
        '  rr:subjectMap [ rr:template "http://ex.org/r/{id}" ; rr:class :C ] .\n'
    )


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        ("<#T> rr:logicalTable [ rr:tableName ;\n", 4, "not Turtle"),
        (TRAFFIC.replace('"traffic"', '"trafic"'), 4, "did you mean 'traffic'"),
        ('<#T> rr:logicalTable [ rr:tableName "traffic" ] .', 4, "no subject maps"),
        (SENSOR.replace("{id}", "{idd}"), 5, "unknown column 'idd'"),
        (SENSOR.replace("{id}", "{id"), 5, "braces"),
        (SENSOR.replace("{id}", "id"), 5, "no column"),
        (SENSOR.replace("rr:class", "rr:graph 'g' ; rr:class"), 5, "the graph is a literal"),
        (
            TRAFFIC.replace("] ;\n  rr:s", "] ;\n rr:s").replace(
                '{id}" ]', '{id}" ;\n rr:graphMap [ rr:template "http://ex.org/{ts}" ] ]'
            ),
            6,
            "a graph named by the timestamp ts",
        ),
        (SENSOR.replace("rr:template", "rr:templat"), 5, "unknown R2RML term rr:templat"),
        (SENSOR.replace("rr:template", "a rr:Subjekt ; rr:templat"), 5, "R2RML term rr:templat"),
        (SENSOR.replace("rr:template", "rr:termType rr:Iri ; rr:template"), 5, "rr:Iri; "),
        (SENSOR + "rr:predicateObjectMap [ rr:predicate :p ] ;", 4, "without object"),
        (
            TRAFFIC
            + 'rr:predicateObjectMap [ rr:predicate :p ; rr:objectMap [ rr:column "x" ] ] ;',
            6,
            "unknown column 'x'",
        ),
        (
            TRAFFIC + "rr:predicateObjectMap [ rr:predicate :p ; rr:objectMap [\n"
            "  rr:parentTriplesMap <#No> ] ] ;",
            7,
            "does not exist",
        ),
        (query("SELECT id FROM\n traffic GROUP BY id"), 4, "GROUP BY"),
        (query("SELECT t.id FROM traffic t, sensor s WHERE t.id = 1 OR\n s.id = 2"), 4, "OR"),
        (query("SELECT t.id FROM traffic t, other o"), 4, "two streams"),
        (query("SELECT id FROM traffic LEFT JOIN sensor USING (id)"), 4, "LEFT JOIN"),
        (query("SELECT id FROM traffic\n WHERE nn = 1"), 5, "unknown column 'nn'"),
        (query("SELECT id FROM traffic WHERE road = 1"), 4, "string"),
        (query("SELECT id FROM (SELECT id FROM traffic) x"), 4, "subquery"),
        (query("SELECT initcap(road) AS id FROM traffic"), 4, "INITCAP(road) is outside"),
        (query("SELEC id FROM traffic"), 4, ""),
        ("<#T> a rr:TriplesMap .", 4, "no rr:tableName"),
        (
            "<#T> a rr:TriplesMap ; <http://w3id.org/rml/logicalSource> [] .",
            4,
            "RML's logicalSource is not read",
        ),
        (":a :b :c .", 1, "no triples map"),
    ],
)
def test_wrong_mappings_are_refused_at_their_line(
    body: str, line: int, message: str, tmp_path: Path
) -> None:
    text = body if body.rstrip().endswith(".") else body.rstrip().rstrip(";") + " .\n"
    if "not Turtle" in message:
        text = body
    with pytest.raises(MappingError) as caught:
        load(tmp_path, text)
    assert message in str(caught.value)
    assert caught.value.source is not None
    assert (Path(caught.value.source.file).name, caught.value.source.line) == ("m.ttl", line)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    load(tmp_path, SENSOR.rstrip().rstrip(";") + " .")
    with pytest.raises(MappingError, match="cannot read"):
        load_mappings([tmp_path / "none.ttl"], load_project(tmp_path, environ={}).catalog)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a{b}", ((False, "a"), (True, "b"))),
        (r"a\{b\}{c}", ((False, "a{b}"), (True, "c"))),
        ('{"X Y"}', ((True, '"X Y"'),)),
        ("a{b", None),
        ("a}b", None),
        ("a{}", None),
    ],
)
def test_templates(text: str, parts: object) -> None:
    assert parse_template(text) == parts


def test_lines_with_a_declared_base(tmp_path: Path) -> None:
    text = "@base <http://ex.org/m/> .\n\n" + SENSOR.replace("<#S>", "<S>").rstrip(" ;\n") + " ."
    (assertion,) = load(tmp_path, text).classes_of(EX + "Sensor")
    assert (assertion.id, assertion.place.line) == ("<S>", 6)
