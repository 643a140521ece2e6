"""What is wrong outside a project is said in plain words: no class, no `Errno`, no codec."""

import re
from pathlib import Path

import pytest

from ontoweir.cli import main
from tests.ontoweir.conftest import Run

KAFKA = """[project]
queries = ["q.sql"]
[streams.s]
source = { format = "kafka", options = { subscribe = "t" } }
timestamp = { column = "ts", unit = "1 second" }
columns = { k = { type = "int", min = 0, max = 3 } }
"""
CASES = {
    "replay of a topic": ("replay k --query q --output a.csv", "which only a live run reads; "),
    "data of a topic": ("check k --data", "which only a live run reads; "),
    "no time": (
        "replay k --query q --from yesterday --output a.csv",
        "--from 'yesterday' is not a time; times are read in ISO 8601",
    ),
    "mapping of bytes": (
        "materialize --mappings bin --database sqlite:none.db",
        "byte 0 is 0xff, which is not UTF-8",
    ),
    "no mapping": (
        "materialize --mappings gone --database sqlite:none.db",
        "cannot read the mapping: No such file or directory;",
    ),
    "nobody answers": ("init new --from http://127.0.0.1:1/x.csv", "read: Connection refused;"),
    "an ontology elsewhere": (
        "init new --from d.csv --ontology http://127.0.0.1:1/o.ttl",
        "http://127.0.0.1:1/o.ttl is a URL;",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_said(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k").mkdir()
    (tmp_path / "k" / "ontoweir.toml").write_text(KAFKA)
    (tmp_path / "k" / "q.sql").write_text("SELECT k FROM s")
    (tmp_path / "bin").write_bytes(b"\xff\xfe")
    (tmp_path / "d.csv").write_text("ts,k\n2026-01-01,1\n2026-01-02,2\n")
    command, told = CASES[case]
    assert main(command.split()) == 2
    said = capsys.readouterr().err
    assert told in said
    assert len(said.splitlines()) == 1
    assert re.search(r"Errno|codec|None|\w+Error\b|isoformat", said) is None


def test_a_broker_that_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(tmp_path / "p"), "--from", "mqtt://127.0.0.1:1/x"]) == 3
    assert "127.0.0.1:1 cannot be connected to: Connection refused; " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (
            ("show", "x", "--folow"),
            "there is no option --folow; ",
        ),
        (("init", "x", "--mappings=m.ttl"), "there is no option --mappings; "),
        (("check", "a", "b", "c"), "'b', 'c' is more than it takes; "),
    ],
)
def test_what_a_command_does_not_know_is_told_with_its_name(
    run: Run, typed: tuple[str, ...], told: str
) -> None:
    done = run(*typed)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"ontoweir {typed[0]}: {told}")
    assert done.err.endswith(f"ee `ontoweir {typed[0]} --help`\n")
    assert ("did you mean --follow? " in done.err) == (typed[0] == "show")
