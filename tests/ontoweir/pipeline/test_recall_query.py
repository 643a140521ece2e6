"""A query that was replayed is recalled, and is the same; where anything differs it is compiled."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.cache.encode_values import encode_values
from ontoweir.cache.open_cache import Cache
from ontoweir.checker.model.difference_bounds import DifferenceBounds
from ontoweir.checker.model.normal_form import ColumnStatistics, Statistics
from ontoweir.checker.verdict.list_classes import list_classes
from ontoweir.pipeline.compiled_query import CompiledQuery
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.replay_query import ReplayOptions, replay_query
from tests.docs.test_sql_page import READ, rows
from tests.paths import ROOT

FILES = {
    "ontoweir.toml": """[project]
ontology = ["o.ttl"]
mappings = ["m.ttl"]
queries = ["*.rq"]
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
[streams.s.columns]
k = { type = "int", min = 0, max = 9 }
v = "double"
[relations.r]
source = { format = "parquet", path = "r.parquet" }
keys = [["k"]]
[relations.r.columns]
k = "int"
site = "int"
""",
    "o.ttl": "@prefix : <http://e/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    ":Loud rdfs:subClassOf :Heard . :Nobody rdfs:subClassOf :Noise .\n",
    "m.ttl": """@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix : <http://e/> .
:M rr:logicalTable [ rr:sqlQuery "SELECT k, v, ts FROM s WHERE v > 1.5" ] ;
  rr:subjectMap [ rr:template "http://e/{k}" ; rr:class :Loud ] ;
  rr:predicateObjectMap [ rr:predicate :v ; rr:objectMap [ rr:column "v" ] ] .
""",
    "heard.rq": "PREFIX : <http://e/> SELECT ?x ?v { GRAPH ?t { ?x a :Heard ; :v ?v } }\n",
    "waits.rq": "PREFIX : <http://e/>\n"
    "SELECT ?x ?y { GRAPH ?t { ?x :v ?v } GRAPH ?u { ?y :v ?v } FILTER(?u > ?t) }\n",
    "pairs.sql": "SELECT a.k, count(*) AS n FROM s a, s b WHERE a.k = b.k AND a.ts < b.ts "
    "GROUP BY a.k\n",
    "sites.sql": "SELECT DISTINCT r.site FROM s a, s b, r WHERE a.k = r.k AND b.k = r.k "
    "AND a.ts < b.ts\n",
}
CHANGES = {
    "o.ttl": (":Heard .", ":Heard . :Loud rdfs:subClassOf :B ."),
    "m.ttl": ("v > 1.5", "v > 2.5"),
    "heard.rq": ("?x ?v {", "?v ?x {"),
    "ontoweir.toml": ("max = 9", "max = 8"),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    times = pa.array([10**15 + 10**6 * n for n in range(8)], pa.timestamp("us"))
    table = pa.table(
        {"ts": times, "k": [1, 2, 1, 2, 1, 2, 1, 2], "v": [float(n) for n in range(8)]}
    )
    pq.write_table(table, tmp_path / "s.parquet")
    pq.write_table(pa.table({"k": [1, 2, 5], "site": [3, 4, 4]}), tmp_path / "r.parquet")
    return tmp_path


@pytest.fixture
def opened(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Workspace]:
    """Opens the project, each time as another process would, with the same cache."""
    cache = Cache(tmp_path_factory.mktemp("cache"))

    def open_again(strict: bool = False) -> Workspace:
        workspace = Workspace(load_project(project, environ={}), strict=strict, partial=True)
        workspace.cache = cache
        return workspace

    return open_again


def replay(workspace: Workspace, compiled: CompiledQuery, output: Path) -> pa.Table:
    replay_query(workspace, compiled, ReplayOptions(output, progress=False, engine="driver"))
    return pq.read_table(output)


def write(*value: object) -> str:
    return json.dumps(encode_values(value, {DifferenceBounds: lambda b: b.parts}))


@pytest.mark.parametrize("name", ["heard.rq", "pairs.sql", "sites.sql"])
def test_it_is_the_same_and_gives_the_same_answers(
    name: str, project: Path, opened: Callable[[], Workspace], tmp_path: Path
) -> None:
    first, file, sql = opened(), project / name, name.endswith(".sql")
    assert first.recall(file, sql=sql) is None
    compiled = first.compile_sql(file) if sql else first.compile("heard")
    answers = replay(first, compiled, tmp_path / "one.parquet")
    assert answers.num_rows > 0
    again = opened()
    recalled = again.recall(file, sql=sql)
    assert recalled is not None
    assert write(recalled.union, again.check(recalled)) == write(
        compiled.union, first.check(compiled)
    )
    assert replay(again, recalled, tmp_path / "two.parquet").equals(answers)
    assert "mappings" not in again.__dict__  # nothing was read


@pytest.mark.parametrize("changed", CHANGES)
def test_it_is_compiled_again_where_anything_differs(
    changed: str, project: Path, opened: Callable[[], Workspace], tmp_path: Path
) -> None:
    first = opened()
    replay(first, first.compile("heard"), tmp_path / "one.parquet")
    file = project / changed
    old, new = CHANGES[changed]
    before = file.read_text()
    file.write_text(before.replace(old, new))
    assert file.read_text() != before
    assert opened().recall(project / "heard.rq", sql=False) is None
    file.write_text(before)
    assert opened().recall(project / "heard.rq", sql=False) is not None


def test_what_depends_on_more_is_not_kept(
    project: Path, opened: Callable[[], Workspace], tmp_path: Path
) -> None:
    unbounded = opened()
    options = ReplayOptions(tmp_path / "u.parquet", progress=False, allow_unbounded=True)
    replay_query(unbounded, unbounded.compile("waits"), options)
    assert opened().recall(project / "waits.rq", sql=False) is None
    skipping = opened()
    skipping.skip_refused = True
    replay(skipping, skipping.compile("heard"), tmp_path / "skip.parquet")
    assert opened().recall(project / "heard.rq", sql=False) is None
    hurried = opened()
    compiled = hurried.compile("heard")
    hurried.ran_out = True
    replay(hurried, compiled, tmp_path / "h.parquet")
    assert opened().recall(project / "heard.rq", sql=False) is None


def test_what_is_warned_of_is_warned_of_again(
    project: Path, opened: Callable[[], Workspace], tmp_path: Path
) -> None:
    file = project / "heard.rq"
    text = "PREFIX : <http://e/>\nSELECT ?x { { GRAPH ?t { ?x a :Heard } } UNION { ?x a :Nobody } }"
    file.write_text(text)
    said: list[list[str]] = []
    for _ in range(2):
        workspace = opened()
        said.append([])
        workspace.on_warning = said[-1].append
        compiled = workspace.recall(file, sql=False) or workspace.compile("heard")
        replay(workspace, compiled, tmp_path / "w.parquet")
    assert said[0] == said[1] != []


def test_the_path_of_its_file_may_be_another(
    project: Path, opened: Callable[[], Workspace]
) -> None:
    """As of a text that is given on the command line, which is in a file of the process."""
    first, before = opened(), project / "pairs.sql"
    compiled = first.compile_sql(before)
    first.keep(compiled, first.check(compiled))
    after = project / "elsewhere" / "pairs.sql"
    after.parent.mkdir()
    before.rename(after)
    again = opened()
    recalled = again.recall(after, sql=True)
    assert recalled is not None
    assert write(recalled.union, again.check(recalled)) == write(
        compiled.union, first.check(compiled)
    ).replace(str(before), str(after))
    after.rename(after.with_name("others.sql"))
    assert opened().recall(after.with_name("others.sql"), sql=True) is None


def test_all_that_bounded_queries_are_made_of_is_kept(tmp_path: Path) -> None:
    names = [made.__name__ for made in list_classes()]
    assert len(set(names)) == len(names)
    traffic = Workspace(load_project(ROOT / "examples" / "traffic", environ={}))
    water = Workspace(load_project(ROOT / "examples" / "water", environ={}))
    traffic.cache = water.cache = Cache(tmp_path / "cache")
    traffic.cache.folder.mkdir()
    made = [(w, w.compile(name)) for w in (traffic, water) for name in w.query_names()]
    for place, (sql, _) in enumerate(rows(READ)):
        file = tmp_path / f"q{place}.sql"
        file.write_text(sql)
        made.append((traffic, traffic.compile_sql(file)))
    bounded = 0
    for workspace, compiled in made:
        verdict = workspace.check(compiled)
        if verdict.plans is None:
            continue
        bounded += 1
        workspace.keep(compiled, verdict)
        assert compiled.union.source is not None
        file = Path(compiled.union.source.file)
        recalled = workspace.recall(file, sql=file.suffix == ".sql")
        assert recalled is not None, compiled.name
        kept = [f for f in (tmp_path / "cache").iterdir() if str(file) in f.read_text()]
        assert not [f.name for f in kept if f.name.startswith("query-")], compiled.name
        assert write(recalled.union, workspace.check(recalled)) == write(compiled.union, verdict)
    assert bounded > 60


@pytest.mark.parametrize("asked", ["--query=heard", "--sql=sites.sql", "--sql=SELECT k FROM s"])
def test_a_replay_of_what_is_known_brings_no_parser(
    asked: str, project: Path, tmp_path: Path
) -> None:
    def run() -> set[str]:
        """What is imported by a replay from the command line."""
        given = [asked, str(tmp_path / "cache"), str(tmp_path / "o.parquet")]
        command = [sys.executable, "-c", SCRIPT, *given]
        told = subprocess.run(command, capture_output=True, text=True, cwd=project)
        assert told.returncode == 0, told.stderr
        return set(told.stdout.split())

    parser = "rdflib" if "query" in asked else "sqlglot"
    assert {parser, "ontoweir.checker.decide"} <= run()
    again = run()
    assert "ontoweir.runtime.kernel" in again
    assert not {"rdflib", "sqlglot", "ontoweir.checker.decide", "pyspark", "pandas"} & again


SCRIPT = """
import sys
from ontoweir.cli import main
asked, cache, output = sys.argv[1:]
more = ["--output", output, "--quiet", "--cache", cache, "--format", "parquet", "--summary", "json"]
code = main(["replay", ".", asked, *more])
sys.stdout.write("\\n" + "\\n".join(sys.modules))
sys.exit(code)
"""


def test_what_static_data_says_is_refined_again_where_it_changes(
    project: Path, opened: Callable[[], Workspace]
) -> None:
    def refine(rows: int) -> tuple[str, bool]:
        """The verdict, and whether it was known."""
        workspace, file = opened(), project / "sites.sql"
        compiled = workspace.recall(file, sql=True) or workspace.compile_sql(file)
        verdict = workspace.check(compiled)
        compiled = workspace.keep(compiled, verdict)
        kept = workspace._kept()
        assert kept is not None
        columns = {("r", "k"): ColumnStatistics(rows), ("r", "site"): ColumnStatistics(2)}
        known = Statistics({"r": rows}, columns)
        there = kept.recall_refined(compiled, known) is not None
        return write(workspace.refine(compiled, verdict, known)), there

    first, more = refine(3), refine(30)
    assert first[0] != more[0]
    assert not first[1]
    assert not more[1]
    assert refine(3) == (first[0], True)
    assert refine(30) == (more[0], True)
