"""The end of the demo: the example's history as if it came now gives the replay's answers."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

QUERY = "every-fast-reading-after-a-congested-one-on-the-same-road"


@pytest.mark.slow
def test_live_is_the_replay(root: Path, tmp_path: Path) -> None:
    project = tmp_path / "traffic"
    shutil.copytree(
        root / "examples" / "traffic", project, ignore=shutil.ignore_patterns("data", "out")
    )
    replayed = project / "replayed.parquet"
    for command in (
        [str(project / "generate.py"), "--output", str(project / "data"), "--days", "2"],
        ["-m", "ontoweir", "replay", str(project), "--query", QUERY, "--output", str(replayed)],
        [str(project / "live.py"), "--query", QUERY, "--replayed", str(replayed), "--seconds", "1"],
    ):
        ran = subprocess.run(
            [sys.executable, *command], check=False, capture_output=True, text=True
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "answers, the same as the replay's" in ran.stdout
