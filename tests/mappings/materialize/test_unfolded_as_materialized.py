"""Unfolding and materialising read one mapping alike: the same triples on the same database."""

import random
import re
import sqlite3
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from ontoweir.mappings.compile.load_mappings import load_mappings
from ontoweir.mappings.expressions.derive_column import add_derived
from ontoweir.mappings.materialize.materialize_triples import materialize_triples
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sql.print_sql import print_sql
from ontoweir.rewriter.tmappings.instantiate_assertion import assertion_query

TOML = """
[relations.s]
source = { format = "csv", path = "s" }
columns = { id = "int", n = "int", a = "string", b = "string" }
[relations.t]
source = { format = "csv", path = "t" }
columns = { id = "int", c = "string" }
"""
SQL = [
    "SELECT id, a AS v FROM s",
    "SELECT id, n AS v FROM s WHERE n > 1 OR n < 1",
    "SELECT id, n AS v FROM s WHERE n IN (0, 2) OR n = 2",
    "SELECT id, a AS v FROM s WHERE NOT (n < 1 OR n > 2)",
    "SELECT id, a AS v FROM s WHERE n BETWEEN 1 AND 2",
    "SELECT id, a AS v FROM s UNION ALL SELECT id, c FROM t",
    "SELECT id, a AS v FROM s WHERE n = 1 UNION ALL SELECT id, b FROM s WHERE n = 2 OR n = 0",
    "SELECT s.id, t.c AS v FROM s JOIN t ON s.n = t.id WHERE s.n <> 1 OR s.n = 1 AND t.c = 'x'",
    "SELECT id, a || '-' || b AS v FROM s",
    "SELECT id, 'n' || n AS v FROM s WHERE a = 'x'",
    "SELECT id, CAST(n AS TEXT) AS v FROM s",
    "SELECT id, 'same' AS v FROM s WHERE n = 1",
    "SELECT id, 5 AS v FROM t",
    "SELECT id, n * 2 + 1 AS v FROM s WHERE n - id > 0 OR a IS NULL",
    "SELECT id, CASE WHEN n > 1 THEN a WHEN a = b THEN 'same' END AS v FROM s",
    "SELECT id, 'u' || upper(a) || (n + 1) AS v FROM s WHERE coalesce(b, 'x') = 'x'",
    "SELECT id % 2 AS id, a AS v FROM s UNION ALL SELECT id + 1, c FROM t WHERE lower(c) <> 'z'",
    "SELECT s.id, t.id * 2 AS v FROM s JOIN t ON s.n + 1 = t.id",
    'SELECT \\"id\\", \\"a\\" AS \\"v\\" FROM \\"s\\"',
]


def make_database(path: Path, draw: random.Random) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.create_function(  # SQLite has it from 3.44 on
        "concat", -1, lambda *v: None if None in v else "".join(map(str, v)), deterministic=True
    )
    connection.execute("CREATE TABLE s (id INT, n INT, a TEXT, b TEXT)")
    connection.execute("CREATE TABLE t (id INT, c TEXT)")
    texts = ["x", "y", "z", None]
    for _ in range(20):
        row = (draw.randrange(9), draw.choice((0, 1, 2, 3, None)), *draw.choices(texts, k=2))
        connection.execute("INSERT INTO s VALUES (?, ?, ?, ?)", row)
        row = (draw.choice((0, 1, 2, None)), draw.choice(texts))
        connection.execute("INSERT INTO t VALUES (?, ?)", row)
    connection.commit()
    return connection


@pytest.mark.parametrize("sql", SQL)
def test_same_triples_and_as_many_as_rows(sql: str, tmp_path: Path) -> None:
    (tmp_path / "ontoweir.toml").write_text(TOML)
    (tmp_path / "m.ttl").write_text(
        "@prefix rr: <http://www.w3.org/ns/r2rml#> .\n@prefix : <http://ex.org/> .\n"
        f'<#T> rr:logicalTable [ rr:sqlQuery "{sql}" ] ;\n'
        '  rr:subjectMap [ rr:template "http://ex.org/{id}" ] ;\n'
        '  rr:predicateObjectMap [ rr:predicate :p ; rr:objectMap [ rr:column "v" ] ] .\n'
    )
    catalog = load_project(tmp_path, environ={}).catalog
    mappings = load_mappings([tmp_path / "m.ttl"], catalog)
    assertions, catalog = mappings.assertions, add_derived(catalog, mappings.derived)
    queries = tuple(assertion_query(a, catalog) for a in assertions)
    queries = tuple(replace(q, provenance=()) for q in queries)
    union = SpjUnion("q", ("s", "o"), queries, distinct=False)
    printed = print_sql(union, catalog, dialect="sqlite", comments=False)
    for seed in range(5):
        database = tmp_path / f"{seed}.db"
        connection = make_database(database, random.Random(seed))
        rows = Counter((str(s), str(o)) for s, o in connection.execute(printed))
        plain = sql.replace('\\"', '"')
        counted = connection.execute(
            f"SELECT id, v FROM ({plain}) WHERE id IS NOT NULL AND v IS NOT NULL"
        ).fetchall()
        connection.close()
        assert rows == Counter((f"http://ex.org/{i}", str(v)) for i, v in counted)
        found = [
            re.fullmatch(r'<([^>]*)> <[^>]*> "([^"]*)".* \.', q)
            for q in materialize_triples(tmp_path / "m.ttl", database)
        ]
        assert {(m[1], m[2]) for m in found if m is not None} == set(rows)
        assert len(found) == len(rows)
