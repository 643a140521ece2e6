"""docs/commands has a page for each command, as its help is now, and all are in the menu."""

import runpy
import shlex
from pathlib import Path
from typing import Any

import pytest

from ontoweir.cli import COMMANDS, make_parser

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    """What the script that writes them defines."""
    return runpy.run_path(str(ROOT / ".ci" / "write_commands.py"))


def test_pages_are_as_they_would_be_written(script: dict[str, Any]) -> None:
    pages = script["write_pages"]()
    there = {f.name: f.read_text(encoding="utf-8") for f in (ROOT / "docs/commands").glob("*.md")}
    assert len(pages) == len(COMMANDS) + 1
    assert there == pages, "run .venv/bin/python .ci/write_commands.py"


def test_every_option_is_on_its_page(script: dict[str, Any]) -> None:
    pages = script["write_pages"]()
    (commands,) = (a.choices for a in make_parser()._actions if isinstance(a.choices, dict))
    for name, parser in commands.items():
        page = pages[f"{name}.md"]
        for action in parser._actions:
            for option in action.option_strings:
                shown = f"`{option}" in page or f", {option}" in page
                assert shown != (action.help == "==SUPPRESS=="), (name, option)


def test_every_page_opens_with_commands_that_are_understood(script: dict[str, Any]) -> None:
    (commands,) = (a.choices for a in make_parser()._actions if isinstance(a.choices, dict))
    for name, parser in commands.items():
        page = script["write_pages"]()[f"{name}.md"].split("\n", 4)
        assert page[4].startswith("```sh\nontoweir ") or name == "completion"
        for example in script["list_examples"](parser):
            line = example.replace("$(", "").replace(")", "").removeprefix("eval ")
            for called in line.replace(
                '"ontoweir completion bash"', "ontoweir completion bash"
            ).split("&&"):
                plain = shlex.split(called.partition("|")[0], comments=True)
                assert plain[0] == "ontoweir", example
                make_parser().parse_args(plain[1:])


def test_they_are_in_the_menu() -> None:
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in (ROOT / "docs" / "commands").glob("*.md"):
        assert f"commands/{page.name}" in menu, page.name
