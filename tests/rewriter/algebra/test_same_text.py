"""The text of a query is part of a checkpoint's fingerprint: it is the same in every process."""

import os
import subprocess
import sys
from pathlib import Path

from tests.oracle.test_asked_sql import write_project
from tests.paths import ROOT

LIMITED = "".join(f'o{n} = {{ type = "int", min = {n}, max = 9 }}\n' for n in range(5))
SQL = "SELECT sensor, ts FROM reading WHERE o1 * o2 + o3 - o4 * o0 > level"


def test_it_does_not_depend_on_hashes(tmp_path: Path) -> None:
    write_project(tmp_path, 1, 3)
    text = (tmp_path / "ontoweir.toml").read_text()
    (tmp_path / "ontoweir.toml").write_text(text.replace("amount =", f"{LIMITED}amount =", 1))
    command = ("rewrite", str(tmp_path), SQL, "--show", "sql", "--cache", "off")
    said = {
        subprocess.run(
            [sys.executable, "-m", "ontoweir.cli", *command],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(1, 4)
    }
    assert len(said) == 1
