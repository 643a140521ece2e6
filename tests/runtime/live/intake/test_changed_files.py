"""Files that change, and sources that go, while queries of an intake are on the way."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ontoweir.errors import DataError, OntoweirError, UsageError
from ontoweir.mappings.model.catalog import Stream
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.runtime.live.arrivals.list_arrivals import ArrivedFile
from ontoweir.runtime.live.arrivals.open_batch import OpenBatch
from ontoweir.runtime.live.arrivals.read_arrivals import BadFile
from ontoweir.runtime.live.intake.intake import Intake
from ontoweir.runtime.live.intake.model import IntakeOptions, Reach, merge_lanes
from ontoweir.runtime.live.intake.open_span import OpenSpan
from ontoweir.runtime.live.run_intake import IntakeRun
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


@contextmanager
def _begun(
    folder: Path, streams: dict[str, Stream], names: list[str], failed: dict[str, OntoweirError]
) -> Iterator[tuple[Intake, Lister]]:
    """An intake which queries have joined, and which has begun; Spark is not there."""
    intake, mine = _open(folder)
    workspace = open_project(folder)
    for name in names:
        intake.join(make_member(folder, workspace, name))
    run = IntakeRun(intake, None, None)  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(IntakeRun, "_start", lambda *_: None)
        run.begin(streams)
    yield intake, Lister(folder, intake, 20)
    intake.close()
    failed |= mine


@pytest.mark.parametrize("how", ["joined", "parked"])
def test_who_has_begun_a_source_that_was_another_cannot_go_on(how: str, tmp_path: Path) -> None:
    """Its files would be listed anew, under the numbers of those that it has taken in."""
    write_files(tmp_path, Random(5))
    for name in FORMATS:
        for file in (tmp_path / f"{name}.staged").iterdir():
            file.rename(tmp_path / name / file.name)
    streams = dict(open_project(tmp_path).project.catalog.streams)
    failed: dict[str, OntoweirError] = {}
    with _begun(tmp_path, streams, ["filter", "matches", "hourly"], failed) as (intake, lister):
        lister.list()
        folder = intake.record.spark.folder
    # how many files are listed at once may change
    data = replace(streams["v"].data, options=(("maxFilesPerTrigger", "3"),))
    more = {**streams, "v": replace(streams["v"], data=data)}
    with _begun(tmp_path, more, ["filter", "matches", "hourly"], failed) as (intake, _):
        assert intake.record.spark.folder == folder
    assert not failed
    less = {name: stream for name, stream in streams.items() if name != "v"}
    names = ["filter", "matches", *(["hourly"] if how == "joined" else [])]
    intake, mine = _open(tmp_path)
    workspace = open_project(tmp_path)
    for name in names:
        intake.join(make_member(tmp_path, workspace, name))
    other = replace(streams["v"], data=replace(streams["v"].data, path=f"{tmp_path}/w"))
    run = IntakeRun(intake, None, None)  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(IntakeRun, "_start", lambda *_: None)
        run.begin({**streams, "v": other} if how == "joined" else less)
    assert mine.keys() == ({"hourly"} if how == "joined" else set())
    # whoever begins does not find the files of the folder before
    found = [f for f in intake.spark_folder.list_logs() if f.startswith("sources/2/")]
    assert not found
    assert len(intake.spark_folder.list_logs()) == 2
    intake.close()
    intake, _ = _open(tmp_path)
    with pytest.raises(UsageError, match="cannot go on where it stopped: what comes has been"):
        intake.join(make_member(tmp_path, workspace, "hourly"))
    intake.join(make_member(tmp_path, workspace, "filter"))


def test_a_source_that_has_come_and_brought_nothing_keeps_none_behind(tmp_path: Path) -> None:
    """`run --once` ends."""
    write_files(tmp_path, Random(5))
    for file in (tmp_path / "s.staged").iterdir():
        file.rename(tmp_path / "s" / file.name)
    streams = dict(open_project(tmp_path).project.catalog.streams)
    intake, _ = _open(tmp_path)
    workspace = open_project(tmp_path)
    intake.join(make_member(tmp_path, workspace, "filter"))
    run = IntakeRun(intake, None, None)  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(IntakeRun, "_start", lambda *_: None)
        run.begin(streams)
        Lister(tmp_path, intake, 20).list()
        while intake.catch_up(all_listed=True):
            pass
        assert intake.is_even
        (lane,) = intake.lanes  # a status is written when this number is another one
        more = replace(lane, state=replace(lane.state, batch=9))
        for one, other in ((lane, more), (more, lane)):
            merged = merge_lanes(one, other)
            assert merged is not None
            assert merged.state.batch == 9
        reach = intake.reach
        intake.chooser.reach = replace(reach, entries={**reach.entries, "w": -1})
        assert intake.is_even
    intake.close()


def test_a_file_that_cannot_be_read_is_not_one_that_was_begun(tmp_path: Path) -> None:
    """It may go into quarantine, or be mended, while the others are on the way."""
    broken, good = tmp_path / "broken.parquet", tmp_path / "good.parquet"
    files = [ArrivedFile(str(f), str(f), 1) for f in (broken, good)]
    held = OpenBatch((), {"s": files}, {}, {}, tmp_path)
    span = OpenSpan(-1, Reach(0, {"s": 0}), {"read": held}, ())
    assert [f[0] for f in json.loads(span.files()["s"])] == [str(broken), str(good)]
    held.bad["s"] = [BadFile(str(broken), DataError("it is broken", why="-", fix="-"))]
    assert [f[0] for f in json.loads(span.files()["s"])] == [str(good)]


@pytest.mark.parametrize("what", ["away", "mended", "passed over"])
def test_a_bad_file_is_mended_or_passed_over(what: str, tmp_path: Path) -> None:
    """Not moved away: a commit has it as listed, so that it would be missed; the error says so."""
    files = write_files(tmp_path, Random(5))
    bad = tmp_path / "s" / files["s"][-1].name
    content, times = files["s"][-1].read_bytes(), files["s"][-1].stat()
    for file in [*files["s"][:-1], *files["u"], *files["v"]]:
        file.rename(tmp_path / file.parent.name.removesuffix(".staged") / file.name)
    workspace = open_project(tmp_path)
    intake, failed = _open(tmp_path)
    lister = Lister(tmp_path, intake, 20)
    intake.join(make_member(tmp_path, workspace, "filter"))
    while lister.list() or intake.catch_up(all_listed=True):
        pass
    intake.close()
    assert not failed
    bad.write_bytes(b"no Parquet")
    os.utime(bad, ns=(times.st_atime_ns, times.st_mtime_ns))
    for turn in range(2):
        if turn and what == "mended":
            bad.write_bytes(content)
            os.utime(bad, ns=(times.st_atime_ns, times.st_mtime_ns))
        elif turn:
            bad.unlink()
        if turn and what == "passed over":
            declared = (tmp_path / "ontoweir.toml").read_text()
            declared = declared.replace("[streams.s]", '[streams.s]\non_bad_file = "quarantine"')
            (tmp_path / "ontoweir.toml").write_text(declared)
            workspace = Workspace(load_project(tmp_path, environ={}))
        intake, failed = _open(tmp_path)
        lister = Lister(tmp_path, intake, 20)
        intake.join(make_member(tmp_path, workspace, "filter"))
        while lister.list() or intake.catch_up(all_listed=True):
            pass
        intake.close()
        if turn and what != "away":
            assert not failed
        else:
            assert bad.name in str(failed["filter"])
            assert "move it away" not in str(failed["filter"])
            assert "quarantine" in str(failed["filter"])
    if what == "mended":
        assert read_answers(tmp_path, "filter") == replay(tmp_path, workspace, "filter")
