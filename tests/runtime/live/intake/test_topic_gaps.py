"""Messages that are removed from a topic while a query is away: it is refused, if it needs them."""

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ontoweir.errors import OntoweirError, UsageError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.runtime.live.intake.intake import Intake
from ontoweir.runtime.live.intake.keep_spans import list_topics
from ontoweir.runtime.live.intake.model import IntakeOptions
from ontoweir.runtime.live.run_intake import IntakeRun, sign_source
from tests.runtime.intake_cycles import (
    END,
    FORMATS,
    TOPIC,
    Lister,
    make_member,
    open_project,
    read_answers,
    replay,
    write_files,
)
from tests.runtime.topic_here import TopicHere


def _begin(folder: Path, patch: pytest.MonkeyPatch, more: str = "") -> tuple[TopicHere, Workspace]:
    """Half of the files are there; the messages of half of them in the topic. `more`: an option."""
    write_files(folder, Random(5))
    _bring(folder, 0.5)
    topic = TopicHere(TOPIC, folder / TOPIC, END)
    topic.stand_in(patch.setattr)
    open_project(folder, topics=True)
    toml = folder / "ontoweir.toml"
    toml.write_text(toml.read_text().replace('subscribe = "u"', f'subscribe = "u"{more}'))
    return topic, Workspace(load_project(folder, environ={}))


def _bring(folder: Path, share: float) -> None:
    for name in FORMATS:
        files = sorted((folder / f"{name}.staged").iterdir())
        for file in files[: round(len(files) * share)]:
            file.rename(folder / name / file.name)


def _open(folder: Path) -> tuple[Intake, dict[str, OntoweirError]]:
    failed: dict[str, OntoweirError] = {}
    spark: Any = object()  # reads nothing here
    options = IntakeOptions(folder / "intake", (20, 100), on_failed=failed.__setitem__)
    intake = Intake(options, spark)
    intake.restore(ticks=False)
    return intake, failed


def _serve(
    folder: Path, workspace: Workspace, topic: TopicHere, names: list[str]
) -> dict[str, OntoweirError]:
    """Serve queries until they have all that is there: those that fail, and why."""
    intake, failed = _open(folder)
    for name in names:
        intake.join(make_member(folder, workspace, name))
    handed = list_topics(intake.lanes).get(TOPIC, {})
    lister = Lister(folder, intake, 20, topic, handed)
    while lister.list():
        pass
    while intake.catch_up(all_listed=True):
        pass
    assert intake.is_even
    intake.close()
    return failed


@pytest.mark.parametrize("lost", ["some", "none", "allowed"])
def test_a_query_that_was_away_is_refused_if_messages_are_gone(
    lost: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says which; with no gap it has a replay's answers, and where loss is allowed it goes on.
    The others are not touched."""
    allowed = ', failOnDataLoss = "false"' if lost == "allowed" else ""
    topic, workspace = _begin(tmp_path, monkeypatch, allowed)
    assert not _serve(tmp_path, workspace, topic, ["matches", "better"])
    ends = topic.ends()
    _bring(tmp_path, 1)
    assert not _serve(tmp_path, workspace, topic, ["better"])
    topic.first = min(ends) + (0 if lost == "none" else 3)
    assert topic.first < min(topic.ends())
    failed = _serve(tmp_path, workspace, topic, ["better", "matches"])
    if lost == "some":
        assert failed.keys() == {"matches"}
        gap = f"u/0 has no longer its offsets from {ends[0]} to {topic.first - 1}"
        assert gap in str(failed["matches"])
        assert "--replace" in str(failed["matches"])
        topic.first = 0  # twin: its state is kept, as long as it is not known that it has a gap
        assert not _serve(tmp_path, workspace, topic, ["matches"])
    assert failed.keys() <= {"matches"}
    again = open_project(tmp_path)  # of files alone
    for name in ("better", *(() if lost == "allowed" else ("matches",))):
        found = read_answers(tmp_path, name)
        assert found == replay(tmp_path, again, name), name


@pytest.mark.parametrize("lost", ["some", "made anew", "none"])
def test_what_the_intake_itself_has_lost_is_begun_anew(
    lost: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the server was down: those that have begun are refused, whether they run now or not;
    others begin with what is there, and Spark too."""
    topic, workspace = _begin(tmp_path, monkeypatch)
    assert not _serve(tmp_path, workspace, topic, ["matches", "better", "filter"])
    topic.first = min(topic.ends()) + (2 if lost == "some" else 0)
    if lost == "made anew":
        topic.first = 0
        sorted((tmp_path / TOPIC).iterdir())[-1].unlink()
    said = "has no longer its offsets from" if lost == "some" else "and ends before"
    intake, failed = _open(tmp_path)
    for name in ("matches", "filter", "seen"):
        intake.join(make_member(tmp_path, workspace, name))
    streams = dict(workspace.project.catalog.streams)
    watched = {n: sign_source(stream, 1) for n, stream in streams.items()}
    intake.record = replace(intake.record, watched=watched)  # as if Spark had begun them
    run = IntakeRun(intake, None, None)  # type: ignore[arg-type]
    monkeypatch.setattr(IntakeRun, "_start", lambda *_: None)
    before = intake.record.spark.folder
    run.begin(streams)
    if lost == "none":
        assert not failed
        assert intake.record.spark.folder == before
        intake.close()
        return
    assert failed.keys() == {"matches"}
    assert said in str(failed["matches"])
    assert {m.id for lane in intake.lanes for m in lane.members} == {"filter", "seen"}
    order = [list(held) for held in intake.record.sources]
    offsets = intake.record.spark.offsets[str(intake.record.spark.batch)].split("\n")[2:]
    assert offsets[order.index([TOPIC])] == "-"
    assert "-" not in [text for held, text in zip(order, offsets, strict=True) if held != [TOPIC]]
    intake.close()
    intake, _ = _open(tmp_path)
    for name in ("matches", "better"):
        with pytest.raises(UsageError, match=said):
            intake.join(make_member(tmp_path, workspace, name))
    intake.join(make_member(tmp_path, workspace, "filter"))
    intake.close()


def test_offsets_stay_when_files_that_are_gone_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark goes on from new logs of files; the messages go on where they were."""
    topic, workspace = _begin(tmp_path, monkeypatch)
    names = ["matches", "filter"]
    assert not _serve(tmp_path, workspace, topic, names)
    streams = dict(workspace.project.catalog.streams)
    intake, failed = _open(tmp_path)
    for name in names:
        intake.join(make_member(tmp_path, workspace, name))
    Lister(tmp_path, intake, 20, topic, list_topics(intake.lanes)[TOPIC])
    before = intake.reach.offsets
    run = IntakeRun(intake, None, None, forget=1)  # type: ignore[arg-type]
    run.looked = float("-inf")
    monkeypatch.setattr(IntakeRun, "_start", lambda *_: None)
    run.rotate(streams)
    assert intake.record.spark.folder == "spark-1"
    assert intake.reach.batch == 0
    assert intake.reach.offsets == before
    intake.close()
    _bring(tmp_path, 1)
    assert not _serve(tmp_path, workspace, topic, names)
    assert not failed
    again = open_project(tmp_path)
    for name in names:
        assert read_answers(tmp_path, name) == replay(tmp_path, again, name), name
