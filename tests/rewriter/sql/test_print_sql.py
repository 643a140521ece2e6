"""Printed SQL: readable, quoted where needed, runnable."""

import duckdb
import pytest

from ontoweir.errors import Source
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    DateType,
    FloatType,
    IntType,
    Relation,
    Stream,
    StringType,
)
from ontoweir.rewriter.algebra.print_spj import print_spj
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction, Aggregation
from ontoweir.rewriter.model.spj import (
    Attribute,
    BlankOutput,
    Compare,
    Constant,
    ConstantOutput,
    IriOutput,
    LiteralOutput,
    NotNull,
    Occurrence,
    Op,
    Output,
    Provenance,
    SpjQuery,
    SpjUnion,
    TemplateLiteralOutput,
)
from ontoweir.rewriter.sql.print_sql import print_sql
from ontoweir.rewriter.sql.shorten_aliases import shorten_aliases

FILES = DataSource("parquet", "x")
CATALOG = Catalog(
    {"s": Stream("s", FILES, "ts", 300_000_000, 1, (Column("x", IntType()),))},
    {
        "r": Relation(
            "r",
            FILES,
            (
                Column("x", IntType()),
                Column("two words", StringType()),
                Column("d", DateType()),
                Column("f", FloatType()),
            ),
        )
    },
)
X, TS, TS2 = Attribute("a", "x"), Attribute("a", "ts"), Attribute("b", "ts")
WORDS = Attribute("r", "two words")


def union(*disjuncts: SpjQuery, distinct: bool = False) -> SpjUnion:
    variables = tuple(n for n, _ in disjuncts[0].outputs) if disjuncts else ("v",)
    return SpjUnion("q", variables, disjuncts, distinct)


def stream_query(*conditions: Compare | NotNull, output: Output | None = None) -> SpjQuery:
    occurrences = (Occurrence("a", "s"), Occurrence("b", "s"))
    return SpjQuery(occurrences, conditions, (("v", output or LiteralOutput(X)),))


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Compare(TS, Op.LE, TS2, 6), "a.ts <= b.ts + INTERVAL '30' MINUTE"),
        (Compare(TS, Op.LE, TS2, 12), "a.ts <= b.ts + INTERVAL '1' HOUR"),
        (Compare(TS, Op.GT, TS2, -1), "a.ts > b.ts - INTERVAL '5' MINUTE"),
        (Compare(TS, Op.EQ, TS2), "a.ts = b.ts"),
        (Compare(TS, Op.GE, Constant(3)), "a.ts >= TIMESTAMP '1970-01-01 00:15:00'"),
        (Compare(X, Op.NE, Constant(-3)), "a.x <> -3"),
        (NotNull(X), "NOT a.x IS NULL"),
    ],
)
def test_conditions(condition: Compare | NotNull, text: str) -> None:
    printed = print_sql(union(stream_query(condition)), CATALOG)
    assert text in printed
    db = duckdb.connect()
    db.execute("create table s(ts timestamp, x int)")
    assert db.execute(printed).fetchall() == []


@pytest.mark.parametrize(
    ("output", "value"),
    [
        (IriOutput(("http://e/", Attribute("r", "x"), "/z")), "http://e/7/z"),
        (BlankOutput(("b", Attribute("r", "x"))), "_:b7"),
        (TemplateLiteralOutput((WORDS, "!")), "O'Neil!"),
        (LiteralOutput(WORDS), "O'Neil"),
        (ConstantOutput("it's", False), "it's"),
    ],
)
def test_outputs_run_in_duckdb(output: Output, value: str) -> None:
    conditions = (
        Compare(WORDS, Op.EQ, Constant("O'Neil")),
        Compare(Attribute("r", "d"), Op.LT, Constant("2014-02-01")),
        Compare(Attribute("r", "f"), Op.GE, Constant(0.5)),
    )
    query = SpjQuery((Occurrence("r", "r"),), conditions, (("v", output),))
    printed = print_sql(union(query, distinct=True), CATALOG, dialect="duckdb")
    db = duckdb.connect()
    db.execute('create table r(x int, "two words" text, d date, f double)')
    db.execute("insert into r values (7, 'O''Neil', date '2014-01-01', 0.5)")
    assert db.execute(printed).fetchall() == [(value,)]


def test_union_kinds_mixed_types_and_comments() -> None:
    why = Provenance("<#M>", Source("m.ttl", 4), ("SubClassOf(A B)",))
    number = SpjQuery(
        (Occurrence("a", "s"),), (NotNull(X),), (("v", LiteralOutput(X)),), (("a", why),)
    )
    text = SpjQuery((), (), (("v", ConstantOutput("k", False)),))
    printed = print_sql(union(number, text), CATALOG)
    assert "UNION ALL" in printed
    assert "CAST(x AS STRING)" in printed
    assert "-- a: mapping <#M> (m.ttl:4), by SubClassOf(A B)" in printed
    assert "--" not in print_sql(union(number, text), CATALOG, comments=False)
    both = print_sql(union(number, number, distinct=True), CATALOG)
    assert "UNION ALL" not in both
    assert both.count("SELECT DISTINCT") == 2
    assert "CAST" not in both


def test_no_disjunct_gives_no_rows() -> None:
    assert duckdb.connect().execute(print_sql(union(), CATALOG)).fetchall() == []


def test_algebra() -> None:
    query = stream_query(Compare(TS, Op.LE, TS2, 6), NotNull(X))
    assert print_spj(query) == ("π̇_{v: a.x}(σ_{a.ts <= b.ts + 6 ∧ a.x IS NOT NULL}(s a × s b))")
    assert print_spj(query, distinct=True).startswith("π_")


def aggregated(*aggregates: Aggregate, group: tuple[str, ...] = ("v",)) -> SpjUnion:
    names = (*group, *(a.name for a in aggregates))
    made = Aggregation(group, aggregates, names)
    outputs = {"v": LiteralOutput(Attribute("r", "x")), "w": LiteralOutput(Attribute("r", "f"))}
    query = SpjQuery(
        (Occurrence("r", "r"),),
        (NotNull(Attribute("r", "x")), NotNull(Attribute("r", "f"))),
        tuple((v, outputs[v]) for v in made.variables),
    )
    return SpjUnion("q", made.variables, (query,), not made.duplicate_sensitive, aggregation=made)


def test_aggregates_are_computed_of_the_matches_and_run_in_duckdb() -> None:
    union = aggregated(
        Aggregate("n", AggregateFunction.COUNT, None),
        Aggregate("d", AggregateFunction.COUNT_DISTINCT, "w"),
        Aggregate("m", AggregateFunction.MEDIAN, "w"),
        Aggregate("low", AggregateFunction.MIN, "w"),
        Aggregate("high", AggregateFunction.MAX, "w"),
    )
    text = print_sql(union, CATALOG)
    assert text == (
        "SELECT\n  x AS v,\n  COUNT(*) AS n,\n  COUNT(DISTINCT f) AS d,\n  MEDIAN(f) AS m,\n"
        "  MIN(f) AS low,\n  MAX(f) AS high\nFROM r\nWHERE\n"
        "  NOT x IS NULL AND NOT f IS NULL\nGROUP BY\n  x"
    )
    db = duckdb.connect()
    db.execute("create table r(x int, f double)")
    db.execute("insert into r values (1, 2), (1, 2), (1, 5), (2, 7), (2, null)")
    assert sorted(db.execute(print_sql(union, CATALOG, dialect="duckdb")).fetchall()) == [
        (1, 3, 2, 2.0, 2.0, 5.0),
        (2, 1, 1, 7.0, 7.0, 7.0),
    ]


def test_without_groups_and_where_duplicates_do_not_matter() -> None:
    union = aggregated(Aggregate("high", AggregateFunction.MAX, "w"), group=())
    text = print_sql(union, CATALOG)
    assert "GROUP BY" not in text
    assert "DISTINCT" not in text  # a maximum of the matches, however often each occurs


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        ("spark", "CONCAT('http://e/', x, '/z')"),
        ("duckdb", "CONCAT('http://e/', x, '/z')"),
        ("sqlite", "'http://e/' || CAST(x AS TEXT) || '/z'"),
        ("oracle", "'http://e/' || CAST(x AS VARCHAR2(4000)) || '/z'"),
        ("bigquery", "CONCAT('http://e/', CAST(x AS STRING), '/z')"),
    ],
)
def test_templates_are_concatenated_as_the_dialect_has_it(dialect: str, expected: str) -> None:
    output = IriOutput(("http://e/", Attribute("r", "x"), "/z"))
    query = SpjQuery((Occurrence("r", "r"),), (), (("v", output),))
    assert expected in print_sql(union(query), CATALOG, dialect=dialect)


def test_aliases_are_short_and_comments_say_whose_they_are() -> None:
    why = Provenance("<#M>", Source("m.ttl", 4))
    first, second, third = (Attribute(a, "x") for a in ("road_1", "road_2", "sensor"))
    query = SpjQuery(
        (Occurrence("road_1", "r"), Occurrence("road_2", "r"), Occurrence("sensor", "s")),
        (Compare(first, Op.EQ, second), Compare(second, Op.EQ, third)),
        (("x", LiteralOutput(first)), ("v", LiteralOutput(third))),
        (("road_1", why), ("road_2", why)),
    )
    assert print_sql(union(query), CATALOG) == (
        "-- r1 (road_1): mapping <#M> (m.ttl:4)\n-- r2 (road_2): mapping <#M> (m.ttl:4)\n"
        "SELECT\n  r1.x,\n  s.x AS v\nFROM r AS r1, r AS r2, s\nWHERE\n"
        "  r1.x = r2.x AND r2.x = s.x"
    )
    assert "FROM r AS road_1, r AS road_2, s AS sensor\n" in print_sql(
        union(query), CATALOG, comments=False, short=False
    )


@pytest.mark.parametrize(
    ("aliases", "expected"),
    [
        (("traffic",), ("",)),
        (("traffic", "sensor"), ("t", "s")),
        (("traffic_1", "traffic_2"), ("t1", "t2")),
        (("t", "traffic", "T2"), ("t", "t1", "T2")),
        (("t1", "traffic_1", "traffic_2"), ("t1", "t2", "t3")),
        (("äther", "2014", "a"), ("t1", "t2", "a")),
    ],
)
def test_short_aliases_differ(aliases: tuple[str, ...], expected: tuple[str, ...]) -> None:
    short = shorten_aliases([Occurrence(a, "r") for a in aliases])
    assert tuple(short[a] for a in aliases) == expected


def test_groups_of_a_term_are_those_of_its_value_but_not_of_two_zeros_or_of_constants() -> None:
    x, f = Attribute("r", "x"), Attribute("r", "f")
    made = Aggregation(("v",), (Aggregate("n", AggregateFunction.COUNT, None),), ("v", "n"))
    db = duckdb.connect()
    db.execute("create table r(x int, f double)")
    db.execute("insert into r values (1, 0.0), (1, '-0.0'::double), (11, 2)")
    outputs: tuple[tuple[Output, str, int], ...] = (
        (IriOutput(("u:", x)), "GROUP BY\n  x", 2),
        (IriOutput(("u:", f)), "GROUP BY\n  CONCAT('u:', f)", 3),
        (IriOutput((x, x)), "GROUP BY\n  CONCAT(x, x)", 2),
        (ConstantOutput("k", False), "GROUP BY v", 1),
    )
    for output, groups, count in outputs:
        query = SpjQuery((Occurrence("r", "r"),), (NotNull(x), NotNull(f)), (("v", output),))
        grouped = SpjUnion("q", ("v",), (query,), False, aggregation=made)
        text = print_sql(grouped, CATALOG, dialect="duckdb")
        assert groups in text
        assert len(db.execute(text).fetchall()) == count
