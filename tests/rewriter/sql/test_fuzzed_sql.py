"""Random SQL: what is read gives the database's results, and anything else is refused in a line."""

import re
from collections import Counter
from collections.abc import Iterator

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.sql.print_sql import print_sql

TOML = """
[streams.a]
source = { format = "parquet", path = "a" }
timestamp = { column = "ts", unit = "5 minutes" }
columns = { x = "int", y = "int", w = "string", flag = "boolean" }
[relations.b]
source = { format = "csv", path = "b" }
columns = { x = "int", z = "double", d = "date" }
"""


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    folder = tmp_path_factory.mktemp("sql")
    (folder / "ontoweir.toml").write_text(TOML)
    return load_project(folder, environ={}).catalog


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    """Every combination of three numbers, NULL among them, twice, and of the truth values."""
    with duckdb.connect() as db:
        db.execute("CREATE TABLE a (ts TIMESTAMP, x INT, y INT, w TEXT, flag BOOLEAN)")
        db.execute(
            "INSERT INTO a SELECT TIMESTAMP '1970-01-01', x, y, w, flag "
            "FROM (VALUES (1), (2), (NULL)) p(x), (VALUES (1), (2), (NULL)) q(y), "
            "(VALUES ('v'), (NULL)) r(w), (VALUES (TRUE), (FALSE), (NULL)) s(flag)"
        )
        yield db


operators = st.sampled_from(["<", "<=", "=", ">=", ">", "<>"])
terms = st.sampled_from(["x", "y", "a.x", "y + 1", "1", "2", "1.5", "-1", "1.0"])
atoms = st.one_of(
    st.builds(lambda a, o, b: f"{a} {o} {b}", terms, operators, terms),
    st.builds(lambda o, c: f"w {o} '{c}'", operators, st.sampled_from("uvw")),
    st.sampled_from(["flag", "TRUE", "FALSE", "flag = TRUE", "flag <> FALSE", "flag IS TRUE"]),
    st.sampled_from(["x IS NOT NULL", "y IS NOT NULL", "w IS NOT NULL", "flag IS FALSE"]),
    st.builds(
        lambda a, n, v: f"{a} {n}IN ({', '.join(v)})",
        terms,
        st.sampled_from(["", "NOT "]),
        st.lists(terms, min_size=1, max_size=3),
    ),
    st.builds(
        lambda a, n, b, c: f"{a} {n}BETWEEN {b} AND {c}",
        terms,
        st.sampled_from(["", "NOT "]),
        terms,
        terms,
    ),
)
conditions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds(lambda a, b: f"({a} AND {b})", inner, inner),
        st.builds(lambda a, b: f"({a} OR {b})", inner, inner),
        st.builds(lambda a: f"NOT ({a})", inner),
    ),
    max_leaves=5,
)


@given(condition=conditions, distinct=st.booleans())
def test_conditions_select_the_rows_that_the_database_selects(
    condition: str, distinct: bool, catalog: Catalog, database: duckdb.DuckDBPyConnection
) -> None:
    text = f"SELECT {'DISTINCT ' if distinct else ''}x FROM a WHERE {condition}"
    try:
        union = parse_sql(text, catalog, name="q", file="q.sql")
    except QueryError:
        return
    expected = database.execute(f"SELECT * FROM ({text}) t WHERE x IS NOT NULL").fetchall()
    if not union.disjuncts:
        assert not expected
        return
    found = database.execute(print_sql(union, catalog, dialect="duckdb")).fetchall()
    assert Counter(found) == Counter(expected)


_WORDS = """
SELECT FROM WHERE AND OR NOT IN IS NULL TRUE FALSE BETWEEN SYMMETRIC UNION ALL DISTINCT JOIN
ON USING CROSS NATURAL LEFT GROUP BY HAVING ORDER LIMIT COUNT ( ) SUM MEDIAN AS , . * + - / < <=
= <> ! == ; -- /* */ a b A x y w flag ts z d `x` "x" 'v' '' 1 2.5 1e5 1e999999999 0x1F 3L 2BD
1.5D INTERVAL MINUTE '5' DATE '2014-01-01' TIMESTAMP CAST INT :p ? @ || CASE WHEN THEN END
EXISTS LATERAL VALUES WITH OVER PARTITION PIVOT TABLESAMPLE VERSION OF STRUCT ARRAY [ ] { } => ->
"""
words = st.sampled_from(re.findall(r"\S+", _WORDS))
shapes = st.sampled_from(
    [
        "SELECT x FROM a WHERE {}",
        "SELECT {} FROM a",
        "SELECT x FROM a {}",
        "SELECT x, COUNT(*) AS n FROM a GROUP BY {}",
        "SELECT {} FROM a GROUP BY x",
        "SELECT x FROM a UNION {}",
        "SELECT a.x FROM a JOIN b ON {}",
        "{}",
    ]
)


def refusal(text: str, catalog: Catalog) -> QueryError | None:
    try:
        parse_sql(text, catalog, name="q", file="q.sql")
    except QueryError as error:
        return error
    return None


@given(shape=shapes, soup=st.lists(words, max_size=8))
def test_whatever_is_written_gives_a_query_or_one_line(
    shape: str, soup: list[str], catalog: Catalog
) -> None:
    error = refusal(shape.format(" ".join(soup)), catalog)
    assert error is None or re.fullmatch(r"q\.sql:\d+: [^\n]+; [^\n]+; [^\n]+", str(error))


@given(text=st.text(max_size=60))
def test_any_text_gives_a_query_or_one_line(text: str, catalog: Catalog) -> None:
    error = refusal(text, catalog)
    assert error is None or "\n" not in str(error)
