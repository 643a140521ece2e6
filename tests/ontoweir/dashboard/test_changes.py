"""Queries are registered and dropped from the dashboard, where that is allowed, and compared."""

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from flask.testing import FlaskClient

from ontoweir.dashboard.check_queries import Checks
from ontoweir.dashboard.make_app import make_app
from ontoweir.dashboard.site import Site
from ontoweir.registry.list_entries import list_entries
from tests.ontoweir.dashboard.conftest import Record, write_lines

FAST = "SELECT id, avg_speed FROM traffic WHERE avg_speed > 130"
ENDLESS = "SELECT DISTINCT avg_measured_time FROM traffic"


@pytest.fixture
def changing(site: Site) -> Iterator[FlaskClient]:
    """Asks a dashboard that may change the registry."""
    allowed = replace(site, changes=True)
    made = Checks(site.project, (), strict=False, limit=site.limit)
    with closing(made) as checks, make_app(allowed, checks).test_client() as found:
        found.environ_base["HTTP_HOST"] = "127.0.0.1:4080"
        yield found


def _names(site: Site) -> list[str]:
    return [entry.name for entry in list_entries(site.registry)]


def test_registering_and_dropping_as_json(changing: FlaskClient, site: Site) -> None:
    given = {"name": "fast", "language": "sql", "text": FAST}
    made = changing.post("/api/register", json=given)
    assert (made.status_code, made.json) == (201, {"query": "fast", "registration": "new"})
    assert _names(site) == ["fast"]
    again = changing.post("/api/register", json=given)
    assert (again.status_code, "fast" in again.text) == (422, True)
    taken = changing.post("/api/register", json={**given, "replace": True})
    assert taken.status_code == 201
    dropped = changing.post("/api/drop", json={"name": "fast"})
    assert dropped.json == {"query": "fast", "dropped": True, "purged": False}
    assert _names(site) == []
    assert changing.post("/api/drop", json={"name": "fast2"}).status_code == 422


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"name": "endless", "language": "sql", "text": ENDLESS}, 422),
        ({"name": "wrong", "language": "sql", "text": "SELECT nothing FROM traffic"}, 422),
        ({"name": "../out", "language": "sql", "text": FAST}, 422),
        ({"name": "fast", "language": "python", "text": FAST}, 400),
        ({"name": "fast", "language": "sql"}, 400),
        ({"name": "fast", "language": "sql", "text": FAST + " " * 50_001}, 413),
        (["fast"], 400),
    ],
)
def test_what_is_not_registered(
    changing: FlaskClient, site: Site, given: object, status: int
) -> None:
    answer = changing.post("/api/register", json=given)
    assert (answer.status_code, _names(site)) == (status, [])
    assert answer.json is not None
    assert "error" in answer.json


def test_nobody_else_s_page_changes_anything(changing: FlaskClient, site: Site) -> None:
    for path in ("/register", "/api/register", "/drop", "/api/drop"):
        answer = changing.post(
            path, data={"name": "fast", "text": FAST}, headers={"Origin": "http://evil.example"}
        )
        assert answer.status_code == 403
    assert _names(site) == []


def test_without_leave_there_is_nothing_to_ask(client: FlaskClient, site: Site) -> None:
    for path in ("/register", "/api/register", "/drop", "/api/drop"):
        assert client.post(path, json={"name": "fast", "text": FAST}).status_code in (404, 405)
    shown = client.post("/playground", data={"text": FAST, "language": "sql"}).text
    assert "/register" not in shown
    assert "read only" in shown
    assert "/api/register" not in client.get("/api/openapi.json").text


def test_from_the_pages(changing: FlaskClient, site: Site) -> None:
    shown = changing.post("/playground", data={"text": FAST, "language": "sql"}).text
    assert 'action="/register"' in shown
    assert "read only" not in shown
    endless = changing.post("/playground", data={"text": ENDLESS, "language": "sql"}).text
    assert 'action="/register"' not in endless
    fields = {"name": "fast", "text": FAST, "language": "sql"}
    made = changing.post("/register", data=fields)
    assert (made.status_code, made.headers["Location"]) == (303, "/query?name=fast")
    assert 'action="/drop"' in changing.get("/query?name=fast").text
    assert changing.post("/drop", data={"name": "fast"}).headers["Location"] == "/"
    assert _names(site) == []
    described = changing.get("/api/openapi.json").text
    assert "/api/register" in described
    assert "/api/drop" in described


def test_side_by_side(client: FlaskClient, site: Site, record: Record) -> None:
    names = ["every-reading-above-130", "roads-where-congestion-got-worse"]
    write_lines(
        site.metrics / "metrics.jsonl",
        [record(n, {names[1]: (n, 110)}) for n in range(3)],
    )
    shown = client.get("/compare?" + "&".join(f"name={n}" for n in [*names, "none"])).text
    assert re.findall(r'<h2 id="q\d"><a[^>]*>(.*?)</a>', shown) == names
    assert shown.count("<svg") == 1  # of the one that ran
    assert shown.count(" checked") == 2
    assert "<h2" not in client.get("/compare").text


def test_a_map_of_answers(client: FlaskClient, site: Site) -> None:
    folder = site.answers / "every-reading-above-130"
    folder.mkdir(parents=True)
    rows = {"road": ["A", "B<"], "lat": [56.1, 56.2], "lon": [10.1, None], "speed": [1.0, 2.0]}
    times = pa.array([0, 1], pa.timestamp("us"))
    pq.write_table(pa.table({**rows, "at": times}), folder / "part-0.parquet")
    asked = "/api/answers?charts=1&name=every-reading-above-130"
    given = client.get(asked).json
    assert given is not None
    assert given["map"].count("<circle") == 1
    assert "speed" in given["chart"]
    assert "<figure" in client.get("/answers?name=every-reading-above-130").text


def test_rejected_rows_of_a_reason(client: FlaskClient, site: Site, record: Record) -> None:
    name = "roads-where-congestion-got-worse"
    write_lines(site.metrics / "metrics.jsonl", [record(1, {name: (1, 110)})])
    folder: Path = site.answers / "rejects"
    folder.mkdir(parents=True)
    reasons = ["traffic repeats the key (id, ts)", "other"]
    pq.write_table(pa.table({"reason": reasons, "row": ["a", "b"]}), folder / "part-0.parquet")
    shown = client.get(f"/query?name={name}").text
    (link,) = re.findall(r'href="(/rejects\?[^"]*&amp;where=[^"]*)"', shown)
    listed = client.get(link.replace("&amp;", "&")).text
    assert "1 of 2" in re.sub(r"<[^>]*>", "", listed)
