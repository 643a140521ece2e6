"""kill -9 of a run that keeps rows on disk: then as if nothing happened."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent.parent


@pytest.mark.parametrize("stage", ["in-kernel", "in-state-commit", "at-the-disk"])
def test_killed_again_and_again(stage: str, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    kills = 400 if pytestconfig.getoption("--long") else 5
    command = [sys.executable, str(HERE / "fork_cycles.py"), str(tmp_path), stage, "7"]
    ran = subprocess.run(
        [*command, str(kills), "spill"], check=False, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["kills"] == kills
