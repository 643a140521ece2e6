"""SQL in mappings beyond one SELECT of columns: UNION, OR, texts and constants in SELECT."""

from pathlib import Path

import duckdb
import pytest

from ontoweir.errors import MappingError
from ontoweir.mappings.compile.load_mappings import load_mappings
from ontoweir.mappings.model.assertion import (
    ColumnMap,
    ConstantMap,
    MappingAssertion,
    SourceColumn,
    TemplateMap,
)
from ontoweir.project.project import load_project

TOML = """
[streams.traffic]
source = { format = "parquet", path = "t" }
timestamp = { column = "ts", unit = "5 minutes" }
columns = { id = "int", n = "int", road = "string", speed = "decimal(5,1)" }
[relations.sensor]
source = { format = "csv", path = "s" }
columns = { id = "int", street = "string", kind = "string" }
[relations.lamp]
source = { format = "csv", path = "l" }
columns = { id = "int", street = "string" }
"""
XSD = "http://www.w3.org/2001/XMLSchema#"
EX = "http://ex.org/"


def load(
    folder: Path,
    sql: str,
    value: str,
    subject: str = 'rr:template "http://ex.org/{id}"',
    more: str = "",
) -> tuple[MappingAssertion, ...]:
    (folder / "ontoweir.toml").write_text(TOML)
    (folder / "m.ttl").write_text(
        "@prefix rr: <http://www.w3.org/ns/r2rml#> .\n@prefix : <http://ex.org/> .\n"
        f'<#T> rr:logicalTable [ rr:sqlQuery """{sql}""" ] ;\n'
        f"  rr:subjectMap [ {subject} ] ;\n"
        f"  rr:predicateObjectMap [ rr:predicate :p ; rr:objectMap [ {value} ] ] .\n{more}"
    )
    return load_mappings([folder / "m.ttl"], load_project(folder, environ={}).catalog).assertions


def tables(found: tuple[MappingAssertion, ...]) -> list[list[str]]:
    return [[t.table for t in a.source.tables] for a in found]


@pytest.mark.parametrize("union", ["UNION ALL", "UNION"])
def test_a_union_makes_an_assertion_for_each_part(union: str, tmp_path: Path) -> None:
    sql = f"SELECT id, street AS s FROM sensor WHERE kind = 'a' {union} SELECT id, street FROM lamp"
    found = load(tmp_path, sql, 'rr:column "s"')
    assert tables(found) == [["sensor"], ["lamp"]]
    assert [a.object for a in found] == [
        ColumnMap(SourceColumn("sensor", "street")),
        ColumnMap(SourceColumn("lamp", "street")),
    ]
    assert [len(a.source.conditions) for a in found] == [1, 0]
    assert {a.id for a in found} == {"<#T>"}


def test_double_quotes_are_names(tmp_path: Path) -> None:
    sql = """SELECT "id", 'a"b' AS "c" FROM "sensor" AS "s" WHERE "s"."kind" = 'x' -- "no" """
    (found,) = load(tmp_path, sql.replace('"', '\\"'), 'rr:column "c"')
    assert found.object == ConstantMap('a"b', False)
    assert found.subject == TemplateMap((EX, SourceColumn("s", "id")), "iri")
    with pytest.raises(MappingError, match="unknown column 'x'"):
        load(tmp_path, 'SELECT id FROM sensor WHERE kind = "x" ', 'rr:column "id"')


def test_alternatives_exclude_each_other(tmp_path: Path) -> None:
    sql = "SELECT id FROM sensor WHERE id < 5 OR id > 3"
    found = load(tmp_path, sql, 'rr:column "id"')
    assert sorted(len(a.source.conditions) for a in found) == [1, 2]


def test_a_reference_to_a_union(tmp_path: Path) -> None:
    more = (
        '<#U> rr:logicalTable [ rr:sqlQuery "SELECT id FROM sensor UNION ALL SELECT id FROM lamp" ]'
        ' ; rr:subjectMap [ rr:template "http://ex.org/u/{id}" ] .'
    )
    value = 'rr:parentTriplesMap <#U> ; rr:joinCondition [ rr:child "id" ; rr:parent "id" ]'
    found = load(tmp_path, "SELECT id FROM traffic", value, more=more)
    assert tables(found) == [["traffic", "sensor"], ["traffic", "lamp"]]
    own = "SELECT id FROM sensor UNION ALL SELECT id FROM lamp"
    found = load(tmp_path, own, "rr:parentTriplesMap <#U>", more=more)
    assert tables(found) == [["sensor"], ["lamp"]]
    assert [t.object for t in found] == [
        TemplateMap(("http://ex.org/u/", SourceColumn(a, "id")), "iri") for a in ("sensor", "lamp")
    ]


ID, STREET = SourceColumn("sensor", "id"), SourceColumn("sensor", "street")


@pytest.mark.parametrize(
    ("select", "value", "made"),
    [
        ("'n/' || id AS c", 'rr:column "c"', TemplateMap(("n/", ID), "literal")),
        (
            "concat(street, ' ', id) AS c",
            'rr:column "c"',
            TemplateMap((STREET, " ", ID), "literal"),
        ),
        ("CAST(id AS STRING) AS c", 'rr:column "c"', TemplateMap((ID,), "literal")),
        (
            "'http://ex.org/' || id AS c",
            'rr:column "c" ; rr:termType rr:IRI',
            TemplateMap((EX, ID), "iri"),
        ),
        (
            "'a/' || street AS c",
            'rr:template "http://ex.org/{c}/{id}"',
            TemplateMap((EX + "a%2F", STREET, "/", ID), "iri"),
        ),
        ("'a/b' AS c", 'rr:template "http://ex.org/{c}"', ConstantMap(EX + "a%2Fb", True)),
        ("'x' AS c", 'rr:column "c"', ConstantMap("x", False)),
        ("'x' AS c", 'rr:column "c" ; rr:language "EN"', ConstantMap("x", False, None, "en")),
        ("-7 AS c", 'rr:column "c"', ConstantMap("-7", False, XSD + "integer")),
        ("id || 7 || 'x' AS c", 'rr:column "c"', TemplateMap((ID, "7x"), "literal")),
        ("7 AS c", 'rr:column "c"', ConstantMap("7", False, XSD + "integer")),
        ("true AS c", 'rr:column "c"', ConstantMap("true", False, XSD + "boolean")),
        (
            "street AS c",
            'rr:template "s/{c}"',
            TemplateMap(("http://example.com/base/s/", STREET), "iri"),
        ),
        (
            "street AS c",
            'rr:column "c" ; rr:inverseExpression "{street} = {c}"',
            ColumnMap(STREET),
        ),
    ],
)
def test_expressions(select: str, value: str, made: object, tmp_path: Path) -> None:
    (found,) = load(tmp_path, f"SELECT id, {select} FROM sensor", value)
    assert found.object == made


@pytest.mark.parametrize(
    ("sql", "value", "message"),
    [
        ("SELECT id, count(speed + 1) AS c FROM traffic", 'rr:column "c"', "in SELECT"),
        ("SELECT id, initcap(street) AS c FROM sensor", 'rr:column "c"', "INITCAP(street)"),
        ("SELECT id, id + street AS c FROM sensor", 'rr:column "c"', "mixes types"),
        ("SELECT id, 'a' || (speed * 2) AS c FROM traffic", 'rr:column "c"', "the text of"),
        ("SELECT id FROM sensor WHERE id + 1", 'rr:column "id"', "not true or false"),
        ("SELECT id, 'a' || speed AS c FROM traffic", 'rr:column "c"', "the text of speed"),
        ("SELECT id, 'a' || ts AS c FROM traffic", 'rr:column "c"', "the text of ts"),
        (
            "SELECT id, 'a' || street AS c FROM sensor",
            'rr:column "c" ; rr:termType rr:IRI',
            "percent-encodes",
        ),
        (
            "SELECT id, '1' || id AS c FROM sensor",
            f'rr:column "c" ; rr:datatype <{XSD}integer>',
            "with a datatype",
        ),
        (
            "SELECT id, 'a' AS c FROM sensor",
            'rr:column "c" ; rr:termType rr:BlankNode',
            "one blank",
        ),
        ("SELECT id, 1.0 AS c FROM sensor", 'rr:column "c"', "the constant 1.0"),
        ("SELECT id, 1e3 AS c FROM sensor", 'rr:column "c"', "the constant"),
        ("SELECT id, CAST('5' AS INT) AS c FROM sensor", 'rr:column "c"', "the constant"),
        ("SELECT id, DATE '2014-08-01' AS c FROM sensor", 'rr:column "c"', "the constant"),
        ("SELECT id, id || 1.0 AS c FROM sensor", 'rr:column "c"', "in a concatenation"),
        ("SELECT id, id FROM sensor", 'rr:column "id"', "two columns 'id'"),
        ("SELECT id FROM sensor UNION SELECT id, street FROM sensor", 'rr:column "id"', "1 and 2"),
        ("SELECT id FROM sensor UNION SELECT street FROM lamp", 'rr:column "id"', "several types"),
        ("SELECT id FROM sensor UNION SELECT id FROM traffic", 'rr:column "id"', "a stream and"),
        ("SELECT id FROM sensor WHERE 1 = 1 AND false", 'rr:column "id"', "never holds"),
        ("SELECT id FROM sensor WHERE false", 'rr:column "id"', "never holds"),
    ],
)
def test_refusals(sql: str, value: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(MappingError) as caught:
        load(tmp_path, sql, value)
    assert message in str(caught.value)
    assert caught.value.source is not None
    assert caught.value.source.line in (3, 5)


def test_a_computed_column_does_not_join(tmp_path: Path) -> None:
    more = (
        '<#U> rr:logicalTable [ rr:tableName "lamp" ] ;'
        ' rr:subjectMap [ rr:template "http://ex.org/u/{id}" ] .'
    )
    value = 'rr:parentTriplesMap <#U> ; rr:joinCondition [ rr:child "c" ; rr:parent "street" ]'
    with pytest.raises(MappingError, match="is computed"):
        load(tmp_path, "SELECT id, 'a' || street AS c FROM sensor", value, more=more)


@pytest.mark.parametrize("op", ["=", "<>", "<", ">="])
@pytest.mark.parametrize("text", ["44576", "-3", "+7", "007"])
def test_a_text_beside_a_whole_number_is_one(op: str, text: str, tmp_path: Path) -> None:
    sql = "SELECT id, road FROM traffic WHERE n {} {}"
    plain, quoted = (
        load(tmp_path, sql.format(op, value), 'rr:column "road"')
        for value in (str(int(text)), f"'{text}'")
    )
    assert [a.source.conditions for a in quoted] == [a.source.conditions for a in plain]
    with duckdb.connect() as db:  # as others have it
        ours = f"SELECT n FROM range(-9, 50000) t(n) WHERE n {op} {int(text)}"
        assert db.sql(f"SELECT n FROM range(-9, 50000) t(n) WHERE n {op} '{text}'").fetchall() == (
            db.sql(ours).fetchall()
        )


@pytest.mark.parametrize("condition", ["n = 'x'", "n = '1.5'", "n = ''", "road = 5", "n = '1 '"])
def test_other_texts_are_not(condition: str, tmp_path: Path) -> None:
    with pytest.raises(MappingError, match="comparable types"):
        load(tmp_path, f"SELECT id, road FROM traffic WHERE {condition}", 'rr:column "road"')
