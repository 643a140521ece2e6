"""The repository's layout: five folders at the top, one import package `ontoweir`."""

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path, PurePosixPath
from shutil import copytree, ignore_patterns

import pytest

FOLDERS = ("ontology", "mappings", "rewriter", "checker", "runtime")


def _setuptools_table(root: Path) -> tuple[list[str], dict[str, str]]:
    with (root / "pyproject.toml").open("rb") as file:
        table = tomllib.load(file)["tool"]["setuptools"]
    return table["packages"], table["package-dir"]


def _packages(root: Path) -> dict[str, Path]:
    """The rooms: every folder of modules, by its name in Python."""
    tops = [root / "src/ontoweir", *(root / name for name in FOLDERS)]
    found = {}
    for top in tops:
        for init in top.rglob("__init__.py"):
            under = init.parent.relative_to(top).parts
            name = ("ontoweir", *(() if top == tops[0] else (top.name,)), *under)
            found[".".join(name)] = init.parent
    return found


def test_package_dir_and_links_agree(root: Path) -> None:
    packages, folders = _setuptools_table(root)
    assert sorted(packages) == sorted(_packages(root))
    links = {
        f"ontoweir.{path.name}": os.path.relpath(path.resolve(), root.resolve())
        for path in (root / "src" / "ontoweir").iterdir()
        if path.is_symlink()
    }
    assert folders == {"ontoweir": "src/ontoweir", **links}
    assert sorted(links) == [f"ontoweir.{name}" for name in sorted(FOLDERS)]


def test_links_are_relative(root: Path) -> None:
    for name in FOLDERS:
        assert os.readlink(root / "src" / "ontoweir" / name) == f"../../{name}"


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> list[PurePosixPath]:
    """The files of a wheel, built with what is installed, without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    skip = ignore_patterns("__pycache__")
    for name in (*FOLDERS, "src"):
        copytree(root / name, source / name, symlinks=True, ignore=skip)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (source / name).write_bytes((root / name).read_bytes())
    build = "from setuptools import build_meta; print(build_meta.build_wheel('../dist'))"
    done = subprocess.run(
        [sys.executable, "-c", build], cwd=source, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(folder / "dist" / done.stdout.splitlines()[-1]) as archive:
        return [PurePosixPath(name) for name in archive.namelist()]


def test_a_wheel_installs_only_ontoweir(wheel: list[PurePosixPath]) -> None:
    tops = {path.parts[0] for path in wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"ontoweir"}
    assert len(tops) == 2


def test_a_wheel_has_every_module_once_and_is_typed(root: Path, wheel: list[PurePosixPath]) -> None:
    assert len(wheel) == len(set(wheel))
    expected = {
        PurePosixPath(*name.split("."), path.name)
        for name, folder in _packages(root).items()
        for path in folder.glob("*.py")
    }
    assert {path for path in wheel if path.suffix == ".py"} == expected
    assert PurePosixPath("ontoweir/py.typed") in wheel
    for name in ("templates", "static"):
        for path in (root / "src/ontoweir/dashboard" / name).iterdir():
            assert PurePosixPath("ontoweir/dashboard", name, path.name) in wheel
    for name in ("local_files.jar", "log4j.properties"):
        assert PurePosixPath("ontoweir/runtime/spark", name) in wheel
