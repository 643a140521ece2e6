"""Expressions over whole columns: what they give at the edges of types, and what stops a run."""

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from ontoweir.errors import DataError, Source
from ontoweir.mappings.expressions.derive_column import add_derived, derive_column
from ontoweir.mappings.expressions.evaluate import evaluate
from ontoweir.mappings.expressions.value_types import value_type
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    DecimalType,
    FloatType,
    IntType,
    Stream,
    StringType,
)
from ontoweir.mappings.sql.read_scope import Scope
from ontoweir.mappings.sql.read_select import parse_sql_text
from ontoweir.mappings.sql_expressions.read_row_expression import read_row_expression

COLUMNS = (
    Column("x", IntType(), minimum=0, maximum=9),
    Column("y", IntType()),
    Column("d", DecimalType(38, 2)),
    Column("f", FloatType()),
    Column("s", StringType()),
)
STREAM = Stream("t", DataSource("parquet", "none"), "ts", 1, None, COLUMNS)


def compute(text: str, **columns: list[Any]) -> list[Any]:
    scope = Scope(Catalog({"t": STREAM}, {}), {"t": STREAM})
    tree = parse_sql_text(f"SELECT {text} AS v FROM t").expressions[0].unalias()
    types = {c.name: value_type(c.type) for c in COLUMNS}
    arrays = {name: pa.array(values, types[name]) for name, values in columns.items()}
    rows = len(next(iter(columns.values())))
    made = evaluate(read_row_expression(tree, scope), arrays, rows, Source("q.sql", 3))
    values: list[Any] = made.to_pylist()
    return values


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("y + 1", {"y": [1, 2**63 - 1]}),
        ("y * 2", {"y": [2**62]}),
        ("-y", {"y": [-(2**63)]}),
        ("d * 10", {"d": [Decimal(10) ** 35]}),
        ("f - f", {"f": [float("inf")]}),
        ("SQRT(f)", {"f": [4.0, -1.0]}),
    ],
)
def test_what_is_beyond_its_type_stops_the_run(text: str, columns: dict[str, list[Any]]) -> None:
    with pytest.raises(DataError) as caught:
        compute(text, **columns)
    assert str(caught.value).startswith("q.sql:3: ")
    assert "min and max" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "columns", "values"),
    [
        ("CASE WHEN y < 5 THEN y * 4611686018427387904 ELSE 0 END", {"y": [1, 9, None]}, None),
        ("COALESCE(x, y * y)", {"x": [1, None], "y": [2**62, 3]}, [1, 9]),
        ("y / 0", {"y": [1]}, [None]),
        ("MOD(y, x)", {"y": [-7, 7, 7], "x": [3, 0, None]}, [-1, None, None]),
        ("f * 0", {"f": [-1.5]}, [0.0]),
        ("CAST(s AS INT)", {"s": ["2147483648", " 7 ", "1.5", "x", None]}, [None, 7, *[None] * 3]),
        (
            "CAST(s AS BIGINT)",
            {"s": ["00000000000000000000009", "9223372036854775808", "-0"]},
            [9, None, 0],
        ),
        (
            "CAST(s AS DATE)",
            {"s": ["2020-02-29", "2019-02-29", "1900-02-29", "0000-01-01"]},
            None,
        ),
        ("LOCATE('ß', s)", {"s": ["aßb", "b", None]}, [2, 0, None]),
        ("s LIKE '%a%' OR x > 3", {"s": [None, None], "x": [5, 1]}, [True, None]),
        ("d + x", {"d": [Decimal("1.25")], "x": [3]}, [Decimal("4.25")]),
    ],
)
def test_values(text: str, columns: dict[str, list[Any]], values: list[Any] | None) -> None:
    made = compute(text, **columns)
    if values is None:
        assert [v is None for v in made] in ([False, False, False], [False, True, True, True])
    else:
        assert made == values


def test_minus_zero_is_zero() -> None:
    (made,) = compute("f * 0", f=[-1.5])
    assert str(made) == "0.0"


def test_a_long_list_is_no_deep_expression() -> None:
    members = ", ".join(f"'{n}'" for n in range(5000))
    assert compute(f"UPPER(s) IN ({members})", s=["4999", "x"]) == [True, False]


def test_the_same_expression_is_the_same_column() -> None:
    scope = Scope(Catalog({"t": STREAM}, {}), {"t": STREAM})
    trees = parse_sql_text("SELECT (x+1) * 2 AS a, ((x + 1)*2) AS b FROM t").expressions
    one, other = (read_row_expression(t.unalias(), scope) for t in trees)
    assert derive_column(one, COLUMNS) == derive_column(other, COLUMNS)
    catalog = add_derived(Catalog({"t": STREAM}, {}), [("t", one), ("t", other)])
    assert len(catalog.streams["t"].columns) == len(COLUMNS) + 1
    made = catalog.streams["t"].columns[-1]
    assert made.enum is None or set(made.enum) == {2 * n for n in range(1, 11)}
