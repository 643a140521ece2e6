"""Runs tests with other versions than the locked ones, each in an environment of its own.

    .venv/bin/python .ci/try_versions.py lowest                 # the least of pyproject.toml
    .venv/bin/python .ci/try_versions.py python 3.12 3.13 3.14  # or a path to an interpreter
    .venv/bin/python .ci/try_versions.py spark 4.1.4 4.2.1
    .venv/bin/python .ci/try_versions.py lowest --tests tests/oracle -m "not spark"

Without `--tests`, which takes all that follows for pytest, these are the unit tests (of `spark`:
tests of runs and commands that need it). Packages come from pip's index: it needs a network. What
cannot be installed, as an interpreter that uv does not find, is named, and the others are tried.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV = ROOT / ".venv" / "bin" / "uv"
FAST = ["--fast"]
SPARK = ["-m", "spark", "tests/runtime", "tests/ontoweir/commands"]
NOT_OF_TESTS = ("cyclonedx-bom", "import-linter", "mkdocs", "mypy", "ruff")
"""What the group `dev` has for other ends, and which needs newer packages than ontoweir does."""


def run_uv(*arguments: str, folder: Path | None = None) -> bool:
    """Whether uv did it; what it says is shown where it did not."""
    given = {**os.environ, "UV_SYSTEM_CERTS": "1"}
    if folder is not None:
        given |= {"VIRTUAL_ENV": str(folder), "UV_PROJECT_ENVIRONMENT": str(folder)}
    command = [str(UV), *arguments, "--quiet"]
    return subprocess.run(command, cwd=ROOT, env=given, check=False).returncode == 0


def install_locked(folder: Path, python: str, *more: str) -> bool:
    """The locked packages, for an interpreter, and others in the place of some."""
    locked = run_uv("sync", "--frozen", "--python", python, folder=folder)
    return locked and (not more or run_uv("pip", "install", *more, folder=folder))


def install_lowest(folder: Path) -> bool:
    """The lowest versions that pyproject.toml allows, of extras too, and what tests need."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        group = tomllib.load(file)["dependency-groups"]["dev"]
    tools = [line for line in group if not line.startswith(NOT_OF_TESTS)]
    pinned = str(folder.with_suffix(".txt"))
    lowest = ("--resolution", "lowest-direct", "--all-extras", "pyproject.toml")
    return (
        run_uv("venv", "--python", sys.executable, str(folder))
        and run_uv("pip", "compile", *lowest, "--python", str(folder), "-o", pinned)
        and run_uv("pip", "install", "-r", pinned, folder=folder)
        and run_uv("pip", "install", "--constraint", pinned, *tools, folder=folder)
        and run_uv("pip", "install", "--no-deps", "--editable", ".", folder=folder)
    )


def run_tests(folder: Path, tests: list[str]) -> bool:
    """Whether tests pass in an environment."""
    python = folder / "bin" / "python"
    given = {**os.environ, "PYSPARK_PYTHON": str(python), "PYSPARK_DRIVER_PYTHON": str(python)}
    given |= {"PYTHONDONTWRITEBYTECODE": "1", "PATH": f"{python.parent}:{os.environ['PATH']}"}
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    return subprocess.run(command, cwd=ROOT, env=given, check=False).returncode == 0


def try_one(kind: str, version: str, tests: list[str]) -> str:
    """Install and test one; what came of it."""
    with tempfile.TemporaryDirectory(prefix="ontoweir-versions-") as place:
        folder = Path(place, "environment")
        if kind == "lowest":
            there = install_lowest(folder)
        elif kind == "spark":
            there = install_locked(folder, sys.executable, f"pyspark=={version}")
        else:
            there = install_locked(folder, version)
        if not there:
            return "could not be installed"
        return "passed" if run_tests(folder, tests) else "FAILED"


def main() -> int:
    """Try each version; 1 where tests failed, 3 where something could not be installed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=["lowest", "python", "spark"])
    parser.add_argument("versions", nargs="*", help="of Python or pyspark")
    parser.add_argument("--tests", nargs=argparse.REMAINDER, help="arguments of pytest")
    asked = parser.parse_args()
    if bool(asked.versions) == (asked.kind == "lowest"):
        parser.error("`lowest` takes no version, the others at least one")
    tests = asked.tests or (SPARK if asked.kind == "spark" else [*FAST, "-n", "2"])
    found = {v: try_one(asked.kind, v, tests) for v in asked.versions or ["versions"]}
    for version, came in found.items():
        print(f"{asked.kind} {version}: {came}", flush=True)
    came = set(found.values())
    return 1 if "FAILED" in came else 3 if came != {"passed"} else 0


if __name__ == "__main__":
    raise SystemExit(main())
