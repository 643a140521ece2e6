"""What is refused in a mapping concerns the queries that could need it, whatever is done with them.

`check` and `report`: test_refused.py.
"""

import json
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.api.opening import open_project
from ontoweir.errors import MappingError, OntoweirWarning
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from tests.ontoweir.conftest import Run

PROJECT = """
[project]
ontology = ["o.ttl"]
mappings = ["m.obda"]
queries = ["*.rq"]
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 1
columns = { id = { type = "int", min = 0, max = 9 }, a = "int", b = "int" }
"""
ONTOLOGY = """
@prefix : <http://e/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Part rdfs:subClassOf :Whole . :sub rdfs:subPropertyOf :super . :of owl:inverseOf :has .
:with rdfs:domain :Domain ; rdfs:range :Range .
:Part a owl:Class . :Whole a owl:Class . :Domain a owl:Class . :Range a owl:Class .
:of a owl:ObjectProperty . :has a owl:ObjectProperty . :with a owl:ObjectProperty .
:sub a owl:DatatypeProperty . :super a owl:DatatypeProperty .
:a a owl:DatatypeProperty . :b a owl:DatatypeProperty .
"""
OBDA = """[PrefixDeclaration]
: http://e/

[MappingDeclaration] @collection [[
mappingId good
target :s/{id} :a {a} .
source SELECT id, a, ts FROM s

mappingId bad
target :s/{id} :b {b} .
source SELECT id, b, ts FROM s
]]
"""
QUERY = "PREFIX : <http://e/>\nSELECT DISTINCT ?x WHERE { GRAPH ?t { ?x PATTERN } }\n"
GOOD, BAD = ":s/{id} :a {a} .", ":s/{id} :b {b} ."


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A project with two mappings, the second of which is wrong, and a query for each."""
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "ontoweir.toml").write_text(PROJECT)
    (folder / "o.ttl").write_text(ONTOLOGY)
    (folder / "good.rq").write_text(QUERY.replace("PATTERN", ":a ?v"))
    (folder / "bad.rq").write_text(QUERY.replace("PATTERN", ":b ?v"))
    times = pa.array([0, 1_000_000], pa.int64()).cast(pa.timestamp("us"))
    pq.write_table(
        pa.table({"ts": times, "id": [1, 2], "a": [2, 2], "b": [3, 3]}), folder / "s.parquet"
    )
    _break(folder, BAD, ":s/{id} :b .")
    return folder


def _break(folder: Path, old: str, new: str) -> None:
    assert OBDA.count(old) == 1
    (folder / "m.obda").write_text(OBDA.replace(old, new))


CALLS = {
    "replay": ("--summary", "json", "--output", "OUT"),
    "register": ("--format", "json"),
    "rewrite": ("--show", "sql", "--format", "json"),
    "plot": ("--show", "graph", "--output", "OUT"),
}


def _call(run: Run, command: str, folder: Path, query: str, output: Path) -> tuple[int, str, str]:
    place = output.with_suffix(".svg") if command == "plot" else output
    more = [place if m == "OUT" else m for m in CALLS[command]]
    ran = run(command, folder, "--query", query, *more)
    return ran.code, ran.out, ran.err


@pytest.mark.parametrize("command", CALLS)
def test_a_query_that_it_does_not_concern(
    command: str, run: Run, small: Path, tmp_path: Path
) -> None:
    code, told, said = _call(run, command, small, "good", tmp_path / "out.csv")
    assert code == 0, said
    warned = [line for line in said.splitlines() if line.startswith("warning: ")]
    assert len(warned) == 1
    place = f"{small / 'm.obda'}:10: bad: "
    assert warned[0].startswith(f"warning: refused, and of no concern here: {place}")
    if command != "plot":
        (refused,) = json.loads(told)["refused_mappings"]
        assert (refused["mapping"], refused["line"]) == ("bad", 10)
    quiet = run("rewrite", small, "--query", "good", "--show", "sql", "-q")
    assert (quiet.code, quiet.err) == (0, "")


@pytest.mark.parametrize("command", CALLS)
def test_a_query_that_it_could_concern(command: str, run: Run, small: Path, tmp_path: Path) -> None:
    code, told, said = _call(run, command, small, "bad", tmp_path / "out.csv")
    assert (code, told) == (2, "")
    assert said.startswith(f"{small / 'm.obda'}:10: bad: ")
    assert said.count("\n") == 1
    assert not (tmp_path / "out.csv").exists()
    assert not (small / "out" / "registry" / "bad").exists()


@pytest.mark.parametrize("command", CALLS)
def test_nothing_is_said_of_whole_mappings(
    command: str, run: Run, small: Path, tmp_path: Path
) -> None:
    (small / "m.obda").write_text(OBDA)
    for name in ("good", "bad"):
        code, told, said = _call(run, command, small, name, tmp_path / "out.csv")
        assert code == 0
        assert "refused" not in told + said


def test_plain_sql_needs_no_mapping(run: Run, small: Path) -> None:
    (small / "m.obda").write_text("wrong")
    (small / "x.sql").write_text("SELECT a FROM s")
    output = small / "x.csv"
    ran = run("replay", small, "--sql", small / "x.sql", "--output", output, "--summary", "json")
    assert ran.code == 0
    assert "warning" not in ran.err
    assert "refused_mappings" not in json.loads(ran.out)
    ran = run("rewrite", small, "--query", "good", "--show", "sql")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("pattern", "target"),
    [
        ("a :Whole", "a :Part"),
        (":super ?v", ":sub {b}"),
        (":has ?v", ":of :o/{b}"),
        ("a :Domain", ":with :o/{b}"),
        ("a :Range", ":with :o/{b}"),
        ("a <http://www.w3.org/2002/07/owl#Thing>", ":b {b}"),
        (":a ?v", "a :Part ; :a {b}"),
        (":a ?v", "ex:a {b}"),
        (":a ?v", "speed {b}"),
        (":a ?v . ?x a :Whole", "a :Part"),
        ("^:of ?v", ":of :o/{b}"),
    ],
)
def test_by_the_ontology_too(pattern: str, target: str, run: Run, small: Path) -> None:
    """A mapping that makes a part of what is asked, by an axiom, is missed: the query is refused.
    Its twin, where nothing is wrong, is answered."""
    (small / "asked.rq").write_text(QUERY.replace("PATTERN", pattern))
    asked = ("rewrite", small, "--query", "asked", "--show", "sql")
    _break(small, BAD, f":s/{{id}} {target} ; .. .")
    ran = run(*asked)
    assert (ran.code, ran.out) == (2, "")
    assert f"{small / 'm.obda'}:10: bad: " in ran.err
    _break(small, BAD, f":s/{{id}} {target} .")
    if "ex:" not in target and "speed" not in target:
        assert run(*asked).code == 0


def test_several_queries_each_for_itself(run: Run, small: Path) -> None:
    """Nothing runs, unless what is refused is to be skipped: a run's checkpoint is of all of it."""
    (small / "ugly.rq").write_text("SELECT")
    ran = run("run", small, "--once")
    assert (ran.code, ran.out) == (2, "")
    assert [line.split(":")[0].rpartition("/")[2] for line in ran.err.splitlines()] == [
        "m.obda",
        "ugly.rq",
    ]
    assert not (small / "out").exists()
    ran = run("run", small, "--once", "--query", "ugly", "--skip-refused")
    assert ran.code == 2  # nothing is left to run
    assert not (small / "out").exists()


SUMMARY = dict.fromkeys(("results", "tuples", "markers", "rejected", "late", "state_rows_max"), 0)


def test_the_rest_runs(run: Run, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran_of: list[str] = []

    def run_queries(
        workspace: Workspace, compiled: Sequence[CompiledQuery], *_: object, **__: object
    ) -> dict[str, Any]:
        ran_of.extend(c.name for c in compiled)
        return {**SUMMARY, "rejects": {}}

    def serve_registry(opened: Callable[[], Workspace], *_: object, **__: object) -> dict[str, Any]:
        opened().compile("good")
        return {**SUMMARY, "rejects": {}}

    monkeypatch.setattr("ontoweir.run.run_queries.run_queries", run_queries)
    monkeypatch.setattr("ontoweir.registry.serving.serve_registry", serve_registry)
    for more, code, said, count in (
        (("--skip-refused",), 1, "warning: skipped: ", 3),
        (("--query", "good", "--skip-refused"), 1, "warning: skipped: ", 1),
        (("--query", "good"), 0, "warning: refused, and of no concern here: ", 1),
        (("--serve",), 0, "warning: refused, and of no concern here: ", 1),
        (("--serve", "--skip-refused"), 1, "warning: skipped: ", 1),
    ):
        ran = run("run", small, "--once", "--summary", "json", *more)
        assert ran.code == code
        assert ran.err.splitlines()[-1].startswith(said)
        assert ran.err.count("warning: ") == count
        told = json.loads(ran.out)
        (refused,) = told["refused_mappings"]
        assert refused["mapping"] == "bad"
        assert told.get("incomplete") == (told["refused_mappings"] if count == 3 else None)
    assert ran_of == ["bad", "good", "good", "good"]


SKIPPING = {name: call for name, call in CALLS.items() if name != "plot"}


@pytest.mark.parametrize("command", SKIPPING)
def test_a_query_goes_on_without_what_is_refused(
    command: str, run: Run, small: Path, tmp_path: Path
) -> None:
    """What it could lack is named, on stderr and in JSON."""
    (small / "both.rq").write_text(QUERY.replace("?x PATTERN", "{ ?x :a ?v } UNION { ?x :b ?v }"))
    more = [tmp_path / "out.csv" if m == "OUT" else m for m in CALLS[command]]
    ran = run(command, small, "--query", "both", "--skip-refused", *more)
    place = f"{small / 'm.obda'}:10"
    assert ran.code == 1, ran.err
    assert "both may be incomplete: " in ran.err
    assert f"could make its triples: bad ({place})" in ran.err
    assert ran.err.splitlines()[-1].startswith(f"warning: skipped: {place}: bad: ")
    told = json.loads(ran.out)
    if command != "register":
        assert [r["mapping"] for r in told["incomplete"]] == ["bad"]
    ran = run(command, small, "--query", "good", "--skip-refused", *more)
    assert ran.code == 1, ran.err
    assert "incomplete" not in ran.err
    assert "incomplete" not in json.loads(ran.out)


@pytest.mark.parametrize("command", CALLS)
def test_all_that_is_refused_is_reported(
    command: str, run: Run, small: Path, tmp_path: Path
) -> None:
    text = (small / "m.obda").read_text().replace("]]\n", "")
    more = "\nmappingId third\ntarget :s/{id} :c {c} .\nsource SELECT id, ts FROM s\n]]\n"
    (small / "m.obda").write_text(text + more)
    code, told, said = _call(run, command, small, "bad", tmp_path / "out.csv")
    assert (code, told) == (2, "")
    assert sorted(line.split(": ")[1] for line in said.splitlines()) == ["bad", "third"]


def test_check_goes_on_without_what_is_refused(run: Run, small: Path) -> None:
    ran = run("check", small, "--format", "json")
    assert ran.code == 2
    assert {v["query"]: v["verdict"] for v in json.loads(ran.out)}["bad"] == "refused"
    ran = run("check", small, "--format", "json", "--skip-refused")
    assert ran.code == 1
    bad, good = json.loads(ran.out)
    assert bad["verdict"] == "unsatisfiable"  # nothing else makes its triples
    assert [(r["mapping"], r["line"]) for r in bad["incomplete"]] == [("bad", 10)]
    assert "incomplete" not in good
    ran = run("check", small, "--skip-refused")
    assert ran.out.count("may be incomplete: without bad (") == 1
    for form in ("sarif", "html"):
        ran = run("check", small, "--format", form, "--skip-refused")
        assert "bad may be incomplete" in ran.out


def test_python_warns(small: Path) -> None:
    opened = open_project(small)
    with pytest.warns(OntoweirWarning, match="bad: "):
        answers = opened.replay("good")
    assert answers.to_arrow().num_rows == 2
    for call in (opened.check, opened.explain, opened.rewrite, opened.replay):
        with pytest.raises(MappingError, match="target"):
            call("bad")
    (error,) = opened.refused
    assert error.source is not None
    assert error.source.line == 10
    said: list[str] = []
    opened = open_project(small, skip_refused=True, warn=said.append)
    assert opened.check("bad").name == "unsatisfiable"
    assert any("bad may be incomplete: " in text for text in said)


def test_materialize_tells_of_all(run: Run, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "d.db") as connection:
        connection.executescript("CREATE TABLE s (id INT, a INT, b INT, ts INT)")
        connection.execute("INSERT INTO s VALUES (1, 2, 3, 4)")
    text = OBDA.replace(BAD, ":s/{id} :b .").replace("]]\n", "")
    text += "\nmappingId third\ntarget :s/{id} :c {c} .\nsource SELECT id FROM s\n]]\n"
    (tmp_path / "m.obda").write_text(text)
    output = tmp_path / "out.nq"
    more = ("--database", f"sqlite:{tmp_path / 'd.db'}", "--output", output)
    call = ("materialize", "--mappings", tmp_path / "m.obda", *more)
    ran = run(*call)
    assert (ran.code, ran.out) == (2, "")
    places = [line.split(": ")[:2] for line in ran.err.splitlines()]
    assert [p[0].rpartition(":")[2] for p in places] == ["10", "14"]
    assert not output.exists()
    ran = run(*call, "--skip-refused")
    assert ran.code == 1
    assert ran.err.count("warning: skipped: ") == 2
    assert output.read_text().startswith("<http://e/s/1> <http://e/a> ")
    assert output.read_text().count("\n") == 1
    # what refers to one that is refused is refused too
    (tmp_path / "m.ttl").write_text(
        "@prefix rr: <http://www.w3.org/ns/r2rml#> .\n@prefix : <http://e/> .\n"
        '<#A> rr:logicalTable [ rr:tableName "s" ] ; rr:subjectMap [ rr:template "http://e/{id}" ];'
        "\n  rr:predicateObjectMap [ rr:predicate :p ; rr:objectMap [ rr:parentTriplesMap <#B> ;"
        ' rr:joinCondition [ rr:child "id" ; rr:parent "id" ] ] ] .\n'
        '<#B> rr:logicalTable [ rr:tableName "none" ] ; '
        'rr:subjectMap [ rr:template "http://e/{id}" ] .\n'
    )
    ran = run("materialize", "--mappings", tmp_path / "m.ttl", *more, "--skip-refused")
    assert ran.code == 1
    assert ran.err.count("\n") == 1
    assert output.read_text() == ""
