"""A live run whose state is divided anew between steps, into more parts, fewer, or one, answers as
one that nobody touched; what it keeps is within its bound."""

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import event, given

from ontoweir.checker.model.normal_form import Statistics
from ontoweir.errors import UsageError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.spj import Attribute
from ontoweir.run.prepare_jobs import make_job
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.live.model.divided_state import DividedState
from ontoweir.runtime.live.model.live_job import LiveJob, LiveState
from ontoweir.runtime.live.parts import divide_groups as groups_module
from ontoweir.runtime.live.parts.place_anew import place_anew
from ontoweir.runtime.sources.read_source import BAD
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import STYLES
from tests.runtime.live.parts.test_parts_equal import changes_of
from tests.runtime.live_cases import cut_arrivals
from tests.runtime.parts_here import divide, tied_case


def _move(
    job: LiveJob, query: QueryJob, state: LiveState, parts: int, folder: Path
) -> tuple[LiveJob, LiveState]:
    """The job in so many parts (1: in the driver), and its state there."""
    placed = job if parts == 1 else divide(job, query, parts, folder)
    assert placed is not None
    moved = place_anew(placed, state, folder)
    held = state.queries[0]
    assert (moved is None) == (parts == (len(held.parts) if isinstance(held, DividedState) else 1))
    return placed, state if moved is None else moved


@pytest.mark.parametrize("style", sorted(STYLES))
@budget(0.15)
@given(seed=SEEDS)
def test_divided_anew_equals_the_driver(style: str, seed: int) -> None:
    random = Random(seed)
    found = tied_case(random, style)
    if found is None:
        return
    case, job, query = found
    with TemporaryDirectory() as place, changes_of(random.choice([1, 3, 1 << 16]), None):
        folder = Path(place) / "parts"
        if divide(job, query, 2, folder) is None:
            event("not divided")
            return
        one = begin_live(job)
        moving, several = _move(job, query, one, random.choice([1, 2, 3]), folder)
        streams = {h.stream.name for h in job.histories}
        for batch in cut_arrivals(case, random, streams):
            if random.random() < 0.4:
                event("moved")
                parts = random.choice([1, 2, 3, 4, 7])
                moving, several = _move(moving if parts > 1 else job, query, several, parts, folder)
            left, right = (
                advance_live(j, s, batch, 0.0) for j, s in ((job, one), (moving, several))
            )
            assert left.answers[0].equals(right.answers[0]), (left.answers[0], right.answers[0])
            if left.answers[0].num_rows:
                event("answers")
            one, several = left.state, right.state
            assert one.totals == several.totals
            bound = moving.queries[0].bound
            assert bound is None or several.queries[0].rows <= bound


TOML = """
[streams.s]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "1 second" }
[streams.s.columns]
k = { type = "string", enum = ["", "a", "b/c d", "ü", "long long long long long long"] }
i = { type = "int", min = 0, max = 9 }
d = { type = "decimal(9, 2)", min = 0, max = 9 }
b = { type = "boolean", nullable = true }

[streams.w]
source = { format = "parquet", path = "w" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 8
[streams.w.columns]
n = { type = "int", enum = EDGES }
i = { type = "int", min = 0, max = 9 }
"""
EDGES = [-(2**63), -(2**63) + 1, -1, 0, 1, 2**62, 2**63 - 2, 2**63 - 1]


DECIMAL = pa.decimal128(9, 2)


def _make(folder: Path, sql: str) -> tuple[QueryJob, LiveJob]:
    """A query over the stream, and the job of a run of it."""
    (folder / "ontoweir.toml").write_text(f"[project]\n{TOML.replace('EDGES', str(EDGES))}")
    (folder / "q.sql").write_text(sql)
    workspace = Workspace(load_project(folder, environ={}))
    compiled = workspace.compile_sql(folder / "q.sql")
    query = make_job(workspace, compiled, workspace.check(compiled), Statistics())[0]
    return query, make_live_job([query], workspace.project.catalog, {}, {})


def _rows(random: Random, second: int) -> dict[str, pa.Table]:
    count = random.randint(0, 6)
    bad = pa.nulls(count, pa.string())
    keys = ["", "a", "b/c d", "ü", " ".join(["long"] * 6)]
    columns = {
        "ts": pa.array([second * 1_000_000] * count, pa.int64()),
        "k": pa.array([random.choice(keys) for _ in range(count)], pa.string()),
        "i": pa.array([random.randint(0, 9) for _ in range(count)], pa.int64()),
        "d": pa.array([Decimal(random.randint(0, 9)) / 4 for _ in range(count)], DECIMAL),
        "b": pa.array([random.choice([None, True, False]) for _ in range(count)], pa.bool_()),
        BAD: bad,
    }
    return {"s": pa.table(columns)}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k, count(*) AS n, sum(d) AS s, max(i) AS m FROM s GROUP BY k",
        "SELECT k, median(i) AS m, count(DISTINCT i) AS c FROM s GROUP BY k",
        "SELECT d, b, min(k) AS least, avg(i) AS a FROM s GROUP BY d, b",
        "SELECT i, quantile(d, 0.9) AS q, count(DISTINCT k) AS c FROM s GROUP BY i",
        "SELECT k, date_trunc('minute', ts) AS m, count(DISTINCT d) AS c FROM s GROUP BY 1, 2",
        "SELECT k, sum(CAST(d AS DOUBLE) / 3) AS s, stddev(i) AS v FROM s GROUP BY k",
        "SELECT DISTINCT a.k, b.i FROM s a, s b WHERE a.k = b.k AND a.ts < b.ts AND a.i = 3",
        "SELECT a.k, a.d FROM s a, s b WHERE a.d = b.d AND a.ts < b.ts AND a.i = 3 AND b.i = 4",
    ],
)
def test_groups_and_values_of_all_kinds(sql: str, tmp_path: Path) -> None:
    """Texts, decimals, NULLs; medians, distinct values, sums of doubles, buckets."""
    query, job = _make(tmp_path, sql)
    folder, random = tmp_path / "parts", Random(sql)
    one = begin_live(job)
    moving, several = _move(job, query, one, 2, folder)
    answered = 0
    for second in range(0, 260, 7):
        if random.random() < 0.3:
            parts = random.choice([1, 2, 3, 4, 7])
            moving, several = _move(moving if parts > 1 else job, query, several, parts, folder)
        batch = _rows(random, second)
        left, right = (advance_live(j, s, batch, 0.0) for j, s in ((job, one), (moving, several)))
        assert left.answers[0].equals(right.answers[0]), (left.answers[0], right.answers[0])
        answered += left.answers[0].num_rows
        one, several = left.state, right.state
        assert one.queries[0].rows == several.queries[0].rows
    assert answered


def test_values_told_by_iris(tmp_path: Path) -> None:
    """Those of texts are percent-encoded there; what a template has around them may be in them,
    and other values beside them, where a reserved character is between."""
    query, _ = _make(tmp_path, "SELECT k FROM s")
    stream = query.catalog.streams["s"]
    k, i = Attribute("s", "k"), Attribute("s", "i")

    def told(
        column: Attribute, terms: Sequence[str | None], *parts: str | Attribute
    ) -> list[object]:
        pattern = dict(groups_module._find_patterns(parts))[column]
        one = groups_module._Told("v", stream, column.column, pattern)
        values: list[object] = one.read(pa.chunked_array([pa.array(terms)])).to_pylist()
        return values

    terms = ["http://e/b%2Fc%20d/x", "http://e//x", "http://e/%C3%BC%2Fx/x", None]
    assert told(k, terms, "http://e/", k, "/x") == ["b/c d", "", "ü/x", None]
    assert told(i, ["http://e/12", "http://e/-3"], "http://e/", i) == [12, -3]
    edges = [-(2**63), 2**63 - 1]
    assert told(i, [f"http://e/{n}" for n in edges], "http://e/", i) == edges
    two = ["http://e/a%2Fb/7", "http://e//-3", None]
    assert told(k, two, "http://e/", k, "/", i) == ["a/b", "", None]
    assert told(i, two, "http://e/", k, "/", i) == [7, -3, None]
    dashed = ["http://e/a--/-7", "http://e/-/--3"]  # of k "a-" and "", of i 7 and -3
    assert told(k, dashed, "http://e/", k, "-/-", i) == ["a-", ""]
    assert told(i, dashed, "http://e/", k, "-/-", i) == [7, -3]
    assert dict(groups_module._find_patterns(("http://e/", k, "-", i))) == {}
    assert dict(groups_module._find_patterns(("http://e/", k, i))) == {}
    with pytest.raises(pa.ArrowInvalid, match="its template"):
        told(k, ["http://e/a/b/7"], "http://e/", k, "/", i)


MAPPING = """@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix : <http://e/> .
<M> a rr:TriplesMap ; rr:logicalTable [ rr:tableName "s" ] ;
  rr:subjectMap [ rr:template "http://e/s/{k}/{i}/{ts}" ; rr:class :R ] ;
  rr:predicateObjectMap [ rr:predicate :of ; rr:objectMap [ rr:template "http://e/{k}/{i}" ] ] ;
  rr:predicateObjectMap [ rr:predicate :v ; rr:objectMap [ rr:column "d" ] ] .
"""


@pytest.mark.parametrize(
    "sparql",
    [
        "SELECT ?x (COUNT(*) AS ?n) { GRAPH ?t { ?r :of ?x ; :v ?v } } GROUP BY ?x",
        (
            "SELECT ?x { GRAPH ?t { ?r :of ?x ; :v ?v } GRAPH ?u { ?q :of ?x ; :v ?w } "
            "FILTER(?t < ?u && ?v < 1.5 && ?w > 0.5) }"
        ),
        "SELECT DISTINCT ?x { GRAPH ?t { ?r :of ?x ; :v ?v } FILTER(?v < 1.5) }",
    ],
)
def test_values_that_views_have(sparql: str, tmp_path: Path) -> None:
    """The rows of a plan are those of views over the stream, which has the dividing column."""
    (tmp_path / "m.ttl").write_text(MAPPING)
    (tmp_path / "o.ttl").write_text("<http://e/> a <http://www.w3.org/2002/07/owl#Ontology> .")
    (tmp_path / "q.rq").write_text(f"PREFIX : <http://e/> {sparql}")
    lists = 'ontology = ["o.ttl"]\nmappings = ["m.ttl"]\nqueries = ["q.rq"]\n'
    text = f"[project]\n{lists}{TOML.replace('EDGES', str(EDGES))}"
    (tmp_path / "ontoweir.toml").write_text(text)
    workspace = Workspace(load_project(tmp_path, environ={}))
    compiled = workspace.compile("q")
    query = make_job(workspace, compiled, workspace.check(compiled), Statistics())[0]
    job = make_live_job([query], workspace.project.catalog, {}, {})
    folder, random = tmp_path / "parts", Random(sparql)
    one = begin_live(job)
    moving, several = _move(job, query, one, 2, folder)
    answered = 0
    for second in range(0, 200, 7):
        if random.random() < 0.4:
            parts = random.choice([1, 2, 3, 4, 7])
            moving, several = _move(moving if parts > 1 else job, query, several, parts, folder)
        batch = _rows(random, second)
        left, right = (advance_live(j, s, batch, 0.0) for j, s in ((job, one), (moving, several)))
        assert left.answers[0].equals(right.answers[0]), (left.answers[0], right.answers[0])
        answered += left.answers[0].num_rows
        one, several = left.state, right.state
    assert answered


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT n, count(*) AS c, min(i) AS m FROM w GROUP BY n",
        "SELECT DISTINCT n FROM w WHERE i > 3",
        "SELECT a.n, b.i FROM w a, w b WHERE a.n = b.n AND a.ts < b.ts AND a.i = 3 AND b.i > 2",
    ],
)
def test_values_at_the_edges_of_64_bits(sql: str, tmp_path: Path) -> None:
    query, job = _make(tmp_path, sql)
    folder, random = tmp_path / "parts", Random(sql)
    one = begin_live(job)
    moving, several = _move(job, query, one, 2, folder)
    answered = 0
    for second in range(0, 200, 5):
        if random.random() < 0.4:
            parts = random.choice([1, 2, 3, 4, 7])
            moving, several = _move(moving if parts > 1 else job, query, several, parts, folder)
        count = random.randint(0, 5)
        columns = {
            "ts": pa.array([second * 1_000_000] * count, pa.int64()),
            "n": pa.array([random.choice(EDGES) for _ in range(count)], pa.int64()),
            "i": pa.array([random.randint(0, 9) for _ in range(count)], pa.int64()),
            BAD: pa.nulls(count, pa.string()),
        }
        batch = {"w": pa.table(columns)}
        left, right = (advance_live(j, s, batch, 0.0) for j, s in ((job, one), (moving, several)))
        assert left.answers[0].equals(right.answers[0]), (left.answers[0], right.answers[0])
        answered += left.answers[0].num_rows
        one, several = left.state, right.state
    assert answered


def test_groups_that_do_not_tell_their_part_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query, job = _make(tmp_path, "SELECT i, count(*) AS n FROM s GROUP BY i")
    folder = tmp_path / "parts"
    moving, state = _move(job, query, begin_live(job), 2, folder)
    for second in (0, 7):
        state = advance_live(moving, state, _rows(Random(1), second), 0.0).state
    monkeypatch.setattr(groups_module, "_find_told", lambda query, division: None)
    with pytest.raises(UsageError, match="cannot be divided anew") as refused:
        _move(moving, query, state, 3, folder)
    assert "leave out --parts" in refused.value.fix
