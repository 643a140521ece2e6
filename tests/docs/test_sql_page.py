"""docs/sql.md: what its tables say is read is read, what they say is refused is refused so."""

import re

import pytest

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.paths import ROOT

READ, REFUSED = (ROOT / "docs" / "sql.md").read_text(encoding="utf-8").split("## What is refused")


def rows(text: str) -> list[tuple[str, str]]:
    return re.findall(r"^\| `(.*)` \| (.*) \|$", text, re.MULTILINE)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_project(ROOT / "examples" / "traffic", environ={}).catalog


def test_both_tables_have_rows() -> None:
    assert len(rows(READ)) > 15
    assert len(rows(REFUSED)) > 15


@pytest.mark.parametrize(("sql", "told"), rows(READ))
def test_read(sql: str, told: str, catalog: Catalog) -> None:
    union = parse_sql(sql, catalog, name="q", file="q.sql")
    assert bool(union.disjuncts) != ("never" in told)
    assert union.distinct == ("every row once" in told)


@pytest.mark.parametrize(("sql", "message"), rows(REFUSED))
def test_refused(sql: str, message: str, catalog: Catalog) -> None:
    with pytest.raises(QueryError) as caught:
        parse_sql(sql, catalog, name="q", file="q.sql")
    assert message in str(caught.value)
