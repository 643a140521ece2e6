"""Repairs in `ontoweir check`: each is pasted into a copy of the files, which is checked again."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from ontoweir.checker.repair.changes import SetDistinct
from ontoweir.checker.repair.find_repairs import find_repairs
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from tests.ontoweir.conftest import Run

UNBOUNDED = (
    "every-congested-reading-with-every-fast-one-after-it",
    "how-often-congestion-got-worse",
    "roads-where-the-same-time-was-measured-again",
)

PROJECT = """\
[project]
ontology = ["o.ttl"]
mappings = ["m.ttl"]
queries = ["queries/*.rq"]

[streams.s]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 3
[streams.s.columns]
k = "int" # who
a = { type = "int", max = -5 }
f = "double"
day = "date"
price = "decimal(8,2)"
small = { type = "int", min = 0, max = 9 }
[streams.s.columns.name]
type = "string" # no list of them

[streams.u]
source = { format = "parquet", path = "u" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 3
references = [
  { columns = ["w"], relation = "q", to = ["z"] }, # kept
]
columns = { k = "int", w = "int", b = "int", f = "double", day = "date", price = "decimal(8,2)" }

[relations.r]
source = { format = "csv", path = "r" }
keys = [["k"]]
max_rows = 20
columns = { k = "int", z = "int" }

[relations.q]
source = { format = "csv", path = "q" }
columns = { z = "int" }
"""

ONTOLOGY = """\
@prefix : <http://x.example/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Thing a owl:Class ; rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :has ;
  owl:someValuesFrom owl:Thing ] .
:has a owl:ObjectProperty .
"""

MAPPINGS = """\
@prefix : <http://x.example/> .
@prefix rr: <http://www.w3.org/ns/r2rml#> .
@base <http://x.example/m/> .
<S> a rr:TriplesMap ; rr:logicalTable [ rr:tableName "s" ] ;
  rr:subjectMap [ rr:template "http://x.example/thing/{small}" ] ;
  rr:predicateObjectMap [ rr:predicate :has ; rr:objectMap [ rr:template "http://x/{k}" ] ] ,
    [ rr:predicate :value ; rr:objectMap [ rr:column "a" ] ] ,
    [ rr:predicate :weight ; rr:objectMap [ rr:column "f" ] ] ,
    [ rr:predicate :name ; rr:objectMap [ rr:column "name" ] ] ,
    [ rr:predicate :day ; rr:objectMap [ rr:column "day" ] ] .
<U> a rr:TriplesMap ; rr:logicalTable [ rr:tableName "u" ] ;
  rr:subjectMap [ rr:template "http://x.example/thing/{b}" ; rr:class :Thing ] ;
  rr:predicateObjectMap [ rr:predicate :later ; rr:objectMap [ rr:column "b" ] ] ,
    [ rr:predicate :laterWeight ; rr:objectMap [ rr:column "f" ] ] .
"""

SPARQL = {
    "two-facts": """PREFIX : <http://x.example/>
SELECT ?c WHERE { GRAPH ?t1 { ?y :later ?b } GRAPH ?t2 { ?y :laterWeight ?c } }
""",
    "compared": """PREFIX : <http://x.example/>
SELECT ?x WHERE {
  GRAPH ?t1 { ?x :value ?a }
  GRAPH ?t2 { ?y :later ?b }
  FILTER(?t1 < ?t2 && ?a < ?b)
}
""",
    "on-one-line": "PREFIX : <http://x.example/> SELECT * { GRAPH ?t1 { ?x :name ?n } "
    "GRAPH ?t2 { ?y :later ?b } FILTER(?t1 < ?t2) } # the end }",
    "floats": """PREFIX : <http://x.example/>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
SELECT DISTINCT ?x
WHERE {
  GRAPH ?t1 { ?x :weight ?a } GRAPH ?t2 { ?y :laterWeight ?a } FILTER(?t1 < ?t2)}
""",
    "a-float": """PREFIX : <http://x.example/>
SELECT DISTINCT ?x ?a { GRAPH ?t { ?x :weight ?a } }
""",
    "union": """PREFIX : <http://x.example/>
SELECT DISTINCT ?n WHERE { { GRAPH ?t { ?x :name ?n } } UNION { GRAPH ?t { ?x :day ?n } } }
""",
    "grouped": """PREFIX : <http://x.example/>
SELECT ?n (COUNT(*) AS ?many) WHERE { GRAPH ?t { ?x :name ?n } } GROUP BY ?n
""",
    "grouped-in-time": """PREFIX : <http://x.example/>
SELECT ?x (COUNT(*) AS ?many) {
  GRAPH ?t1 { ?x :value ?a }
  GRAPH ?t2 { ?y :later ?b }
  FILTER(?t1 < ?t2 && ?a < ?b)
} GROUP BY ?x
""",
    "remembered": """PREFIX : <http://x.example/>
SELECT DISTINCT ?x ?n WHERE { GRAPH ?t { ?x :name ?n } }
""",
}

SQL = {
    "join": "SELECT DISTINCT s.small FROM s, u WHERE s.ts < u.ts AND s.k = u.k",
    "order": "-- WHERE the comment is\nSELECT s.a, u.b\nFROM s, u",
    "either": "SELECT DISTINCT s.small FROM s JOIN u ON s.ts < u.ts\n"
    "WHERE s.a = u.b OR s.k = u.w + 1",
    "dates": "SELECT s.small FROM s, u WHERE s.ts < u.ts AND s.day = u.day;",
    "decimals": "SELECT s.small FROM s, u WHERE s.ts < u.ts AND s.price < u.price",
    "union": "SELECT DISTINCT s.name AS n, s.small AS m FROM s\n"
    "UNION SELECT 'x' AS n, u.k AS m FROM u",
    "a-float": "SELECT DISTINCT s.small, s.f FROM s",
    "above": "SELECT DISTINCT u.b FROM u WHERE u.b > 5000",
    "grouped": "SELECT s.name, COUNT(*) AS n FROM s GROUP BY s.name",
    "grouped-in-time": "SELECT s.small, COUNT(*) AS n FROM s, u\n"
    "WHERE s.ts < u.ts AND s.k < u.b -- GROUP BY nothing\nGROUP BY s.small",
}

FOUND = {
    "two-facts": "key",
    "compared": "limit | DISTINCT | declare | declare",
    "on-one-line": "limit | list | drop",
    "floats": "limit",
    "a-float": "not DISTINCT | declare | drop",
    "union": "not DISTINCT",
    "grouped": "coarser | list",
    "grouped-in-time": "limit | declare | declare",
    "remembered": "not DISTINCT | list | gap | drop",
}
FOUND_SQL = {
    "join": "refer | refer | limit | declare | declare",
    "order": "limit, limit | limit, order | limit, order | limit, declare | limit, declare",
    "either": "limit | declare | declare",
    "dates": "limit | declare | declare",
    "decimals": "limit | DISTINCT | declare | declare",
    "union": "not DISTINCT",
    "a-float": "not DISTINCT | declare | drop",
    "above": "not DISTINCT | declare | gap",
    "grouped": "coarser | list | gap, valued",
    "grouped-in-time": "refer | limit | declare | declare",
}
WORDS = {
    "declare that consecutive": "gap",
    "declare that": "refer",
    "declare a key": "key",
    "declare ": "declare",
    "list ": "list",
    "limit ": "limit",
    "ask for": "order",
    "do not select": "drop",
    "group by less": "coarser",
    "leave out rows": "valued",
    "select DISTINCT": "DISTINCT",
    "select without": "not DISTINCT",
}


def brief(found: dict[str, Any]) -> str:
    """The repairs, a word for each change."""

    def word(action: str) -> str:
        return next(short for start, short in WORDS.items() if action.startswith(start))

    return " | ".join(", ".join(map(word, r["actions"])) for r in found["repairs"])


@pytest.fixture
def made(tmp_path: Path) -> Path:
    folder = tmp_path / "made"
    (folder / "queries").mkdir(parents=True)
    (folder / "ontoweir.toml").write_text(PROJECT)
    (folder / "o.ttl").write_text(ONTOLOGY)
    (folder / "m.ttl").write_text(MAPPINGS)
    return folder


def check(run: Run, *arguments: object) -> dict[str, Any]:
    ran = run("check", *arguments, "--format", "json", "-q")
    assert ran.code == 0, ran.err
    (found,) = json.loads(ran.out)
    assert isinstance(found, dict)
    return found


def paste(repair: dict[str, Any], folder: Path, copy: Path) -> None:
    """Make the edits of a repair in a copy of the folder: the last line of a file first."""
    assert repair["edits"]
    for edit in sorted(repair["edits"], key=lambda e: -e["line"]):
        file = copy / Path(edit["file"]).resolve().relative_to(folder.resolve())
        lines = file.read_text().split("\n")
        first = edit["line"] - 1
        lines[first : first + edit["replaces"]] = edit["lines"]
        file.write_text("\n".join(lines))


def promise(found: dict[str, Any]) -> tuple[object, ...]:
    return found["verdict"], found["tier"], found["bound"]


def keep_promises(run: Run, folder: Path, *arguments: str) -> dict[str, Any]:
    """Every repair, pasted, does what it says; what was found."""
    found = check(run, folder, *(a.format(folder) for a in arguments))
    assert found["verdict"] in ("unbounded", "undecided")
    assert found["repairs"]
    for number, repair in enumerate(found["repairs"]):
        assert repair["verdict"] in ("bounded", "conditionally-bounded")
        copy = folder.parent / f"copy-{number}"
        shutil.copytree(folder, copy)
        paste(repair, folder, copy)
        again = check(run, copy, *(a.format(copy) for a in arguments))
        assert promise(again) == promise(repair), repair
        assert again["repairs"] == []
    return found


@pytest.mark.parametrize("name", UNBOUNDED)
def test_the_examples_repairs_do_what_they_say(name: str, run: Run, project: Path) -> None:
    keep_promises(run, project, "--query", name)


@pytest.mark.parametrize("name", SPARQL)
def test_repairs_of_sparql_do_what_they_say(name: str, run: Run, made: Path) -> None:
    (made / "queries" / f"{name}.rq").write_text(SPARQL[name])
    assert brief(keep_promises(run, made, "--query", name)) == FOUND[name]


@pytest.mark.parametrize("name", SQL)
def test_repairs_of_sql_do_what_they_say(name: str, run: Run, made: Path) -> None:
    (made / f"{name}.sql").write_text(SQL[name])
    assert brief(keep_promises(run, made, "--sql", f"{{0}}/{name}.sql")) == FOUND_SQL[name]


def test_a_repair_that_holds_of_the_unfolded_query_alone_is_not_given(run: Run, made: Path) -> None:
    """With DISTINCT the axiom Thing ⊑ ∃has contributes names without end: the smallest value is
    enough for what SELECT counts, but not for what is certain then. Without the axiom it is."""
    (made / "queries" / "has.rq").write_text(
        "PREFIX : <http://x.example/>\n"
        "SELECT ?x {\n"
        "  GRAPH ?t1 { ?x :has ?w . ?a :value ?v1 }\n"
        "  GRAPH ?t2 { ?b :later ?v2 }\n"
        "  FILTER(?t1 < ?t2 && ?v1 < ?v2)\n"
        "}\n"
    )
    distinct = "select DISTINCT: whether there is a match, not how many"
    workspace = Workspace(load_project(made))
    compiled = workspace.compile("has")
    alone = find_repairs(compiled.union, workspace.project.catalog)
    assert (SetDistinct(True),) in [r.changes for r in alone]
    found = keep_promises(run, made, "--query", "has")
    assert [distinct] not in [r["actions"] for r in found["repairs"]]
    (made / "o.ttl").write_text("@prefix : <http://x.example/> . :Thing a :Other .\n")
    assert [distinct] in [r["actions"] for r in check(run, made, "--query", "has")["repairs"]]


def test_text_shows_three_with_their_lines(run: Run, made: Path) -> None:
    (made / "join.sql").write_text(SQL["join"])
    ran = run("check", made, "--sql", made / "join.sql")
    assert ran.out.count("  repair ") == 3
    assert (
        "  repair 1: declare that every s.k is a r.k, if so\n"
        "    then conditionally-bounded, ≤ 210 rows = (|r.k| = 20) · (|s.small| = 10) + "
        "(|s.small| = 10)\n"
    ) in ran.out
    assert '    + references = [{ columns = ["k"], relation = "r", to = ["k"] }]\n' in ran.out
    assert len(check(run, made, "--sql", made / "join.sql")["repairs"]) == 5


def test_what_is_bounded_has_none(run: Run, example: Path) -> None:
    ran = run("check", example, "--query", "every-reading-above-130")
    assert "repair" not in ran.out


def test_a_comment_in_a_list_stays(run: Run, made: Path) -> None:
    (made / "join.sql").write_text(SQL["join"])
    repairs = check(run, made, "--sql", made / "join.sql")["repairs"]
    paste(next(r for r in repairs if "u.k is a r.k" in r["actions"][0]), made, made)
    assert "# kept" in (made / "ontoweir.toml").read_text()


def test_what_is_declared_elsewhere_has_no_line(run: Run, made: Path) -> None:
    """The column comes from --set, which is stronger than the file: no line of it would help."""
    (made / "named.sql").write_text("SELECT DISTINCT s.extra FROM s")
    limits = "streams.s.columns.extra={ type = 'int' }"
    found = check(run, made, "--sql", made / "named.sql", "--set", limits)
    (repair,) = (r for r in found["repairs"] if "0..999 is an example" in r["actions"][0])
    (edit,) = repair["edits"]
    assert edit["line"] is None
    assert edit["file"].startswith("--set")
    assert edit["lines"] == [
        'extra = { type = "int", min = 0, max = 999 }  # in [streams.s.columns]'
    ]


def test_arrival_order_has_repairs_of_its_own(run: Run, made: Path) -> None:
    """There no window helps: timestamps are ignored."""
    (made / "join.sql").write_text(SQL["join"])
    found = check(run, made, "--sql", made / "join.sql", "--model", "arrival")
    assert found["verdict"] == "unbounded"
    assert found["repairs"]
    assert not any("window" in a for r in found["repairs"] for a in r["actions"])


CASES = (
    ("MAX(a)", "OW214"),
    ("COUNT(*)", "OW214"),
    ("COUNT(DISTINCT a)", "OW214"),
    ("DISTINCT small", "OW211"),
)


def test_of_a_maximum_nobody_is_told_to_leave_out_distinct(run: Run, tmp_path: Path) -> None:
    """MIN and MAX are decided as sets of matches; the reason is the groups, as for a number."""
    (tmp_path / "ontoweir.toml").write_text(PROJECT[PROJECT.index("[streams.s]") :])
    for written, code in CASES:
        (tmp_path / "x.sql").write_text(
            f"SELECT {written}, k FROM s" + ("" if "small" in written else " GROUP BY k")
        )
        ran = run("check", tmp_path, "--sql", tmp_path / "x.sql", "--format", "json")
        (found,) = json.loads(ran.out)
        assert found["verdict"] == "unbounded"
        because = found["disjuncts"][0]["because"][-1]
        assert because["code"] == code
        assert "of_1" not in json.dumps(because)  # a name of ours
        assert ("select without DISTINCT" in json.dumps(because)) is (code == "OW211")
