"""docs/semantics.md, The latest of each: the phrasings of its table are one plan."""

import re
from dataclasses import replace

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.aggregation import Standing
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import Emit, choose_emit
from tests.paths import ROOT

SECTION = (
    (ROOT / "docs" / "semantics.md")
    .read_text(encoding="utf-8")
    .split("## The latest of each\n")[1]
    .split("\n## ")[0]
)
ROWS = re.findall(r"^\| `(SELECT .*)` \| .* \|$", SECTION, re.MULTILINE)


def test_the_table_has_rows() -> None:
    assert len(ROWS) == 10


@pytest.mark.parametrize("sql", [*ROWS, *re.findall(r"```sql\n(.*?)```", SECTION, re.DOTALL)])
def test_the_latest_by_sensor(sql: str) -> None:
    catalog = load_project(ROOT / "examples" / "traffic", environ={}).catalog
    keyed = replace(catalog.streams["traffic"], keys=(("report_id", "ts"),))
    catalog = replace(catalog, streams={**catalog.streams, "traffic": keyed})
    union = parse_sql(sql, catalog, name="q", file="q.sql")
    assert union.standing == Standing(("report_id",))
    assert choose_emit(union) is Emit.CHANGES
    verdict = check_query(union, catalog)
    assert verdict.name == "conditionally-bounded"
    assert [c.text for c in verdict.conditions] == ["traffic.report_id references sensor.REPORT_ID"]
