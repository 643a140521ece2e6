"""The first groups: phrasings that are one plan, and what is refused by name."""

from pathlib import Path

import pytest

import ontoweir as ow
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.aggregation import NumberedGroups, Numbering
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.paths import ROOT

LAST = "ts > NOW() - INTERVAL '1' HOUR"
COUNTS = f"SELECT report_id, COUNT(*) AS n FROM traffic WHERE {LAST} GROUP BY report_id"
BY = "ORDER BY n DESC, report_id"
NUMBERED = f"SELECT *, ROW_NUMBER() OVER ({BY}) AS m FROM ({COUNTS}) AS x"
SAME = [
    f"{COUNTS} {BY} LIMIT 3",
    f"{COUNTS} ORDER BY COUNT(*) DESC, report_id FETCH FIRST 3 ROWS ONLY",
    f"{COUNTS} QUALIFY ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC, report_id) <= 3",
    f"SELECT * FROM ({COUNTS}) AS x QUALIFY ROW_NUMBER() OVER ({BY}) < 4",
    f"SELECT report_id, n FROM ({NUMBERED}) AS y WHERE m <= 3",
    f"WITH c AS ({COUNTS}) SELECT report_id, n FROM c {BY} LIMIT 3",
    f"{COUNTS} ORDER BY n DESC LIMIT 3",
    f"{COUNTS} QUALIFY ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC) <= 3",
]
REFUSED = [
    (f"{COUNTS} QUALIFY RANK() OVER (ORDER BY n) > 2", "a number without a last one"),
    (f"{COUNTS} QUALIFY RANK() OVER (ORDER BY n) <= 2 AND NTILE(2) OVER (ORDER BY n) = 1", "NTILE"),
    (f"{COUNTS} QUALIFY SUM(n) OVER (ORDER BY n) <= 2", "of groups that change"),
]


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_project(ROOT / "examples" / "traffic", environ={}).catalog


def _read(sql: str, catalog: Catalog) -> SpjUnion:
    return parse_sql(sql, catalog, name="q", file="q.sql")


def _numbered(union: SpjUnion) -> NumberedGroups:
    assert union.aggregation is not None
    assert union.aggregation.numbered is not None
    return union.aggregation.numbered


@pytest.mark.parametrize("sql", SAME)
def test_one_plan(sql: str, catalog: Catalog) -> None:
    numbered = _numbered(_read(sql, catalog))
    assert numbered.first.numbering is Numbering.ROWS
    assert (numbered.first.least, numbered.first.limit) == (1, 3)
    assert numbered.columns == ("report_id", "n")
    assert [down for _, down, _ in numbered.first.order] == [True, False]


@pytest.mark.parametrize(("sql", "what"), REFUSED)
def test_refused(sql: str, what: str, catalog: Catalog) -> None:
    with pytest.raises(QueryError) as caught:
        _read(sql, catalog)
    assert what in str(caught.value)


def test_twin_of_a_bucket_is_final(catalog: Catalog) -> None:
    text = (
        "SELECT report_id, date_trunc('hour', ts) AS h, COUNT(*) AS n FROM traffic GROUP BY 1, 2 "
        "QUALIFY RANK() OVER (PARTITION BY date_trunc('hour', ts) ORDER BY COUNT(*) DESC) <= 3"
    )
    made = _read(text, catalog).aggregation
    assert made is None or made.numbered is None


def test_answers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ow.OntoweirError, match="is among the first until others come"):
        ow.open(ROOT / "examples" / "traffic").replay(SAME[0], emit="answers")
