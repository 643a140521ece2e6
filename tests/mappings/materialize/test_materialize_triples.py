"""`ontoweir materialize`: what the W3C cases do not ask, and its errors."""

import sqlite3
from pathlib import Path

import pytest

from ontoweir.cli import main
from ontoweir.errors import DataError, OntoweirError
from ontoweir.mappings.materialize.map_sql_value import SqlValue, fit_datatype, map_sql_value
from ontoweir.mappings.materialize.materialize_triples import materialize_triples

HEAD = "@prefix rr: <http://www.w3.org/ns/r2rml#> .\n@prefix : <http://ex.org/> .\n"
XSD = "http://www.w3.org/2001/XMLSchema#"
SQL = """
CREATE TABLE s (id INTEGER, name VARCHAR(9), g TEXT, price DECIMAL(5,2), d DATE, ok BOOLEAN);
INSERT INTO s VALUES (1, 'a', 'http://ex.org/g', 1.50, '2014-08-01', 1);
INSERT INTO s VALUES (2, 'b"\n\\', NULL, 2, 'August', 'false');
INSERT INTO s VALUES (1, 'a', 'http://ex.org/g', 1.50, '2014-08-01', 1);
CREATE TABLE p (ID TEXT, label TEXT);
INSERT INTO p VALUES ('1', 'one');
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    connection = sqlite3.connect(tmp_path / "d.db")
    connection.executescript(SQL)
    connection.close()
    return tmp_path


def made(folder: Path, body: str, table: str = 'rr:tableName "s"', **given: object) -> list[str]:
    (folder / "m.ttl").write_text(HEAD + f"<#T> rr:logicalTable [ {table} ] ;\n{body} .\n")
    report = given.get("report")
    return materialize_triples(
        folder / "m.ttl", folder / "d.db", on_data_error=report if callable(report) else None
    )


S = 'rr:subjectMap [ rr:template "http://ex.org/{id}" ] ;'


def pair(value: str, more: str = "") -> str:
    return f"{S}\nrr:predicateObjectMap [ rr:predicate :p ; {more} rr:objectMap [ {value} ] ]"


@pytest.mark.parametrize(
    ("value", "objects"),
    [
        ('rr:column "price"', [f'"1.5"^^<{XSD}decimal>', f'"2"^^<{XSD}decimal>']),
        ('rr:column "d"', [f'"2014-08-01"^^<{XSD}date>', '"August"']),
        ('rr:column "OK"', [f'"true"^^<{XSD}boolean>', f'"false"^^<{XSD}boolean>']),
        ('rr:column "name"', ['"a"', '"b\\"\\n\\\\"']),
        (
            'rr:column "id" ; rr:datatype :mine',
            ['"1"^^<http://ex.org/mine>'] * 1 + ['"2"^^<http://ex.org/mine>'],
        ),
        (
            f'rr:column "id" ; rr:datatype <{XSD}double>',
            [f'"1.0E0"^^<{XSD}double>', f'"2.0E0"^^<{XSD}double>'],
        ),
        ('rr:template "{price}" ; rr:termType rr:Literal', ['"1.5"', '"2"']),
        ('rr:column "g" ; rr:termType rr:IRI', ["<http://ex.org/g>"]),
        ('rr:constant "x\\ny"@en', ['"x\\ny"@en', '"x\\ny"@en']),
        ("rr:constant <rel>", ["<http://example.com/base/rel>"] * 2),
    ],
)
def test_terms(value: str, objects: list[str], folder: Path) -> None:
    found = made(folder, pair(value))
    assert found == [
        f"<http://ex.org/{n}> <http://ex.org/p> {o} ." for n, o in enumerate(objects, start=1)
    ]


def test_a_graph_that_is_null_is_not_the_default_graph(folder: Path) -> None:
    graph = 'rr:graphMap [ rr:column "g" ] ;'
    assert made(folder, pair('rr:constant "x"', graph)) == [
        '<http://ex.org/1> <http://ex.org/p> "x" <http://ex.org/g> .'
    ]


def test_joins_compare_as_the_database_does(folder: Path) -> None:
    value = 'rr:parentTriplesMap <#P> ; rr:joinCondition [ rr:child "id" ; rr:parent "id" ]'
    more = (
        ' .\n<#P> rr:logicalTable [ rr:tableName "p" ] ;'
        ' rr:subjectMap [ rr:template "http://ex.org/p/{label}" ]'
    )
    assert made(folder, pair(value) + more) == [
        "<http://ex.org/1> <http://ex.org/p> <http://ex.org/p/one> ."
    ]


def test_data_errors_can_be_left_out(folder: Path) -> None:
    value = f'rr:column "d" ; rr:datatype <{XSD}date>'
    with pytest.raises(DataError, match="'August' is not an xsd:date"):
        made(folder, pair(value))
    skipped: list[DataError] = []
    assert len(made(folder, pair(value), report=skipped.append)) == 1
    assert [e.source.line for e in skipped if e.source is not None] == [5]


@pytest.mark.parametrize(
    ("body", "table", "line", "message"),
    [
        (pair('rr:column "nam"'), 'rr:tableName "s"', 5, "did you mean 'name'"),
        (pair('rr:column "\\"NAME\\""'), 'rr:tableName "s"', 5, "spelled exactly"),
        (pair('rr:column "id"'), 'rr:tableName "t"', 3, "no such table"),
        (pair('rr:column "id"'), 'rr:sqlQuery "DELETE FROM s"', 3, "near"),
        (
            pair('rr:column "id"'),
            'rr:sqlQuery "SELECT 1 AS id; DELETE FROM s"',
            3,
            "cannot be read",
        ),
        (pair('rr:column "id"'), 'rr:sqlQuery "SELECT ? AS id"', 3, "parameters"),
        (pair('rr:column "id"'), 'rr:sqlQuery "SELECT id, id FROM s"', 3, "two columns"),
        (pair("rr:parentTriplesMap <#No>"), 'rr:tableName "s"', 5, "does not exist"),
        (pair('rr:template "{id"'), 'rr:tableName "s"', 5, "braces"),
        (pair('rr:column "id" ; rr:language "english"'), 'rr:tableName "s"', 5, "BCP 47"),
        (pair("rr:constant <http://a b>"), 'rr:tableName "s"', 5, "is not an IRI"),
        (S.rstrip(" ;") + ", [ rr:constant :x ]", 'rr:tableName "s"', 3, "2 subject maps"),
    ],
)
def test_wrong_mappings_are_refused_at_their_line(
    body: str, table: str, line: int, message: str, folder: Path
) -> None:
    with pytest.raises(OntoweirError) as caught:
        made(folder, body, table)
    assert message in str(caught.value)
    assert caught.value.source is not None
    assert caught.value.source.line == line
    connection = sqlite3.connect(folder / "d.db")
    assert connection.execute("SELECT count(*) FROM s").fetchone() == (3,)
    connection.close()


def test_a_column_in_quotes_and_without(folder: Path) -> None:
    both = pair('rr:column "\\"name\\""').replace("{id}", "{name}")
    with pytest.raises(OntoweirError, match="NAME, another column"):
        made(folder, both)
    assert len(made(folder, both.replace("{name}", '{\\"name\\"}'))) == 2


@pytest.mark.parametrize(
    ("database", "code", "message"),
    [
        ("sqlite:none.db", 2, "no such database"),
        ("sqlite:m.ttl", 2, "not a database"),
        ("postgres:x", 2, "SQLite alone"),
        ("sqlite:", 2, "SQLite alone"),
        ("d.db", 2, "SQLite alone"),
    ],
)
def test_wrong_databases(
    database: str,
    code: int,
    message: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    made(folder, pair('rr:column "id"'))
    monkeypatch.chdir(folder)
    arguments = ["materialize", "--mappings", "m.ttl", "--database", database]
    assert main([*arguments, "--output", "o.nq"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert len(err.splitlines()) == 1
    assert not (folder / "o.nq").exists()


def test_a_failure_leaves_the_output_as_it_was(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made(folder, pair('rr:column "id"'))
    monkeypatch.chdir(folder)
    command = ["materialize", "--mappings", "m.ttl", "--database", "sqlite:d.db"]
    assert main([*command, "--output", "o.nq"]) == 0
    before = (folder / "o.nq").read_text()
    assert len(before.splitlines()) == 2
    (folder / "m.ttl").write_text(
        (folder / "m.ttl")
        .read_text()
        .replace('"id"', '"g"; rr:termType rr:IRI')
        .replace("{id}", "{name}")
        .replace('"g"', '"name"')
    )
    assert main([*command, "--output", "o.nq"]) == 2
    assert (folder / "o.nq").read_text() == before
    capsys.readouterr()
    assert main([*command, "--skip-data-errors"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == ["<http://ex.org/a> <http://ex.org/p> <http://example.com/base/a> ."]
    assert err.startswith("warning: 1 values")
    assert main([*command, "--skip-data-errors", "--base", "http://b.org/"]) == 0
    assert "<http://b.org/a>" in capsys.readouterr().out
    assert main([*command, "--skip-data-errors", "--output", "none/o.nq"]) == 2
    assert "cannot write none/o.nq" in capsys.readouterr().err
    assert sorted(p.name for p in folder.iterdir()) == ["d.db", "m.ttl", "o.nq"]


@pytest.mark.parametrize(
    ("value", "declared", "wanted"),
    [
        (30, "FLOAT", SqlValue("3.0E1", "double")),
        (-80.25, "", SqlValue("-8.025E1", "double")),
        (1e300, "DOUBLE PRECISION", SqlValue("1.0E300", "double")),
        (0.0, "REAL", SqlValue("0.0E0", "double")),
        (float("inf"), "NUMERIC", SqlValue("INF", "double")),
        (7, "BIGINT", SqlValue("7", "integer")),
        ("x", "INTEGER", SqlValue("x", "")),
        ("2009-10-10 12:12:22", "TIMESTAMP", SqlValue("2009-10-10T12:12:22", "dateTime")),
        ("10:00:00", "TIME", SqlValue("10:00:00", "time")),
        (b"\x00\xff", "BLOB", SqlValue("00FF", "hexBinary")),
        (2, "BOOLEAN", SqlValue("2", "integer")),
        ("ab", "CHARACTER(3)", SqlValue("ab ", "")),
        (None, "INT", None),
    ],
)
def test_natural_mapping(value: object, declared: str, wanted: SqlValue | None) -> None:
    assert map_sql_value(value, declared) == wanted


@pytest.mark.parametrize(
    ("value", "datatype", "wanted"),
    [
        (SqlValue("3.0E1", "double"), "integer", "30"),
        (SqlValue("3.5E0", "double"), "integer", None),
        (SqlValue("3.5E0", "double"), "decimal", "3.5"),
        (SqlValue("010", ""), "double", "010"),
        (SqlValue("x", ""), "decimal", None),
        (SqlValue("NaN", "double"), "float", "NaN"),
        (SqlValue("NaN", "double"), "decimal", None),
        (SqlValue("1", "integer"), "boolean", "true"),
        (SqlValue("7", "integer"), "boolean", None),
        (SqlValue("2014-08-01", "date"), "dateTime", "2014-08-01T00:00:00"),
        (SqlValue("2014-08-01 10:00:00Z", ""), "dateTime", "2014-08-01T10:00:00Z"),
        (SqlValue("September", ""), "date", None),
        (SqlValue("3.0E1", "double"), "string", "30"),
        (SqlValue("x", ""), "anyURI", "x"),
    ],
)
def test_given_datatypes(value: SqlValue, datatype: str, wanted: str | None) -> None:
    assert fit_datatype(value, datatype) == wanted
