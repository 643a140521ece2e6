"""Sets of nodes with their time in their names are bounded: each is told once, at its time."""

from pathlib import Path

import pytest

from ontoweir.checker.verdict.verdict import Tier
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from tests.rewriter.dated.test_node_times import MAPS, ONTOLOGY, PROJECT, A, V, write_map


def decide(folder: Path, head: str, *maps: str) -> Tier:
    queries = '[project]\nqueries = ["q.rq"]'
    (folder / "ontoweir.toml").write_text(PROJECT.replace("[project]", queries), encoding="utf-8")
    (folder / "o.ttl").write_text(ONTOLOGY, encoding="utf-8")
    (folder / "m.ttl").write_text(MAPS + "".join(maps), encoding="utf-8")
    text = f"PREFIX : <http://e/>\nSELECT DISTINCT {head} {{ ?o a :A ; :v ?v }}"
    (folder / "q.rq").write_text(text, encoding="utf-8")
    workspace = Workspace(load_project(folder, environ={}))
    return workspace.check(workspace.compile("q")).tier


LAST, FIRST = "o/{k}/{ts}", "o/{ts}/{k}"


@pytest.mark.parametrize(
    "maps",
    [
        pytest.param((write_map("s", LAST, A, V),), id="at the end"),
        pytest.param((write_map("s", FIRST, A, V),), id="told apart"),
        pytest.param(
            (write_map("s", LAST, A, V), write_map("u", "x/{at}", A, V)), id="of two names"
        ),
    ],
)
def test_answers_with_a_time_in_a_name_are_forgotten(maps: tuple[str, ...], tmp_path: Path) -> None:
    assert decide(tmp_path, "?o ?v", *maps) is Tier.STATELESS
    assert decide(tmp_path, "?v", *maps) is not Tier.STATELESS


@pytest.mark.parametrize(
    "maps",
    [
        pytest.param((write_map("s", "o/{k}/{due}", A, V),), id="another time"),
        pytest.param((write_map("s", "o/{ts}-{k}", A, V),), id="not told apart"),
        pytest.param((write_map("s", LAST, A, V), write_map("u", "x/{k}", A, V)), id="one of two"),
    ],
)
def test_twins_that_are_remembered(maps: tuple[str, ...], tmp_path: Path) -> None:
    assert decide(tmp_path, "?o ?v", *maps) is not Tier.STATELESS
