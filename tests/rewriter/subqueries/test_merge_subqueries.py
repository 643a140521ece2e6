"""Subqueries, WITH and views: as which flat query they are read, and what is refused, where."""

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    IntType,
    QueryView,
    Relation,
    Stream,
    StringType,
)
from ontoweir.mappings.model.expression import fields_of
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.sql.print_sql import print_sql
from ontoweir.rewriter.subqueries import merge_subqueries

NONE = DataSource("parquet", "none")


def _view(name: str, text: str) -> QueryView:
    return QueryView(name, text, Source("ontoweir.toml", 7))


VIEWS = (
    _view("slow", "SELECT ts, k AS road, v AS speed FROM s WHERE v < 20"),
    _view("slower", "SELECT ts, road, speed FROM slow WHERE speed < 10"),
    _view("both", "SELECT ts, k, v FROM s UNION ALL SELECT ts, k, w FROM t"),
    _view("counts", "SELECT k, COUNT(*) AS n FROM s GROUP BY k"),
    _view("wrong", "SELECT k,\n  missing FROM s"),
    _view("ring", "SELECT k FROM loop"),
    _view("loop", "SELECT k FROM ring"),
)
CATALOG = Catalog(
    {
        "s": Stream("s", NONE, "ts", 1, 5, (Column("k", IntType()), Column("v", IntType()))),
        "t": Stream(
            "t",
            NONE,
            "ts",
            1,
            5,
            (Column("k", IntType()), Column("w", IntType()), Column("name", StringType())),
        ),
    },
    {"r": Relation("r", NONE, (Column("k", IntType()), Column("z", IntType())))},
    views={view.name: view for view in VIEWS},
)


def read(sql: str) -> SpjUnion:
    return parse_sql(sql, CATALOG, name="q", file="q.sql")


def show(sql: str) -> str:
    return print_sql(read(sql), CATALOG, short=False)


SAME = (
    # the subquery's alias is that of its table, and its columns have the names that it gives
    ("SELECT x.k FROM (SELECT k FROM s WHERE v > 3) AS x", "SELECT x.k FROM s x WHERE x.v > 3"),
    ("SELECT a FROM (SELECT k AS a, v AS b FROM s) x", "SELECT x.k AS a FROM s x"),
    ("SELECT * FROM (SELECT v AS b, k AS a FROM s) x", "SELECT x.v AS b, x.k AS a FROM s x"),
    ("SELECT x.* FROM (SELECT k FROM s) x, t", "SELECT x.k FROM s x, t"),
    ("SELECT b FROM (SELECT k, v FROM s) AS x(a, b)", "SELECT x.v AS b FROM s x"),
    # a subquery without an alias leaves its tables theirs
    ("SELECT k FROM (SELECT k FROM s)", "SELECT s.k FROM s"),
    # what it computes is computed where it is read
    (
        "SELECT x.c FROM (SELECT v * 2 + 1 AS c FROM s) x WHERE x.c > 7",
        "SELECT x.v * 2 + 1 AS c FROM s x WHERE x.v * 2 + 1 > 7",
    ),
    (
        "SELECT t.w FROM (SELECT v + 1 AS c FROM s) x, t WHERE c * 2 > t.w",
        "SELECT t.w FROM s x, t WHERE (x.v + 1) * 2 > t.w",
    ),
    # joins: of several tables each keeps its alias where that is free
    (
        (
            "SELECT x.v, x.w FROM (SELECT s.v, t.w, s.k FROM s JOIN t USING (k) WHERE s.ts < t.ts) "
            "x, r WHERE x.k = r.k"
        ),
        "SELECT s.v, t.w FROM s, t, r WHERE s.k = t.k AND s.ts < t.ts AND s.k = r.k",
    ),
    (
        (
            "SELECT s.v FROM s, (SELECT s.k, t.ts FROM s, t WHERE s.k = t.k) x "
            "WHERE s.k = x.k AND s.ts < x.ts"
        ),
        "SELECT s.v FROM s, s x_s, t WHERE x_s.k = t.k AND s.k = x_s.k AND s.ts < t.ts",
    ),
    (
        "SELECT v, z FROM (SELECT k, v FROM s) x JOIN (SELECT k, z FROM r) y USING (k)",
        "SELECT x.v, y.z FROM s x, r y WHERE x.k = y.k",
    ),
    (
        "SELECT a.k FROM (SELECT k, ts FROM s WHERE v > 1 OR v < -1) a, s b WHERE a.ts < b.ts",
        "SELECT a.k FROM s a, s b WHERE (a.v > 1 OR a.v < -1) AND a.ts < b.ts",
    ),
    # within one another
    (
        "SELECT c FROM (SELECT b AS c FROM (SELECT k AS b, v FROM s WHERE v > 1) x WHERE v < 9) y",
        "SELECT y.k AS c FROM s y WHERE y.v > 1 AND y.v < 9",
    ),
    # WITH, of which one may read those before it, and hides tables
    (
        "WITH a AS (SELECT k, ts FROM s), b(z) AS (SELECT k FROM a WHERE k > 3) SELECT z FROM b",
        "SELECT b.k AS z FROM s b WHERE b.k > 3",
    ),
    (
        "WITH a AS (SELECT k, ts FROM s) SELECT x.k FROM a x, a y WHERE x.k = y.k AND x.ts < y.ts",
        "SELECT x.k FROM s x, s y WHERE x.k = y.k AND x.ts < y.ts",
    ),
    ("WITH s AS (SELECT k FROM t) SELECT k FROM s", "SELECT s.k FROM t s"),
    # views
    ("SELECT road FROM slow", "SELECT slow.k AS road FROM s slow WHERE slow.v < 20"),
    ("SELECT speed FROM SLOWER x", "SELECT x.v AS speed FROM s x WHERE x.v < 20 AND x.v < 10"),
    (
        "WITH slow AS (SELECT k AS road FROM t) SELECT road FROM slow",
        "SELECT slow.k AS road FROM t slow",
    ),
    # UNION ALL: each part is a part of the query
    (
        "SELECT k FROM both WHERE v > 3",
        (
            "SELECT both.k FROM s both WHERE both.v > 3 UNION ALL "
            "SELECT both.k FROM t both WHERE both.w > 3"
        ),
    ),
    (
        "SELECT DISTINCT x.k FROM both x, r WHERE x.k = r.k",
        "SELECT x.k FROM s x, r WHERE x.k = r.k UNION SELECT x.k FROM t x, r WHERE x.k = r.k",
    ),
    # duplicates may be removed inside where they are outside
    (
        "SELECT DISTINCT k FROM (SELECT DISTINCT k, v FROM s UNION SELECT k, w FROM t) x",
        "SELECT x.k FROM s x UNION SELECT x.k FROM t x",
    ),
    (
        "SELECT MAX(v) AS top FROM (SELECT DISTINCT v FROM s) x",
        "SELECT MAX(x.v) AS top FROM s x",
    ),
    # aggregates, buckets of time and windows outside
    (
        "SELECT road, COUNT(*) AS n FROM slow GROUP BY road HAVING n > 3",
        "SELECT slow.k AS road, COUNT(*) AS n FROM s slow WHERE v < 20 GROUP BY road HAVING n > 3",
    ),
    (
        "SELECT k AS key, SUM(v) AS n FROM (SELECT v AS k, k AS v FROM s) x GROUP BY key",
        "SELECT x.v AS key, SUM(x.k) AS n FROM s x GROUP BY x.v",
    ),
    (
        "SELECT m, COUNT(*) AS n FROM (SELECT date_trunc('minute', ts) AS m FROM s) x GROUP BY m",
        "SELECT date_trunc('minute', x.ts) AS m, COUNT(*) AS n FROM s x GROUP BY 1",
    ),
    (
        (
            "SELECT window_start, MAX(speed) AS top FROM TABLE(TUMBLE(TABLE slow, DESCRIPTOR(ts), "
            "INTERVAL '1' MINUTE)) GROUP BY window_start"
        ),
        (
            "SELECT window_start, MAX(slow.v) AS top FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), "
            "INTERVAL '1' MINUTE)) slow WHERE slow.v < 20 GROUP BY window_start"
        ),
    ),
    (
        "SELECT x.k FROM (SELECT k, ts FROM s WHERE ts > NOW() - INTERVAL '1' SECOND) x",
        "SELECT x.k FROM s x WHERE x.ts > NOW() - INTERVAL '1' SECOND",
    ),
)


@pytest.mark.parametrize(("nested", "flat"), SAME)
def test_it_is_read_as_one_query_over_tables(nested: str, flat: str) -> None:
    assert show(nested) == show(flat)


def test_the_matches_of_all_parts_of_a_union_are_aggregated() -> None:
    union = read("SELECT k, COUNT(*) AS n FROM both WHERE k > 0 GROUP BY k")
    assert [q.occurrences[0].table for q in union.disjuncts] == ["s", "t"]
    assert union.aggregation is not None
    assert union.aggregation.group == ("k",)


REFUSED = (
    ("SELECT x.v FROM (SELECT k FROM s) x", 1, "unknown column 'v' of x; it shows k"),
    ("SELECT v FROM (SELECT k FROM s)", 1, "unknown column 'v'"),
    ("SELECT k FROM (SELECT k FROM s) x,\n (SELECT k FROM t) y", 1, "both have it; write x.k"),
    ("SELECT x.k\nFROM (SELECT s.k, t.k FROM s, t) x", 1, "x shows 2 columns of that name"),
    ("SELECT y.k FROM (SELECT k FROM s) x", 1, "unknown alias 'y'; FROM has x"),
    ("SELECT k FROM (SELECT k FROM s) x, t x", 1, "the alias 'x' occurs twice"),
    ("SELECT k FROM\n(SELECT k FROM u) x", 2, "unknown table 'u'"),
    ("SELECT k FROM slo", 1, "did you mean 'slow'?"),
    ("SELECT a FROM (SELECT k FROM s) AS x(a, b)", 1, "2 names for 1 columns"),
    ("SELECT a FROM (SELECT 1 AS a) x", 1, "SELECT without FROM"),
    (
        "SELECT k FROM s, (SELECT COUNT(DISTINCT v) AS n FROM s) x",
        1,
        "an aggregate in a subq",
    ),
    ("SELECT n FROM counts", 7, "the view counts, line 1: an aggregate in a subquery"),
    ("SELECT k FROM (SELECT DISTINCT k FROM r) x", 1, "DISTINCT over static relations in a sub"),
    ("SELECT k FROM\n(SELECT DISTINCT k, 1 AS one FROM s) x", 2, "the constant one under DISTINCT"),
    ("SELECT x.k FROM (SELECT DISTINCT s.k, t.k FROM s, t) x", 1, "two columns called k under"),
    ("SELECT k FROM (SELECT k FROM s LIMIT 3) x", 1, "LIMIT is outside"),
    ("SELECT k FROM (SELECT k FROM s ORDER BY k) x", 1, "ORDER BY is outside"),
    ("SELECT k FROM (SELECT k FROM s EXCEPT SELECT k FROM t) x", 1, "EXCEPT is outside"),
    ("SELECT s.k FROM s LEFT JOIN (SELECT k FROM t) x ON s.k = x.k", 1, "is never final"),
    ("SELECT x.k FROM (SELECT s.k FROM s LEFT JOIN t ON s.k = t.k) x", 1, "is never final"),
    ("WITH RECURSIVE a AS (SELECT k FROM s) SELECT k FROM a", 1, "WITH RECURSIVE is outside"),
    ("SELECT * FROM (SELECT k FROM s) x JOIN t USING (k)", 1, "* with JOIN … USING"),
    ("SELECT k FROM (SELECT k FROM s UNION ALL SELECT k, w FROM t) x", 1, "a UNION of 1 and 2"),
    ("SELECT k FROM (SELECT k FROM s UNION ALL SELECT name FROM t) x", 1, "a UNION of int and str"),
    ("SELECT k FROM (SELECT k FROM s UNION ALL SELECT k > 5 FROM t) x", 1, "of int and boolean"),
    (
        "SELECT k FROM (SELECT k FROM s UNION ALL SELECT k FROM t UNION ALL\nSELECT name FROM t) x",
        2,
        "a UNION of int and string",
    ),
    (
        "SELECT k FROM (SELECT k FROM s UNION ALL SELECT k, w FROM t\nUNION ALL SELECT k FROM t) x",
        1,
        "a UNION of 1 and 2",
    ),
    (
        "SELECT k FROM (SELECT k FROM s UNION ALL (SELECT k FROM t UNION ALL\nSELECT name FROM t))",
        2,
        "a UNION of int and string",
    ),
    ("SELECT g, COUNT(*) AS n FROM (SELECT 2 AS g FROM s) x GROUP BY g", 1, "the constant 2"),
    ("SELECT k FROM wrong", 7, "the view wrong, line 2: unknown column 'missing' of s"),
    ("SELECT k FROM ring", 7, "the view ring reads itself: ring → loop → ring"),
)


@pytest.mark.parametrize(("sql", "line", "what"), REFUSED)
def test_what_is_refused_says_where(sql: str, line: int, what: str) -> None:
    with pytest.raises(QueryError, match=re.escape(what)) as caught:
        read(sql)
    assert caught.value.source is not None
    assert caught.value.source.line == line


def test_each_part_of_a_long_union_is_held_against_the_first_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def refuse(parts: Sequence[object], catalog: Catalog) -> None:
        asked.append(len(parts))

    monkeypatch.setattr(merge_subqueries, "refuse_mixed_union", refuse)
    parts = " UNION ALL ".join(f"SELECT k FROM {'st'[n % 2]} WHERE k = {n}" for n in range(12))
    assert len(read(f"SELECT k FROM ({parts}) x").disjuncts) == 12
    assert asked == [12]
    asked.clear()
    read(f"SELECT k FROM (SELECT k FROM s UNION ALL ({parts})) x")
    assert sorted(asked) == [12, 13]


def test_groups_of_streams_of_different_units_are_final_together() -> None:
    coarse = replace(CATALOG.streams["t"], step_us=4)
    fine = replace(CATALOG.streams["s"], step_us=6)
    catalog = replace(CATALOG, streams={"s": fine, "t": coarse})
    sql = "SELECT FLOOR(ts TO SECOND) AS b, COUNT(*) AS n FROM both GROUP BY b"
    assert parse_sql(sql, catalog, name="q", file="q.sql").step_us == 2
    # answers one by one are not of one time
    assert parse_sql("SELECT k FROM both", catalog, name="q", file="q.sql").step_us is None


def test_a_column_that_parts_show_once_more() -> None:
    """It is computed of itself, as it is another one in other parts."""
    made = read(
        "SELECT k, COUNT(w) AS a, SUM(v) AS b FROM (SELECT k, v, v AS w FROM s UNION ALL "
        "SELECT k, w, k FROM t) x GROUP BY k"
    )
    assert {o.table for d in made.disjuncts for o in d.occurrences} == {"s", "t"}
    assert {name for _, e in made.derived for name in fields_of(e)} == {"v", "k"}
