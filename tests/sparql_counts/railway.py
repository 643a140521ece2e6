"""A railway: four streams of units from a millisecond to a minute, two registers, views that
mappings read, and an ontology with a hierarchy, inverses and an existential axiom."""

from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from tests.sparql_counts.heating import PREFIXES, Rows, write_map
from tests.sparql_counts.heating import write_rows as write_tables

TRAINS, SECTIONS, LINES = "abcd", "UVW", "LM"
START = datetime(2020, 1, 1)
UNITS = {
    "pass": timedelta(minutes=1),
    "alarm": timedelta(seconds=1),
    "heat": timedelta(seconds=10),
    "door": timedelta(milliseconds=1),
}
CATALOG = Path(__file__).with_name("railway.toml")
_TRAIN = 'rr:template "http://e/t/{train}"'
_SECTION = 'rr:template "http://e/s/{section}"'
_LINE = 'rr:template "http://e/l/{line}"'
_ALARM = 'rr:template "http://e/a/{train}/{no}"'
_DOOR = 'rr:template "http://e/d/{train}/{car}"'
_MAPS: tuple[tuple[str, str, str, tuple[tuple[str, str], ...]], ...] = (
    (
        "pass",
        'rr:template "http://e/q/{train}"',
        "Passing",
        (
            ("of", _TRAIN),
            ("at", _SECTION),
            ("delay", 'rr:column "delay"'),
            ("speed", 'rr:column "speed"'),
        ),
    ),
    ("pass", _TRAIN, "", (("onSection", _SECTION),)),
    (
        "alarm",
        _ALARM,
        "",
        (
            ("of", _TRAIN),
            ("severity", 'rr:column "severity"'),
            ("says", 'rr:column "said" ; rr:language "de"'),
        ),
    ),
    ("SELECT train, no FROM alarm WHERE state = 'raised'", _ALARM, "Raised", ()),
    ("SELECT train, no FROM alarm WHERE state = 'cleared'", _ALARM, "Cleared", ()),
    (
        "heat",
        'rr:template "http://e/x/{train}/{axle}"',
        "Heat",
        (("of", _TRAIN), ("deg", 'rr:column "deg"')),
    ),
    ("door", _DOOR, "Door", (("of", _TRAIN),)),
    ("SELECT train, car FROM door WHERE open", _DOOR, "Opened", ()),
    ("SELECT train, car FROM door WHERE NOT open", _DOOR, "Closed", ()),
    ("trains", _TRAIN, "Train", (("runsOn", _LINE), ("seats", 'rr:column "seats"'))),
    ("SELECT train FROM trains WHERE kind = 'fast'", _TRAIN, "Express", ()),
    ("sections", _SECTION, "Section", (("km", 'rr:column "km"'), ("risky", 'rr:column "risky"'))),
    ("late", 'rr:template "http://e/q/{train}"', "Late", (("lateBy", 'rr:column "over"'),)),
    ("signs", _TRAIN, "", (("shows", 'rr:column "what"'),)),
)
_OBJECTS = ("of", "at", "onSection", "carries", "runsOn", "about")
_NUMBERS = ("delay", "speed", "severity", "says", "deg", "seats", "km", "risky", "lateBy", "shows")
_CLASSES = ("Passing", "Late", "Raised", "Cleared", "Alarm", "Heat", "Door", "Opened", "Closed")
_MORE = ("Train", "Express", "Section", "Line", "Event")
_AXIOMS = """
:Raised rdfs:subClassOf :Alarm . :Cleared rdfs:subClassOf :Alarm . :Alarm rdfs:subClassOf :Event .
:Late rdfs:subClassOf :Passing . :Passing rdfs:subClassOf :Event . :Heat rdfs:subClassOf :Event .
:Opened rdfs:subClassOf :Door . :Closed rdfs:subClassOf :Door . :Door rdfs:subClassOf :Event .
:Express rdfs:subClassOf :Train . :of rdfs:subPropertyOf :about . :at rdfs:subPropertyOf :about .
:carries owl:inverseOf :onSection . :runsOn rdfs:range :Line .
:Train rdfs:subClassOf
  [ a owl:Restriction ; owl:onProperty :runsOn ; owl:someValuesFrom :Line ] .
"""
COLUMNS = {
    "pass": ("train", "section", "delay", "speed"),
    "alarm": ("train", "no", "state", "severity", "said"),
    "heat": ("train", "axle", "deg"),
    "door": ("train", "car", "open"),
    "trains": ("train", "kind", "line", "built", "seats"),
    "sections": ("section", "line", "km", "risky"),
}
STREAMS = {
    "pass": ("of", "at", "delay", "speed", "onSection", "Passing", "Late", "lateBy", "shows"),
    "alarm": ("of", "severity", "says", "Raised", "Cleared", "Alarm", "shows"),
    "heat": ("of", "deg", "Heat"),
    "door": ("of", "Door", "Opened", "Closed"),
}
LAST: dict[str, tuple[Any, ...]] = {
    "pass": ("a", None, None, None),
    "alarm": ("a", 1, None, None, None),
    "heat": ("a", 1, None),
    "door": ("a", 1, None),
}
_OFFSETS = (
    *((-90, 0, 0), (-31, 0, 0), (-3, 0, 0), (0, -10, 0), (0, 0, 500), (0, 1, 0), (0, 10, 0)),
    *((2, 0, 0), (29, 0, 0), (30, 0, 0), (45, 0, 0), (60, 0, 0), (120, 0, 0)),
)


def make_rows(random: Random) -> Rows:
    """Rows that are drawn, around two midnights."""

    def seldom(value: Any, often: float = 0.15) -> Any:
        return None if random.random() < often else value

    near = [timedelta(minutes=m, seconds=s, milliseconds=ms) for m, s, ms in _OFFSETS]
    midnights = [START + timedelta(days=1), START + timedelta(days=2)]
    moments = sorted({m + random.choice(near) for m in midnights for _ in range(9)} | {*midnights})
    made: dict[str, list[tuple[Any, ...]]] = {name: [] for name in UNITS}
    for moment in moments:
        for name, unit in UNITS.items():
            if (moment - START) % unit or random.random() < 0.3:
                continue
            for _ in range(random.choice([1, 1, 2, 3])):
                made[name].append((moment, random.choice(TRAINS), *_draw(random, name, seldom)))
    for name, long in {"pass": 2, "alarm": 3, "heat": 3, "door": 3}.items():
        made[name] = list({row[:long]: row for row in made[name]}.values())
    kinds, seats = ["fast", "slow"], [100, 200]
    made["trains"] = [
        (t, seldom(random.choice(kinds)), seldom(random.choice(LINES)), None, random.choice(seats))
        for t in TRAINS
    ]
    made["sections"] = [
        (s, random.choice(LINES), seldom(random.choice(["0.5", "2.0"])), random.choice(_YES))
        for s in SECTIONS
    ]
    return Rows(made)


_YES = ("true", "false")


def _draw(random: Random, name: str, seldom: Any) -> tuple[Any, ...]:
    """The columns of a row after its train."""
    number = random.choice([1, 2])
    match name:
        case "pass":
            section, speed = random.choice(SECTIONS), random.choice(["40.0", "80.5"])
            return seldom(section, 0.1), seldom(random.randint(0, 5)), seldom(speed)
        case "alarm":
            state = random.choice(["raised", "raised", "cleared"])
            said = seldom(random.choice(["Tür", "Licht"]))
            return number, state, seldom(random.randint(0, 3)), said
        case "heat":
            return number, seldom(random.choice(["0.5", "1.5", "2.25"]))
        case _:
            return number, seldom(random.choice(_YES))


def write_railway(rows: Rows, folder: Path) -> None:
    """Write the project."""
    text = CATALOG.read_text(encoding="utf-8")
    for name, values in (("TRAIN", TRAINS), ("SECTION", SECTIONS), ("LINE", LINES)):
        listed = ", ".join(f'"{v}"' for v in values)
        text = text.replace(f"= {name}", f'= {{ type = "string", enum = [{listed}] }}')
    (folder / "ontoweir.toml").write_text(text, encoding="utf-8")
    named = [f":{c} a owl:Class ." for c in (*_CLASSES, *_MORE)]
    named += [f":{p} a owl:ObjectProperty ." for p in _OBJECTS]
    named += [f":{p} a owl:DatatypeProperty ." for p in _NUMBERS]
    (folder / "o.ttl").write_text(PREFIXES + "\n".join(named) + _AXIOMS, encoding="utf-8")
    maps = PREFIXES + "".join(write_map(n, *made) for n, made in enumerate(_MAPS))
    (folder / "m.ttl").write_text(maps, encoding="utf-8")
    write_rows(rows, folder)


def write_rows(rows: Rows, folder: Path) -> None:
    """Write the data."""
    write_tables(rows, folder, columns=COLUMNS, streams=UNITS)
