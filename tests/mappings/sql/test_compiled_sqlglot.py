"""A sqlglot that is compiled (`sqlglot[c]`) may be installed beside ours: its parsers and
generators cannot be inherited from, and nothing here does."""

from typing import Any

import pytest
from sqlglot import exp
from sqlglot.generators.spark import SparkGenerator
from sqlglot.parsers.spark import SparkParser

from ontoweir.mappings.sql.parse_statements import parse_statements
from ontoweir.mappings.sql.show_sql import show_sql

TEXT = """SELECT date_trunc('hour', ts), FIRST(a, ts), LAST(a, TRUE), FIRST(a ORDER BY ts, b),
COUNT(*) OVER (PARTITION BY `k l` ORDER BY ts ROWS 3 PRECEDING EXCLUDE GROUP) AS `n`,
ts AT TIME ZONE 'Europe/Paris' FROM TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' HOUR)"""
FRAME = "ROWS BETWEEN 3 PRECEDING AND CURRENT ROW"


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """What Python says where a compiled class is inherited from."""

    def refuse(cls: type, /, **_: Any) -> None:
        raise TypeError("interpreted classes cannot inherit from compiled")

    for kind in (SparkParser, SparkGenerator):
        monkeypatch.setattr(kind, "__init_subclass__", classmethod(refuse))


@pytest.mark.usefixtures("compiled")
def test_texts_are_read_and_shown() -> None:
    (tree,) = parse_statements(TEXT)
    assert isinstance(tree, exp.Select)
    before = tree.sql()
    assert [show_sql(e) for e in tree.selects] == [
        "DATE_TRUNC('hour', ts)",
        "FIRST(a ORDER BY ts)",
        "LAST(a) IGNORE NULLS",
        "FIRST(a ORDER BY ts, b)",
        f"COUNT(*) OVER (PARTITION BY `k l` ORDER BY ts {FRAME} EXCLUDE GROUP) AS n",
        "ts AT TIME ZONE 'Europe/Paris'",
    ]
    assert tree.sql() == before


def test_every_argument_of_date_trunc_is_kept() -> None:
    (tree,) = parse_statements("SELECT date_trunc('day', ts, 'Europe/Paris') FROM s")
    assert tree is not None
    assert tree.sql() == "SELECT DATE_TRUNC('day', ts, 'Europe/Paris') FROM s"


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(
    "text",
    [
        "CAST(ts AS TIME)",
        "TRY_CAST(ts AS TIME)",
        "CAST(a AS STRUCT<x: TIME>)",
        "CAST(ts AS ARRAY<TIME>)",
        "CAST(ts AS TIME) > 5",
    ],
)
def test_times_of_the_day_are_shown_as_such(text: str) -> None:
    (tree,) = parse_statements(f"SELECT {text} FROM s")
    assert isinstance(tree, exp.Select)
    assert show_sql(tree.selects[0]).replace("TRY_", "") == text.replace("TRY_", "")
