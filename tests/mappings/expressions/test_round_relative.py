"""ROUND_RELATIVE: by less than 1 %, in order, and as the printed SQL computes it."""

import math
from itertools import pairwise

import duckdb
import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from ontoweir.mappings.expressions.compute_numbers import compute_number
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    FloatType,
    IntType,
    Stream,
)
from ontoweir.mappings.model.expression import Call, Field, Function
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.sql.print_sql import print_sql

STREAM = Stream(
    "s",
    DataSource("parquet", "none"),
    "ts",
    1,
    None,
    (Column("n", IntType()), Column("x", FloatType())),
)
CATALOG = Catalog({"s": STREAM}, {})
CALL = Call(Function.ROUND_RELATIVE, (Field("x", FloatType()),), FloatType())


def rounded(values: list[float | None]) -> list[float | None]:
    made = compute_number(CALL, [pa.array(values, pa.float64())]).to_pylist()
    return [None if v is None else float(v) for v in made]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_it_is_near_and_keeps_the_order(values: list[float]) -> None:
    found = rounded([*sorted(values)])
    for value, near in zip(sorted(values), found, strict=True):
        assert near is not None
        assert math.copysign(1, near) == math.copysign(1, value)
        if abs(value) >= 2.0**-1000:  # those with fewer digits round less
            assert abs(near - value) <= abs(value) / 100
    assert all(a <= b for a, b in pairwise(v for v in found if v is not None))
    assert rounded(found) == found


def test_what_stays() -> None:
    assert rounded([0.0, None, math.inf, -math.inf]) == [0.0, None, math.inf, -math.inf]
    (nan,) = rounded([math.nan])
    assert nan is not None
    assert math.isnan(nan)


@given(st.lists(st.floats(1e-9, 1e9) | st.floats(-1e9, -1e-9) | st.just(0.0), min_size=1))
@example([math.nextafter(1.0, 0), 1.0, math.nextafter(8.0, 0), math.nextafter(-1024.0, 0), 2.0**20])
def test_printed_sql_computes_the_same(values: list[float]) -> None:
    union = parse_sql("SELECT n, ROUND_RELATIVE(x) AS y FROM s", CATALOG, name="q", file="q.sql")
    printed = print_sql(union, CATALOG, dialect="duckdb", comments=False)
    rows = ", ".join(f"({n}, {value!r}::DOUBLE)" for n, value in enumerate(values))
    asked = f"WITH s(n, x) AS (VALUES {rows}) SELECT y FROM ({printed}) ORDER BY n"
    assert [v for (v,) in duckdb.connect().execute(asked).fetchall()] == rounded([*values])
