"""The playground steps through the answers of a replay."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from jsonschema import validate

from ontoweir.dashboard.steps import replay_steps
from ontoweir.dashboard.steps.replay_steps import Change, Step, Steps
from ontoweir.dashboard.steps.view_step import SHOWN, chart_steps, view_step
from ontoweir.dashboard.worker import Worker
from ontoweir.draw.draw_chart import draw_chart
from ontoweir.errors import UsageError

TOML = """
[project]
queries = []
[streams.s]
source = { format = "csv", path = "s.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 minute" }
max_per_timestamp = 9
columns = { k = { type = "string", enum = ["a", "b"] }, v = "int" }
"""
ROWS = "ts,k,v\n" + "".join(
    f"2026-01-05 08:{n:02}:00,{'ab'[n % 3 == 2]},{n}\n" for n in [0, 1, 1, 2, 4, 30]
)
LATEST = (
    "SELECT k, v FROM (SELECT k, v, RANK() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM s) "
    "WHERE n = 1"
)
WINDOW = "SELECT k, v FROM s WHERE ts > NOW() - INTERVAL '3' MINUTE"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with some rows."""
    (tmp_path / "ontoweir.toml").write_text(TOML)
    (tmp_path / "s.csv").write_text(ROWS)
    return tmp_path


def _replay(client: FlaskClient, sql: str) -> dict[str, Any]:
    answer = client.post("/api/replay", json={"language": "sql", "text": sql})
    assert answer.status_code == 200, answer.text
    found = answer.json
    assert isinstance(found, dict)
    described: Any = client.get("/api/openapi.json").json
    validate(found, described["components"]["schemas"]["Steps"])
    return found


def _held(found: dict[str, Any]) -> list[list[str]]:
    """What holds after each time, of the changes alone."""
    held: list[str] = []
    after = []
    for step in found["steps"]:
        for change in step["changes"]:
            row = json.dumps(change["row"])
            for _ in range(change["multiplicity"]):
                if change["op"] == "+":
                    held.append(row)
                else:
                    held.remove(row)
        assert step["holding"] == len(held)
        after.append(sorted(held))
    return after


def test_changes_as_json(client: FlaskClient) -> None:
    found = _replay(client, WINDOW)
    assert found["columns"] == ["k", "v"]
    assert [step["at"][11:16] for step in found["steps"]] == [
        *("08:00", "08:01", "08:02", "08:03", "08:04", "08:05", "08:07", "08:30")
    ]
    assert _held(found)[2] == ['["a", 0]', '["a", 1]', '["a", 1]', '["b", 2]']
    assert _held(found)[6:] == [[], ['["a", 30]']]
    assert found["total"] == found["told"] == sum(len(s["changes"]) for s in found["steps"])
    assert found["state_rows"] <= found["bound_rows"]


def test_the_page_goes_from_time_to_time(client: FlaskClient) -> None:
    form = {"text": WINDOW, "language": "sql", "do": "replay"}
    first = client.post("/playground", data=form).text
    assert "Time 1 of 8" in first
    assert "1 came, 0 went; 1 hold" in first
    assert re.search(r'name="go" value="-1" disabled', first)
    step = {**form, "do": "step", "step": "0", "go": "2"}
    third = client.post("/playground", data=step).text
    assert "Time 3 of 8" in third
    assert "1 came, 0 went; 4 hold" in third
    assert "data-focus" in third
    assert re.search(r'<tr class="came"><td></td><td>b</td><td>2</td></tr>', third)
    assert "<td>2</td><td>a</td><td>1</td>" in third  # twice
    del step["go"]
    last = client.post("/playground", data={**step, "step": "99"}).text
    assert "Time 8 of 8" in last
    assert "2026-01-05 08:30:00" in last
    assert "<noscript>" in last
    again = client.post("/playground", data={**step, "step": "x" * 50}).text
    assert "Time 1 of 8" in again


def test_what_takes_the_place_of_others(client: FlaskClient) -> None:
    held = _held(_replay(client, LATEST))
    assert [len(rows) for rows in held] == [1, 2, 3, 2, 2]
    assert held[-1] == ['["a", 30]', '["b", 2]']


def test_answers_that_hold_for_ever(client: FlaskClient) -> None:
    hourly = "SELECT k, COUNT(*) AS n FROM s GROUP BY k, FLOOR(ts TO HOUR)"
    form = {"text": hourly, "language": "sql"}
    assert "Step by step" not in client.post("/playground", data=form).text
    found = _replay(client, "SELECT k, v FROM s WHERE v > 1")
    assert [step["holding"] for step in found["steps"]] == [1, 2, 3]
    rare = {**form, "do": "replay", "text": "SELECT k FROM s WHERE v > 99"}
    assert "It has no answers over the history" in client.post("/playground", data=rare).text


def test_what_cannot_be_replayed(client: FlaskClient, project: Path) -> None:
    endless = "SELECT DISTINCT v FROM s"
    form = {"text": endless, "language": "sql", "do": "replay"}
    answer = client.post("/playground", data=form)
    assert answer.status_code == 422
    assert 'class="problem" role="alert">query.sql:1: ' in answer.text
    assert client.post("/api/replay", json={"text": endless, "language": "sql"}).status_code == 422
    assert client.post("/api/replay", data="x").status_code == 400
    wrong = client.post("/api/replay", json={"text": "SELECT x FROM s", "language": "sql"})
    assert wrong.status_code == 422
    assert wrong.json is not None
    assert wrong.json["error"].startswith("query.sql:1: ")
    (project / "s.csv").unlink()
    gone = client.post("/api/replay", json={"text": WINDOW, "language": "sql"})
    assert "there is no data for s" in gone.text


def test_what_is_known_is_not_replayed_again(
    client: FlaskClient, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = {"text": WINDOW, "language": "sql", "do": "replay"}
    client.post("/playground", data=form)
    (project / "s.csv").write_text("ts,k,v\n2026-01-05 08:00:00,a,7\n")
    assert "Time 1 of 8" in client.post("/playground", data={**form, "do": "step"}).text
    assert "Time 1 of 1" in client.post("/playground", data=form).text


def test_the_first_changes_are_told(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_steps, "MOST", 4)
    found = _replay(client, WINDOW)
    assert (found["told"], found["total"]) == (4, 9)  # of the next time there may be more
    page = client.post("/playground", data={"text": WINDOW, "language": "sql", "do": "replay"}).text
    assert "9 changes, of which the first 4 are shown" in page


def test_many_answers_of_the_first_time(
    client: FlaskClient, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "".join(f"2026-01-05 08:00:00,a,{n}\n" for n in range(9))
    (project / "s.csv").write_text(f"ts,k,v\n{rows}2026-01-05 08:01:00,b,1\n")
    monkeypatch.setattr(replay_steps, "MOST", 4)
    found = _replay(client, "SELECT v FROM s")
    assert ([step["holding"] for step in found["steps"]], found["total"]) == ([9], 10)
    monkeypatch.setattr(replay_steps, "MOST_AT_ONCE", 6)
    answer = client.post("/api/replay", json={"language": "sql", "text": "SELECT v FROM s"})
    assert "more than 6 answers come at one time" in answer.text


def test_a_replay_that_takes_too_long_ends(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(self: Worker, progress: object) -> None:
        raise UsageError("the check took longer than 1 s", why="others wait", fix="ask less")

    _replay(client, WINDOW)
    monkeypatch.setattr(Worker, "on_progress", late)
    answer = client.post("/api/replay", json={"text": WINDOW, "language": "sql"})
    assert "the check took longer" in answer.text


def test_long_tables_are_cut() -> None:
    many = tuple(Change(True, (n, None), 1) for n in range(SHOWN + 5))
    steps = Steps(
        ("a", "b"), (Step("2026-01-05T08:00:00", many, len(many)),), len(many), True, 0, None
    )
    view = view_step(steps, 7)
    assert (view.number, view.came, view.different) == (0, SHOWN + 5, SHOWN + 5)
    assert len(view.changes) == len(view.holds) == SHOWN
    assert "<svg" in draw_chart(chart_steps(steps, 0))
