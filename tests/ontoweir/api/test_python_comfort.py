"""The Python API where people type: outputs by suffix, times as they are written."""

import warnings
from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
import pytest

from ontoweir import OntoweirWarning, OpenProject, open_project
from ontoweir.cache.open_cache import VARIABLE
from ontoweir.errors import UsageError
from ontoweir.mappings.compile import load_mappings
from ontoweir.pipeline.known import read_cached
from ontoweir.project.read_moment import read_moment
from ontoweir.report.describe_rejects import describe_rejects

ONTOLOGY = """
@prefix owl: <http://www.w3.org/2002/07/owl#> .
<http://x/value> a owl:DatatypeProperty .
"""
MAPPING = """
@prefix rr: <http://www.w3.org/ns/r2rml#> .
<#m> rr:logicalTable [ rr:tableName "s" ]; rr:subjectMap [ rr:template "http://x/{a}" ];
  rr:predicateObjectMap [ rr:predicate <http://x/value>; rr:objectMap [ rr:column "a" ] ] .
"""
PROJECT = """
[project]
ontology = ["o.ttl"]
mappings = ["m.ttl"]
queries = ["*.rq"]
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 day" }
columns = { a = "int" }
"""
QUERY = "SELECT ?v WHERE { GRAPH ?t { ?x <http://x/value> ?v } }"
DAY = 86_400_000_000


@pytest.fixture
def opened(tmp_path: Path) -> OpenProject:
    (tmp_path / "o.ttl").write_text(ONTOLOGY)
    (tmp_path / "m.ttl").write_text(MAPPING)
    (tmp_path / "all.rq").write_text(QUERY)
    (tmp_path / "ontoweir.toml").write_text(PROJECT)
    times = pa.array([0, DAY, 2 * DAY], pa.int64()).cast(pa.timestamp("us"))
    pq.write_table(pa.table({"ts": times, "a": [1, 2, 3]}), tmp_path / "s.parquet")
    return open_project(tmp_path)


def test_the_suffix_chooses_the_format(opened: OpenProject, tmp_path: Path) -> None:
    answers = opened.replay("all", output=tmp_path / "out.CSV")
    assert pcsv.read_csv(tmp_path / "out.CSV").column("v").to_pylist() == [1, 2, 3]
    assert answers.to_arrow().column("v").to_pylist() == [1, 2, 3]
    opened.replay("all", output=str(tmp_path / "out.jsonl"))
    assert (tmp_path / "out.jsonl").read_text().startswith('{"v": 1')
    kept = opened.replay("all", output=tmp_path / "out.parquet")
    assert kept.file == tmp_path / "out.parquet"
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 3


def test_an_output_that_cannot_be_is_refused(opened: OpenProject, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="folder"):
        opened.replay("all", output=tmp_path / "none" / "out.csv")


@pytest.mark.parametrize(
    "start",
    ["1970-01-02", "1970-01-02T00:00:00Z", date(1970, 1, 2), datetime(1970, 1, 2, tzinfo=UTC)],
)
def test_times_as_people_write_them(opened: OpenProject, start: "str | date") -> None:
    assert opened.replay("all", start=start).to_arrow().column("v").to_pylist() == [2, 3]
    assert opened.replay("all", stop=start).to_arrow().column("v").to_pylist() == [1]


def test_what_is_no_time_is_refused(opened: OpenProject) -> None:
    for start in ("yesterday", 5, "1970-13-01"):
        with pytest.raises(UsageError, match="is not a time"):
            opened.replay("all", start=start)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="is not before"):
        opened.replay("all", start="1970-01-03", stop=date(1970, 1, 2))
    assert read_moment(None, "start") is None


def test_what_there_is_can_be_listed() -> None:
    import ontoweir

    assert {"open_project", "build_project", "OpenProject", "Answers", "OntoweirError"} <= set(
        dir(ontoweir)
    )
    assert dir(ontoweir) == sorted(ontoweir.__all__)  # nothing of what was imported meanwhile
    with pytest.raises(AttributeError):
        ontoweir.nothing  # noqa: B018


def test_warnings_are_not_dropped(opened: OpenProject, tmp_path: Path) -> None:
    (tmp_path / "none.rq").write_text("SELECT ?x WHERE { GRAPH ?t { ?x a <http://x/C> } }")
    with (tmp_path / "o.ttl").open("a") as file:
        file.write("<http://x/C> a owl:Class .\n")
    with pytest.warns(OntoweirWarning, match="nothing is mapped") as caught:
        open_project(tmp_path).check("none")
    assert caught[0].filename == __file__
    told: list[str] = []
    open_project(tmp_path, warn=told.append).check("none")
    assert len(told) == 1


def test_a_refused_mapping_is_warned_of(opened: OpenProject, tmp_path: Path) -> None:
    more = MAPPING.replace("<#m>", "<#n>").replace("x/value", "x/other").replace('"a"', '"b"')
    (tmp_path / "n.ttl").write_text(more)
    told: list[str] = []
    text = PROJECT.replace('["m.ttl"]', '["m.ttl", "n.ttl"]')
    (tmp_path / "ontoweir.toml").write_text(text)
    with pytest.warns(OntoweirWarning, match=r"n\.ttl") as caught:
        open_project(tmp_path).check("all")
    assert caught[0].filename == __file__  # not where a property is computed once
    project = open_project(tmp_path, warn=told.append)
    assert [project.check("all").name for _ in range(2)] == ["bounded"] * 2
    assert len(told) == 1
    assert "n.ttl" in told[0]


def test_what_is_rejected_is_said_loudly(opened: OpenProject, tmp_path: Path) -> None:
    for rows, wrong, loud in ((300, 3, False), (300, 4, True)):
        times = pa.array([n * DAY for n in range(rows)], pa.int64()).cast(pa.timestamp("us"))
        values = [1_000 if n < wrong else n for n in range(rows)]
        declared = 'a = { type = "int", min = 0, max = 500 }'
        (tmp_path / "ontoweir.toml").write_text(PROJECT.replace('a = "int"', declared))
        pq.write_table(pa.table({"ts": times, "a": values}), tmp_path / "s.parquet")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            open_project(tmp_path).replay("all")
        assert [str(w.message).startswith("all: 4 of 300 tuples (1 %)") for w in caught] == (
            [True] if loud else []
        )


def test_the_share_that_is_loud() -> None:
    summary = {"tuples": 200, "rejected": 2, "rejects": {"late": 2}}
    assert describe_rejects(summary) is None
    assert describe_rejects({**summary, "rejected": 0, "rejects": {}, "tuples": 0}) is None
    taken_up = {**summary, "tuples": 1, "decided": 250}  # these had waited
    assert describe_rejects(taken_up) is None
    assert describe_rejects({**taken_up, "decided": 4}) == (
        "2 of 4 tuples (50 %) were rejected and are in no answer: late (2)"
    )
    many = {f"reason {n}": n for n in range(1, 6)}
    told = describe_rejects({"tuples": 20, "rejected": 15, "rejects": many})
    assert told is not None
    assert "15 of 20 tuples (75 %)" in told
    assert told.index("reason 5") < told.index("reason 3")
    assert "and 2 other reasons" in told


def test_what_was_read_is_kept_for_the_next_time(
    opened: OpenProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on the command line: in a folder that is named, in that of $ONTOWEIR_CACHE, or nowhere."""
    plain = opened.rewrite("all")
    for cache, kept in (("off", tmp_path / "none"), (tmp_path / "one", tmp_path / "one")):
        assert open_project(tmp_path, cache=cache).rewrite("all") == plain
        assert kept.exists() == (cache != "off")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "two"))
    assert open_project(tmp_path).rewrite("all") == plain
    assert len(list((tmp_path / "two").iterdir())) == len(list((tmp_path / "one").iterdir())) > 0
    reads: list[object] = []
    for module, name in ((read_cached, "read_ontology"), (load_mappings, "load_mappings")):
        monkeypatch.setattr(module, name, lambda *a, **_: reads.append(a))
    assert open_project(tmp_path).rewrite("all") == plain
    assert open_project(tmp_path, cache=tmp_path / "one").rewrite("all") == plain
    assert reads == []
    with pytest.raises(AttributeError):  # it is read
        open_project(tmp_path, cache="off").rewrite("all")
    assert len(reads) == 1
