"""Variances, standard deviations and covariances, replayed and live: of exact sums, as DuckDB
divides them."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import event, given

from ontoweir.errors import QueryError
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.exact_variances import draw_of_doubles
from tests.oracle.test_sql_nulls import CATALOG, compare, make_data, make_query


def draw_variance(random: Random, column: str) -> tuple[str, str]:
    """As we read it, and as DuckDB computes it of exact sums."""
    n, total = f"COUNT({column})::DECIMAL(38,0)", f"SUM({column})::DECIMAL(38,4)"
    squares = f"SUM({column} * {column})::DECIMAL(38,4)"
    pairs = random.choice(("pop", "samp", ""))
    rest = n if pairs == "pop" else f"({n} - 1)"
    whole = f"(({n} * {squares})::DOUBLE - ({total} * {total})::DOUBLE)"
    below = f"NULLIF({n} * {rest}, 0)::DOUBLE"
    root = random.random() < 0.5
    ours = "STDDEV" if root else ("VAR" if pairs else "VARIANCE")
    ours = f"{ours}_{pairs.upper()}" if pairs else ours
    return f"{ours}({column})", f"sqrt({whole} / {below})" if root else f"{whole} / {below}"


def check(seed: int) -> str:
    random = Random(seed)
    query = make_query(random)
    tables = [t for t in ("s", "t") if f"{t}" in query.rest.partition(" WHERE")[0].split(", ")]
    columns = [f"{t}.{c}" for t in tables for c in "abh"]
    more = [
        (f"v{n}", *draw_variance(random, random.choice(columns)))
        for n in range(random.randint(1, 2))
    ]
    if "s" in tables and random.random() < 0.7:
        pair = ["s.f", random.choice(["s.f", "s.f", *(c for c in columns if c[-1] in "ah")])]
        random.shuffle(pair)
        more.append(("x9", *draw_of_doubles(random, *pair)))
    shown = tuple(c for c in query.columns if c[0].startswith("g"))
    return str(
        compare(random, replace(query, columns=(*shown, *more)), CATALOG, make_data(random)).tier
    )


@budget(0.12)
@given(seed=SEEDS)
def test_variances_equal_duckdb(seed: int) -> None:
    event(check(seed))


@pytest.mark.parametrize(
    ("call", "message"),
    [("VAR_POP(s.g)", "VAR_POP(s.g) of string"), ("CORR(s.f, s.d)", "CORR(s.f, s.d) of date")],
)
def test_those_of_other_types_are_refused(call: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_sql(f"SELECT {call} AS v FROM s", CATALOG, name="q", file="q.sql")
    assert message in str(caught.value)


def test_a_column_without_a_name_is_called_as_it_is_written() -> None:
    union = parse_sql(
        "SELECT s.h, STDDEV_POP(s.a) FROM s GROUP BY s.h", CATALOG, name="q", file="q"
    )
    assert union.aggregation is not None
    assert union.aggregation.columns == ("h", "STDDEV_POP(s.a)")
