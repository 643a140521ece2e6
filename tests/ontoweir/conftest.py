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

SOME = (
    "congestion-not-cleared-within-30-minutes",
    "every-reading-above-130",
    "how-often-congestion-got-worse",
    "latest-speed-of-each-sensor",
    "readings-both-fast-and-congested",
    "sensors-that-ever-reported-a-disturbance",
    "two-sensors-of-one-road-congested-at-once",
    "what-is-measured-on-each-road",
)
"""Queries of the example, some of each kind of verdict: for tests that check a project often."""


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
def small(project: Path) -> Path:
    """The same with some of its queries."""
    for query in (project / "queries").iterdir():
        if query.stem not in SOME:
            query.unlink()
    return project


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Call the command line in this process."""

    def call(*arguments: object) -> Ran:
        code = main([str(a) for a in arguments])
        told = capsys.readouterr()
        return Ran(code, told.out, told.err)

    return call
