"""A hospital: three streams of different units of time that share a property, two registers and one
whose key has two columns, terms of two columns, classes below others, an inverse property, and
patients of whom an axiom says that someone treats them. NULL is in every column but keys."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from tests.sparql_counts.case import Case, Map, Query, Row, Table
from tests.sparql_counts.parcels import compare_text
from tests.sparql_counts.write_case import write_case

PATIENTS, WARDS, SIGNS, DRUGS, BEDS = "pqrs", "KLM", ("hr", "temp"), "xy", "12"
_PATIENT = 'rr:template "http://e/p/{patient}"'
_WARD = 'rr:template "http://e/w/{ward}"'
_BED = 'rr:template "http://e/b/{ward}/{bed}"'
TABLES = (
    Table(
        "obs",
        (("patient", "string"), ("sign", "string"), ("val", "int"), ("device", "string")),
        stream=True,
        keys=(("patient", "sign"),),
        ranges=(("val", 0, 3),),
    ),
    Table(
        "dose",
        (("patient", "string"), ("drug", "string"), ("mg", "int")),
        stream=True,
        unit="10 minutes",
        ranges=(("mg", 0, 3),),
    ),
    Table(
        "move",
        (("patient", "string"), ("ward", "string"), ("bed", "string")),
        stream=True,
        unit="15 minutes",
        keys=(("patient",),),
    ),
    Table(
        "patients",
        (("patient", "string"), ("age", "int"), ("doctor", "string")),
        stream=False,
        keys=(("patient",),),
    ),
    Table(
        "wards",
        (("ward", "string"), ("floor", "int"), ("kind", "string")),
        stream=False,
        keys=(("ward",),),
    ),
    Table(
        "beds",
        (("ward", "string"), ("bed", "string"), ("cost", "int")),
        stream=False,
        keys=(("ward", "bed"),),
    ),
)
_SIGN = 'rr:template "http://e/o/{patient}/{sign}"'
MAPS = (
    Map(
        "obs",
        _SIGN,
        (),
        (
            ("of", _PATIENT),
            ("sign", 'rr:column "sign"'),
            ("val", 'rr:column "val"'),
            ("by", 'rr:template "http://e/v/{device}"'),
        ),
    ),
    Map("SELECT patient, sign FROM obs WHERE sign = 'hr'", _SIGN, ("Pulse",)),
    Map("SELECT patient, sign FROM obs WHERE sign = 'temp'", _SIGN, ("Heat",)),
    Map(
        "dose",
        'rr:template "http://e/g/{patient}/{drug}"',
        ("Dose",),
        (("of", _PATIENT), ("drug", 'rr:column "drug"'), ("mg", 'rr:column "mg"')),
    ),
    Map("move", _PATIENT, (), (("inWard", _WARD), ("inBed", _BED), ("bed", 'rr:column "bed"'))),
    Map(
        "patients",
        _PATIENT,
        ("Patient",),
        (("age", 'rr:column "age"'), ("treatedBy", 'rr:template "http://e/d/{doctor}"')),
    ),
    Map("wards", _WARD, (), (("floor", 'rr:column "floor"'),)),
    Map("SELECT ward FROM wards WHERE kind = 'icu'", _WARD, ("Icu",)),
    Map("SELECT ward FROM wards WHERE kind = 'gen'", _WARD, ("General",)),
    Map("beds", _BED, ("Bed",), (("cost", 'rr:column "cost"'), ("standsIn", _WARD))),
)
_EVENTS = ("Sign", "Pulse", "Heat", "Dose", "Event")
_CLASSES = (*_EVENTS, "Patient", "Person", "Doctor", "Ward", "Icu", "General", "Bed", "Ghost")
AXIOMS = (
    *(f":{name} a owl:Class ." for name in _CLASSES),
    *(
        f":{name} a owl:ObjectProperty ."
        for name in ("of", "by", "inWard", "hosts", "inBed", "treatedBy", "treats", "standsIn")
    ),
    *(
        f":{name} a owl:DatatypeProperty ."
        for name in ("sign", "val", "drug", "mg", "amount", "bed", "age", "floor", "cost", "ghost")
    ),
    ":Pulse rdfs:subClassOf :Sign . :Heat rdfs:subClassOf :Sign .",
    ":Sign rdfs:subClassOf :Event . :Dose rdfs:subClassOf :Event .",
    ":Patient rdfs:subClassOf :Person . :Doctor rdfs:subClassOf :Person .",
    ":Icu rdfs:subClassOf :Ward . :General rdfs:subClassOf :Ward .",
    ":hosts owl:inverseOf :inWard . :treats owl:inverseOf :treatedBy .",
    ":val rdfs:subPropertyOf :amount . :mg rdfs:subPropertyOf :amount .",
    ":treatedBy rdfs:range :Doctor . :standsIn rdfs:range :Ward .",
    (
        ":Patient rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :treatedBy ; "
        "owl:someValuesFrom :Doctor ] ."
    ),
)
STREAMS = {
    "obs": ("of", "sign", "val", "by", "amount", "Sign", "Pulse", "Heat", "Event"),
    "dose": ("of", "drug", "mg", "amount", "Dose", "Event"),
    "move": ("inWard", "hosts", "inBed", "bed"),
}


def make_ward(random: Random) -> Case:
    """The project, with rows that are drawn."""

    def seldom(value: Any, often: float = 0.2) -> Any:
        return None if random.random() < often else value

    rows: dict[str, list[Row]] = {"obs": [], "dose": [], "move": []}
    for step in range(12):
        for patient, sign in random.sample(
            [(p, s) for p in PATIENTS for s in SIGNS], k=random.choice([0, 1, 1, 2, 3])
        ):
            device = seldom(random.choice("ab"))
            rows["obs"].append((step, patient, sign, seldom(random.randint(0, 3)), device))
        for _ in range(random.choice([0, 1, 2]) * (step % 2 == 0)):
            drug, mg = seldom(random.choice(DRUGS), 0.1), seldom(random.randint(0, 3))
            rows["dose"].append((step, random.choice(PATIENTS), drug, mg))
        for patient in random.sample(PATIENTS, k=random.choice([0, 1, 2, 3]) * (step % 3 == 0)):
            ward, bed = seldom(random.choice(WARDS), 0.1), seldom(random.choice(BEDS))
            rows["move"].append((step, patient, ward, bed))
    registered = [name for name in "pqrz" if random.random() < 0.85]
    rows["patients"] = [
        (name, seldom(random.randint(0, 3)), seldom(random.choice("ab"))) for name in registered
    ]
    rows["wards"] = [
        (name, seldom(random.randint(0, 2)), seldom(random.choice(["icu", "gen"])))
        for name in "KLZ"
        if random.random() < 0.9
    ]
    rows["beds"] = [
        (ward, bed, seldom(random.randint(0, 3)))
        for ward in "KL"
        for bed in BEDS
        if random.random() < 0.8
    ]
    made = {name: tuple(found) for name, found in rows.items()}
    return Case(TABLES, MAPS, Query(("?x",), ()), made, axioms=AXIOMS)


def write_ward(case: Case, folder: Path) -> None:
    """Write the project: with the values that columns of the streams have."""
    write_case(case, folder)
    toml = folder / "ontoweir.toml"
    text = toml.read_text(encoding="utf-8")
    few: dict[str, Sequence[str]] = {"patient": PATIENTS, "sign": SIGNS, "drug": DRUGS}
    few |= {"ward": WARDS, "bed": BEDS, "device": "ab"}
    parts = text.split("[relations.patients]")
    for name, values in few.items():
        listed = ", ".join(f'"{v}"' for v in values)
        written = f'{name} = {{ type = "string", enum = [{listed}] }}'
        parts[0] = parts[0].replace(f'{name} = "string"', written)
    toml.write_text("[relations.patients]".join(parts), encoding="utf-8")


def compare_ward(query: str, names: Sequence[str], case: Case, folder: Path, random: Random) -> str:
    """What came of a query over the project of a folder (`compare_text`)."""
    return compare_text(query, names, case, folder, random, streams=STREAMS)


def asks_unnamed(query: str) -> bool:
    """Whether certain answers of sets may rest on individuals without names, which rdflib does not
    know."""
    return "treat" in query and any(word in query for word in ("DISTINCT", "MAX(", "MIN("))
