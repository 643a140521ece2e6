"""Lines with an array and values of their own; things that have a state in place of a number."""

import json
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from tests.ontoweir.conftest import Run

_FIRST = datetime(2026, 5, 1, tzinfo=UTC)


def _uplinks(seed: int, *, own: bool) -> list[dict[str, object]]:
    """Messages of devices, each heard by one to three gateways."""
    random = Random(seed)
    made = []
    for n in range(120):
        heard = random.sample(["g1", "g2", "g3"], random.randint(1, 3))
        line: dict[str, object] = {
            "at": f"{_FIRST + timedelta(seconds=30 * n):%Y-%m-%dT%H:%M:%SZ}",
            "device": random.choice(["a", "b"]),
            "heard": [{"gateway": g, "rssi": random.randint(-120, -40)} for g in heard],
        }
        made.append({**line, "data": {"temp": random.randint(0, 99) / 4}} if own else line)
    return made


def _last(run: Run, project: Path, query: str, by: str) -> dict[str, dict[str, object]]:
    options = ("--project", project, "--format", "jsonl", "--limit", "9999", "-q")
    ran = run("show", query, *options)
    assert ran.code == 0, ran.err
    return {row[by]: row for row in map(json.loads, ran.out.splitlines())}


@pytest.mark.parametrize("seed", range(3))
def test_a_value_beside_an_array_counts_once(run: Run, tmp_path: Path, seed: int) -> None:
    lines = _uplinks(seed, own=True)
    (tmp_path / "up.jsonl").write_text("".join(json.dumps(n) + "\n" for n in lines))
    assert run("init", tmp_path / "p", "--from", tmp_path / "up.jsonl").code == 0
    streams = tomllib.loads((tmp_path / "p" / "ontoweir.toml").read_text())["streams"]
    assert [s["source"].get("unnest") for s in streams.values()] == [None, "heard"]
    assert [*streams] == ["up", "up_heard"]
    query = "SELECT device, COUNT(*) AS n, SUM(data_temp) AS total FROM up GROUP BY device"
    got = _last(run, tmp_path / "p", query, "device")
    for device, row in got.items():
        temps = [n["data"]["temp"] for n in lines if n["device"] == device]  # type: ignore[index]
        assert (row["n"], row["total"]) == (len(temps), sum(temps))
    query = "SELECT heard_gateway, COUNT(*) AS n FROM up_heard GROUP BY heard_gateway"
    got = _last(run, tmp_path / "p", query, "heard_gateway")
    for gateway, row in got.items():
        heard = [h for n in lines for h in n["heard"] if h["gateway"] == gateway]  # type: ignore[attr-defined]
        assert row["n"] == len(heard)
    assert run("check", tmp_path / "p", "--data").code == 0


def test_an_array_beside_names_alone_is_the_table(run: Run, tmp_path: Path) -> None:
    lines = _uplinks(0, own=False)
    (tmp_path / "up.jsonl").write_text("".join(json.dumps(n) + "\n" for n in lines))
    assert run("init", tmp_path / "p", "--from", tmp_path / "up.jsonl").code == 0
    streams = tomllib.loads((tmp_path / "p" / "ontoweir.toml").read_text())["streams"]
    assert {name: s["source"]["unnest"] for name, s in streams.items()} == {"up": "heard"}


def test_lines_without_elements_are_rows_too(run: Run, tmp_path: Path) -> None:
    """Elsewhere they would have none: the lines are a table of their own."""
    lines = _uplinks(0, own=False)
    lines[3]["heard"], lines[5]["heard"] = [], None
    (tmp_path / "up.jsonl").write_text("".join(json.dumps(n) + "\n" for n in lines))
    assert run("init", tmp_path / "p", "--from", tmp_path / "up.jsonl").code == 0
    query = "SELECT device, COUNT(*) AS n FROM up GROUP BY device"
    got = _last(run, tmp_path / "p", query, "device")
    for device, row in got.items():
        assert row["n"] == sum(line["device"] == device for line in lines)


def test_numbers_of_things_are_not_their_values(run: Run, tmp_path: Path) -> None:
    """Not the number of the vessel, and tons, which no two rows of a time share by chance, are no
    key: later rows would be rejected."""
    random = Random(1)
    lines = [
        {
            "at": f"{_FIRST + timedelta(minutes=n // 2):%Y-%m-%dT%H:%M:%SZ}",
            "port": random.choice(["north", "south"]),
            "vessel_mmsi": random.choice([219000001, 219000002, 219000003]),
            "tons": 2 * random.randint(0, 4000) + n % 2,
        }
        for n in range(400)
    ]
    (tmp_path / "calls.jsonl").write_text("".join(json.dumps(n) + "\n" for n in lines))
    assert run("init", tmp_path / "p", "--from", tmp_path / "calls.jsonl").code == 0
    stream = tomllib.loads((tmp_path / "p" / "ontoweir.toml").read_text())["streams"]["calls"]
    assert "keys" not in stream
    above = (tmp_path / "p" / "queries" / "calls-above.sql").read_text()
    assert "WHERE tons >" in above


def test_the_latest_state(run: Run, tmp_path: Path) -> None:
    rows = [("door", "on"), ("lamp", "off"), ("door", "unavailable"), ("lamp", "21.5")] * 5
    lines = [
        f"{name},{state},{_FIRST + timedelta(minutes=n):%Y-%m-%dT%H:%M:%S}.123Z"
        for n, (name, state) in enumerate(rows)
    ]
    text = "entity_id,state,last_changed\n" + "\n".join(lines) + "\n"
    (tmp_path / "history.csv").write_text(text)
    assert run("init", tmp_path / "p", "--from", tmp_path / "history.csv").code == 0
    ran = run("show", "history-latest", tmp_path / "p", "--format", "jsonl", "--limit", "99")
    now: dict[str, str] = {}
    for row in map(json.loads, ran.out.splitlines()):
        if row["op"] == "+":
            now[row["it"].rpartition("/")[2]] = row["value"]
        elif now[row["it"].rpartition("/")[2]] == row["value"]:
            del now[row["it"].rpartition("/")[2]]
    assert now == {"door": "unavailable", "lamp": "21.5"}
