"""Mistakes that people make, seeded into a copy of the example: the message points at the file and
line and names the fix; the fix, made as it is named, works. Repairs that are proposed work too."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.ontoweir.conftest import Run

TOML, R2RML, OWL = "ontoweir.toml", "traffic.r2rml.ttl", "traffic.ttl"
NAME = "every-reading-above-130"
QUERY = f"queries/{NAME}.rq"
KEPT = (NAME, "sensors-silent-while-their-road-is-busy", "what-is-measured-on-each-road")
"""The queries that are checked: they use readings, sensors and roads."""


@dataclass(frozen=True, slots=True)
class Seeded:
    """`right` in `file` becomes `wrong`.

    The message points at the line that holds `at` and says `names`, which is enough to write
    `mended` (None: `right`) in the place of `wrong`.
    """

    file: str
    right: str
    wrong: str
    at: str
    names: tuple[str, ...]
    mended: str | None = None
    warns: bool = False


SUBJECT = 'rr:subjectMap [ rr:template "http://traffic.example/reading/{id}" ; rr:class :Reading ]'
TIMESTAMP = 'timestamp = { column = "ts", unit = "5 minutes" }'
SEEDED = {
    # The catalog
    "a misspelt type": Seeded(
        TOML,
        'status = { type = "string"',
        'status = { type = "sting"',
        "sting",
        ("'sting'", "did you mean 'string'?"),
    ),
    "a bad unit of time": Seeded(
        TOML, '"5 minutes"', '"5 minuets"', "minuets", ("'5 minuets'", '"5 minutes"')
    ),
    "a stream without timestamp": Seeded(
        TOML,
        TIMESTAMP,
        "",
        "[streams.traffic]",
        ("has no timestamp", "timestamp = { column ="),
    ),
    "a timestamp without unit": Seeded(
        TOML, ', unit = "5 minutes"', "", 'column = "ts"', ("has no unit", 'unit = "5 minutes"')
    ),
    "limits exchanged": Seeded(
        TOML,
        "min = 0, max = 250",
        "min = 250, max = 0",
        "max = 0",
        ("exchange them", "avg_speed"),
    ),
    "an enumeration of another type": Seeded(
        TOML, '["OK", "ERROR"]', "[1, 2]", "[1, 2]", ("constants of type string",)
    ),
    "a misspelt key": Seeded(
        TOML, "max_rows = 449", "max_row = 449", "max_row =", ("'max_row'", "'max_rows'")
    ),
    "an open bracket": Seeded(
        TOML, '["queries/*.rq"]', '["queries/*.rq"', "[streams.traffic]", ("a bracket or a quote",)
    ),
    "a column twice": Seeded(
        TOML,
        'report_id = "int"\n',
        'report_id = "int"\nreport_id = "int" #\n',
        'report_id = "int" #',
        ("keep one of the two",),
    ),
    "a reference between types": Seeded(
        TOML,
        'REPORT_ID = "int"',
        'REPORT_ID = "string"',
        "references =",
        ("traffic.report_id is int", "sensor.REPORT_ID, which is string", "with one type"),
    ),
    "a reference to nothing": Seeded(
        TOML, 'relation = "sensor"', 'relation = "sensr"', "sensr", ("'sensr'", "mean 'sensor'?")
    ),
    "a wrong path": Seeded(
        TOML,
        '["traffic.ttl"]',
        '["trafic.ttl"]',
        "trafic.ttl",
        ("'trafic.ttl'", "correct the"),
    ),
    # Mappings
    "a misspelt column": Seeded(
        R2RML, 'rr:column "status"', 'rr:column "stauts"', "stauts", ("'stauts'", "mean 'status'?")
    ),
    "a misspelt column in SQL": Seeded(
        R2RML, "avg_speed > 110", "avg_sped > 110", "avg_sped", ("'avg_sped'", "mean 'avg_speed'?")
    ),
    "a text in double quotes": Seeded(
        R2RML,
        "avg_speed > 110",
        'avg_speed > 110 AND status = \\"OK\\"',
        "OK",
        ("'OK'", "write 'OK' in single quotes"),
        "avg_speed > 110 AND status = 'OK'",
    ),
    "a text compared with a number": Seeded(
        R2RML, "avg_speed > 110", "status > 110", "status > 110", ("compares string with 110",)
    ),
    "a template that is not closed": Seeded(
        R2RML, "{report_id}", "{report_id", "{report_id", ("braces that do not match", "{column}")
    ),
    "a template that no subject has": Seeded(
        R2RML,
        '"http://traffic.example/sensor/{report_id}"',
        '"http://traffic.example/sensors/{report_id}"',
        "traffic.example/sensors/",
        ("http://traffic.example/sensors/{}", "others make http://traffic.example/sensor/{}"),
        warns=True,
    ),
    "a template that makes no IRI": Seeded(
        R2RML,
        '"http://traffic.example/sensor/{report_id}"',
        '"http://traffic.example/sensor no {report_id}"',
        "sensor no",
        ("' ' is not allowed", "leave it out, or write %20"),
        warns=True,
    ),
    "no subject map": Seeded(
        R2RML, f"{SUBJECT} ;", "", "<Reading> a", ("no subject maps", "write one rr:subjectMap")
    ),
    "no object": Seeded(
        R2RML, 'rr:objectMap [ rr:column "status" ]', "", "<Reading> a", ("add rr:predicate and",)
    ),
    "an empty term map": Seeded(
        R2RML, '[ rr:column "status" ]', "[ ]", "<Reading> a", ("no value", "write one, such as")
    ),
    "one name for two triples maps": Seeded(
        R2RML, "<Gridlocked> a", "<Crawling> a", "<Crawling> a", ("have this name, rename one",)
    ),
    "an unknown prefix": Seeded(
        R2RML, ":status ;", "trf:status ;", "trf:status", ('"trf:" not bound', "mend the text")
    ),
    "an unknown datatype": Seeded(
        R2RML,
        '"vehicle_count" ; rr:datatype xsd:integer',
        '"vehicle_count" ; rr:datatype xsd:integr',
        "xsd:integr ",
        ("#integr;", "did you mean http://www.w3.org/2001/XMLSchema#integer?"),
        warns=True,
    ),
    "a datatype that no value has": Seeded(
        R2RML,
        'rr:column "status" ]',
        'rr:column "status" ; rr:datatype xsd:integer ]',
        'rr:column "status"',
        ("none of its declared values", "leave rr:datatype out"),
        warns=True,
    ),
    "a misspelt property in a mapping": Seeded(
        R2RML,
        "rr:predicate :status ",
        "rr:predicate :statuss ",
        ":statuss",
        ("no property http://traffic.example/ns#statuss", "mean http://traffic.example/ns#status?"),
        warns=True,
    ),
    "a misspelt class in a mapping": Seeded(
        R2RML,
        "rr:class :SilentReading",
        "rr:class :SilentReding",
        ":SilentReding",
        ("#SilentReding;", "did you mean http://traffic.example/ns#SilentReading?"),
        warns=True,
    ),
    # The ontology
    "an axiom outside OWL 2 QL": Seeded(
        OWL,
        ":City a owl:Class ;",
        ":City a owl:Class ; rdfs:subClassOf "
        "[ a owl:Restriction ; owl:onProperty :locatedIn ; owl:allValuesFrom :City ] ;",
        ":City a owl:Class",
        ("AllValuesFrom(:locatedIn :City)", "or remove it"),
        warns=True,
    ),
    "an import without a file": Seeded(
        OWL,
        "<http://traffic.example/ns> a owl:Ontology ;",
        "<http://traffic.example/ns> a owl:Ontology ; owl:imports <http://e.example/o> ;",
        "owl:imports",
        ("http://e.example/o", "under [project.imports], or remove it"),
        warns=True,
    ),
    # Queries
    "an unknown prefix in a query": Seeded(
        QUERY,
        ":averageSpeed",
        "tr:averageSpeed",
        "tr:averageSpeed",
        ("prefix tr:", "PREFIX tr:"),
    ),
    "an unknown property in a query": Seeded(
        QUERY, ":averageSpeed", ":avgSpeed", ":avgSpeed", ("#avgSpeed;", "ns#averageSpeed?")
    ),
    "an unknown class in a query": Seeded(
        QUERY,
        "{ ?reading",
        "{ ?reading a :AverageSped ; a :Raeding . ?reading",
        ":AverageSped",
        ("class http://traffic.example/ns#AverageSped;", "declare it in the ontology, or map it"),
    ),
    "a misspelt class in a query": Seeded(
        QUERY, "{ ?reading", "{ ?reading a :reading . ?reading", ":reading ", ("ns#Reading?",)
    ),
    "an answer that is not bound": Seeded(
        QUERY, "?sensor ?speed", "?sensor ?sped", "?sped", ("?sped is in SELECT", "mean ?speed?")
    ),
    "a filter over what is not bound": Seeded(
        QUERY, "?speed > 130", "?sped > 130", "?sped > 130", ("?sped is in a FILTER", "with ?sped")
    ),
    "a number as a text": Seeded(
        QUERY, "?speed > 130", "?speed > '130'", "'130'", ("a number with a string", "a number")
    ),
}


@pytest.fixture
def small(project: Path) -> Path:
    """The copy of the example with three queries."""
    for file in (project / "queries").glob("*.rq"):
        if file.stem not in KEPT:
            file.unlink()
    return project


def lines_with(folder: Path, text: str) -> set[str]:
    """Places, `file:line`, of the lines that hold a text."""
    found = set()
    for file in [*folder.glob("*.t*"), *folder.glob("queries/*.rq")]:
        for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
            if text in line:
                found.add(f"{file}:{number}")
    return found


@pytest.mark.parametrize("name", SEEDED)
def test_the_message_leads_to_the_fix(name: str, run: Run, small: Path) -> None:
    seeded = SEEDED[name]
    file = small / seeded.file
    text = file.read_text(encoding="utf-8")
    assert seeded.right in text
    broken = text.replace(seeded.right, seeded.wrong, 1)
    file.write_text(broken, encoding="utf-8")
    ran = run("check", small)
    assert ran.code == (0 if seeded.warns else 2), ran.err
    told = [line.removeprefix("warning: ") for line in ran.err.splitlines()]
    (message,) = [t for t in told if all(n in t for n in seeded.names)]
    place = ":".join(message.split(":")[:2])
    assert place in lines_with(small, seeded.at)
    mended = seeded.right if seeded.mended is None else seeded.mended
    if seeded.wrong:
        file.write_text(broken.replace(seeded.wrong, mended, 1), encoding="utf-8")
    else:
        file.write_text(text, encoding="utf-8")
    ran = run("check", small)
    assert (ran.code, ran.err) == (0, "")


def test_there_are_twenty_and_the_example_itself_is_clean(run: Run, small: Path) -> None:
    assert len(SEEDED) >= 20
    ran = run("check", small)
    assert (ran.code, ran.err) == (0, "")


def test_imports_in_a_circle_are_read_once(run: Run, small: Path) -> None:
    """They are legal in OWL: nothing is to be mended."""
    before = run("check", small).out
    iri = "<http://traffic.example/ns>"
    (small / "more.ttl").write_text(
        "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        f"<http://traffic.example/more> a owl:Ontology ; owl:imports {iri} .\n"
    )
    file = small / OWL
    text = file.read_text(encoding="utf-8")
    imports = f"{iri} a owl:Ontology ; owl:imports <http://traffic.example/more> ;"
    file.write_text(text.replace(f"{iri} a owl:Ontology ;", imports), encoding="utf-8")
    toml = (small / TOML).read_text(encoding="utf-8")
    both = '["traffic.ttl", "more.ttl"]'
    (small / TOML).write_text(toml.replace('["traffic.ttl"]', both), encoding="utf-8")
    ran = run("check", small)
    assert (ran.code, ran.out, ran.err) == (0, before, "")


def test_data_that_is_not_there(run: Run, small: Path) -> None:
    """What is checked needs no data; a replay says what is missing, before Spark is started."""
    ran = run("replay", small, "--query", NAME, "--output", small / "out.csv")
    assert ran.code == 2
    place = ":".join(ran.err.split(":")[:2])
    assert place in lines_with(small, "[relations.sensor]")
    assert str(small / "data" / "sensor.csv") in ran.err


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Something that makes a query bounded is left out of a file."""

    query: str
    file: str
    right: str
    wrong: str
    mends: str


FORGOTTEN = {
    "a range": Forgotten(
        "what-is-measured-on-each-road",
        TOML,
        '{ type = "int", min = 0, max = 250 }',
        '"int"',
        "the least and the greatest value of traffic.avg_speed",
    ),
    "a reference": Forgotten(
        "sensors-fast-after-congestion",
        TOML,
        'references = [{ columns = ["report_id"], relation = "sensor", to = ["REPORT_ID"] }]\n',
        "",
        "every traffic.report_id is a sensor.REPORT_ID",
    ),
    "a time order": Forgotten(
        "every-fast-reading-after-a-congested-one-on-the-same-road",
        "queries/every-fast-reading-after-a-congested-one-on-the-same-road.rq",
        "FILTER(?t1 < ?t2)",
        "",
        "ask for ?t1 before ?t2",
    ),
    "DISTINCT": Forgotten(
        "roads-where-congestion-got-worse",
        "queries/roads-where-congestion-got-worse.rq",
        "SELECT DISTINCT",
        "SELECT",
        "select DISTINCT",
    ),
    "a window": Forgotten(
        "congestion-cleared-within-30-minutes",
        "queries/congestion-cleared-within-30-minutes.rq",
        "?t1 < ?t2 && ",
        "",
        "limit the time from ?t2 to ?t1 by a window",
    ),
    "that a number is not a float": Forgotten(
        "roads-where-the-same-time-was-measured-again",
        TOML,
        'avg_measured_time = "int"',
        'avg_measured_time = { type = "float", min = 0, max = 900 }',
        "decimal",
    ),
}


@pytest.mark.parametrize("name", FORGOTTEN)
def test_every_proposed_repair_works(name: str, run: Run, project: Path) -> None:
    forgotten = FORGOTTEN[name]

    def check() -> dict[str, Any]:
        ran = run("check", project, "--query", forgotten.query, "--format", "json")
        assert ran.code == 0, ran.err
        (found,) = json.loads(ran.out)
        assert isinstance(found, dict)
        return found

    file = project / forgotten.file
    text = file.read_text(encoding="utf-8")
    assert forgotten.right in text
    file.write_text(text.replace(forgotten.right, forgotten.wrong, 1), encoding="utf-8")
    found = check()
    assert found["verdict"] in ("unbounded", "undecided")
    assert all(d["because"][0]["source"]["line"] for d in found["disjuncts"] if d["because"])
    assert any(forgotten.mends in action for r in found["repairs"] for action in r["actions"])
    keep = project.parent / "keep"
    shutil.copytree(project, keep)
    for repair in found["repairs"]:
        for edit in sorted(repair["edits"], key=lambda e: -int(e["line"])):
            place = Path(edit["file"])
            lines = place.read_text(encoding="utf-8").split("\n")
            first = edit["line"] - 1
            lines[first : first + edit["replaces"]] = edit["lines"]
            place.write_text("\n".join(lines), encoding="utf-8")
        after = check()
        assert after["verdict"] in ("bounded", "conditionally-bounded")
        assert (after["verdict"], after["bound"]) == (repair["verdict"], repair["bound"])
        shutil.copytree(keep, project, dirs_exist_ok=True)
