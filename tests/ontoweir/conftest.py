"""A copy of the example without data, to be broken, and the command line called in this process."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ontoweir.cli import main


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command did: its exit code and what it printed."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def example(root: Path) -> Path:
    """The example project as it stands in the repository."""
    return root / "examples" / "traffic"


@pytest.fixture
def project(example: Path, tmp_path: Path) -> Path:
    """A copy of the example, without data."""
    copy = tmp_path / "traffic"
    shutil.copytree(example, copy, ignore=shutil.ignore_patterns("data", "out", "__pycache__"))
    return copy


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Call the command line in this process."""

    def call(*arguments: object) -> Ran:
        code = main([str(a) for a in arguments])
        told = capsys.readouterr()
        return Ran(code, told.out, told.err)

    return call
