"""What is shown of rows that hold: not what only ends others, nor the columns that say which."""

from pathlib import Path

import pytest

from ontoweir.api.answers import Answers
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.rdf.find_terms import find_terms
from tests.oracle.test_sql_nulls import CATALOG

INTEGER = "a literal of xsd:integer"
FIRST = "RANK() OVER (PARTITION BY g ORDER BY b) AS n FROM s QUALIFY n <= 2"
LATER = "WHERE NOT EXISTS (SELECT 1 FROM t AS y WHERE y.h = x.h AND y.ts > x.ts)"


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (f"SELECT x.h FROM s AS x {LATER}", {"h": INTEGER}),
        (f"SELECT DISTINCT x.a FROM s AS x {LATER}", {"a": INTEGER}),
        (f"SELECT x.g, COUNT(*) AS n FROM s AS x {LATER} GROUP BY x.g", {"n": INTEGER}),
        (f"SELECT a, {FIRST}", {"a": INTEGER, "n": INTEGER}),
        (f"SELECT COUNT(*) AS n, SUM(x.a) AS m FROM s AS x {LATER}", {"n": INTEGER, "m": None}),
    ],
)
def test_the_terms_are_those_of_answers(
    text: str, kinds: dict[str, str | None], tmp_path: Path
) -> None:
    union = parse_sql(text, CATALOG, name="q", file="q.sql")
    terms = find_terms(union, extend_catalog(CATALOG, union)).columns
    for name, kind in kinds.items():
        assert set(map(str, terms.get(name, ()))) == ({kind} if kind else set())
    answers = Answers(union, tmp_path, {})
    shown = [*({"g"} if "GROUP" in text else ()), *kinds]
    assert list(answers.terms) == shown
    assert repr(answers) == f"Answers('q', columns {', '.join(shown)})"
