"""Invalid input: one line `file:line: what; why; fix` on stderr, exit code 2, nothing written.

Every case breaks one thing in a copy of the example. `at` is text of the line that the message must
point to, or that line's number; None where there is no such line.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

import ontoweir.checker.decide.check_disjuncts
from tests.ontoweir.conftest import Run

TOML, R2RML, OWL = "ontoweir.toml", "traffic.r2rml.ttl", "traffic.ttl"
NAME = "every-reading-above-130"
QUERY = f"queries/{NAME}.rq"
HEAVY = "WHERE vehicle_count >= 50"
KEPT = {
    NAME,
    "what-is-measured-on-each-road",
    "sensors-fast-after-congestion",
    "roads-jammed-then-fast-then-jammed-again",
    "fast-readings-with-a-gridlock-and-a-heavy-load-before",
    "sensors-silent-while-their-road-is-busy",
}
"""Queries that a broken project keeps: of every mapping, of several tiers."""


@dataclass(frozen=True, slots=True)
class Broken:
    """One broken thing: `old` becomes `new` in `file` (old None: the whole file)."""

    file: str
    old: str | None
    new: str | bytes | None
    at: str | int | None
    names: str
    source: str | None = None  # where the message points to, if not to `file`


def swap(file: str, old: str, new: str, names: str, at: str | int | None = None) -> Broken:
    return Broken(file, old, new, new.splitlines()[0] if at is None else at, names)


BROKEN = {
    # Files
    "project missing": Broken(TOML, None, None, None, "there is no project file"),
    "ontology missing": Broken(OWL, None, None, "ontology =", "'traffic.ttl'", TOML),
    "mapping missing": Broken(R2RML, None, None, "mappings =", "'traffic.r2rml.ttl'", TOML),
    "query missing": swap(TOML, "queries/*.rq", "queries/none.rq", "'queries/none.rq'"),
    "no ontology matches": swap(TOML, '"traffic.ttl"', '"no*.ttl"', "'no*.ttl'"),
    "no query matches": swap(TOML, "queries/*.rq", "none/*.rq", "has no queries"),
    "project empty": Broken(TOML, None, "", None, "has no queries"),
    # ontoweir.toml
    "TOML: syntax": swap(TOML, '["traffic.ttl"]', '["traffic.ttl" x]', "not TOML"),
    "TOML: not UTF-8": Broken(TOML, None, b"[project]\n# \xff\n", 2, "byte 12 is not UTF-8"),
    "TOML: unknown key": swap(TOML, "max_per_timestamp", "max_per_timestmap", "timestmap'"),
    "TOML: unknown section": Broken(TOML, "[streams", "[stream]\n[streams", "[stream]", "[stream]"),
    "TOML: wrong type": swap(TOML, "timestamp = 449", 'timestamp = "many"', "'many'"),
    "TOML: unknown unit": swap(TOML, '"5 minutes"', '"5 parsecs"', "'5 parsecs'"),
    "TOML: unknown type": swap(TOML, '\nid = "int"', '\nid = "itn"', "'itn'", 'id = "itn"'),
    "TOML: no source": Broken(
        TOML, 'source = { format = "csv"', 'sauce = { format = "csv"', "sauce =", "'sauce'"
    ),
    "key: unknown column": swap(TOML, '[["id", "ts"]]', '[["idd", "ts"]]', "'idd'"),
    "reference: unknown column": swap(TOML, 'columns = ["report_id"]', 'columns = ["x"]', "'x'"),
    "reference: unknown column there": swap(TOML, 'to = ["REPORT_ID"]', 'to = ["Y"]', "'Y'"),
    "reference: unknown relation": swap(
        TOML, 'relation = "sensor"', 'relation = "sensors"', "'sensors'"
    ),
    "view: unknown table": swap(TOML, "FROM sensor\n", "FROM sensors\n", "'sensors'", "view ="),
    "view: a stream": swap(TOML, "FROM sensor\n", "FROM traffic\n", "'traffic'", "view ="),
    "view: unknown column": swap(TOML, "min(POINT_1_CITY)", "min(CITTY)", "'CITTY'", "view ="),
    "view: lacks a column": swap(TOML, "AS normal_speed", "AS speed", "'normal_speed'", "view ="),
    "view: not SQL": swap(TOML, "GROUP BY POINT", "GROUP POINT", "not SQL", "view ="),
    # Ontology
    "Turtle: end of statement": Broken(
        OWL, "DisjointWith :locatedIn .", "DisjointWith :x", ":measurement a", ":measurement a"
    ),
    "Turtle: prefix": swap(OWL, ":City a owl:Class", "xyz:City a owl:Class", "xyz:"),
    "Turtle: not UTF-8": Broken(OWL, None, b"#\n#\n# \xe9\n", 3, "not UTF-8"),
    "ontology in another format": Broken(OWL, None, '{"@context": {}}', 1, "JSON-LD"),
    # Mappings
    "R2RML: not Turtle": Broken(
        R2RML, ":Reading ] ;", ":Reading ;", 'rr:objectMap [ rr:column "status" ] ] .', "not Turtle"
    ),
    "R2RML: no logical table": Broken(
        R2RML, 'rr:logicalTable [ rr:tableName "sensor" ] ;', "", "<Sensor> a", "<Sensor>"
    ),
    "R2RML: unknown word": swap(R2RML, 'rr:column "status"', 'rr:colum "status"', "rr:colum"),
    "R2RML: template": swap(R2RML, "{report_id}", "{report_id", "{report_id'"),
    "R2RML: no such parent": swap(
        R2RML, "rr:parentTriplesMap <Road>", "rr:parentTriplesMap <Raod>", "<Raod>"
    ),
    "R2RML: not SQL": swap(R2RML, HEAVY, "WHERE vehicle_count >=", "not SQL"),
    "R2RML: SQL beyond SPJ": swap(
        R2RML,
        "SELECT id FROM traffic\n        " + HEAVY,
        "SELECT max(id) AS id FROM traffic",
        "MAX(id)",
    ),
    "column: unknown": swap(R2RML, 'rr:column "status"', 'rr:column "stauts"', "'stauts'"),
    "column: unknown in a template": swap(R2RML, "{report_id}", "{reportid}", "'reportid'"),
    "column: unknown in SQL": swap(R2RML, HEAVY, "WHERE vehicles >= 50", "'vehicles'"),
    "column: unknown in a join": swap(
        R2RML, 'rr:parent "street"', 'rr:parent "streat"', "'streat'"
    ),
    "stream: unknown": swap(R2RML, '"traffic"', '"trafic"', "'trafic'"),
    "stream: unknown in SQL": swap(
        R2RML, "SELECT id FROM traffic\n        " + HEAVY, "SELECT id FROM trafic", "'trafic'"
    ),
    # Queries
    "query: syntax": swap(QUERY, "(?speed > 130)", "(?speed > )", "syntax error"),
    "query: open brace": Broken(
        QUERY, "130)\n}", "130)\n", "FILTER(?speed > 130)", "{ is not closed"
    ),
    "query: empty": Broken(QUERY, None, "", 1, "empty"),
    "query: not UTF-8": Broken(QUERY, None, b"# a\n# b\xf6\n", 2, "not UTF-8"),
    "query: prefix": swap(QUERY, ":averageSpeed", "nope:averageSpeed", "nope:"),
    "query: time and number": swap(QUERY, "?speed > 130", "?t > 130", "a time with a number"),
    "query: time and value": swap(QUERY, "?speed > 130", "?t > ?speed", "?speed is used as a time"),
    "query: number and string": swap(QUERY, "?speed > 130", '?speed > "130"', "a string"),
    "query: unknown property": swap(QUERY, ":averageSpeed", ":avrageSpeed", "ns#avrageSpeed"),
    "query: unknown class": swap(
        QUERY, "{ ?reading", "{ ?reading a :Raeding ; a :Reading . ?reading", "ns#Raeding"
    ),
    "query: unbound answer": swap(QUERY, "?sensor ?speed", "?sensor ?sped", "?sped"),
    "query: outside the language": swap(
        QUERY, "FILTER(?speed > 130)", "SERVICE :s { ?sensor :monitors ?r }", "SERVICE"
    ),
}


def snapshot(folder: Path) -> dict[Path, bytes]:
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def is_one_line(text: str) -> bool:
    """`place: what; why; fix`, and nothing else."""
    return len(text.splitlines()) == 1 and text.count("; ") >= 2 and "Traceback" not in text


@pytest.mark.parametrize("name", BROKEN)
def test_broken_project(run: Run, project: Path, name: str) -> None:
    broken = BROKEN[name]
    file = project / broken.file
    for query in (project / "queries").iterdir():
        if query.stem not in KEPT:
            query.unlink()
    if broken.new is None:
        file.unlink()
    elif isinstance(broken.new, bytes):
        file.write_bytes(broken.new)
    else:
        text = file.read_text(encoding="utf-8") if broken.old is not None else ""
        assert broken.old is None or broken.old in text
        file.write_text(
            broken.new if broken.old is None else text.replace(broken.old, broken.new, 1),
            encoding="utf-8",
        )
    before = snapshot(project.parent)
    ran = run("check", project)
    assert ran.code == 2
    if name.startswith("query: "):  # others have their verdicts
        assert "conditionally-bounded" in ran.out
    if ran.out:
        assert broken.file in (QUERY, R2RML)
        assert re.search(rf"^{NAME} +refused ", ran.out, re.MULTILINE) or broken.file == R2RML
        assert " refused" in ran.out
    assert is_one_line(ran.err), ran.err
    place = project / (broken.source or broken.file)
    if broken.at is None:
        assert ran.err.startswith(f"{place}: ")
    else:
        found = re.match(re.escape(str(place)) + r":(\d+): ", ran.err)
        assert found is not None, ran.err
        lines = place.read_bytes().decode("utf-8", "replace").splitlines()
        line = int(found[1])
        if isinstance(broken.at, int):
            assert line == broken.at
        else:
            assert broken.at in lines[line - 1], ran.err
    assert broken.names in ran.err
    assert snapshot(project.parent) == before


def test_the_example_itself_is_not_broken(run: Run, project: Path) -> None:
    ran = run("check", project)
    assert (ran.code, ran.err) == (0, "")


VIEWS = (
    "SELECT point_1_street AS STREET, 'x' AS city, `road_type`, 1 AS normal_speed FROM Sensor s",
    "SELECT * FROM sensor",
    (
        "WITH a AS (SELECT POINT_1_STREET AS street, count(*) AS n FROM sensor GROUP BY 1) "
        "SELECT street, street AS city, street AS road_type, a.n AS normal_speed FROM a ORDER BY n"
    ),
    (
        "SELECT x.c AS street, c AS city, c AS road_type, 1 AS normal_speed "
        "FROM sensor LATERAL VIEW explode(array(ROAD_TYPE)) x AS c"
    ),
    "SELECT id AS street, id AS city, id AS road_type, id AS normal_speed FROM range(3)",
    (
        "SELECT street, city, road_type, normal_speed FROM "
        "(VALUES ('a', 'b', 'ROAD', 1)) AS t(street, city, road_type, normal_speed)"
    ),
)


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_that_is_right(run: Run, example: Path, view: str) -> None:
    """The negative twin of the broken views."""
    ran = run(
        *("check", example, "--query", "roads-where-congestion-got-worse"),
        *("--set", f"relations.road.source.view={json.dumps(view)}"),
    )
    assert (ran.code, ran.err) == (0, "")


SQL = {
    "syntax": ("SELECT FROM WHERE", 1, "not SQL"),
    "unknown table": ("SELECT id\nFROM traffik", 2, "'traffik'"),
    "unknown column": ("SELECT id\nFROM traffic\nWHERE nope = 1", 3, "'nope'"),
    "time and number": ("SELECT id\nFROM traffic\nWHERE ts > 5", 3, "ts > 5"),
}


@pytest.mark.parametrize("name", SQL)
def test_broken_sql(run: Run, project: Path, name: str) -> None:
    text, line, names = SQL[name]
    file = project / "broken.sql"
    file.write_text(text)
    ran = run("check", project, "--sql", file)
    assert (ran.code, ran.out) == (2, "")
    assert is_one_line(ran.err), ran.err
    assert ran.err.startswith(f"{file}:{line}: ")
    assert names in ran.err


USAGE = {
    "unknown option": (("check", "PROJECT", "--nope"), "--nope"),
    "unknown command": (("chekc",), "chekc"),
    "no command": ((), "COMMAND"),
    "unknown tier": (("check", "PROJECT", "--fail-on", "nope"), "nope"),
    "unknown query": (("check", "PROJECT", "--query", "every-reading-above-13"), NAME),
    "unknown query to rewrite": (("rewrite", "PROJECT", "--query", "x", "--show", "ucq"), "'x'"),
    "no such project": (("check", "PROJECT/nowhere"), "PROJECT/nowhere"),
    "no such SQL": (("check", "PROJECT", "--sql", "PROJECT/x.sql"), "PROJECT/x.sql"),
    "no value to set": (("check", "PROJECT", "--set", "project"), "'project'"),
    "unknown section to set": (("check", "PROJECT", "--set", "a.b=1"), "--set a.b=1"),
    "wrong value to set": (
        ("check", "PROJECT", "--set", "streams.traffic.max_per_timestamp=x"),
        "--set streams.traffic.max_per_timestamp=x",
    ),
    "no such ontology": (
        ("rewrite", "--ontology", "PROJECT/x.ttl", "--query", f"PROJECT/{QUERY}", "--show", "ucq"),
        "PROJECT/x.ttl",
    ),
    "no such query file": (
        ("rewrite", "--ontology", f"PROJECT/{OWL}", "--query", "PROJECT/x.rq", "--show", "ucq"),
        "PROJECT/x.rq",
    ),
    "no time": (
        ("replay", "PROJECT", "--query", NAME, "--output", "PROJECT/o", "--from", "yesterday"),
        "--from 'yesterday'",
    ),
    "to before from": (
        (
            *("replay", "PROJECT", "--query", NAME, "--output", "PROJECT/o"),
            *("--from", "2014-08-05", "--to", "2014-08-04"),
        ),
        "2014-08-05",
    ),
    "no output folder": (
        ("replay", "PROJECT", "--query", NAME, "--output", "PROJECT/no/such/o.csv"),
        "PROJECT/no/such",
    ),
    "output is a folder": (
        ("replay", "PROJECT", "--query", NAME, "--output", "PROJECT/queries"),
        "PROJECT/queries",
    ),
    "output below a file": (
        ("replay", "PROJECT", "--query", NAME, "--output", f"PROJECT/{OWL}/o.csv"),
        f"PROJECT/{OWL}",
    ),
    "no data": (
        ("replay", "PROJECT", "--query", NAME, "--output", "PROJECT/o.csv"),
        "PROJECT/data/",
    ),
    "unbounded": (
        ("replay", "PROJECT", "--query", "how-often-congestion-got-worse", "--output", "PROJECT/o"),
        "--allow-unbounded",
    ),
}


@pytest.mark.parametrize("name", USAGE)
def test_wrong_usage(run: Run, project: Path, name: str) -> None:
    arguments, names = USAGE[name]
    before = snapshot(project.parent)
    ran = run(*(a.replace("PROJECT", str(project)) for a in arguments))
    assert (ran.code, ran.out) == (2, "")
    assert is_one_line(ran.err), ran.err
    assert names.replace("PROJECT", str(project)) in ran.err
    assert snapshot(project.parent) == before


def test_no_warnings_before_an_error(run: Run, project: Path) -> None:
    """What is wrong is said in one line, whatever came before it."""
    file = project / "queries" / "a.rq"
    file.write_text(
        "PREFIX : <http://traffic.example/ns#>\n"
        "SELECT ?r WHERE { GRAPH ?t { ?r a :FastReading ; :reportedBy ?anyone } }"
    )
    assert run("check", project, "--query", "a").err.startswith("warning: ")
    ran = run("check", project, "--query", "a", "--query", "b")
    assert ran.code == 2
    assert is_one_line(ran.err)


def test_a_bug_is_told_from_wrong_input(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("never")

    monkeypatch.setattr(ontoweir.checker.decide.check_disjuncts, "decide_lag", fail)
    monkeypatch.delenv("ONTOWEIR_DEBUG", raising=False)
    ran = run("check", project)
    assert (ran.code, ran.out) == (3, "")
    assert is_one_line(ran.err)
    assert ran.err.startswith("internal error: 'never'; ")
    assert "ONTOWEIR_DEBUG=1" in ran.err
    monkeypatch.setenv("ONTOWEIR_DEBUG", "1")
    ran = run("check", project)
    assert ran.code == 3
    assert "Traceback" in ran.err
    assert 'raise KeyError("never")' in ran.err
