"""The page of questions: every query is decided, and replayed over the data of `ontoweir init`."""

import re
from pathlib import Path

import pytest

import ontoweir as ow
from ontoweir.cli import main
from tests.paths import ROOT

PAGE = (ROOT / "docs" / "questions.md").read_text(encoding="utf-8")
QUESTIONS = re.findall(
    r"^## (\d+)\. ([^\n]+)\n\n```(?:sparql|sql)\n(.*?)```\n\n\*\*([^*]*)\.\*\* \S",
    PAGE,
    re.MULTILINE | re.DOTALL,
)


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> "ow.OpenProject":
    """The project that the questions are about."""
    folder: Path = tmp_path_factory.mktemp("questions") / "rooms"
    assert main(["init", str(folder)]) == 0
    return ow.open(folder)


def test_it_opens_with_what_check_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opening = re.search(r"^```console\n\$ (.*)\n((?:.*\n)*?)```$", PAGE, re.MULTILINE)
    assert opening is not None
    monkeypatch.chdir(tmp_path)
    for command in opening[1].split(" && "):
        assert main(command.removeprefix("ontoweir ").split()) == 0
    assert capsys.readouterr().out == opening[2]


def test_all_are_read() -> None:
    assert [int(number) for number, *_ in QUESTIONS] == list(range(1, 41))
    assert PAGE.count("\n## ") == 40


@pytest.mark.parametrize(
    ("text", "told"), [q[2:] for q in QUESTIONS], ids=[q[1] for q in QUESTIONS]
)
def test_the_verdict_is_as_told(rooms: "ow.OpenProject", text: str, told: str) -> None:
    if told == "refused":
        with pytest.raises(ow.OntoweirError, match="is never final"):
            rooms.check(text)
        return
    verdict = rooms.check(text)
    if verdict.plans is None:
        assert verdict.witness is not None
        assert told == f"{verdict.name}, with a counterexample of {verdict.witness.size} tuples"
        return
    assert verdict.bound is not None
    rows = verdict.bound.rows
    count = len(rooms.replay(text, engine="driver"))
    answers = f"{count:,} answer{'s' * (count != 1)}"
    assert told == f"{verdict.name}, at most {rows:,} row{'s' * (rows != 1)}; {answers}"
