"""Queries over views and over their branches have the same answers, as often."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import settings

from ontoweir.checker.witness.evaluate_naively import evaluate_naively
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.unfold import match_stars
from ontoweir.rewriter.views.expand_views import expand_unions
from tests.sparql_counts.case import Row
from tests.sparql_counts.random_cases import random_case
from tests.sparql_counts.random_tables import Taste, random_rows
from tests.sparql_counts.write_case import write_case, write_query

CASES = settings().max_examples * 2


def test_branches_apart_have_the_same_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(match_stars, "MAX_APART", 1)
    compared = 0
    for seed in range(CASES):
        case = random_case(seed, Taste(plain=True))
        folder = tmp_path / str(seed)
        folder.mkdir()
        write_case(case, folder)
        (folder / "q.rq").write_text(write_query(case.query), encoding="utf-8")
        workspace = Workspace(load_project(folder, environ={}))
        try:
            union = workspace.compile("q").union
        except QueryError:
            continue
        apart = expand_unions(union, 10_000)
        if apart is None:
            continue
        for more in range(3):
            instance = _name_cells(random_rows(3 * seed + more, case), workspace.project.catalog)
            answers = evaluate_naively(union, instance)
            assert evaluate_naively(apart, instance) == answers, f"{seed}, {more}"
            compared += bool(answers)
    assert compared > CASES / 20


def _name_cells(
    rows: Mapping[str, tuple[Row, ...]], catalog: Catalog
) -> dict[str, list[dict[str, object]]]:
    named: dict[str, list[dict[str, object]]] = {}
    for name, given in rows.items():
        table = catalog.table(name)
        columns = [c.name for c in table.columns]
        if isinstance(table, Stream):
            columns = [table.timestamp, *columns]
        named[name] = [dict(zip(columns, row, strict=True)) for row in given]
    return named
