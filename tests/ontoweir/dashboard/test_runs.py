"""What runs write is read from its end, and whatever is in it."""

import json
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ontoweir.dashboard.read_runs import METRICS, read_runs
from ontoweir.dashboard.read_tail import read_tail
from ontoweir.files.hold_lock import hold_lock
from tests.ontoweir.conftest import Run
from tests.ontoweir.dashboard.conftest import Record, write_lines
from tests.ontoweir.report.test_html import read as read_page

QUERY = "roads-where-congestion-got-worse"


def test_a_run_is_shown(client: FlaskClient, project: Path, record: Record) -> None:
    lines = [record(n, {QUERY: (n, 84)}) for n in range(12)]
    write_lines(project / "out/answers" / METRICS, lines)
    found = client.get("/api/query", query_string={"name": QUERY, "charts": 1}).json
    assert found is not None
    assert (found["state_rows"], found["bound_rows"], found["batch"]) == (11, 84, 11)
    assert (found["tuples"], found["results"], found["rejected"]) == (1100, 11, 3)
    assert found["lag_seconds"] == 7200.0
    assert "bound: 84 rows" in found["charts"]["state"]
    page = client.get("/query", query_string={"name": QUERY}).text
    assert "State against its bound" in page
    assert "traffic repeats the key (id, ts)" in page
    assert "2 h" in page
    overview = client.get("/").text
    assert '<rect class="part" data-field="bar" width="13.1" height="8"/>' in overview
    assert overview.index(QUERY) < overview.index("every-reading-above-130")  # what ran is first


def test_how_rows_come_is_shown(client: FlaskClient, project: Path, record: Record) -> None:
    line = record(1, {QUERY: (5, 84)})
    line["limits"] = [
        {
            "stream": "traffic",
            "rule": "lateness",
            "unit": "seconds",
            "in_use": 12.0,
            "observed": 40.0,
            "greatest": 40.0,
            "shown": {"in_use": "12 seconds", "observed": "40 seconds"},
        },
        {"stream": 7, "shown": []},
        "?",
    ]
    line["events"] = ["traffic: lateness: 40 seconds observed, and 12 seconds in use", 5]
    line["queries"][QUERY]["on_disk"] = {"rows": 1234, "bytes": 9, "found": 2}
    write_lines(project / "out/answers" / METRICS, [line])
    found = client.get("/api/query", query_string={"name": QUERY}).json
    assert found is not None
    assert found["on_disk"] == 1234
    assert found["limits"][0]["observed"] == "40 seconds"
    assert [m["broken"] for m in found["limits"]] == [True, False]
    assert [e["event"] for e in found["events"]] == line["events"][:1]
    page = client.get("/query", query_string={"name": QUERY}).text
    assert "<td>lateness</td>" in page
    assert "40 seconds !" in page
    assert "What has changed of that" in page
    assert '<dd data-field="on_disk">1,234</dd>' in page


def test_half_a_line_is_left_out(project: Path, record: Record) -> None:
    file = project / METRICS
    whole = record(1, {QUERY: (5, 84)})
    write_lines(file, [whole], json.dumps(record(2, {QUERY: (6, 84)}))[:200])
    run = read_runs(project / "none", project)[QUERY]
    assert [m.batch for m in run.moments] == [1]
    file.write_text(file.read_text() + "\n" + json.dumps(record(3, {QUERY: (7, 84)})) + "\n")
    run = read_runs(project / "none", project)[QUERY]
    assert [m.batch for m in run.moments] == [1, 3]  # the half line is followed by a restart


def test_only_the_end_is_read(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    write_lines(file, [{"n": n} for n in range(10_000)])
    found = read_tail(file, most=5)
    assert [r["n"] for r in found] == [9995, 9996, 9997, 9998, 9999]
    found = read_tail(file, most=1000, longest=100)
    assert [r["n"] for r in found] == list(range(10_000 - len(found), 10_000))
    assert 5 < len(found) < 10
    assert read_tail(tmp_path / "none") == []
    assert read_tail(tmp_path) == []


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
_FIELDS = st.sampled_from(
    [
        "batch",
        "time",
        "seconds",
        "totals",
        "rejects",
        "finished",
        "streams",
        "queries",
        "tuples_per_second",
        "state_rows",
        "bound_rows",
        "synopses",
        "rows",
        "synopsis",
        "bound",
        "q",
        "state",
        "error",
        "name",
        "text",
        "language",
        "verdict",
    ]
)
_RECORD = st.recursive(
    _JSON, lambda inner: st.dictionaries(_FIELDS, inner, max_size=6), max_leaves=20
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(_RECORD, max_size=3), _RECORD, st.binary(max_size=20))
def test_whatever_is_written_pages_stand(
    client: FlaskClient, project: Path, lines: list[object], entry: object, end: bytes
) -> None:
    time = {"time": "2026-11-21T19:00:00", "queries": {"q": {}}}
    file = project / "out/answers" / METRICS
    file.parent.mkdir(parents=True, exist_ok=True)
    made = [{**time, **r} if isinstance(r, dict) else r for r in lines]
    file.write_bytes("".join(json.dumps(r) + "\n" for r in made).encode() + end)
    folder = project / "out/registry/q"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("entry.json", "status.json", METRICS):
        text = json.dumps(entry) + "\n"
        (folder / name).write_text(text, encoding="utf-8")
    assert client.get("/").status_code == 200
    assert client.get("/api/overview").status_code == 200
    for run in read_runs(project / "out/registry", file.parent):
        assert client.get("/api/query", query_string={"name": run, "charts": 1}).status_code == 200
        assert client.get("/query", query_string={"name": run}).status_code == 200


@pytest.mark.parametrize("state", ["running", "failed", "died"])
def test_a_registered_query(client: FlaskClient, project: Path, record: Record, state: str) -> None:
    folder = project / "out" / "registry" / "jams"
    write_lines(folder / METRICS, [record(1, {"jams": (5, 84)})])
    text = (project / "queries" / f"{QUERY}.rq").read_text(encoding="utf-8")
    entry = {"name": "jams", "text": text, "language": "sparql", "verdict": "bounded"}
    (folder / "entry.json").write_text(json.dumps(entry))
    error = "disk <b>full</b>" if state == "failed" else None
    written = "running" if state == "died" else state
    (folder / "status.json").write_text(json.dumps({"state": written, "error": error}))
    lock = hold_lock(folder) if state == "running" else None
    page = client.get("/").text
    if lock is not None:
        lock.release()
    assert f'class="status {state}"' in page
    assert ("disk &lt;b&gt;full&lt;/b&gt;" in page) == (state == "failed")
    page = client.get("/query?name=jams").text
    assert "tree-bounded" in page
    assert "SELECT DISTINCT ?road" in client.get("/playground?query=jams").text


def test_a_report_of_what_runs(run: Run, project: Path, tmp_path: Path, record: Record) -> None:
    attack = "<img src=x>"
    lines = [record(n, {QUERY: (n, 84), attack: (1, 2)}) for n in range(3)]
    write_lines(project / "out/answers" / METRICS, lines)
    file = tmp_path / "page.html"
    command = ("report", project, "--output", file)
    assert run(*command, "--query", QUERY).code == 0
    assert "how it runs" not in file.read_text(encoding="utf-8")
    assert run(*command, "--live").code == 0
    page = read_page(file.read_text(encoding="utf-8"))
    assert f"{QUERY}: how it runs" in page.text
    assert f"{attack}: how it runs" in page.text  # no query of the project; it ran all the same
    assert "2 of 84 rows kept" in page.text
    assert run(*command, "--live", "--query", QUERY).code == 0
    assert attack not in read_page(file.read_text(encoding="utf-8")).text
    ran = run(*command, "--metrics", "x")
    assert ran.code == 2
    assert "--metrics without --live" in ran.err


def test_metrics_for_prometheus(client: FlaskClient, project: Path, record: Record) -> None:
    """Of a plain run, and of a registered query whose server is gone."""
    write_lines(project / "out/answers" / METRICS, [record(4, {QUERY: (21, 84)})])
    assert client.get("/healthz").text == "ok\n"
    answer = client.get("/metrics")
    assert answer.content_type.startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    assert f'ontoweir_query_state{{query="{QUERY}",state="ran"}} 1.0' in lines
    assert f'ontoweir_query_state_share{{query="{QUERY}"}} 0.25' in lines
    for name, number in (("state_bytes", 168), ("bound_bytes", 672), ("waiting_rows", 17)):
        assert f'ontoweir_query_{name}{{query="{QUERY}"}} {number}' in lines
    assert f'ontoweir_query_behind_seconds{{query="{QUERY}"}} 12.0' in lines
    assert f'ontoweir_query_bound_rows{{query="{QUERY}"}} 84' in lines
    reason = "traffic repeats the key (id, ts)"
    assert f'ontoweir_query_rejects_total{{query="{QUERY}",reason="{reason}"}} 3.0' in lines
    names = [line.split()[2] for line in lines if line.startswith("# TYPE ")]
    assert len(names) == len(set(names))
    folder = project / "out" / "registry" / "gone"
    folder.mkdir(parents=True)
    (folder / "entry.json").write_text(json.dumps({"name": "gone", "id": "1"}))
    (folder / "status.json").write_text(json.dumps({"id": "1", "state": "running"}))
    assert 'ontoweir_query_up{query="gone"} 0.0' in client.get("/metrics").text.splitlines()
    health = client.get("/healthz")
    assert (health.status_code, health.text) == (503, "not running: gone\n")
