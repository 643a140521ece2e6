"""Files that change, and sources that go, while queries of an intake are on the way."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from ontoweir.errors import OntoweirError
from ontoweir.runtime.live.intake.intake import Intake
from ontoweir.runtime.live.intake.model import IntakeOptions
from tests.runtime.intake_cycles import (
    FORMATS,
    Lister,
    make_member,
    open_project,
    read_answers,
    replay,
    write_files,
)


def _open(folder: Path) -> tuple[Intake, dict[str, OntoweirError]]:
    failed: dict[str, OntoweirError] = {}
    spark: Any = object()  # reads nothing here
    options = IntakeOptions(folder / "intake", (20, 100), on_failed=failed.__setitem__)
    intake = Intake(options, spark)
    intake.restore(ticks=False)
    return intake, failed


def _list_all(folder: Path) -> None:
    """All files arrive, and are listed in one micro-batch; no query is there."""
    write_files(folder, Random(5))
    for name in FORMATS:
        for file in (folder / f"{name}.staged").iterdir():
            file.rename(folder / name / file.name)
    intake, _ = _open(folder)
    Lister(folder, intake, 20).list()
    intake.close()


@pytest.mark.parametrize("what", ["gone", "other", "same"])
def test_a_query_goes_on_with_the_files_it_has_begun(what: str, tmp_path: Path) -> None:
    """After a restart in the middle of many files; a file that is gone is not passed over."""
    _list_all(tmp_path)
    workspace = open_project(tmp_path)
    intake, failed = _open(tmp_path)
    Lister(tmp_path, intake, 20)
    intake.join(make_member(tmp_path, workspace, "filter"))
    intake.catch_up(all_listed=True)
    (lane,) = intake.lanes
    assert lane.span is not None
    intake.close()
    first, last = sorted((tmp_path / "s").iterdir())[:: len(list((tmp_path / "s").iterdir())) - 1]
    if what == "gone":
        last.unlink()
    elif what == "other":
        last.write_bytes(first.read_bytes())
    intake, failed = _open(tmp_path)
    Lister(tmp_path, intake, 20)
    intake.join(make_member(tmp_path, workspace, "filter"))
    while intake.catch_up(all_listed=True):
        pass
    intake.close()
    if what == "same":
        assert not failed
        assert read_answers(tmp_path, "filter") == replay(tmp_path, workspace, "filter")
    else:
        assert "is not what it was when its first rows" in str(failed["filter"])
        assert last.name in str(failed["filter"])
