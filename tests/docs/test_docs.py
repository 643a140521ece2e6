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

from ontoweir.cli import main, make_parser
from ontoweir.commands.common.arguments import name_query
from ontoweir.commands.scripts.name_scripts import name_scripts
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
    """The first thing below the title is a block."""
    assert re.match(r"# .+\n\n```\w+\n", page.read_text(encoding="utf-8")), "no example first"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.name)
def test_commands_of_shells_are_understood(document: Path) -> None:
    """What blocks of `sh` and `console` have after `ontoweir` is parsed; nothing is run."""
    for command in _list_commands(document.read_text(encoding="utf-8")):
        words = shlex.split(command, comments=True)
        if words[0] not in ("setup", "test", "demo"):  # those of the script ./ontoweir alone
            make_parser().parse_args(name_query(name_scripts(words)))


def _list_commands(text: str) -> list[str]:
    """The arguments of each call of the program, without what its output goes to."""
    blocks = re.findall(r"^```(?:sh|console)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = re.sub(r"\s*\\\n\s*", " ", "\n".join(blocks)).splitlines()
    parts = [part for line in lines for part in re.split(r"&&|(?<=\w) \| ", line)]
    found = (re.match(r"\s*(?:\$ )?(?:time )?\S*\bontoweir (.*)", part) for part in parts)
    plain = [re.sub(r"\s2?>.*| &$", "", f[1]) for f in found if f is not None]
    return [p for p in plain if "…" not in p.split()]


def test_commands_are_found() -> None:
    block = "time ontoweir check a \\\n  --quiet > out\nls | x && .venv/bin/ontoweir ui p &\n"
    assert _list_commands(f"```sh\n{block}```\n") == ["check a --quiet", "ui p"]


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
