"""`ontoweir init --from` of files of changes: Debezium's, and keys with values."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ontoweir.scaffold.read_sample import read_sample
from tests.ontoweir.conftest import Run

START = 1_767_225_600_000


def _debezium(n: int) -> dict[str, Any]:
    image = {"id": n % 9, "city": "ab"[n % 2], "at": {"floor": n % 3}, "price": n / 4}
    gone = n % 10 == 9
    return {
        "payload": {
            "before": image if gone else None,
            "after": None if gone else image,
            "op": "d" if gone else "c",
            "ts_ms": START + 1000 * n + 5,
            "source": {"ts_ms": START + 1000 * n, "lsn": n, "table": "shop"},
        }
    }


def _upsert(n: int) -> dict[str, Any]:
    value = None if n % 10 == 9 else {"city": "ab"[n % 2], "at": {"floor": n % 3}, "price": n / 4}
    return {"key": {"id": n % 9}, "value": value, "timestamp": START + 1000 * n, "offset": n}


@pytest.mark.parametrize("form", ["debezium", "upsert"])
def test_changes_of_a_table(form: str, run: Run, tmp_path: Path) -> None:
    make = _debezium if form == "debezium" else _upsert
    file, project = tmp_path / "shop.jsonl", tmp_path / "plant"
    file.write_text("".join(json.dumps(make(n)) + "\n" for n in range(120)))
    ran = run("init", project, "--from", file)
    assert ran.code == 0, ran.err
    text = (project / "ontoweir.toml").read_text()
    stream = tomllib.loads(text)["streams"]["shop"]
    assert stream["source"]["envelope"] == form
    assert stream["source"]["delete"] == "deleted"
    time = {"debezium": "source.ts_ms", "upsert": "timestamp"}[form]
    assert stream["timestamp"]["from"] == [time]
    assert stream["timestamp"]["unit"] == "1 second"
    paths = {n: c.get("from") for n, c in stream["columns"].items() if isinstance(c, dict)}
    place, order = {
        "debezium": ("after", ("lsn", "source.lsn")),
        "upsert": ("value", ("offset", "offset")),
    }[form]
    assert {p for p in paths.items() if p[1] is not None} == {
        ("at_floor", f"{place}.at.floor"),
        order,
    }
    assert stream["columns"]["deleted"] == "boolean"
    assert set(stream["columns"]) == {"id", "city", "at_floor", "price", "deleted", order[0]}
    assert '# versions = { stream = "shop"' in text
    checked = run("check", project, "--data", "-q")
    assert checked.code == 0, checked.out
    assert "data  shop: what is declared is true of 120 rows" in checked.out


@pytest.mark.parametrize(
    "line",
    [
        {"op": "c", "after": 3, "before": None, "ts_ms": 1},
        {"op": "x", "after": {"a": 1}, "before": None, "ts_ms": 1},
        {"op": "c", "after": {"a": 1}, "ts_ms": 1},
        {"key": 1, "value": {"a": 1}, "timestamp": 1, "more": 2},
        {"key": 1, "value": 3, "timestamp": 1},
    ],
)
def test_what_only_looks_like_changes(line: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text(json.dumps(line) + "\n")
    assert read_sample(file).changes is None
