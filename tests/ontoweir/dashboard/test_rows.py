"""Answers and rejected rows in the dashboard: pages, JSON, files, and events as they come."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any
from urllib.request import Request, urlopen

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from flask.testing import FlaskClient

from ontoweir.dashboard.check_queries import Checks
from ontoweir.dashboard.describe_api import describe_api
from ontoweir.dashboard.make_app import make_app
from ontoweir.dashboard.rows import add_rows as rows_routes
from ontoweir.dashboard.rows.find_rows import find_rows
from ontoweir.dashboard.rows.follow_rows import follow_rows
from ontoweir.dashboard.serve import serve_dashboard
from ontoweir.dashboard.site import Site
from ontoweir.errors import UsageError
from ontoweir.registry.entry_status import STATUS
from ontoweir.registry.registry_entry import ENTRY
from tests.ontoweir.dashboard.test_pages import ATTACK, read

QUERY = "every-reading-above-130"
START = datetime(2014, 8, 1, tzinfo=UTC)
Add = Callable[[int, list[tuple[str | None, int]]], Path]


@pytest.fixture
def add(site: Site) -> Add:
    """Writes a file of answers as a run does: a road and a speed each, five minutes apart."""

    def write(number: int, answers: list[tuple[str | None, int]]) -> Path:
        folder = site.answers / QUERY
        folder.mkdir(parents=True, exist_ok=True)
        times = [START + timedelta(minutes=5 * (100 * number + n)) for n in range(len(answers))]
        columns = {
            "road": pa.array([r for r, _ in answers], pa.string()),
            "speed": pa.array([s for _, s in answers], pa.int64()),
            "at": pa.array(times, pa.timestamp("us", "UTC")),
        }
        file = folder / f"part-{number:012d}.parquet"
        beside = folder / f".{file.name}.writing"
        pq.write_table(pa.table(columns), beside)
        beside.rename(file)  # who follows the folder sees a whole file or none, as a run has it
        return file

    return write


def ask(client: FlaskClient, path: str, **more: object) -> Any:
    answer = client.get(path, query_string={"name": QUERY, **more})
    assert answer.status_code == 200, answer.text
    return answer.json


def test_answers_are_shown_the_latest_first(client: FlaskClient, add: Add) -> None:
    add(0, [("A", 131), (None, 150)])
    add(1, [(ATTACK, 140)])
    page = ask(client, "/api/answers")
    assert [c["name"] for c in page["columns"]] == ["road", "speed", "at"]
    assert [row[1] for row in page["rows"]] == [140, 150, 131]
    assert page["rows"][1] == [None, 150, "2014-08-01T00:05:00"]
    assert (page["total"], page["met"], page["sort"]) == (3, 3, "at DESC")
    shown = client.get("/answers", query_string={"name": QUERY})
    assert shown.status_code == 200
    read(shown.text)
    assert "&lt;script&gt;alert(1)" in shown.text
    assert "NULL" in shown.text
    assert "speed of 3 answers over at" in shown.text  # the chart says what it shows
    assert f'href="/answers?name={QUERY}"' in client.get(f"/query?name={QUERY}").text


def test_a_chart_is_of_the_column_that_is_asked_for(client: FlaskClient, project: Path) -> None:
    folder = project / "out/answers" / QUERY
    folder.mkdir(parents=True)
    at = pa.array([0, 1_000_000], pa.int64()).cast(pa.timestamp("us", "UTC"))
    places = {"lat": [56.1, 56.2], "lon": [10.1, 10.2]}
    rows = pa.table({"device": [7, 8], **places, "n": [1, 2], "level": [0.5, 1], "at": at})
    pq.write_table(rows, folder / "part-000000000000.parquet")
    given = ask(client, "/api/answers", charts=1)
    assert "level of 2 answers" in given["chart"]  # neither a key nor a coordinate
    assert "n of 2 answers" in ask(client, "/api/answers", charts=1, chart="n")["chart"]
    asked = {"name": QUERY, "chart": "road"}
    assert client.get("/api/answers", query_string={**asked, "charts": 1}).status_code == 422
    assert client.get("/api/answers", query_string=asked).status_code == 200  # draws none
    shown = client.get("/answers", query_string=asked)
    assert shown.status_code == 422
    assert "ask for device or lat or lon or n or level" in shown.text
    shown = client.get("/answers", query_string={"name": QUERY, "chart": "n"})
    assert "<option selected>n</option>" in shown.text
    assert "<option>lat</option>" not in shown.text


def test_rows_are_chosen_sorted_and_paged(client: FlaskClient, add: Add) -> None:
    for number in range(3):
        add(number, [(f"R{n}", 131 + 10 * number + n) for n in range(5)])
    page = ask(client, "/api/answers", where="speed >= 142", sort="speed", limit=3)
    assert [row[1] for row in page["rows"]] == [142, 143, 144]
    assert (page["total"], page["met"]) == (15, 9)
    page = ask(client, "/api/answers", where="speed >= 142", sort="speed", limit=3, skip=7)
    assert [row[1] for row in page["rows"]] == [154, 155]
    shown = client.get(f"/answers?name={QUERY}&sort=speed&limit=4&skip=4")
    assert "5 to 8" in shown.text
    assert 'aria-sort="ascending"' in shown.text
    assert "next " in shown.text
    assert " before</a>" in shown.text


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"where": "bogus > 1"}, "unknown column"),
        ({"where": "speed"}, "the condition"),
        ({"where": "speed > 1; DROP TABLE x"}, "the condition"),
        ({"sort": "none"}, "there is no column"),
        ({"limit": "1e3"}, "not a number of rows"),
        ({"limit": "1001"}, "at most 1,000"),
        ({"skip": "-1"}, "not a number of rows"),
    ],
)
def test_what_is_asked_wrongly(
    client: FlaskClient, add: Add, asked: dict[str, str], said: str
) -> None:
    add(0, [("A", 131)])
    for path in ("/api/answers", "/answers"):
        answer = client.get(path, query_string={"name": QUERY, **asked})
        assert answer.status_code == 422
        assert said in answer.text.replace("&#39;", "'")


def test_queries_without_answers_and_names_that_are_none(client: FlaskClient, site: Site) -> None:
    assert ask(client, "/api/answers")["rows"] == []
    assert "No run has written any yet" in client.get(f"/answers?name={QUERY}").text
    assert client.get(f"/api/answers/events?name={QUERY}").status_code == 503
    (site.answers / "rejects").mkdir(parents=True)
    for name in ("", "..", "../..", "none", "rejects", "/etc", "a/b", "_hidden", "x\0y"):
        assert find_rows(site, name, "answers") is None
        assert client.get("/api/answers", query_string={"name": name}).status_code == 404


def test_files_have_all_rows_that_meet_a_condition(client: FlaskClient, add: Add) -> None:
    add(0, [("A", 131), ('B, "b"', 150)])
    add(1, [(None, 140)])
    path = {"name": QUERY, "where": "speed > 135"}
    text = client.get("/api/answers.csv", query_string=path)
    assert text.headers["Content-Disposition"] == 'attachment; filename="answers.csv"'
    lines = text.text.splitlines()
    assert lines == [
        "road,speed,at",
        '"B, ""b""",150,2014-08-01 00:05:00',
        ",140,2014-08-01 08:20:00",
    ]
    lines = client.get("/api/answers.jsonl", query_string=path).text.splitlines()
    assert [json.loads(line)["road"] for line in lines] == ['B, "b"', None]
    assert client.get("/api/answers.csv", query_string={**path, "where": "?"}).status_code == 422


def test_rejected_rows_have_a_page(client: FlaskClient, site: Site) -> None:
    folder = site.answers / "rejects"
    folder.mkdir(parents=True)
    reasons = ["traffic repeats the key (id, ts)", "late"]
    table = pa.table({"stream": ["traffic"] * 2, "reason": reasons, "row": ["{'id': 1}", "{}"]})
    pq.write_table(table, folder / "part-000000000000.parquet")
    page = ask(client, "/api/rejects", where="reason LIKE '%key%'")
    assert page["rows"] == [["traffic", reasons[0], "{'id': 1}"]]
    assert "repeats the key" in client.get(f"/rejects?name={QUERY}").text


def test_registered_queries_have_theirs_where_they_are_served(
    client: FlaskClient, site: Site, tmp_path: Path
) -> None:
    entry = site.registry / "fast"
    (entry / "rejects").mkdir(parents=True)
    (entry / ENTRY).write_text(
        json.dumps({"name": "fast", "id": "1", "text": "", "language": "sql"})
    )
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (entry / STATUS).write_text(json.dumps({"id": "1", "answers_folder": str(elsewhere)}))
    pq.write_table(pa.table({"x": [1]}), elsewhere / "part-000000000003.parquet")
    assert client.get("/api/answers?name=fast").json["rows"] == [[1]]  # type: ignore[index]
    assert find_rows(site, "fast", "rejects") == entry / "rejects"


def events(text: str) -> list[tuple[str, Any]]:
    """The events of a stream, with their data."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        if "event" in fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


def test_rows_are_told_as_they_come(site: Site, add: Add) -> None:
    folder = add(0, [("A", 131)]).parent
    told = follow_rows(folder, None, "speed > 135", Event())
    assert events(next(told)) == [("ready", {})]
    add(1, [("B", 140), ("C", 132)])
    add(2, [("D", 133)])
    rest = "".join(next(told) for _ in range(3))
    row = {"road": "B", "speed": 140, "at": "2014-08-01T08:20:00"}
    assert events(rest) == [("rows", [row]), ("whole", {}), ("whole", {})]
    assert "id: part-000000000002.parquet" in rest


def test_who_comes_back_goes_on_where_he_was(site: Site, add: Add) -> None:
    for number in range(3):
        folder = add(number, [("A", 131 + number)]).parent
    told = follow_rows(folder, "part-000000000000.parquet", None, Event(), lasts=0.5)
    speeds = [r["speed"] for e, rows in events("".join(told)) if e == "rows" for r in rows]
    assert speeds == [132, 133]


def test_the_end_of_the_server_ends_the_events(site: Site, add: Add) -> None:
    ending = Event()
    ending.set()
    told = follow_rows(add(0, [("A", 131)]).parent, None, None, ending)
    assert len(list(told)) == 1


def test_events_over_a_connection(site: Site, add: Add) -> None:
    """A real server, a real client: rows that come are told; who is one too many is told so."""
    add(0, [("A", 131)])
    with serve_dashboard(replace(site, host="127.0.0.1"), 0) as (url, _):
        address = f"{url}api/answers/events?name={QUERY}"
        opened = [urlopen(address) for _ in range(rows_routes.FOLLOWERS)]
        for stream in opened:
            assert _read_until(stream, b"event: ready")
        with pytest.raises(OSError, match="503"):
            urlopen(address)
        add(1, [("B", 140)])
        for stream in opened:
            assert _read_until(stream, b"event: rows")
            assert json.loads(stream.readline().removeprefix(b"data: "))[0]["speed"] == 140
            stream.close()


def _read_until(stream: Any, line: bytes) -> bool:
    return any(read.strip() == line for read in iter(stream.readline, b""))


@pytest.fixture
def guarded(site: Site) -> Iterator[FlaskClient]:
    """A dashboard with a token."""
    site = replace(site, host="0.0.0.0", token="a-long-enough-token")
    checks = Checks(site.project, site.overrides, strict=site.strict, limit=site.limit)
    with closing(checks), make_app(site, checks).test_client() as found:
        found.environ_base["HTTP_HOST"] = "10.0.0.7:4080"
        yield found


def test_without_the_token_nothing_is_told(guarded: FlaskClient) -> None:
    for path in ("/", "/api/overview", "/metrics", "/mappings", f"/api/answers.csv?name={QUERY}"):
        answer = guarded.get(path)
        assert answer.status_code == 401
        assert "WWW-Authenticate" in answer.headers
        assert "every-reading" not in answer.text
    for wrong in ("Bearer wrong", "Basic a-long-enough-token", "Bearer ", "Bearer ü"):
        assert guarded.get("/", headers={"Authorization": wrong}).status_code == 401
    assert guarded.get("/?token=wrong").status_code == 401
    assert guarded.get("/healthz").status_code == 200


def test_the_token_is_a_header_of_programs_and_a_cookie_of_pages(guarded: FlaskClient) -> None:
    bearer = {"Authorization": "Bearer a-long-enough-token"}
    assert guarded.get("/api/mappings", headers=bearer).status_code == 200
    first = guarded.get("/playground?query=x%26y&token=a-long-enough-token")
    assert (first.status_code, first.headers["Location"]) == (303, "/playground?query=x%26y")
    cookie = first.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert guarded.get("/playground").status_code == 200


def test_addresses_that_others_reach_have_a_token(site: Site) -> None:
    from ontoweir.commands.operate.token_option import read_token

    assert read_token(None, "127.0.0.1") is None
    made = {read_token(None, "0.0.0.0") for _ in range(2)}
    assert len(made) == 2
    assert all(token is not None and len(token) >= 32 for token in made)
    with pytest.raises(UsageError, match="no token"):
        read_token("short", "127.0.0.1")
    with serve_dashboard(replace(site, host="127.0.0.1", token="t" * 16), 0) as (url, _):
        assert url.endswith(f"/?token={'t' * 16}")
        plain = url.partition("?")[0]
        with pytest.raises(OSError, match="401"):
            urlopen(f"{plain}api/mappings")
        asked = Request(f"{plain}api/mappings", headers={"Authorization": f"Bearer {'t' * 16}"})
        assert urlopen(asked).status == 200


def test_a_token_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    from ontoweir.commands.operate.token_option import read_token

    monkeypatch.setenv("TOKEN_OF_TEST", "from-the-environment")
    assert read_token("env:TOKEN_OF_TEST", "127.0.0.1") == "from-the-environment"
    monkeypatch.delenv("TOKEN_OF_TEST")
    with pytest.raises(UsageError, match="env:TOKEN_OF_TEST"):
        read_token("env:TOKEN_OF_TEST", "127.0.0.1")


def test_the_api_is_described(client: FlaskClient, add: Add) -> None:
    """Every path that there is, and none that is not; answers are as their schemas say."""
    add(0, [("A", 131)])
    description = client.get("/api/openapi.json").json
    assert description == describe_api()
    there = {
        rule.rule.replace("<any(csv, jsonl):form>", form)
        for rule in client.application.url_map.iter_rules()
        for form in ("csv", "jsonl")
        if rule.rule.startswith("/api/") and rule.rule != "/api/openapi.json"
    }
    assert set(description["paths"]) == there
    for path, schema in (("overview", "Overview"), ("query", "Run"), ("answers", "Rows")):
        body = ask(client, f"/api/{path}")
        jsonschema.validate(body, {"$ref": f"#/components/schemas/{schema}", **description})
    lint = client.get("/api/mappings").json
    jsonschema.validate(lint, {"$ref": "#/components/schemas/Lint", **description})
    typed = {"language": "sql", "text": "SELECT a.report_id FROM traffic a"}
    body = client.post("/api/check", json=typed).json
    jsonschema.validate(body, {"$ref": "#/components/schemas/Verdict", **description})


@pytest.mark.parametrize(
    ("method", "path", "body", "code"),
    [
        ("get", "/api/answers?name=none", None, 404),
        ("get", "/api/answers?name=roads-where-congestion-got-worse&skip=-1", None, 422),
        ("get", "/api/query?name=roads-where-congestion-got-worse&charts=2", None, 422),
        ("post", "/api/check", None, 400),
        ("post", "/api/check", {"language": "datalog", "text": "a"}, 400),
        ("post", "/api/check", {"text": "SELECT ?x {" + " " * 60_000}, 413),
        ("post", "/api/check", {"text": "SELECT ?x {"}, 422),
        ("post", "/api/replay", [], 400),
    ],
)
def test_what_is_refused_is_described(
    client: FlaskClient, method: str, path: str, body: Any, code: int
) -> None:
    description = client.get("/api/openapi.json").json
    assert description is not None
    answer = getattr(client, method)(path, **({} if body is None else {"json": body}))
    assert answer.status_code == code
    jsonschema.validate(answer.json, {"$ref": "#/components/schemas/Error", **description})
    assert answer.json["error"] != answer.status.partition(" ")[2].lower()  # says what to send
    assert str(code) in description["paths"][path.partition("?")[0]][method]["responses"]


def test_a_method_that_there_is_not(client: FlaskClient) -> None:
    """RFC 9110, 15.5.6: the answer says which there are."""
    answer = client.delete("/api/overview")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")
