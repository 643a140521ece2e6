"""The pages and the API: verdicts, reasons, errors with their line, and nothing from outside."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from ontoweir.cache.open_cache import VARIABLE
from ontoweir.dashboard.check_queries import Checks
from ontoweir.dashboard.make_app import make_app
from ontoweir.dashboard.site import Site
from ontoweir.pipeline.known import read_cached
from tests.ontoweir.dashboard.conftest import Record, write_lines
from tests.ontoweir.report.test_html import _Page

UNBOUNDED = "how-often-congestion-got-worse"
BOUNDED = "roads-where-congestion-got-worse"
ATTACK = "<script>alert(1)</script>\"'&<img src=x onerror=alert(2)>"
PATHS = (
    "/",
    f"/query?name={UNBOUNDED}",
    f"/query?name={BOUNDED}",
    "/mappings",
    "/playground",
    f"/compare?name={BOUNDED}&name={UNBOUNDED}",
)


def read(text: str) -> _Page:
    """A page that is balanced, runs no script but ours, and fetches nothing from elsewhere."""
    page = _Page(text.replace(" defer>", ">").replace(" checked>", ">"))
    assert page.open == []
    for fetched in page.fetched:
        name, _, value = fetched.partition("=")
        assert name in ("href", "src", "action")
        assert value.startswith("/")
        assert not value.startswith("//")
    assert page.names.count("script") == 1
    assert " style=" not in text
    assert "<style" not in text
    return page


def settle(client: FlaskClient) -> None:
    """Wait until the project's queries are decided: one by one, by the worker that this asks."""
    for _ in range(200):
        client.get("/mappings")  # reads the project's files again
        found = client.get("/api/overview").json
        assert found is not None
        if all(q["verdict"] or q["problem"] for q in found["queries"] if q["batch"] is None):
            return
    raise AssertionError("it never ended")


@pytest.mark.parametrize("path", PATHS)
def test_every_page_is_sound(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    read(answer.text)
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'self'; script-src 'self'")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_what_pages_fetch_is_there(client: FlaskClient) -> None:
    for path in ("/style.css", "/static/live.js", "/static/icon.svg"):
        with client.get(path) as answer:
            assert answer.status_code == 200
            text = answer.get_data(as_text=True)
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
        assert "url(" not in text
        assert "@import" not in text


def test_the_overview_has_every_query_and_its_verdict(client: FlaskClient, project: Path) -> None:
    settle(client)
    found = {q["query"]: q for q in client.get("/api/overview").json["queries"]}  # type: ignore[index]
    assert set(found) == {p.stem for p in (project / "queries").glob("*.rq")}
    assert found[UNBOUNDED]["verdict"] == "unbounded"
    assert found[BOUNDED]["tier"] == "tree-bounded"
    assert found[BOUNDED]["bound"]["rows"] == 660
    assert found[BOUNDED]["status"] == "not running"
    text = read(client.get("/").text).text
    assert "no bound" in text
    assert "at most 660" in text


def test_a_query_is_explained(client: FlaskClient) -> None:
    answer = client.get(f"/query?name={UNBOUNDED}")
    page = read(answer.text)
    assert "OW203" in page.text
    assert "<mark>?seconds1 &lt; ?seconds2</mark>" in answer.text
    assert "+ SELECT DISTINCT ?road" in page.text
    assert page.names.count("svg") == 8  # two graphs of each disjunct
    assert "Why what is kept is finite" in client.get(f"/query?name={BOUNDED}").text


def test_mappings_say_which_term_cannot_be_remembered(client: FlaskClient) -> None:
    text = read(client.get("/mappings").text).text
    assert "GridlockedReading" in text
    assert "traffic.avg_measured_time line 28 of ontoweir.toml" in text
    assert "declare the least and the greatest value of traffic.id" in text
    found = client.get("/api/mappings").json
    assert found is not None
    assert "<Gridlocked>" in {lint["mapping"] for lint in found}


def test_the_playground_checks_what_is_typed(client: FlaskClient, project: Path) -> None:
    file = project / "queries" / f"{UNBOUNDED}.rq"
    text = file.read_text(encoding="utf-8")
    assert "FILTER(?t1 &lt; ?t2" in client.get(f"/playground?query={UNBOUNDED}").text
    answer = client.post("/playground", data={"text": text, "language": "sparql"})
    page = read(answer.text)
    assert answer.status_code == 200
    assert "unbounded" in page.text
    assert "<mark>?seconds1 &lt; ?seconds2</mark>" in answer.text
    assert "query.rq:11" in page.text
    assert "+ SELECT DISTINCT ?road" in page.text
    assert "ontoweir-" not in answer.text  # the folder where it was checked
    mended = text.replace("SELECT ?road", "SELECT DISTINCT ?road").replace("\n", "\r\n")
    again = client.post("/playground", data={"text": mended, "language": "sparql"})
    assert "tree-bounded" in again.text
    assert not list(project.glob("queries/query*"))


def test_the_playground_checks_sql(client: FlaskClient) -> None:
    sql = "SELECT DISTINCT t.report_id FROM traffic t WHERE t.avg_speed > 130"
    answer = client.post("/api/check", json={"text": sql, "language": "sql"})
    assert answer.status_code == 200
    assert answer.json is not None
    assert answer.json["verdict"] == "conditionally-bounded"
    wrong = client.post("/playground", data={"text": "SELECT\nx FROM nowhere", "language": "sql"})
    assert wrong.status_code == 422
    assert "query.sql:" in read(wrong.text).text


def test_an_error_shows_its_line(client: FlaskClient) -> None:
    text = "PREFIX : <http://traffic.example/ns#>\nSELECT ?x WHERE {\n  ?x a :Nonsense .\n}\n"
    answer = client.post("/playground", data={"text": text, "language": "sparql"})
    assert answer.status_code == 422
    page = read(answer.text)
    assert "query.rq:3: unknown class" in page.text
    assert '<span class="line here wrong" data-number="3">  ?x a :Nonsense .</span>' in answer.text
    api = client.post("/api/check", json={"text": text})
    assert api.status_code == 422
    assert api.json is not None
    assert api.json["line"] == 3


@pytest.mark.parametrize("language", ["sparql", "sql"])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00",
        ATTACK,
        f"SELECT ?x WHERE {{ ?x a <{ATTACK}> }}",
        f"SELECT * WHERE {{ ?s ?p '{ATTACK}' }}",
        "SELECT ?x WHERE { " + "{" * 400,
        "SELECT " + "(" * 2000,
        "é" * 100,
    ],
)
def test_wrong_text_is_told_and_escaped(client: FlaskClient, text: str, language: str) -> None:
    answer = client.post("/playground", data={"text": text, "language": language})
    assert answer.status_code == 422
    page = read(answer.text)
    assert "internal error" not in page.text
    assert "Traceback" not in page.text
    assert ATTACK not in answer.text


def test_what_users_write_is_escaped(client: FlaskClient, project: Path, record: Record) -> None:
    name = "<script>alert(1)<&\"'x"
    (project / "queries" / f"{name.replace('/', '')}.rq").write_text(
        f"# {ATTACK}\nPREFIX : <http://traffic.example/ns#>\n"
        'SELECT ?r WHERE { GRAPH ?t { ?r :status ?s } FILTER(?s = "<b>") }\n'
    )
    lines = [record(n, {name: (n, 9), ATTACK: (1, None)}) for n in range(3)]
    lines[-1]["rejects"] = {ATTACK: 3}
    lines[-1]["finished"] = ATTACK
    for query in lines[-1]["queries"].values():
        query["synopses"][0] |= {"synopsis": ATTACK, "bound": ATTACK}
    write_lines(project / "out/answers/metrics.jsonl", lines)
    settle(client)
    page = read(client.get("/").text)
    assert name in page.text
    assert ATTACK in page.text
    for asked in (name, ATTACK):
        answer = client.get("/query", query_string={"name": asked})
        assert answer.status_code == 200
        assert ATTACK in read(answer.text).text
        chart = client.get("/api/query", query_string={"name": asked, "charts": 1}).json
        assert chart is not None
        assert "<script" not in chart["charts"]["state"]
        assert "<img" not in chart["charts"]["state"]
    lost = client.get("/query", query_string={"name": "<script>none</script>"})
    assert lost.status_code in (404, 422)
    assert "<script>none" not in lost.text
    edit = client.get("/playground", query_string={"query": name})
    assert ATTACK in read(edit.text).text


def test_a_file_that_changes_is_checked_again(client: FlaskClient, project: Path) -> None:
    file = project / "queries" / f"{UNBOUNDED}.rq"
    settle(client)
    file.write_text(
        file.read_text(encoding="utf-8").replace("SELECT ?road", "SELECT DISTINCT ?road")
    )
    settle(client)
    found = {q["query"]: q for q in client.get("/api/overview").json["queries"]}  # type: ignore[index]
    assert found[UNBOUNDED]["tier"] == "tree-bounded"
    assert (
        '<span class="verdict bounded">tree-bounded' in client.get(f"/query?name={UNBOUNDED}").text
    )


def test_a_project_that_is_broken_is_told(client: FlaskClient, project: Path) -> None:
    toml = project / "ontoweir.toml"
    whole = toml.read_text(encoding="utf-8")
    toml.write_text(whole + "\n[nonsense]\n", encoding="utf-8")
    answer = client.get("/")
    assert answer.status_code == 200
    assert "unknown section [nonsense]" in read(answer.text).text
    assert client.get("/mappings").status_code == 422
    assert client.get("/api/mappings").json["error"].startswith(str(toml))  # type: ignore[index]
    toml.write_text(whole, encoding="utf-8")
    assert client.get("/mappings").status_code == 200
    assert "nonsense" not in client.get("/").text


def test_a_triples_map_that_is_wrong_hides_nothing_else(client: FlaskClient, project: Path) -> None:
    mapping = project / "traffic.r2rml.ttl"
    text = mapping.read_text(encoding="utf-8").replace('rr:column "status"', 'rr:column "stauts"')
    mapping.write_text(text, encoding="utf-8")
    settle(client)
    found = {q["query"]: q for q in client.get("/api/overview").json["queries"]}  # type: ignore[index]
    assert {q["problem"] is None for q in found.values()} == {True, False}
    assert all(q["verdict"] or "stauts" in q["problem"] for q in found.values())
    page = client.get("/mappings")
    assert page.status_code == 200
    assert "stauts" in page.text


def test_a_mapping_that_is_broken_is_told(client: FlaskClient, project: Path) -> None:
    mapping = project / "traffic.r2rml.ttl"
    mapping.write_text(mapping.read_text(encoding="utf-8") + "\nnonsense", encoding="utf-8")
    settle(client)
    assert "traffic.r2rml.ttl" in client.get("/").text
    assert 'class="verdict refused">refused<' in client.get("/").text
    overview = client.get("/api/overview").json
    assert overview is not None
    assert {q["verdict"] for q in overview["queries"]} == {"refused"}
    assert client.get("/mappings").status_code == 422


def test_a_query_that_is_broken_does_not_hide_the_others(
    client: FlaskClient, project: Path
) -> None:
    (project / "queries" / "broken.rq").write_text("SELECT")
    settle(client)
    found = {q["query"]: q for q in client.get("/api/overview").json["queries"]}  # type: ignore[index]
    assert "broken.rq" in found["broken"]["problem"]
    assert found[BOUNDED]["tier"] == "tree-bounded"
    assert "broken.rq" in read(client.get("/query?name=broken").text).text


def test_a_check_that_takes_too_long_ends(site: Site) -> None:
    class _Late:
        now = 0.0

        def __call__(self) -> float:
            self.now += 1000.0
            return self.now

    with (
        closing(Checks(site.project, (), strict=False, limit=1.0)) as checks,
        make_app(site, checks).test_client() as client,
    ):
        checks.worker.clock = _Late()
        client.environ_base["HTTP_HOST"] = "localhost"
        many = " || ".join(f"?s = {n}" for n in range(400))  # fewer than are refused at once
        text = (
            "PREFIX : <http://traffic.example/ns#>\nSELECT ?r WHERE { GRAPH ?t { ?r :averageSpeed "
            f"?s }} FILTER({many}) }}\n"
        )
        answer: Any = client.post("/playground", data={"text": text, "language": "sparql"})
        assert answer.status_code == 422
        assert "took longer than 1 s" in answer.text


def test_what_was_read_is_kept_between_runs(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = Checks(site.project, (), strict=False).query(UNBOUNDED)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    assert Checks(site.project, (), strict=False).query(UNBOUNDED) == plain
    assert list((tmp_path / "cache").glob("mappings-*"))
    monkeypatch.setattr(read_cached, "read_ontology", None)  # it is not called
    assert Checks(site.project, (), strict=False).query(UNBOUNDED) == plain
