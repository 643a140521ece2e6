"""Queries share one intake: they join, leave, are killed, and have a replay's answers, once."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ontoweir.errors import UsageError
from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord
from ontoweir.runtime.live.intake.packs import PACK, Packs, hash_content
from ontoweir.runtime.live.intake.save_intake import (
    IntakeCommit,
    commit_intake,
    last_commit,
    load_commit,
)

HERE = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    "kills",
    ["", "kill", "cut topics", "cut keep", "cut compact", "cut archive", "cut keep compact topics"],
)
def test_queries_that_join_and_leave_have_a_replays_answers(
    kills: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """Also those that were away, and those of a server that was killed, or that keeps its answers
    for an instant only, or merges their files, or moves those that it has read away; one of the
    streams is a topic then, or none."""
    if kills.count(" ") > 1 and not pytestconfig.getoption("--long"):
        pytest.skip("each of these is tested by itself")
    seeds = 60 if pytestconfig.getoption("--long") else 1
    for seed in range(seeds):
        command = [sys.executable, str(HERE / "intake_cycles.py"), str(tmp_path / str(seed))]
        command += [str(seed), "6" if kills else "3", *kills.split()]
        ran = subprocess.run(command, check=False, capture_output=True, text=True)
        assert ran.returncode == 0, (seed, ran.stderr)
        found = json.loads(ran.stdout)
        assert found["rows"] > 0
        assert found["killed"] > 0 or not kills
        assert found["undone"] == 0 or "archive" in kills
        if kills.count(" ") < 2:
            assert (found["merged"] > 0) == ("compact" in kills)


def _commit(
    folder: Path, packs: Packs, number: int, contents: list[bytes], kept: set[str]
) -> tuple[Packs, list[str]]:
    commit = IntakeCommit(number, CommitRecord("run"), used=set(kept))
    hashes = [commit.add(content) for content in contents]
    _, after = commit_intake(folder, packs, commit)
    return after, hashes


def test_a_commit_writes_what_is_new_alone(tmp_path: Path) -> None:
    large, small = b"x" * 100_000, b"y" * 10
    packs, first = _commit(tmp_path, Packs(tmp_path), 0, [large, small], set())
    packs, second = _commit(tmp_path, packs, 1, [b"z" * 20], set(first))
    assert (tmp_path / "000000000001" / PACK).stat().st_size == 20
    place = last_commit(tmp_path)
    assert place is not None
    _, found = load_commit(place)
    assert [found.read(h) for h in (*first, *second)] == [large, small, b"z" * 20]
    # what is there already is not written again
    packs, _ = _commit(tmp_path, packs, 2, [large], set(second))
    assert (tmp_path / "000000000002" / PACK).stat().st_size == 0


def test_packs_of_which_most_is_unused_are_written_anew(tmp_path: Path) -> None:
    kept = b"kept"
    packs, (mine,) = _commit(tmp_path, Packs(tmp_path), 0, [kept], set())
    for number in range(1, 40):
        packs, _ = _commit(tmp_path, packs, number, [bytes([number]) * 100_000], {mine})
    assert packs.read(mine) == kept
    assert sum(packs.sizes.values()) < 2_000_000


def test_a_damaged_pack_is_found(tmp_path: Path) -> None:
    packs, (mine,) = _commit(tmp_path, Packs(tmp_path), 0, [b"state"], set())
    (tmp_path / "000000000000" / PACK).write_bytes(b"stale")
    with pytest.raises(UsageError, match="is not what was written"):
        packs.read(mine)
    (tmp_path / "000000000000" / PACK).unlink()
    with pytest.raises(UsageError, match="cannot be read"):
        packs.read(mine)
    assert hash_content(b"state") == mine


def test_a_damaged_manifest_is_found(tmp_path: Path) -> None:
    _commit(tmp_path, Packs(tmp_path), 0, [b"state"], set())
    manifest = tmp_path / "000000000000" / "manifest"
    content = manifest.read_bytes()
    manifest.write_bytes(content.replace(b'"run"', b'"ran"', 1))
    with pytest.raises(UsageError, match="is not what was written"):
        load_commit(tmp_path / "000000000000")
    manifest.write_bytes(content.replace(b'"version": 1', b'"version": 7'))
    with pytest.raises(UsageError, match="the intake has version 7"):
        load_commit(tmp_path / "000000000000")
    manifest.write_bytes(content[:50])
    with pytest.raises(UsageError, match="cannot be read"):
        load_commit(tmp_path / "000000000000")
