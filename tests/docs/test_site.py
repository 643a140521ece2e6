"""The documentation site is built without a network and names no other host; the notebook runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.paths import ROOT
from tests.waiting import HANG_TIMEOUT

_LOADED = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=["']?([^"'\s>]+)""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "https_proxy": "http://127.0.0.1:9"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


def test_every_page_is_in_the_site(site: Path) -> None:
    for page in (ROOT / "docs").glob("*.md"):
        name = "index.html" if page.stem == "index" else f"{page.stem}/index.html"
        assert (site / name).exists(), page.name


def test_every_page_is_in_the_menu() -> None:
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert f": {page.name}" in menu, page.name


def test_nothing_is_loaded_from_other_hosts(site: Path) -> None:
    for page in site.rglob("*.html"):
        for found in _LOADED.findall(page.read_text(encoding="utf-8")):
            assert "://" not in found, f"{page}: {found}"


def test_the_api_is_documented(site: Path) -> None:
    text = (site / "api" / "index.html").read_text(encoding="utf-8")
    for name in ("open_project", "OpenProject", "Verdict", "OntoweirError"):
        assert name in text


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param("traffic.ipynb", marks=pytest.mark.spark), "own-data.ipynb"]
)
def test_the_notebooks_run(name: str) -> None:
    notebook = nbformat.read(  # type: ignore[no-untyped-call]
        ROOT / "examples" / name, as_version=4
    )
    assert not any(cell.get("outputs") for cell in notebook.cells)
    client = NotebookClient(
        notebook,
        timeout=None,
        startup_timeout=int(HANG_TIMEOUT),
        resources={"metadata": {"path": str(ROOT / "examples")}},
    )
    client.execute()
