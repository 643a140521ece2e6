"""How quantiles are written, in SQL and SPARQL, and what of them is refused."""

from fractions import Fraction

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    DateType,
    FloatType,
    IntType,
    Stream,
    StringType,
)
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction
from ontoweir.rewriter.model.spj import Attribute, SpjQuery, output_attributes
from ontoweir.rewriter.sparql.parse_query import parse_query
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.sql.print_sql import print_sql

COLUMNS = (Column("x", IntType()), Column("d", DateType()), Column("g", StringType()))
CATALOG = Catalog({"s": Stream("s", DataSource("csv", "s"), "ts", 1, 5, COLUMNS)}, {})
FLOATS = Catalog(
    {
        "s": Stream(
            "s",
            DataSource("csv", "s"),
            "ts",
            1,
            5,
            (
                Column("f", FloatType()),
                Column("x", IntType()),
                Column("g", StringType(), enum=("a",)),
            ),
        )
    },
    {},
)
HEAD = "PREFIX ow: <urn:ontoweir:> PREFIX : <http://x/>\n"


def read(call: str) -> Aggregate:
    """What a call is, of all rows; by a key it is the same."""
    texts = (f"SELECT {call} AS q FROM s", f"SELECT g, {call} AS q FROM s GROUP BY g")
    found: list[Aggregate] = []
    for text in texts:
        union = parse_sql(text, CATALOG, name="q", file="q.sql")
        assert union.aggregation is not None
        found += union.aggregation.aggregates
    of_all, by_key = found
    assert (of_all.function, of_all.fraction) == (by_key.function, by_key.fraction)
    return of_all


@pytest.mark.parametrize(
    "call",
    [
        "QUANTILE(x, 0.95)",
        "quantile_disc(x, 0.95)",
        "PERCENTILE_DISC(0.95) WITHIN GROUP (ORDER BY x)",
        "PERCENTILE_DISC(0.95) WITHIN GROUP (ORDER BY x ASC)",
    ],
)
def test_phrasings(call: str) -> None:
    made = read(call)
    assert (made.function, made.fraction) == (AggregateFunction.QUANTILE, Fraction(19, 20))
    assert str(made) == "QUANTILE(?of_1, 0.95)"


@pytest.mark.parametrize(
    "call",
    [
        "QUANTILE_CONT(x, 0.95)",
        "percentile(x, 0.95)",
        "PERCENTILE_CONT(x, 0.95)",
        "PERCENTILE_CONT(0.95) WITHIN GROUP (ORDER BY x)",
        "percentile_cont(0.95) WITHIN GROUP (ORDER BY x ASC)",
    ],
)
def test_phrasings_of_what_lies_between(call: str) -> None:
    made = read(call)
    assert (made.function, made.fraction) == (AggregateFunction.PERCENTILE, Fraction(19, 20))
    union = parse_sql(f"SELECT {call} AS q FROM s", CATALOG, name="q", file="q.sql")
    assert "PERCENTILE_CONT(0.95) WITHIN GROUP (ORDER BY" in print_sql(union, CATALOG)


@pytest.mark.parametrize(
    "call",
    [
        "APPROX_QUANTILE(x, 0.5)",
        "approx_percentile(x, 0.5)",
        "PERCENTILE_APPROX(x, 0.5)",
        "APPROX_MEDIAN(x)",
        "QUANTILE(ROUND_RELATIVE(x), 0.5)",
    ],
)
def test_an_approximate_one_is_of_rounded_values(call: str) -> None:
    union = parse_sql(f"SELECT {call} AS q FROM s", CATALOG, name="q", file="q.sql")
    assert union.aggregation is not None
    (made,) = union.aggregation.aggregates
    assert (made.function, made.fraction) == (AggregateFunction.QUANTILE, Fraction(1, 2))
    (of,) = {attribute.column for q in union.disjuncts for attribute in read_columns(q)}
    assert of == "ROUND_RELATIVE(CAST(x AS DOUBLE))"


@pytest.mark.parametrize("value", ["f", "x", "f * 1.8e0"])
def test_an_approximate_one_is_bounded_whatever_the_values(value: str) -> None:
    text = f"SELECT g, APPROX_QUANTILE({value}, 0.5) AS q FROM s GROUP BY g"
    verdict = check_query(parse_sql(text, FLOATS, name="q", file="q.sql"), FLOATS)
    assert verdict.bound is not None
    assert "= 268,548" in verdict.bound.formula


@pytest.mark.parametrize(
    "text",
    [
        "SELECT DISTINCT x.g FROM s x, s y WHERE x.f = ROUND_RELATIVE(y.f) AND x.ts < y.ts",
        "SELECT ROUND_RELATIVE(f) + 1 AS q, COUNT(*) AS n FROM s GROUP BY q",
        "SELECT g, QUANTILE(f, 0.5) AS q FROM s GROUP BY g",
    ],
)
def test_other_doubles_are_not(text: str) -> None:
    """A run could not see which doubles are rounded ones."""
    verdict = check_query(parse_sql(text, FLOATS, name="q", file="q.sql"), FLOATS)
    assert verdict.plans is None


def read_columns(query: SpjQuery) -> tuple[Attribute, ...]:
    return tuple(a for _, output in query.outputs for a in output_attributes(output))


def test_quantiles_of_one_column_are_told_apart() -> None:
    sql = "SELECT QUANTILE(x, 0.1) AS a FROM s HAVING QUANTILE(x, 0.2) > 1 AND QUANTILE(x, 0.1) > 0"
    with pytest.raises(QueryError, match="may hold of a group, and later not"):
        parse_sql(sql, CATALOG, name="q", file="q.sql")
    sql = "SELECT QUANTILE(x, 0.1) AS a, QUANTILE(x, 0.2) - QUANTILE(x, 0.1) AS b FROM s"
    union = parse_sql(sql, CATALOG, name="q", file="q.sql")
    assert union.aggregation is not None
    assert [a.fraction for a in union.aggregation.aggregates] == [Fraction(1, 10), Fraction(1, 5)]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("QUANTILE(x, 1.5)", "write a number from 0 to 1"),
        ("QUANTILE(x, -0.5)", "write a number from 0 to 1"),
        ("QUANTILE(x, 'a')", "write a number from 0 to 1"),
        ("QUANTILE(g, 0.5)", "takes numbers, dates and times"),
        ("quantile_disc(x)", "QUANTILE(x, 0.9) of a column"),
        ("PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY x DESC)", "QUANTILE(x, 0.9) of a column"),
        ("PERCENTILE(x, 2)", "write a number from 0 to 1"),
        ("PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x DESC)", "QUANTILE(x, 0.9) of a column"),
        ("PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY d)", "PERCENTILE"),
        ("PERCENTILE_APPROX(x, 0.5, 100)", "QUANTILE(x, 0.9) of a column"),
        ("approx_quantile(g, 0.5)", "mixes types"),
        ("approx_quantile(x, 2)", "write a number from 0 to 1"),
    ],
)
def test_what_is_refused(call: str, says: str) -> None:
    with pytest.raises(QueryError) as caught:
        read(call)
    assert says in str(caught.value)
    assert caught.value.source is not None


@pytest.mark.parametrize(
    ("dialect", "call"),
    [
        ("duckdb", "QUANTILE_DISC(d, 0.25)"),
        ("spark", "PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY d NULLS LAST)"),
    ],
)
def test_it_is_printed_as_what_lies_in_the_data(dialect: str, call: str) -> None:
    sql = "SELECT QUANTILE(d, 0.25) AS q FROM s"
    union = parse_sql(sql, CATALOG, name="q", file="q.sql")
    printed = print_sql(union, CATALOG, dialect=dialect, comments=False)
    assert f"SELECT {call} AS q" in " ".join(printed.split())


def test_sparql() -> None:
    text = f"{HEAD}SELECT ?k (ow:quantile(?v, 0.9) AS ?q) (ow:quantile(?v + 1, 1) AS ?r) "
    text += "(ow:approxQuantile(?v, 0.5) AS ?s) (ow:percentile(?v, 0.9) AS ?p) {"
    text += "\nGRAPH ?t { ?x :v ?v ; :k ?k } } GROUP BY ?k HAVING(ow:quantile(?v, 0.9) > 3)"
    query = parse_query(text, name="q", file="q.rq")[0]
    assert query.aggregation is not None
    made = query.aggregation.aggregates
    assert [(a.name, a.function.value, a.fraction) for a in made] == [
        ("q", "QUANTILE", Fraction(9, 10)),
        ("r", "QUANTILE", Fraction(1)),
        ("s", "QUANTILE", Fraction(1, 2)),
        ("p", "PERCENTILE", Fraction(9, 10)),
    ]
    assert query.computation is not None
    assert "urn:ontoweir:roundRelative" in str(query.computation)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("ow:quantile(?v, 9)", "ow:quantile without a fraction, as ?q"),
        ("ow:quantile(?v)", "ow:quantile without a fraction"),
        ("ow:quantile(?v, ?w)", "ow:quantile without a fraction"),
        ("ow:quantile(DISTINCT ?v, 0.5)", "QUANTILE of DISTINCT values"),
        ("ow:percentile(DISTINCT ?v, 0.5)", "PERCENTILE of DISTINCT values"),
    ],
)
def test_sparql_that_is_refused(call: str, says: str) -> None:
    text = f"{HEAD}SELECT ({call} AS ?q) {{\nGRAPH ?t {{ ?x :v ?v ; :w ?w }} }}"
    with pytest.raises(QueryError) as caught:
        parse_query(text, name="q", file="q.rq")
    assert says in str(caught.value)
