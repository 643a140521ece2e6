"""A sqlglot that is not compiled says the same of all SQL: the tests run with the other one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PLAIN = """
import sys
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, SourceFileLoader

def find(path):
    if "sqlglot" not in path:
        raise ImportError
    return FileFinder(path, (SourceFileLoader, SOURCE_SUFFIXES))

sys.path_hooks.insert(0, find)
"""
SAY = """
import sqlglot.parser
from ontoweir.cli import main
print(sqlglot.parser.__file__.rpartition(".")[2])
main(["check", {project!r}, "--quiet", "--cache", "off"])
"""


def check(project: Path, before: str) -> tuple[str, str]:
    """What the parser is, and what `check` says."""
    code = before + SAY.format(project=str(project))
    environment = {**os.environ, "COLUMNS": "200"}
    made = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    kind, _, said = made.stdout.partition("\n")
    assert said, made.stderr
    return kind, said + made.stderr


@pytest.mark.parametrize("example", ["traffic", "water"])
def test_verdicts_are_the_same(example: str, root: Path) -> None:
    compiled, said = check(root / "examples" / example, "")
    plain, other = check(root / "examples" / example, PLAIN)
    if compiled == "py":
        pytest.skip("NOT TESTED: no compiled sqlglot for this machine")
    assert plain == "py"
    assert said == other
