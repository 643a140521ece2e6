"""Mappings over streams whose steps of time are shared: read once, and seen by windows as ever."""

from pathlib import Path
from typing import Any

import pytest

import ontoweir
from ontoweir.mappings.compile import load_mappings
from ontoweir.pipeline.mappings_over import KEPT, MappingsOver
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.share_steps import share_steps
from tests.sparql_counts.test_rsp_windows import PREFIX, TOML, _replay, _write

JOINED = f"""{PREFIX}REGISTER RSTREAM :q AS SELECT DISTINCT ?s ?v
FROM NAMED WINDOW :w ON :stream [RANGE PT2M]
FROM NAMED WINDOW :d ON :door1 [RANGE PT2M]
WHERE {{ WINDOW :w {{ ?s :has ?v }} WINDOW :d {{ ?s :opens ?o }} }}"""
_UNIT = 'unit = "1 minute"'
FINER = 'unit = "20 seconds"'.join(TOML.rsplit(_UNIT, 1))
"""The doors' times are others."""


def test_a_window_sees_its_stream_alone_where_units_differ(tmp_path: Path) -> None:
    # the door says 1 of sensor 1, which reads 3: :has is mapped from both streams
    _write(tmp_path / "p", [(m, m, 1, 3) for m in (0, 1, 5)], [(m, 1, 1) for m in (1, 2, 5)])
    asked = ontoweir.open_project(tmp_path / "p")
    wanted = _replay(asked, JOINED)
    (tmp_path / "p" / "ontoweir.toml").write_text(FINER)
    found = _replay(ontoweir.open_project(tmp_path / "p"), JOINED)
    assert {values for bag in wanted.values() for values in bag} == {("http://x/s/1", "3")}
    assert {values for bag in found.values() for values in bag} == {("http://x/s/1", "3")}


def test_they_are_read_once_over_a_catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(tmp_path / "p", [(0, 1, 1, 1)], [])
    workspace = Workspace(load_project(tmp_path / "p", environ={}))
    catalog, read = workspace.project.catalog, load_mappings.load_mappings
    asked = list[object]()

    def count(*given: Any, **more: Any) -> Any:
        asked.append(given)
        return read(*given, **more)

    monkeypatch.setattr(load_mappings, "load_mappings", count)
    assert workspace.map_over(catalog) is workspace.mappings
    asked.clear()
    finer = workspace.map_over(share_steps(catalog, 20_000_000))
    assert workspace.map_over(share_steps(catalog, 20_000_000)) is finer
    assert len(asked) == 1
    assert workspace.map_over(share_steps(catalog, 10_000_000)) is not finer
    assert len(asked) == 2


def test_few_are_kept(tmp_path: Path) -> None:
    _write(tmp_path / "p", [(0, 1, 1, 1)], [])
    workspace, over = Workspace(load_project(tmp_path / "p", environ={})), MappingsOver()
    catalogs = [
        share_steps(workspace.project.catalog, 60_000_000 // n) for n in range(2, 60) if 60 % n == 0
    ]
    assert len(catalogs) > KEPT
    for catalog in catalogs:
        over.map(workspace, catalog)
    assert len(over._known) == KEPT
    assert over._known[-1][0] == catalogs[-1]
