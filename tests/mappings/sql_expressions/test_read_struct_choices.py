"""The greatest of structs, of which one field is asked."""

import pytest

from ontoweir.mappings.sql.read_select import parse_sql_text
from ontoweir.mappings.sql_expressions.read_struct_choices import read_struct_choices


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("MAX(STRUCT(ts, x)).x AS v", "LAST(x ORDER BY ts) AS v"),
        ("MAX(STRUCT(ts, x)).X", "LAST(x ORDER BY ts) AS `X`"),
        ("MIN(NAMED_STRUCT('t', ts, 'v', x)).v AS v", "FIRST(x ORDER BY ts) AS v"),
        ("MAX(STRUCT(ts AS t, x AS a, y AS b)).b AS v", "LAST(y ORDER BY ts) AS v"),
        ("MAX(STRUCT(ts, x)).ts AS t", "MAX(ts) AS t"),
        ("MAX(STRUCT(ts, x)).x + 1 AS v", "LAST(x ORDER BY ts) + 1 AS v"),
    ],
)
def test_a_field_is_the_last_value(text: str, meant: str) -> None:
    tree, other = (parse_sql_text(f"SELECT {t} FROM s GROUP BY k") for t in (text, meant))
    read_struct_choices(tree)
    assert tree.sql("spark") == other.sql("spark")


@pytest.mark.parametrize(
    "text", ["MAX(STRUCT(ts, x)).z AS v", "MAX(STRUCT(ts, x + 1)).x AS v", "MAX(s.a).x AS v"]
)
def test_others_stay(text: str) -> None:
    tree = parse_sql_text(f"SELECT {text} FROM s GROUP BY k")
    before = tree.sql("spark")
    read_struct_choices(tree)
    assert tree.sql("spark") == before
