"""Random expressions over random rows with NULLs: their values are DuckDB's, they lie in the
derived domain, and what is printed of them means the same."""

from decimal import Decimal
from random import Random
from typing import Any

import duckdb
from hypothesis import event, given

from ontoweir.errors import DataError
from ontoweir.mappings.expressions.derive_column import derive_column
from ontoweir.mappings.expressions.evaluate import evaluate
from ontoweir.mappings.expressions.may_be_null import may_be_null
from ontoweir.mappings.expressions.write_expression import write_expression
from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, Stream
from ontoweir.mappings.model.expression import fields_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.mappings.sql.read_select import parse_sql_text
from ontoweir.mappings.sql_expressions.read_row_expression import read_row_expression
from tests.oracle.budget import SEEDS, budget
from tests.oracle.database import insert_rows, open_database
from tests.oracle.random_expressions import COLUMNS, TYPES, as_arrays, make_expression, make_rows

STREAM = Stream("t", DataSource("parquet", "none"), "ts", 1, None, COLUMNS)
SCOPE = Scope(Catalog({"t": STREAM}, {}), {"t": STREAM})


def open_rows(rows: dict[str, list[Any]]) -> duckdb.DuckDBPyConnection:
    """A table `t` of the rows, in order of `place`; division by 0 is NULL, as in Spark."""
    base = open_database()
    base.execute("SET ieee_floating_point_ops = false")
    base.execute("SET error_on_division_by_zero = false")
    columns = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())
    base.execute(f"CREATE OR REPLACE TEMP TABLE t (place BIGINT, {columns})")
    cells = ", ".join(["?", *(f"?::{kind}" for kind in TYPES.values())])
    insert_rows(base, "t", cells, list(enumerate_rows(rows)))
    return base


def enumerate_rows(rows: dict[str, list[Any]]) -> list[tuple[Any, ...]]:
    return [(n, *row) for n, row in enumerate(zip(*(rows[c] for c in TYPES), strict=True))]


def ask(base: duckdb.DuckDBPyConnection, text: str) -> list[Any] | None:
    """What DuckDB says of each row; None: it has no answer."""
    try:
        return [v for (v,) in base.execute(f"SELECT {text} FROM t ORDER BY place").fetchall()]
    except duckdb.Error:
        return None


def lies_in(value: Any, column: Column) -> bool:
    if value is None:
        return True
    if hasattr(value, "isoformat"):
        value = value.isoformat()
    if column.enum is not None:
        return value in column.enum
    if column.minimum is not None and value < column.minimum:
        return False
    return column.maximum is None or value <= column.maximum


def equal(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, float) and isinstance(theirs, Decimal):
        return ours == float(theirs)
    return bool(ours == theirs)


def check(seed: int) -> str:
    random = Random(seed)
    rows = make_rows(random, random.randint(1, 24))
    ours, theirs = make_expression(random)
    base = open_rows(rows)
    expected = ask(base, theirs)
    try:
        tree = parse_sql_text(f"SELECT {ours} AS x FROM t").expressions[0].unalias()
        expression = read_row_expression(tree, SCOPE)
    except SqlRefusal:
        return "refused"
    try:
        made = evaluate(expression, as_arrays(rows), len(rows["i"])).to_pylist()
    except DataError:
        # DuckDB leaves out sums beyond 64 bits where a comparison, or AND, makes them needless
        edges = "n" in fields_of(expression)
        bad = edges or expected is None or any(v != v for v in expected if isinstance(v, float))
        assert bad, f"{ours} has no value here, and {expected} in DuckDB"
        return "no value"
    column = derive_column(expression, COLUMNS)
    assert all(lies_in(v, column) for v in made), (ours, column, made)
    full = {name for name, values in rows.items() if None not in values}
    assert None not in made or may_be_null(expression, full), ours
    if expected is None:
        return "only here"
    assert all(map(equal, made, expected)), f"{ours}\n{made}\n{expected}\n{rows}"
    printed = ask(base, write_expression(expression, "t"))
    assert printed is not None, write_expression(expression, "t")
    assert all(map(equal, made, printed)), f"{write_expression(expression)}\n{made}\n{printed}"
    return "equal"


@budget(6.25)
@given(seed=SEEDS)
def test_expressions_equal_duckdb(seed: int) -> None:
    event(check(seed))
