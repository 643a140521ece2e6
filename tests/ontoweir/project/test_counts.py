"""What is counted, as `[project]` says."""

from pathlib import Path

import pytest

from ontoweir.errors import CatalogError
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.query import Counts


def write(folder: Path, counts: str) -> Path:
    (folder / "ontoweir.toml").write_text(
        f"[project]\nontology = []\nmappings = []\nqueries = []\n{counts}\n"
    )
    return folder


def test_counts_are_sparqls_unless_it_says_otherwise(tmp_path: Path) -> None:
    assert load_project(write(tmp_path, ""), environ={}).counts is Counts.SPARQL
    assert load_project(write(tmp_path, 'counts = "matches"'), environ={}).counts is Counts.MATCHES


@pytest.mark.parametrize("wrong", ['"rows"', '""', "1"])
def test_other_counts_are_refused_with_their_line(wrong: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogError) as found:
        load_project(write(tmp_path, f"counts = {wrong}"), environ={})
    assert found.value.source is not None
    assert found.value.source.line == 5
    assert "counts" in str(found.value)
