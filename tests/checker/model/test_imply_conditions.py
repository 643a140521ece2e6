"""Conditions that follow from what is computed in WHERE."""

import pytest
from sqlglot import parse_one

from ontoweir.checker.model.imply_conditions import imply_conditions
from ontoweir.mappings.sql.read_scope import Scope
from ontoweir.mappings.sql_expressions.read_row_expression import read_row_expression
from ontoweir.rewriter.algebra.print_spj import show_condition
from tests.oracle.test_sql_nulls import CATALOG


@pytest.mark.parametrize(
    ("sql", "implied"),
    [
        ("g = 'x'", ["s.g = 'x'"]),
        ("'x' = g AND 3 > a", ["s.g = 'x'", "s.a < 3"]),
        ("a BETWEEN 1 AND 4", ["s.a >= 1", "s.a <= 4"]),
        ("g IN ('x', 'y')", ["s.g IN ('x', 'y')"]),
        ("g = 'x' OR g = 'y' OR g = 'z'", ["s.g IN ('x', 'y', 'z')"]),
        ("(a = 1 OR a = 2) AND g <> 'x'", ["s.a IN (1, 2)"]),
        # nothing that holds for certain
        ("g = 'x' OR a = 1", []),
        ("g = 'x' OR a > 1", []),
        ("a = 1 OR a > 1", []),
        ("NOT (a = 1)", []),
        ("NOT (a = 1 OR a = 2)", []),
        ("a IS NULL", []),
        ("a = 1.5", []),
        ("a + 1 = 2", []),
        ("g > 'x'", []),
        ("a = h", []),
        ("CASE WHEN a = 1 THEN TRUE ELSE g = 'x' END", []),
    ],
)
def test_what_follows(sql: str, implied: list[str]) -> None:
    stream = CATALOG.streams["s"]
    read = read_row_expression(parse_one(sql, dialect="duckdb"), Scope(CATALOG, {"s": stream}))
    assert [show_condition(c) for c in imply_conditions(read, "s")] == implied
