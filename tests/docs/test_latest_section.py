"""docs/semantics.md, The latest of each, and the first n of each: the phrasings of their tables."""

import re
from dataclasses import replace

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.aggregation import Standing
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import Emit, choose_emit
from tests.paths import ROOT


def read_section(title: str) -> str:
    text = (ROOT / "docs" / "semantics.md").read_text(encoding="utf-8")
    return text.split(f"## {title}\n")[1].split("\n## ")[0]


def list_queries(section: str) -> list[str]:
    rows = re.findall(r"^\| `((?:SELECT|WITH) .*)` \| .* \|$", section, re.MULTILINE)
    return [*rows, *re.findall(r"```sql\n(.*?)```", section, re.DOTALL)]


LATEST, BESIDE = map(list_queries, read_section("The latest of each").split("\n### "))
FIRST = list_queries(read_section("The first n of each, by value"))


def test_the_table_has_rows() -> None:
    assert (len(LATEST), len(BESIDE), len(FIRST)) == (14 + 1, 12, 13 + 2 + 11)


def make_catalog() -> Catalog:
    catalog = load_project(ROOT / "examples" / "traffic", environ={}).catalog
    keyed = replace(catalog.streams["traffic"], keys=(("report_id", "ts"),))
    return replace(catalog, streams={**catalog.streams, "traffic": keyed})


@pytest.mark.parametrize("sql", LATEST)
def test_the_latest_by_sensor(sql: str) -> None:
    catalog = make_catalog()
    union = parse_sql(sql, catalog, name="q", file="q.sql")
    assert union.standing == Standing(("report_id",))
    assert choose_emit(union) is Emit.CHANGES
    verdict = check_query(union, catalog)
    assert verdict.name == "conditionally-bounded"
    assert [c.text for c in verdict.conditions] == ["traffic.report_id references sensor.REPORT_ID"]


@pytest.mark.parametrize("sql", BESIDE)
def test_the_latest_beside_each_sensor(sql: str) -> None:
    catalog = make_catalog()
    union = parse_sql(sql, catalog, name="q", file="q.sql")
    assert union.standing is not None
    assert union.standing.first is not None
    assert choose_emit(union) is Emit.CHANGES
    verdict = check_query(union, catalog)
    assert verdict.name == "conditionally-bounded"
    texts = {c.text for c in verdict.conditions}
    declared = {"traffic.report_id references sensor.REPORT_ID", "sensor has at most 449 rows"}
    assert texts <= declared
    assert verdict.bound is not None
    assert verdict.bound.rows is not None
    assert verdict.bound.rows <= 2 * 449 + 5


@pytest.mark.parametrize("sql", FIRST)
def test_the_first_by_sensor(sql: str) -> None:
    catalog = make_catalog()
    union = parse_sql(sql, catalog, name="q", file="q.sql")
    if union.joined is not None:
        of = (union.joined, *(part.query.joined for part in union.joined.parts))
        assert any(one is not None and one.numbered is not None for one in of)
    elif union.aggregation is not None:
        assert union.aggregation.numbered is not None
    else:
        assert union.standing is not None
        assert union.standing.first is not None
    assert choose_emit(union) is Emit.CHANGES
    assert "bounded" in check_query(union, catalog).name


def test_what_is_joined() -> None:
    catalog = make_catalog()
    (sql,) = list_queries(read_section("Rows that come and go, joined"))
    union = parse_sql(sql, catalog, name="q", file="q.sql")
    assert union.joined is not None
    assert [part.kind.value for part in union.joined.parts] == ["inner", "inner", "left"]
    assert check_query(union, catalog).name == "conditionally-bounded"
