"""Runs whose files go to archives, killed anywhere: nothing is lost, and nothing comes twice."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent.parent.parent


def test_killed_while_files_are_moved(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    many = pytestconfig.getoption("--long")
    for seed in range(20 if many else 1):
        place = str(tmp_path / str(seed))
        command = [sys.executable, str(HERE / "archive_cycles.py"), place, str(seed)]
        ran = subprocess.run(
            [*command, "12" if many else "5"], check=False, capture_output=True, text=True
        )
        assert ran.returncode == 0, (seed, ran.stderr)
        found = json.loads(ran.stdout)
        assert found["killed"] >= 5
        assert found["rows"] > 0
