"""`ontoweir check`: verdicts as text and as the JSON of the interface contract."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.ontoweir.conftest import Run

VERDICTS = {"unsatisfiable", "bounded", "conditionally-bounded", "undecided", "unbounded"}
TIERS = [
    "unsatisfiable",
    "stateless",
    "tree-bounded",
    "jointly-bounded",
    "window-bounded",
    "conditionally-bounded",
    "undecided",
    "unbounded",
]
STATELESS = "every-reading-above-130"
UNBOUNDED = "how-often-congestion-got-worse"
CONDITIONAL = "sensors-fast-after-congestion"


def check_shape(found: Any) -> None:
    """The fields of the interface contract, their types, and nothing missing."""
    assert isinstance(found["query"], str)
    assert found["semantics"] in ("bag", "set")
    assert found["verdict"] in VERDICTS
    assert found["tier"] in TIERS
    assert isinstance(found["bound"]["rows"], int | None)
    assert isinstance(found["bound"]["formula"], str)
    assert all(isinstance(c, str) for c in found["conditions"])
    for disjunct in found["disjuncts"]:
        assert isinstance(disjunct["sql"], str)
        assert disjunct["verdict"] in VERDICTS
        assert disjunct["tier"] in TIERS
        if disjunct["verdict"] != "unsatisfiable":
            assert {"arasu", "tree", "lag"} <= disjunct["criteria"].keys()
        for criterion in disjunct["criteria"].values():
            assert isinstance(criterion["holds"], bool)
            assert criterion["holds"] == (not criterion["failed"])
            assert all(isinstance(f, str) for f in criterion["failed"])
        for because in disjunct["because"]:
            assert because["code"].startswith("OW")
            assert because["message"]
            assert because["hint"]
            assert because["source"] is None or {"file", "line"} == because["source"].keys()
            assert {"mapping", "axiom"} <= because.keys()
    witness = found["witness"]
    assert (witness is not None) == (found["verdict"] == "unbounded")
    if witness is not None:
        assert isinstance(witness["size"], int)
        assert witness["prefix"]
        assert witness["suffixes"]
    for repair in found["repairs"]:
        assert {"actions", "verdict", "bound"} <= repair.keys()


def check_json(run: Run, *arguments: object) -> list[dict[str, Any]]:
    ran = run("check", *arguments, "--format", "json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    assert isinstance(found, list)
    for one in found:
        check_shape(one)
    return found


def test_json_of_every_query(run: Run, example: Path) -> None:
    found = check_json(run, example)
    assert [f["query"] for f in found] == [p.stem for p in sorted((example / "queries").glob("*"))]


def test_json_of_a_bounded_query(run: Run, example: Path) -> None:
    (found,) = check_json(run, example, "--query", STATELESS)
    assert (found["verdict"], found["tier"]) == ("bounded", "stateless")
    assert found["bound"]["rows"] == 0
    assert found["conditions"] == []
    assert found["disjuncts"][0]["criteria"]["lag"] == {
        "name": found["disjuncts"][0]["criteria"]["lag"]["name"],
        "holds": True,
        "failed": [],
    }


def test_json_of_an_unbounded_query_says_where_and_why(run: Run, example: Path) -> None:
    (found,) = check_json(run, example, "--query", UNBOUNDED)
    assert found["verdict"] == "unbounded"
    assert found["bound"] == {"rows": None, "formula": "∞"}
    because = found["disjuncts"][0]["because"][0]
    file = example / "queries" / f"{UNBOUNDED}.rq"
    line = because["source"]["line"]
    assert Path(because["source"]["file"]) == file
    assert "?seconds1 < ?seconds2" in file.read_text(encoding="utf-8").splitlines()[line - 1]
    assert because["mapping"] == "<Reading>"
    assert found["disjuncts"][0]["criteria"]["lag"]["failed"] == ["E3"]
    assert found["witness"]["size"] >= 1


def test_json_of_a_conditional_query_names_the_conditions(run: Run, example: Path) -> None:
    (found,) = check_json(run, example, "--query", CONDITIONAL)
    assert found["verdict"] == "conditionally-bounded"
    assert any("report_id" in c and "REPORT_ID" in c for c in found["conditions"])


def test_query_may_be_repeated(run: Run, example: Path) -> None:
    found = check_json(run, example, "--query", STATELESS, "--query", UNBOUNDED)
    assert [f["query"] for f in found] == [STATELESS, UNBOUNDED]


def test_text(run: Run, example: Path) -> None:
    ran = run("check", example, "--query", STATELESS, "--query", UNBOUNDED)
    assert ran.code == 0
    assert ran.err == ""
    first, second, *rest = ran.out.splitlines()
    assert first.split()[:4] == [STATELESS, "bag", "stateless", "≤"]
    assert second.split()[:3] == [UNBOUNDED, "bag", "unbounded"]
    assert rest[0].split()[0] == "OW203"
    assert any(line.strip().startswith("hint: ") for line in rest)
    assert ran.out.splitlines()[-1] == "2 queries: 1 bounded, 1 unbounded"


def test_text_marks_the_parts_of_the_lines(run: Run, example: Path) -> None:
    """Carets stand under the comparison and under the column's entry, whatever the terminal."""
    lines = run("check", example, "--query", UNBOUNDED).out.splitlines()
    at = next(i for i, line in enumerate(lines) if line.endswith("still needed here"))
    first, last = lines[at].index("^"), lines[at].rindex("^") + 1
    assert lines[at - 1][first:last] == "?seconds1 < ?seconds2"
    first, last = lines[at + 1].index("^"), lines[at + 1].rindex("^") + 1
    assert lines[at - 1][first:last] == "?t1 < ?t2"
    at = next(i for i, line in enumerate(lines) if line.endswith("no finite domain"))
    first, last = lines[at].index("^"), lines[at].rindex("^") + 1
    assert lines[at - 1][first:last] == "avg_measured_time"


def test_text_shows_the_tree_with_places(run: Run, example: Path) -> None:
    out = run("check", example, "--query", UNBOUNDED).out
    assert "traffic_1.avg_measured_time and traffic_2.avg_measured_time must be remembered" in out
    assert "├─ nothing bounds the lag from traffic_1 to traffic_2" in out
    assert "└─ traffic.avg_measured_time is of type int" in out
    assert "by the axiom SubClassOf(:GridlockedReading :CongestedReading)" in out
    assert "\x1b" not in out


def test_colour_is_for_terminals_and_may_be_refused(
    run: Run, example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")
    coloured = run("check", example, "--query", UNBOUNDED).out
    assert "\x1b[1;31m^^^" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    plain = run("check", example, "--query", UNBOUNDED).out
    assert "\x1b[1;31m" not in plain
    monkeypatch.delenv("FORCE_COLOR")
    narrow = run("check", example, "--query", UNBOUNDED).out
    monkeypatch.setenv("COLUMNS", "400")
    assert run("check", example, "--query", UNBOUNDED).out == narrow


def test_verbose_text_says_why_a_query_is_bounded(run: Run, example: Path) -> None:
    ran = run("check", example, "--query", CONDITIONAL, "--verbose")
    assert "traffic_1.report_id is kept, and has finitely many values" in ran.out
    assert "└─ traffic.report_id references sensor.REPORT_ID" in ran.out
    assert "is kept" not in run("check", example, "--query", CONDITIONAL).out


UNPLACED = (
    "is answered before the next",
    "that it would have to wait for",
    "held with the rows of the window, which the bound counts",
)
"""What is said of values that are not kept rests on the absence of something."""


def check_label(label: Any) -> None:
    assert label["kind"] in ("query", "mapping", "axiom", "catalog")
    assert label["text"]
    lines = Path(label["file"]).read_text(encoding="utf-8").splitlines()
    text = lines[label["line"] - 1]
    assert text[label["column"] - 1 : label["end_column"] - 1].strip()
    assert label["end_column"] <= len(text) + 1


def check_reason(reason: Any) -> None:
    assert reason["message"]
    assert {"hint", "label", "because"} <= reason.keys()
    if reason["label"] is not None:
        check_label(reason["label"])
    else:
        assert reason["because"] or reason["message"].endswith(UNPLACED), "a leaf has a place"
    for child in reason["because"]:
        check_reason(child)


def test_json_has_labels_and_trees(run: Run, example: Path) -> None:
    kinds = set()
    for found in check_json(run, example):
        for disjunct in found["disjuncts"]:
            for d in disjunct["because"]:
                assert d["because"]
                for label in d["labels"]:
                    check_label(label)
                    kinds.add(label["kind"])
                for reason in d["because"]:
                    check_reason(reason)
            if disjunct["verdict"] in ("bounded", "conditionally-bounded"):
                assert disjunct["why"]
                for reason in disjunct["why"]:
                    check_reason(reason)
    assert kinds == {"query", "mapping", "axiom", "catalog"}


def test_two_fixed_dates_are_a_window(run: Run, project: Path) -> None:
    """Two fixed dates limit the lag, and the plan keeps matches no longer."""
    (project / "queries" / "dated.rq").write_text("""PREFIX : <http://traffic.example/ns#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
SELECT ?a WHERE {
  GRAPH ?t1 { ?a a :FastReading }
  GRAPH ?t2 { ?b a :SilentReading }
  FILTER(?t1 >= "2014-08-01T00:00:00"^^xsd:dateTime && ?t2 < "2014-08-02T00:00:00"^^xsd:dateTime)
}
""")
    (found,) = check_json(run, project, "--query", "dated")
    assert found["verdict"] == "bounded"
    assert "steps" in found["bound"]["formula"]


DELAY = """
<Delay> a rr:TriplesMap ;
    rr:logicalTable [ rr:tableName "traffic" ] ;
    rr:subjectMap [ rr:template "http://traffic.example/reading/{id}" ] ;
    rr:predicateObjectMap [ rr:predicate :vehicleCount ;
        rr:objectMap [ rr:column "avg_measured_time" ; rr:datatype xsd:integer ] ] .
"""


def test_of_a_union_the_mapping_to_blame_is_named(run: Run, project: Path) -> None:
    """One mapping of the property has a column without a domain: only its disjunct fails. (Where
    triples count, the two mappings are one view, as they may make the same triple.)"""
    matches = "--set", "project.counts=matches"
    mapping = project / "traffic.r2rml.ttl"
    text = mapping.read_text(encoding="utf-8")
    made = DELAY
    query = "how-full-was-the-gridlock-before-load-and-speed"
    (before,) = check_json(run, project, "--query", query, *matches)
    assert before["blame"] is None
    mapping.write_text(text + made, encoding="utf-8")
    (found,) = check_json(run, project, "--query", query, *matches)
    assert [d["verdict"] for d in found["disjuncts"]] == ["conditionally-bounded", "undecided"]
    assert "without it the query would be bounded" in found["blame"]["message"]
    (mapped,) = found["blame"]["because"]
    assert mapped["message"] == "only they use the mapping <Delay>"
    assert mapped["label"]["line"] == text.count("\n") + 2
    assert "1 of 2 disjuncts to blame" in run("check", project, "--query", query, *matches).out


def test_of_a_view_the_mapping_to_blame_is_named(run: Run, project: Path) -> None:
    """As above, where triples count: the two mappings are one view, as they may make one triple."""
    mapping = project / "traffic.r2rml.ttl"
    mapping.write_text(mapping.read_text(encoding="utf-8") + DELAY, encoding="utf-8")
    query = "how-full-was-the-gridlock-before-load-and-speed"
    text = " ".join(run("check", project, "--query", query).out.split())
    assert "without the mapping <Delay> the query would be bounded" in text
    assert text.count("the query would be bounded") == 1


def test_verbose_text_names_every_criterion(run: Run, example: Path) -> None:
    ran = run("check", example, "--query", CONDITIONAL, "--verbose")
    assert "[A] Th. 5.6" in ran.out
    assert "[S] Th. 1" in ran.out
    assert "lag holds" in ran.out


def test_plain_sql_needs_no_ontology(run: Run, project: Path) -> None:
    (project / "traffic.ttl").write_text("this is not Turtle")
    file = project / "pairs.sql"
    file.write_text(
        "SELECT a.report_id FROM traffic a, traffic b\n"
        "WHERE a.report_id = b.report_id AND a.ts < b.ts AND a.avg_speed > 100\n"
    )
    (found,) = check_json(run, project, "--sql", file)
    assert found["query"] == "pairs"
    assert found["verdict"] == "conditionally-bounded"
    file.write_text("SELECT a.id FROM traffic a, traffic b WHERE a.ts < b.ts")
    (found,) = check_json(run, project, "--sql", file)
    assert found["verdict"] == "unbounded"


def test_arrival_model_ignores_timestamps(run: Run, example: Path) -> None:
    """A window bounds a query in application time; in arrival order it says nothing."""
    name = "congestion-cleared-within-30-minutes"
    (timed,) = check_json(run, example, "--query", name)
    (arrival,) = check_json(run, example, "--query", name, "--model", "arrival")
    assert timed["verdict"] == "bounded"
    assert arrival["verdict"] == "unbounded"


@pytest.mark.parametrize("limit", TIERS[1:])
@pytest.mark.parametrize(
    ("query", "tier"),
    [
        (STATELESS, "stateless"),
        ("roads-where-congestion-got-worse", "tree-bounded"),
        (CONDITIONAL, "conditionally-bounded"),
        (UNBOUNDED, "unbounded"),
    ],
)
def test_fail_on(run: Run, example: Path, query: str, tier: str, limit: str) -> None:
    ran = run("check", example, "--query", query, "--fail-on", limit)
    assert ran.code == int(TIERS.index(tier) >= TIERS.index(limit))
    assert query in ran.out


def test_set_overrides_the_catalog(run: Run, example: Path) -> None:
    limits = "streams.traffic.columns.avg_measured_time={type='int', min=0, max=7200}"
    (found,) = check_json(run, example, "--query", UNBOUNDED, "--set", limits)
    assert found["verdict"] == "conditionally-bounded"
    assert any("avg_measured_time" in c for c in found["conditions"])


def test_variables_override_the_catalog_and_set_overrides_them(
    run: Run, example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bound(*more: str) -> Any:
        query = "two-sensors-of-one-road-congested-at-once"
        window = "congestion-cleared-within-30-minutes"
        found = check_json(run, example, "--query", query, "--query", window, *more)
        return found[1]["bound"]["rows"]

    declared = bound()
    monkeypatch.setenv("ONTOWEIR_STREAMS__TRAFFIC__MAX_PER_TIMESTAMP", "898")
    assert bound() == 2 * declared
    assert bound("--set", "streams.traffic.max_per_timestamp=449") == declared


def test_select_counts_matches_in_the_data_and_says_so(run: Run, project: Path) -> None:
    """The one place that shows the warning of docs/semantics.md, and its negative twin."""
    text = """PREFIX : <http://traffic.example/ns#>
SELECT ?reading WHERE { GRAPH ?t { ?reading a :FastReading ; :reportedBy ?anyone } }
"""
    file = project / "queries" / "fast.rq"
    file.write_text(text)
    ran = run("check", project, "--query", "fast")
    assert ran.code == 0
    assert ran.err.startswith(f"warning: {file}:")
    assert "SELECT counts what is in the data" in ran.err
    assert len(ran.err.splitlines()) == 1
    assert run("check", project, "--query", "fast", "--quiet").err == ""
    file.write_text(text.replace("SELECT", "SELECT DISTINCT"))
    assert run("check", project, "--query", "fast").err == ""


def test_an_installed_command_starts_neither_spark_nor_a_jvm(example: Path) -> None:
    script = (
        "import sys; from ontoweir.cli import main; code = main(sys.argv[1:]);"
        "heavy = {'pyspark', 'py4j', 'owlready2', 'networkx', 'pyarrow'} & sys.modules.keys();"
        "print(sorted(heavy), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "check", str(example), "--format", "json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.strip() == "[]"
    assert len(json.loads(done.stdout)) == len(list((example / "queries").glob("*.rq")))


def test_the_command_is_installed(example: Path) -> None:
    command = Path(sys.executable).parent / "ontoweir"
    done = subprocess.run(
        [command, "check", example, "--query", UNBOUNDED, "--fail-on", "undecided"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert UNBOUNDED in done.stdout


def test_a_query_and_plain_sql_are_not_both_checked(
    run: Run, example: Path, tmp_path: Path
) -> None:
    (tmp_path / "q.sql").write_text("SELECT id FROM traffic")
    ran = run("check", example, "--sql", tmp_path / "q.sql", "--query", "nothing")
    assert ran.code == 2
    assert "--query does not go with --sql" in ran.err


def test_the_disjunct_that_makes_a_query_unbounded_is_so(run: Run, project: Path) -> None:
    """ "undecided" of the only disjunct of an unbounded query said what is not so."""
    sql = project / "q.sql"
    for text, tiers in (
        (
            (
                "SELECT a.status FROM traffic a, traffic b "
                "WHERE a.ts < b.ts AND a.avg_measured_time < b.avg_measured_time"
            ),
            ["unbounded"],
        ),
        (
            (
                "SELECT a.status FROM traffic a, traffic b WHERE a.ts < b.ts "
                "AND a.avg_measured_time < b.avg_measured_time "
                "UNION ALL SELECT c.status FROM traffic c"
            ),
            ["unbounded", "stateless"],
        ),
    ):
        sql.write_text(text)
        (found,) = json.loads(run("check", project, "--sql", sql, "--format", "json").out)
        assert found["verdict"] == "unbounded"
        assert [d["tier"] for d in found["disjuncts"]] == tiers
        page = run("check", project, "--sql", sql, "--format", "html").out
        assert "· undecided" not in page
        assert "· unbounded" in page


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_typed_query_has_no_path(run: Run, example: Path, form: str) -> None:
    """Where it is kept meanwhile is nobody's business."""
    sql = "SELECT a.id FROM traffic a, traffic b WHERE a.ts < b.ts"
    ran = run("check", example, "--sql", sql, "--format", form)
    assert re.search(r"query-[0-9a-f]{6}\.sql", ran.out)
    assert "/ontoweir-" not in ran.out
    ran = run("check", example, "--sql", "SELECT x FROM traffic", "--format", form)
    assert re.search(r"query-[0-9a-f]{6}\.sql:1: unknown column 'x'", ran.err + ran.out)
    assert "/ontoweir-" not in ran.err + ran.out


BUCKET = 'GROUP BY (ow:tumble(?t, "PT1H"^^xsd:dayTimeDuration) AS ?h)'


@pytest.mark.parametrize("clause", ["FILTER EXISTS", "FILTER NOT EXISTS", "MINUS"])
@pytest.mark.parametrize(
    ("head", "tail"),
    [
        ("?h (MAX(?v) AS ?n)", BUCKET),
        ("?h (COUNT(DISTINCT ?v) AS ?n)", BUCKET),
        ("?h (COUNT(*) AS ?n)", BUCKET),
        ("?v", ""),
    ],
)
def test_what_is_beside_is_said_to_be_in_the_data(
    clause: str, head: str, tail: str, run: Run, project: Path
) -> None:
    """The axiom is used inside of the clause alone; with SELECT DISTINCT, and of MAX of all, it
    counts."""
    prefixes = "PREFIX : <http://traffic.example/ns#>\nPREFIX ow: <urn:ontoweir:>\n"
    prefixes += "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
    rows = f"GRAPH ?t {{ ?r a :SlowReading ; :averageSpeed ?v {clause} {{ ?r :reportedBy ?s }} }}"
    file = project / "queries" / "beside.rq"
    file.write_text(f"{prefixes}SELECT {head} {{ {rows} }} {tail}")
    ran = run("check", project, "--query", "beside")
    assert ran.err.count("SELECT counts what is in the data") == 1, ran.err
    for certain in ("DISTINCT ?v", "(MAX(?v) AS ?n)"):
        file.write_text(f"{prefixes}SELECT {certain} {{ {rows} }}")
        assert "SELECT counts" not in run("check", project, "--query", "beside").err
