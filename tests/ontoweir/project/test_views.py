"""[views.NAME] in ontoweir.toml: what is read, and what is refused, where."""

import re
from pathlib import Path

import pytest

from ontoweir.errors import CatalogError
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.parse_sql import parse_sql

STREAM = """[streams.s]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "1 second" }
columns = { k = "int", v = "int" }
"""


def write(folder: Path, views: str, sql: str | None = None) -> Path:
    (folder / "ontoweir.toml").write_text(STREAM + views, encoding="utf-8")
    if sql is not None:
        (folder / "views").mkdir()
        (folder / "views" / "low.sql").write_text(sql, encoding="utf-8")
    return folder


def test_a_view_is_sql_or_the_path_of_a_file(tmp_path: Path) -> None:
    views = """
[views.low]
query = "views/low.sql"
[views.lower]
query = '''
SELECT k, v FROM low
WHERE v < 3
'''
"""
    folder = write(tmp_path, views, "SELECT ts, k, v FROM s WHERE v < 9;\n")
    catalog = load_project(folder, environ={}).catalog
    assert catalog.views["low"].file == str(folder / "views" / "low.sql")
    union = parse_sql("SELECT k FROM Lower", catalog, name="q", file="q.sql")
    assert [o.table for o in union.disjuncts[0].occurrences] == ["s"]


def test_a_view_may_be_set_from_outside(tmp_path: Path) -> None:
    folder = write(tmp_path, '[views.low]\nquery = "SELECT k FROM s"\n')
    set_ = ["views.low.query=SELECT v AS k FROM s"]
    view = load_project(folder, overrides=set_, environ={}).catalog.views["low"]
    assert view.text == "SELECT v AS k FROM s"


@pytest.mark.parametrize(
    ("views", "sql", "place", "what"),
    [
        ("[views.s]\nquery = 'SELECT k FROM s'", None, "toml:5", "has the name of a stream"),
        (
            "[views.a]\nquery = 'SELECT k FROM s'\n[views.A]\nquery = 'SELECT k FROM s'",
            None,
            "toml:5",
            "has the name of another view",
        ),
        ("[views.a]\nsql = 'SELECT k FROM s'", None, "toml:6", "unknown key 'sql'"),
        ("[views.a]", None, "toml:5", "[views.a] has no query"),
        ("[views.a]\nquery = 3", None, "toml:6", "it must be a string"),
        ("[views.a]\nquery = ' ; '", None, "toml:6", "the view a: there is no SQL"),
        ("[views.a]\nquery = 'views/low.sql'", "", "low.sql:1", "there is no SQL"),
        ("[views.a]\nquery = 'views/no.sql'", None, "toml:6", "cannot read"),
        ("[views.a]\nquery = 'SELEC k FROM s'", None, "toml:6", "the view a"),
        ("[views.a]\nquery = 'SELECT ?x { ?x a ?y }'", None, "toml:6", "the view a: it is SPARQL"),
        ("[views.a]\nquery = 'PREFIX : <urn:> ASK {}'", None, "toml:6", "the view a: it is SPARQL"),
        ("[views.a]\nquery = 'busiest'", None, "toml:6", "the query of the view 'a' is 'busiest'"),
        ("[views.a]\nquery = 'queries/some.rq'", None, "toml:6", "the view a: it is SPARQL"),
        ("[views.a]\nquery = 'SELECT k FROM s WHERE ('", None, "toml:6", "not SQL"),
        ("[views.a]\nquery = 'DELETE FROM s'", None, "toml:6", "a statement other than SELECT"),
        ("[views.a]\nquery = 'SELECT k FROM t'", None, "toml:6", "unknown table 't'"),
        ("[views.a]\nquery = 'views/low.sql'", "SELECT k\nFROM t", "low.sql:2", "unknown table"),
        ("[views.a]\nquery = 'SELECT k FROM a'", None, "toml:6", "the view a reads itself: a → a"),
        (
            "[views.a]\nquery = 'SELECT k FROM b'\n[views.b]\nquery = 'SELECT k FROM a, s'",
            None,
            "toml:6",
            "the view a reads itself: a → b → a",
        ),
    ],
)
def test_a_wrong_view_is_refused(
    views: str, sql: str | None, place: str, what: str, tmp_path: Path
) -> None:
    folder = write(tmp_path, views, sql)
    with pytest.raises(CatalogError, match=re.escape(what)) as caught:
        load_project(folder, environ={})
    assert str(caught.value.source).endswith(place)
    assert caught.value.fix
