"""Hints name declared columns, behind the streams that a query makes."""

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.trace_column import trace_column
from ontoweir.checker.verdict.verdict import Failing
from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, IntType, Stream, StringType
from ontoweir.rewriter.sql.parse_sql import parse_sql

COLUMNS = (Column("k", StringType()), Column("v", IntType()))
CATALOG = Catalog({"s": Stream("s", DataSource("parquet", "none"), "ts", 1_000_000, 5, COLUMNS)})
DAYS = "(SELECT k AS c, date_trunc('day', ts) AS d, COUNT(*) AS n FROM s GROUP BY 1, 2) AS x"


@pytest.mark.parametrize(
    ("text", "column"),
    [
        (f"SELECT c, LAG(n) OVER (PARTITION BY c ORDER BY d) AS p FROM {DAYS}", "s.k"),
        ("SELECT LEFT(k, 3) AS z, AVG(v) AS m FROM s GROUP BY 1 HAVING AVG(v) > 2", "s.k"),
    ],
)
def test_a_hint_names_what_is_declared(text: str, column: str) -> None:
    union = parse_sql(text, CATALOG, name="q", file="q.sql")
    failing = [d for d in check_query(union, CATALOG).disjuncts if isinstance(d, Failing)]
    hints = [reason.hint or "" for d in failing for reason in d.because]
    assert any(f"for {column}, or" in hint for hint in hints), hints


def test_what_is_not_traced_stays() -> None:
    union = parse_sql("SELECT k FROM s", CATALOG, name="q", file="q.sql")
    assert trace_column(union, "s.k") == ("s.k",)
    assert trace_column(union, "nothing.k") == ("nothing.k",)
