"""docs/mappings.md: what it says is unfolded is unfolded, what it says is refused is refused so."""

import re
import sqlite3
from pathlib import Path
from urllib.parse import unquote

import pytest

from ontoweir.errors import MappingError
from ontoweir.mappings.compile.load_mappings import load_mappings
from ontoweir.mappings.expressions.derive_column import add_derived
from ontoweir.mappings.materialize.materialize_triples import materialize_triples
from ontoweir.mappings.model.assertion import MappingAssertion, MappingSet
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sql.print_sql import print_sql
from ontoweir.rewriter.tmappings.instantiate_assertion import assertion_query
from tests.paths import ROOT

PAGE = ROOT / "docs" / "mappings.md"
TOML = """
[streams.reading]
source = { format = "parquet", path = "r" }
timestamp = { column = "ts", unit = "1 second" }
columns = { id = "int", speed = "decimal(5,1)", x = "double" }
[relations.sensor]
source = { format = "csv", path = "s" }
columns = { id = "int", street = "string", kind = "string", day = "date", link = "string" }
keys = [["id"]]
[relations.lamp]
source = { format = "csv", path = "l" }
columns = { id = "int", street = "string" }
"""


def rows(width: int, *, refused: bool) -> list[list[str]]:
    """The rows of the page's tables of a width."""
    found, inside = [], False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) != width:
            inside = False
        elif cells[0] in ("unfolded", "refused"):
            inside = (cells[0] == "refused") == refused
        elif inside and cells[0] != "---":
            found.append([c.strip("`") for c in cells[:-1]] + cells[-1:])
    return found


def load(folder: Path, body: str) -> MappingSet:
    (folder / "ontoweir.toml").write_text(TOML)
    (folder / "m.ttl").write_text(
        f"@prefix rr: <http://www.w3.org/ns/r2rml#> .\n@prefix : <http://ex.org/> .\n<#T>\n{body} ."
    )
    return load_mappings([folder / "m.ttl"], load_project(folder, environ={}).catalog)


DATA = """
CREATE TABLE reading (ts TIMESTAMP, id INT, speed DECIMAL(5,1), x DOUBLE);
INSERT INTO reading VALUES ('2014-08-01 07:05:00', 1, 30.5, 0.25), (NULL, 2, 7, NULL);
CREATE TABLE sensor (id INT, street TEXT, kind TEXT, day DATE, link TEXT);
INSERT INTO sensor VALUES (1, 'a/b', 'a', '2014-08-01', 'http://x/1');
INSERT INTO sensor VALUES (2, 'x', 'b', NULL, NULL), (9, NULL, 'a', NULL, 'http://x/9');
CREATE TABLE lamp (id INT, street TEXT);
INSERT INTO lamp VALUES (1, 'a/b'), (1, 'a/b'), (7, 'y');
"""


def same_triples(folder: Path, found: tuple[MappingAssertion, ...]) -> None:
    """Unfolded and materialized on one database, up to percent-encoding and forms of numbers."""
    database = folder / "d.db"
    connection = sqlite3.connect(database)
    connection.create_function(
        "concat", -1, lambda *v: None if None in v else "".join(map(str, v)), deterministic=True
    )
    connection.executescript(DATA)
    catalog = load_project(folder, environ={}).catalog
    catalog = add_derived(catalog, MappingSet(found).derived)
    unfolded = set()
    for query in (assertion_query(a, catalog) for a in found):
        names = tuple(name for name, _ in query.outputs)
        union = SpjUnion("q", names, (query,), distinct=True)
        printed = print_sql(union, catalog, dialect="sqlite", comments=False)
        unfolded |= {tuple(map(plain, row)) for row in connection.execute(printed)}
    connection.close()
    made = set()
    for quad in materialize_triples(folder / "m.ttl", database):
        terms = re.findall(r'<[^>]*>|"[^"]*"|_:\S+', quad)
        kept = terms[::2][:1] if found[0].object is None else terms[::2][:2]
        made.add(tuple(plain(blank(t)) if t[0] == "_" else plain(t[1:-1]) for t in kept))
    assert unfolded == made
    assert made


def blank(label: str) -> str:
    """The text that a blank node's label stands for."""
    return re.sub(r"-([0-9a-f]+)-", lambda m: chr(int(m[1], 16)), label).replace("_:b", "_:", 1)


def plain(text: object) -> str:
    shown = unquote(str(text))
    return str(float(shown)) if re.fullmatch(r"-?[0-9.]+(E[0-9]+)?", shown) else shown


def with_sql(sql: str) -> str:
    named = re.match(r"SELECT (?:DISTINCT )?(?:\w\.)?(\w+)(?:,| FROM)", sql)
    column = named[1] if named else "id" if "*" in sql[:10] else "c"
    return (
        f'rr:logicalTable [ rr:sqlQuery """{sql}""" ] ;\n'
        f'rr:subjectMap [ rr:template "http://ex.org/{{{column}}}" ; rr:class :C ]'
    )


def with_term(term: str, table: str) -> str:
    return (
        f'rr:logicalTable [ rr:tableName "{table}" ] ;\n'
        f'rr:subjectMap [ rr:template "http://ex.org/{{id}}" ] ;\n'
        f"rr:predicateObjectMap [ rr:predicate :p ; rr:objectMap [ {term} ] ]"
    )


@pytest.mark.parametrize(("sql", "into"), rows(2, refused=False))
def test_sql_is_unfolded(sql: str, into: str, tmp_path: Path) -> None:
    found = load(tmp_path, with_sql(sql)).assertions
    if "one assertion for each" not in into:
        assert len(found) == 1
    else:
        assert len(found) == max(sql.count("SELECT"), sql.count("'") // 2)
    tables = {"over two": 2, "over three": 3}
    wanted = next((n for words, n in tables.items() if words in into), 1)
    assert {len(a.source.tables) for a in found} == {wanted}
    same_triples(tmp_path, found)
    assert ("DISTINCT" in sql or "UNION SELECT" in sql) == any(a.repeats for a in found)


@pytest.mark.parametrize(("sql", "instead"), rows(2, refused=True))
def test_sql_is_refused(sql: str, instead: str, tmp_path: Path) -> None:
    with pytest.raises(MappingError) as caught:
        load(tmp_path, with_sql(sql))
    assert instead in str(caught.value)
    assert caught.value.source is not None
    assert caught.value.source.line == 4


@pytest.mark.parametrize(("term", "table", "into"), rows(3, refused=False))
def test_term_map_is_unfolded(term: str, table: str, into: str, tmp_path: Path) -> None:
    (found,) = load(tmp_path, with_term(term, table)).assertions
    assert into
    same_triples(tmp_path, (found,))


@pytest.mark.parametrize(("term", "table", "instead"), rows(3, refused=True))
def test_term_map_is_refused(term: str, table: str, instead: str, tmp_path: Path) -> None:
    with pytest.raises(MappingError) as caught:
        load(tmp_path, with_term(term, table))
    assert instead in str(caught.value)


def test_the_page_has_its_tables() -> None:
    sizes = [len(rows(w, refused=r)) for w in (2, 3) for r in (False, True)]
    assert sizes == [17, 15, 12, 4]
