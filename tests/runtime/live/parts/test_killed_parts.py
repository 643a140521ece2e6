"""kill -9 of a run whose state is divided: then as if nothing happened."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent.parent.parent
STAGES = ("at-the-disk", "in-kernel", "in-state-commit", "after-state-commit", "full-disk")
SHORT = STAGES[:2]
"""Those that are tried without --long."""


@pytest.mark.parametrize("kind", ["parts", "moved"])
@pytest.mark.parametrize("stage", [*STAGES, "renewed-logs"])
def test_killed_without_spark(
    stage: str, kind: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """The output is that of a run that nothing happened to; its parts are written by the process
    that is killed. `moved`: each start is in another number of parts."""
    long = pytestconfig.getoption("--long")
    if not long and stage not in SHORT:
        pytest.skip("a run is killed at this stage with --long only")
    kills = 400 if long else 10
    driver = [sys.executable, str(HERE / "fork_cycles.py"), str(tmp_path), stage, "11", str(kills)]
    ran = subprocess.run([*driver, kind], check=False, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["kills"] == kills
