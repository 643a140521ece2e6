"""DISTINCT and UNION in a mapping's SQL: SELECT counts triples; where it counts matches, the rows
that DISTINCT and UNION leave, or is refused."""

import random
import sqlite3
from collections import Counter
from pathlib import Path

import pytest

from ontoweir.errors import MappingError, QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.print_sql import print_sql

TOML = """
[project]
ontology = ["o.ofn"]
mappings = ["m.ttl"]
queries = ["q.rq"]
[relations.s]
source = { format = "csv", path = "s" }
columns = { id = "int", n = "int", a = "string" }
keys = [["id"]]
[relations.t]
source = { format = "csv", path = "t" }
columns = { id = "int", n = "int", a = "string" }
"""
COUNTED = [
    "SELECT DISTINCT id, a AS v FROM s",
    "SELECT DISTINCT id, a AS v FROM s WHERE n > 1 OR n < 1",
    "SELECT DISTINCT s.id, t.a AS v FROM s JOIN s t ON t.id = s.n",
    "SELECT DISTINCT s.id, t.a AS v FROM s JOIN s t ON t.id = 3",
    "SELECT id, 'x' AS v FROM s UNION SELECT id, 'y' FROM s",
    "SELECT id, a AS v FROM s WHERE id < 5 UNION SELECT id, a FROM s WHERE id >= 5",
    "SELECT id, n AS v FROM s WHERE n = 1 UNION SELECT id, n FROM s WHERE n <> 1",
    "SELECT DISTINCT id, a AS v FROM s UNION ALL SELECT DISTINCT n, a FROM s WHERE FALSE",
    "SELECT DISTINCT id, a AS v FROM s WHERE n = 1 UNION ALL SELECT id, a FROM s WHERE a = 'x'",
    "SELECT DISTINCT n AS id, a AS v FROM s WHERE id = 3",
    "SELECT id, a AS v FROM s WHERE id IN (1, 2) UNION SELECT id, a FROM s WHERE id IN (3, 4)",
    "SELECT id, a AS v FROM t",
    "SELECT id, a AS v FROM t UNION ALL SELECT id, a FROM s",
    "SELECT DISTINCT id, a AS v FROM t WHERE FALSE UNION ALL SELECT id, a FROM t",
]
REFUSED = [
    ("SELECT DISTINCT id, a AS v FROM t", "no declared key of t"),
    ("SELECT DISTINCT n AS id, a AS v FROM s", "no declared key of s"),
    ("SELECT DISTINCT s.id, t.a AS v FROM s JOIN s t ON t.n = s.n", "no declared key of s"),
    ("SELECT id, a AS v FROM s UNION SELECT id, a FROM s WHERE n = 1", "the same row"),
    ("SELECT id, a AS v FROM s WHERE id <= 5 UNION SELECT id, a FROM s WHERE id >= 5", "same row"),
    ("SELECT DISTINCT n AS id, a AS v FROM s WHERE id IN (3, 4)", "no declared key of s"),
    ("SELECT DISTINCT n AS id, a AS v FROM s WHERE id = 3 OR n = 2 AND id = 4", "no declared key"),
    ("SELECT id, a AS v FROM s WHERE id IN (1, 2) UNION SELECT id, a FROM s WHERE id = 2", "same"),
    ("SELECT id, 'x' AS v FROM s UNION SELECT id, 'x' FROM s", "the same row"),
    ("SELECT id, a AS v FROM s UNION ALL SELECT DISTINCT id, a FROM t", "no declared key of t"),
]


def write(
    folder: Path, sql: str, head: str, subject: str = "{id}", counts: str = "matches"
) -> Workspace:
    (folder / "ontoweir.toml").write_text(
        TOML.replace("[project]", f'[project]\ncounts = "{counts}"')
    )
    (folder / "o.ofn").write_text("Ontology(<http://ex.org/o>)")
    (folder / "q.rq").write_text(f"{head} {{ ?x <http://ex.org/p> ?y }}")
    (folder / "m.ttl").write_text(
        "@prefix rr: <http://www.w3.org/ns/r2rml#> .\n@prefix : <http://ex.org/> .\n"
        f'<#T> rr:logicalTable [ rr:sqlQuery "{sql}" ] ;\n'
        f'  rr:subjectMap [ rr:template "http://ex.org/{subject}" ] ;\n'
        '  rr:predicateObjectMap [ rr:predicate :p ; rr:objectMap [ rr:column "v" ] ] .\n'
    )
    return Workspace(load_project(folder, environ={}))


def make_database(seed: int) -> sqlite3.Connection:
    draw = random.Random(seed)
    connection = sqlite3.connect(":memory:")
    connection.create_function(
        "concat", -1, lambda *v: None if None in v else "".join(map(str, v)), deterministic=True
    )
    connection.execute("CREATE TABLE s (id INT UNIQUE, n INT, a TEXT)")
    connection.execute("CREATE TABLE t (id INT, n INT, a TEXT)")
    for n in range(12):
        values = draw.choice((0, 1, 2, 5, None)), draw.choice(("x", "y", None))
        key = n if n < 10 else None  # a key with a NULL may repeat
        connection.execute("INSERT INTO s VALUES (?, ?, ?)", (key, *values))
        connection.execute("INSERT INTO t VALUES (?, ?, ?)", (draw.randrange(3), *values))
    return connection


def count(workspace: Workspace, connection: sqlite3.Connection) -> Counter[tuple[str, str]]:
    union = workspace.compile("q").union
    printed = print_sql(union, workspace.project.catalog, dialect="sqlite", comments=False)
    return Counter((str(x), str(y)) for x, y in connection.execute(printed))


@pytest.mark.parametrize("sql", COUNTED)
def test_every_row_of_the_logical_table_counts_once(sql: str, tmp_path: Path) -> None:
    workspace = write(tmp_path, sql, "SELECT ?x ?y")
    for seed in range(5):
        connection = make_database(seed)
        rows = connection.execute(f"SELECT id, v FROM ({sql})").fetchall()
        wanted = Counter((f"http://ex.org/{i}", str(v)) for i, v in rows if None not in (i, v))
        assert count(workspace, connection) == wanted
        connection.close()


@pytest.mark.parametrize(("sql", "reason"), REFUSED)
def test_what_may_count_more_is_refused(sql: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="DISTINCT or UNION") as caught:
        write(tmp_path, sql, "SELECT ?x ?y").compile("q")
    assert reason in str(caught.value)
    assert "write SELECT DISTINCT in the query" in str(caught.value)
    set_query = write(tmp_path, sql, "SELECT DISTINCT ?x ?y")
    for seed in range(3):
        connection = make_database(seed)
        rows = connection.execute(f"SELECT DISTINCT id, v FROM ({sql})").fetchall()
        wanted = {(f"http://ex.org/{i}", str(v)) for i, v in rows if None not in (i, v)}
        assert set(count(set_query, connection)) == wanted
        connection.close()


@pytest.mark.parametrize("sql", [*COUNTED, *(sql for sql, _ in REFUSED)])
def test_every_triple_counts_once(sql: str, tmp_path: Path) -> None:
    """Whatever DISTINCT and UNION leave of the rows: nothing is refused."""
    workspace = write(tmp_path, sql, "SELECT ?x ?y", counts="sparql")
    for seed in range(5):
        connection = make_database(seed)
        rows = connection.execute(f"SELECT id, v FROM ({sql})").fetchall()
        wanted = {(f"http://ex.org/{i}", str(v)) for i, v in rows if None not in (i, v)}
        assert count(workspace, connection) == Counter(wanted)
        connection.close()


def test_of_two_parts_one_that_includes_the_other_counts_alone(tmp_path: Path) -> None:
    """As of two mappings: docs/semantics.md."""
    sql = "SELECT id, a AS v FROM t UNION ALL SELECT id, a FROM t WHERE n = 1"
    workspace = write(tmp_path, sql, "SELECT ?x ?y")
    assert len(workspace.compile("q").union.disjuncts) == 1


def test_a_key_that_may_be_null_is_no_key_where_the_triple_does_not_hold_it(tmp_path: Path) -> None:
    sql = "SELECT DISTINCT id, a, a AS v FROM s"
    with pytest.raises(QueryError, match="the key id may be NULL"):
        write(tmp_path, sql, "SELECT ?x ?y", subject="{a}").compile("q")
    write(tmp_path, f"{sql} WHERE id IS NOT NULL", "SELECT ?x ?y", subject="{a}").compile("q")


def test_nor_does_it_spare_making_triples_distinct(tmp_path: Path) -> None:
    workspace = write(
        tmp_path, "SELECT id, a AS v FROM s", "SELECT ?x ?y", subject="{v}", counts="sparql"
    )
    (view,) = workspace.compile("q").union.views
    assert view.distinct
    with_key = write(tmp_path, "SELECT id, a AS v FROM s", "SELECT ?x ?y", counts="sparql")
    assert with_key.compile("q").union.views == ()


def test_what_is_not_read_says_what_to_write(tmp_path: Path) -> None:
    for made in ("initcap(a)", "soundex(a)", "n + a"):
        with pytest.raises(MappingError, match="column") as caught:
            write(tmp_path, f"SELECT id, {made} AS v FROM s", "SELECT ?x ?y").compile("q")
        assert caught.value.source is not None
        assert caught.value.source.line == 3
