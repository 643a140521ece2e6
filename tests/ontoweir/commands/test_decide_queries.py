"""Queries that are decided side by side give what they give one after the other."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ontoweir.commands.common.decide_queries import decide_queries
from ontoweir.commands.common.hold_warnings import Warnings
from ontoweir.errors import QueryError, RunError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from tests.paths import TRAFFIC

COUNTS = """PREFIX : <http://traffic.example/ns#>
SELECT ?reading WHERE { GRAPH ?t { ?reading a :FastReading ; :reportedBy ?anyone } }
"""
MAIN = "import sys; from ontoweir.cli import main; sys.exit(main(sys.argv[1:]))"


def check(project: Path, *, processors: int) -> tuple[int, str, str]:
    """`ontoweir check` in a process of its own, on so many processors."""
    allowed = sorted(os.sched_getaffinity(0))[:processors]
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "check", str(project), "--format", "json"],
        capture_output=True,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, allowed),
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return Path(shutil.copytree(TRAFFIC, tmp_path / "traffic"))


pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2,
    reason="needs two processors",
)


def test_verdicts_and_warnings_are_the_same(project: Path) -> None:
    for number in range(2):  # each with a warning
        (project / "queries" / f"counts-{number}.rq").write_text(COUNTS, encoding="utf-8")
    alone, together = check(project, processors=1), check(project, processors=2)
    assert alone == together
    assert alone[0] == 0
    assert alone[2].count("SELECT counts what is in the data") == 2


def test_every_query_that_is_wrong_is_named(small: Path) -> None:
    for name in ("b-wrong", "a-wrong"):
        (small / "queries" / f"{name}.rq").write_text("SELECT ?x {", encoding="utf-8")
    alone, together = check(small, processors=1), check(small, processors=2)
    assert alone == together
    assert alone[0] == 2
    assert "a-wrong.rq:1" in alone[2].splitlines()[0]
    assert "b-wrong.rq:1" in alone[2].splitlines()[1]
    assert alone[2].count("\n") == 2
    assert alone[1].count('"verdict": "refused"') == 2
    assert '"verdict": "unbounded"' in alone[1]


def test_a_killed_process_is_an_error_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace(load_project(TRAFFIC))
    monkeypatch.setattr("ontoweir.commands.common.decide_queries._may_fork", lambda: True)
    monkeypatch.setattr(Workspace, "compile", lambda self, name: os.kill(os.getpid(), 9))
    with pytest.raises(RunError, match="was killed"):
        decide_queries(
            workspace, workspace.query_names(), Warnings(quiet=True), lambda found: found
        )


def test_an_error_of_another_process_keeps_its_place() -> None:
    workspace = Workspace(load_project(TRAFFIC))
    import pickle

    with pytest.raises(Exception, match="unknown query") as caught:
        workspace.compile("no-such-query")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again)) == (type(caught.value), str(caught.value))
    assert str(QueryError("a", why="b", fix="c")) == "a; b; c"
