"""The documents tell the truth: commands in them are run, their output and links compared.

A ```console block is a line `$ ./ontoweir …` and what it prints, stderr first. After a change:

    python -m tests.docs.test_docs     # writes the output anew, to be read before it is committed
"""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from ontoweir.cli import main
from ontoweir.diagnostics import CODES
from tests.paths import ROOT

DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
_CONSOLE = re.compile(r"^```console\n\$ \./ontoweir (.*)\n((?:.*\n)*?)```$", re.MULTILINE)


def run(command: str) -> str:
    """What a command prints in the repository's folder; the folder's own name is left out."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(ROOT), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        main(shlex.split(command))
    text = (err.getvalue() + out.getvalue()).replace(f"{ROOT}/", "")
    return re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)


def examples() -> list[tuple[str, str, str]]:
    return [
        (document.name, found[1], found[2])
        for document in DOCUMENTS
        for found in _CONSOLE.finditer(document.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize(
    ("command", "output"), [pytest.param(c, o, id=f"{d}: {c[:60]}") for d, c, o in examples()]
)
def test_output(command: str, output: str) -> None:
    assert run(command) == output


def test_there_are_examples() -> None:
    assert {"README.md", "semantics.md"} <= {d for d, _, _ in examples()}


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/*.md")), ids=lambda d: d.name)
def test_every_page_opens_with_an_example(page: Path) -> None:
    """Before its first heading below the title there is a block, or its first question has one."""
    opening = re.split(r"^## (?!1\. )", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[0]
    assert re.search(r"^(?:```|::: )", opening, re.MULTILINE), "no example before the first heading"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.name)
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (document.parent / target).exists(), target


def test_every_code_is_explained() -> None:
    text = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"^### (OW\d+)", text, re.MULTILINE))
    assert explained == {*CODES.values(), "OW299"}


def test_architecture_names_files_that_exist() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for name in re.findall(
        r"`((?:ontology|mappings|rewriter|checker|runtime|src|tests)/[\w./]*)`", text
    ):
        assert (ROOT / name).exists(), name


def rewrite(document: Path) -> None:
    """Write the output of a document's commands anew."""
    text = document.read_text(encoding="utf-8")
    document.write_text(
        _CONSOLE.sub(lambda m: f"```console\n$ ./ontoweir {m[1]}\n{run(m[1])}```", text),
        encoding="utf-8",
    )


if __name__ == "__main__":
    for each in DOCUMENTS:
        rewrite(each)
