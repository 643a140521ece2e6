"""What must have a value for an expression of a joined row to have one."""

import pytest
from sqlglot import parse_one

from ontoweir.rewriter.registers.require_values import require_values

SURE = {"a", "b"}


@pytest.mark.parametrize(
    ("text", "columns", "whole"),
    [
        ("a", {"a"}, False),
        ("a + b", {"a", "b"}, False),
        ("COALESCE(a, 7)", set(), True),
        ("COALESCE(a, 7) + b", {"b"}, True),
        ("a IS NULL", set(), False),
        ("CASE WHEN a > b THEN 1 ELSE b END", set(), True),
        ("UPPER(a)", set(), True),
        ("CASE WHEN a IS NULL THEN 1 END", set(), False),
        ("NULLIF(a, 1)", set(), False),
        ("COALESCE(n, a)", set(), False),
        ("n + a", {"a", "n"}, False),
    ],
)
def test_what_is_required(text: str, columns: set[str], whole: bool) -> None:
    tree = parse_one(text)
    strict, value = require_values(tree, SURE)
    assert strict == columns
    assert (value is not None) is whole
