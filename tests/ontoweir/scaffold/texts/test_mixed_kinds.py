"""`ontoweir init --from` of JSON lines whose values are of several kinds, or that are cut off."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ontoweir.scaffold.read_json_lines import read_json_lines
from tests.ontoweir.conftest import Run

ROWS = 300


def write_lines(file: Path, values: list[Any], *more: str) -> None:
    lines = [
        json.dumps({"ts": f"2026-03-01T{n // 60:02}:{n % 60:02}:00Z", "payload": value})
        for n, value in enumerate(values)
    ]
    file.write_text("\n".join([*lines[:100], *more, *lines[100:]]) + "\n")


def init(run: Run, folder: Path, name: str = "log") -> tuple[dict[str, Any], str, str]:
    """The columns of a stream of a file, the catalog's text, and what its data is found to be."""
    project = folder / "p"
    ran = run("init", project, "--from", folder / "log.jsonl")
    assert ran.code == 0, ran.err
    text = (project / "ontoweir.toml").read_text()
    columns: dict[str, Any] = tomllib.loads(text)["streams"][name]["columns"]
    return columns, text, run("check", project, "--data").out


@pytest.mark.parametrize(
    ("odd", "kind"),
    [
        ({7: "21.5", 8: "1e3"}, "double"),  # are read as numbers
        (dict.fromkeys(range(0, ROWS, 20), "ERR"), "string"),  # so many are not left to be rejected
    ],
)
def test_numbers_and_texts(run: Run, tmp_path: Path, odd: dict[int, str], kind: str) -> None:
    values = [{"v": odd.get(n, n / 4), "id": f"{n % 7:03}"} for n in range(ROWS)]
    write_lines(tmp_path / "log.jsonl", values)
    columns, text, told = init(run, tmp_path)
    assert columns["payload_v"] == {"type": kind, "from": "payload.v"}
    assert columns["payload_id"]["type"] == "string"
    assert columns["payload_id"]["enum"] == [f"{n:03}" for n in range(7)]
    said = f"# payload_v is of texts, as {len(odd)} of {ROWS} rows have others than those of double"
    assert (said in text) is (kind == "string")
    assert f"is true of {ROWS} rows" in told


def test_a_few_texts_are_rejected_and_counted(run: Run, tmp_path: Path) -> None:
    values = [{"v": "ERR" if n in (3, 200) else n / 4} for n in range(ROWS)]
    write_lines(tmp_path / "log.jsonl", values)
    columns, _, told = init(run, tmp_path)
    assert columns["payload_v"]["type"] == "double"
    assert "payload_v is not of its type: 2 rows" in told


def test_a_last_will_beside_objects_and_a_line_that_is_cut_off(run: Run, tmp_path: Path) -> None:
    values = ["offline" if n % 50 == 9 else {"v": n / 4, "on": n % 2 == 0} for n in range(ROWS)]
    write_lines(tmp_path / "log.jsonl", values, '{"ts":"2026-03-01T0', "", "null")
    columns, _, told = init(run, tmp_path)
    assert columns["payload_v"] == {"type": "double", "from": "payload.v", "nullable": True}
    assert columns["payload_on"]["type"] == "boolean"
    assert f"2 of {ROWS + 2} rows break what is declared" in told


def test_texts_of_digits_alone_are_texts(tmp_path: Path) -> None:
    lines = ['{"a": "007", "b": 1, "c": ["x"]}', '{"a": "12", "b": "x", "c": "y"}']
    (tmp_path / "t.jsonl").write_text("\n".join([*lines, '{"b": 2, "c": null}']))
    rows = read_json_lines(tmp_path / "t.jsonl", 50)
    assert rows.to_pylist() == [
        {"a": "007", "b": 1, "c": ["x"]},
        {"a": "12", "b": None, "c": None},
        {"a": None, "b": 2, "c": None},
    ]


def test_what_is_no_json_lines_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text("ts v\n1 2\n{}\n3 4\n")
    ran = run("init", tmp_path / "p", "--from", tmp_path / "log.jsonl")
    assert (ran.code, "it is read as jsonl, by its name" in ran.err) == (2, True)


def test_elements_that_are_no_numbers_are_shown_with_their_line(run: Run, tmp_path: Path) -> None:
    """Lines without elements, and one that is no JSON, are counted as they are read."""
    values: list[Any] = [{"rd": [{"c": c, "v": n / 4} for c in range(n % 3)]} for n in range(ROWS)]
    values[200]["rd"] = [{"c": 0, "v": 1.5}, {"c": 1, "v": "ERR"}]
    values[150] = {"rd": None}
    write_lines(tmp_path / "log.jsonl", values, "{", "")
    columns, _, told = init(run, tmp_path, "log_rd")
    assert columns["payload_rd_v"]["type"] == "double"
    assert "payload_rd_v is not of its type: 1 row" in told
    assert "log.jsonl, row 203: " in told
    assert "payload.rd = {'c': 1, 'v': 'ERR'}" in told
    assert "log.jsonl, row 101:  = {" in told
