"""Completion as zsh and fish do it, where they are installed."""

import os
import pty
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.ontoweir.conftest import Run

FISH, ZSH = shutil.which("fish"), shutil.which("zsh")


@pytest.mark.skipif(FISH is None, reason="no fish")
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("ontoweir rep", ["replay", "report"]),
        ("ontoweir check --fo", ["--format"]),
        ("ontoweir check --format ", ["html", "json", "sarif", "text"]),
        ("ontoweir replay --summary j", ["json"]),
        ("ontoweir plot --show w", ["witness"]),
        ("ontoweir completion f", ["fish"]),
        ("ontoweir check my", ["my-project/"]),
        ("ontoweir check --format j", ["json"]),
    ],
)
def test_fish_completes(run: Run, tmp_path: Path, line: str, found: list[str]) -> None:
    (tmp_path / "my-project").mkdir()
    script = tmp_path / "ontoweir.fish"
    script.write_text(run("completion", "fish").out)
    done = subprocess.run(
        [FISH or "", "--no-config", "-c", f"source {script}; complete -C '{line}'"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path)},
    )
    assert done.stderr == ""
    assert [told.split("\t")[0] for told in done.stdout.splitlines()] == found


@pytest.fixture
def typed(run: Run, tmp_path: Path) -> Iterator[Callable[[str, str], str]]:
    """Type into a zsh that has the completion, and read until a text comes."""
    script = tmp_path / "ontoweir.zsh"
    script.write_text(run("completion", "zsh").out)
    master, slave = pty.openpty()
    shell = subprocess.Popen(
        [ZSH or "", "-f", "-i"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path), "TERM": "dumb", "PS1": "> "},
        start_new_session=True,
    )
    os.close(slave)

    def type_in(keys: str, until: str) -> str:
        os.write(master, keys.encode())
        found = b""
        while until.encode() not in found:
            found += os.read(master, 4096)
        return found.decode(errors="replace")

    told = type_in(f"autoload -U compinit; compinit -u -D; source {script}; echo al''l\n", "\nall")
    assert "\nall" in told
    yield type_in
    shell.kill()
    shell.wait()
    os.close(master)


@pytest.mark.skipif(ZSH is None, reason="no zsh")
@pytest.mark.parametrize(
    ("keys", "found"),
    [
        ("ontoweir rep\t\t", "replay  report"),
        ("ontoweir check --fo\t", "ontoweir check --format "),
        ("ontoweir check --format j\t", "ontoweir check --format json "),
        ("ontoweir completion f\t", "ontoweir completion fish "),
    ],
)
def test_zsh_completes(typed: Callable[[str, str], str], keys: str, found: str) -> None:
    assert found in typed(keys, found)
