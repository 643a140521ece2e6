"""What is said of the examples is the same with and without cache, and with what queries share."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ontoweir.cache.open_cache import Cache
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.report.describe import describe_verdict
from tests.ontoweir.conftest import Run, run  # noqa: F401

EXAMPLES = ("traffic", "water")


def compile_all(folder: Path, cache: Cache | None, *, alone: bool) -> Iterator[object]:
    """Each query compiled and decided, by itself (`alone`) or by what all share; with warnings."""
    project = load_project(folder, environ={})
    said: list[str] = []
    workspace = Workspace(project, partial=True, warn_counts=True, cache=cache)
    assert workspace.mappings is not None
    for name in workspace.query_names():
        mine = replace(workspace, on_warning=said.append)
        workspace.share_with(mine)
        if alone:
            del mine.__dict__["tmappings"]
        compiled = mine.compile(name)
        yield compiled, describe_verdict(mine.check(compiled), project.catalog, ())
    yield said


@pytest.mark.parametrize("name", EXAMPLES)
def test_queries_are_the_same_alone_and_together(name: str, root: Path, tmp_path: Path) -> None:
    folder = root / "examples" / name
    alone = list(compile_all(folder, None, alone=True))
    assert len(alone) > 10
    assert list(compile_all(folder, None, alone=False)) == alone
    for _ in range(2):
        assert list(compile_all(folder, Cache(tmp_path), alone=False)) == alone


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("form", ["text", "json"])
def test_check_says_the_same_with_a_cache(
    name: str,
    form: str,
    root: Path,
    tmp_path: Path,
    run: Run,  # noqa: F811
) -> None:
    """Verdicts, bounds, explanations, repairs, warnings."""
    folder = root / "examples" / name
    without = run("check", folder, "--format", form, "--cache", "off")
    for _ in range(2):
        assert run("check", folder, "--format", form, "--cache", tmp_path) == without
    one = next(iter(load_project(folder, environ={}).queries)).stem
    for _ in range(2):
        with_one = run("check", folder, "--format", form, "--cache", tmp_path, "--query", one)
        assert with_one == run("check", folder, "--format", form, "--cache", "off", "--query", one)
