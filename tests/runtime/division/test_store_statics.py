"""Large static relations reach tasks as files."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from ontoweir.errors import RunError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.runtime.division import store_statics as module
from ontoweir.runtime.division.store_statics import open_statics, store_statics
from ontoweir.runtime.engine.execution import ExecutionContext


def _work(**tables: pa.Table) -> ExecutionContext:
    catalog = Catalog()
    return ExecutionContext("", (), catalog, (), tables, (), pa.schema([]), False, (None, None), 1)


def test_large_ones_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_PICKLED", 1_000)
    small, large = pa.table({"x": [1, 2]}), pa.table({"s": ["Ø", None] * 500})
    work = _work(small=small, large=large)
    sent = store_statics(work, tmp_path)
    assert list(sent.statics) == ["small"]
    assert [name for name, _ in sent.stored] == ["large"]
    found = open_statics(sent)
    assert not found.stored
    assert found.statics == {"small": small, "large": large}
    assert open_statics(replace(sent, stored=())).statics == {"small": small}


def test_a_folder_that_is_not_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_PICKLED", 0)
    sent = store_statics(_work(r=pa.table({"x": [1]})), tmp_path)
    (tmp_path / "static-0.arrow").unlink()
    with pytest.raises(RunError, match="file system that all of them see"):
        open_statics(sent)
