"""A query whose answers cannot be published, or merged, is parked alone; they come once."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from ontoweir.errors import OntoweirError, RunError
from ontoweir.runtime.live.intake.intake import Intake
from ontoweir.runtime.live.intake.model import IntakeOptions, Member
from ontoweir.runtime.live.output import merge_parts
from ontoweir.runtime.live.output.sinks.memory import MemorySink
from tests.runtime.intake_cycles import (
    FORMATS,
    Lister,
    make_member,
    open_project,
    read_answers,
    replay,
    write_files,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Refusing(MemorySink):
    """It takes so many micro-batches, then none."""

    takes: int = 0
    error: Exception = field(default_factory=ValueError)

    def publish(
        self, query: str, batch: int, answers: "pa.Table", spark: "SparkSession | None"
    ) -> None:
        """Refuse them."""
        if len(self.answers.get(query, [])) >= self.takes:
            raise self.error
        super().publish(query, batch, answers, spark)


def _open(folder: Path, compact: int | None = None) -> tuple[Intake, dict[str, OntoweirError]]:
    failed: dict[str, OntoweirError] = {}
    spark: Any = object()  # reads nothing here
    options = IntakeOptions(
        folder / "intake", (20, 100), compact=compact, on_failed=failed.__setitem__
    )
    intake = Intake(options, spark)
    intake.restore(ticks=False)
    return intake, failed


def _go_on(folder: Path, intake: Intake, random: Random) -> None:
    lister = Lister(folder, intake, 1)
    while lister.list() or intake.catch_up(all_listed=random.random() < 0.5):
        pass
    while intake.catch_up(all_listed=True):
        pass


def _bring_all(folder: Path) -> None:
    write_files(folder, Random(5))
    for name in FORMATS:
        for file in (folder / f"{name}.staged").iterdir():
            file.rename(folder / name / file.name)


@pytest.mark.parametrize("again", ["the same server", "another"])
@pytest.mark.parametrize("error", [RunError("no", why="-", fix="-"), ValueError("a fault")])
def test_a_sink_that_refuses_parks_its_query(again: str, error: Exception, tmp_path: Path) -> None:
    _bring_all(tmp_path)
    workspace = open_project(tmp_path)
    intake, failed = _open(tmp_path)
    sink = Refusing(takes=2, error=error)
    mine = make_member(tmp_path, workspace, "filter")
    intake.join(replace(mine, sink=sink))
    for name in ("matches", "alone"):
        intake.join(make_member(tmp_path, workspace, name))
    _go_on(tmp_path, intake, Random(1))
    assert failed.keys() == {"filter"}
    assert str(error)[:2] in str(failed["filter"])
    assert len(sink.answers["filter"]) == 2
    for name in ("matches", "alone"):
        assert read_answers(tmp_path, name) == replay(tmp_path, workspace, name)
    if again == "another":
        intake.close()
        intake, failed = _open(tmp_path)
        for name in ("matches", "alone"):
            intake.join(make_member(tmp_path, workspace, name))
    failed.clear()
    intake.join(replace(mine, sink=MemorySink(sink.answers)))
    _go_on(tmp_path, intake, Random(1))
    assert not failed
    intake.close()
    rows = [row for table in sink.answers["filter"] for row in table.to_pylist()]
    found = sorted((tuple(row.items()) for row in rows), key=repr)
    assert found == replay(tmp_path, workspace, "filter")


@pytest.mark.parametrize("wrong", ["folder", "merged"])
def test_files_that_cannot_be_written_or_merged_park_their_query(
    wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file stands where its folder should be; or a file that is merged is not what it was."""
    monkeypatch.setattr(merge_parts, "PATIENCE", 0.0)
    _bring_all(tmp_path)
    workspace = open_project(tmp_path)
    intake, failed = _open(tmp_path, 3)
    members: list[Member] = [make_member(tmp_path, workspace, n) for n in ("filter", "matches")]
    for member in members:
        intake.join(member)
    place = tmp_path / "out" / "filter"
    if wrong == "folder":
        place.parent.mkdir(exist_ok=True)
        place.touch()
    random = Random(1)
    lister = Lister(tmp_path, intake, 1)
    kept = b""
    while lister.list() or intake.catch_up(all_listed=random.random() < 0.5):
        parts = sorted(place.glob("part-*")) if place.is_dir() else []
        if wrong == "merged" and parts and not kept:
            kept = parts[0].read_bytes()
            parts[0].write_bytes(b"not what was published")
            spoiled = parts[0]
    assert failed.keys() == {"filter"}
    assert ("cannot be written" if wrong == "folder" else "is not what was published") in str(
        failed["filter"]
    )
    assert read_answers(tmp_path, "matches") == replay(tmp_path, workspace, "matches")
    intake.close()
    if wrong == "folder":
        place.unlink()
    else:
        spoiled.write_bytes(kept)
    intake, failed = _open(tmp_path, 3)
    for name in ("filter", "matches"):
        intake.join(make_member(tmp_path, workspace, name))
    _go_on(tmp_path, intake, random)
    intake.close()
    assert not failed
    assert read_answers(tmp_path, "filter") == replay(tmp_path, workspace, "filter")
    merged = [f for f in place.iterdir() if f.name.count("-") > 1]
    assert merged
    assert sum(pq.read_metadata(f).num_rows for f in merged)
