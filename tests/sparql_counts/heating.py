"""A district heating network: five streams of units from a millisecond to a day, a register whose
key has two columns as a reference, one that changes, decimals, booleans, dates, texts with a
language, constants, and an ontology with existential axioms, inverses and disjoint classes."""

import csv
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

NETS, STATIONS, METERS, ZONES, PIPES = "ab", "12", "mnop", "XYZ", ("in", "out")
START = datetime(2020, 1, 1)
UNITS = {
    "flow": timedelta(milliseconds=1),
    "valve": timedelta(seconds=1),
    "temp": timedelta(minutes=1),
    "tariff": timedelta(minutes=1),
    "bill": timedelta(days=1),
}
CATALOG = Path(__file__).with_name("heating.toml")
_STATION = 'rr:template "http://e/s/{net}/{station}"'
_METER = 'rr:template "http://e/m/{meter}"'
_PROBE = 'rr:template "http://e/t/{net}/{station}/{pipe}"'
_VALVE = 'rr:template "http://e/v/{net}/{station}/{valve}"'
_ZONE = 'rr:template "http://e/z/{zone}"'
_MAPS: tuple[tuple[str, str, str, tuple[tuple[str, str], ...]], ...] = (
    (
        "flow",
        'rr:template "http://e/f/{meter}"',
        "Flow",
        (
            ("of", _METER),
            ("litres", 'rr:column "litres"'),
            ("hot", 'rr:column "hot"'),
            ("sensor", 'rr:template "http://e/x/{sensor}"'),
        ),
    ),
    ("SELECT meter FROM flow WHERE hot", 'rr:template "http://e/f/{meter}"', "HotFlow", ()),
    ("valve", _VALVE, "Valve", (("at", _STATION), ("open", 'rr:column "open"'))),
    (
        "SELECT net, station, valve FROM valve WHERE open",
        _VALVE,
        "",
        (("state", "rr:constant :Open"),),
    ),
    (
        "SELECT net, station, valve FROM valve WHERE NOT open",
        _VALVE,
        "",
        (("state", "rr:constant :Shut"),),
    ),
    (
        "temp",
        _PROBE,
        "",
        (
            ("at", _STATION),
            ("deg", 'rr:column "deg"'),
            ("note", 'rr:column "note" ; rr:language "de"'),
            ("code", 'rr:column "pipe"'),
        ),
    ),
    ("SELECT net, station, pipe FROM temp WHERE pipe = 'in'", _PROBE, "Supply", ()),
    ("SELECT net, station, pipe FROM temp WHERE pipe = 'out'", _PROBE, "Return", ()),
    (
        "bill",
        'rr:template "http://e/b/{meter}"',
        "Bill",
        (
            ("of", _METER),
            ("kwh", 'rr:column "kwh"'),
            ("due", 'rr:column "due"'),
            ("paid", 'rr:column "paid"'),
        ),
    ),
    ("price", _ZONE, "", (("price", 'rr:column "price"'),)),
    (
        "stations",
        _STATION,
        "",
        (
            ("inZone", _ZONE),
            ("built", 'rr:column "built"'),
            ("name", 'rr:column "name" ; rr:language "de"'),
            ("name", 'rr:column "kind" ; rr:language "en"'),
            ("year", 'rr:column "built" ; rr:datatype xsd:date'),
        ),
    ),
    ("SELECT net, station FROM stations WHERE kind = 'pump'", _STATION, "Pump", ()),
    ("SELECT net, station FROM stations WHERE kind = 'plant'", _STATION, "Plant", ()),
    (
        "meters",
        _METER,
        "Meter",
        (
            ("fedBy", _STATION),
            ("owner", 'rr:template "http://e/o/{owner}"'),
            ("size", 'rr:column "size"'),
        ),
    ),
)
OBJECTS = ("of", "sensor", "at", "state", "inZone", "fedBy", "feeds", "owner", "about", "hasZone")
NUMBERS = ("litres", "hot", "open", "deg", "note", "code", "kwh", "due", "paid", "price", "amount")
STATICS = ("built", "name", "year", "size", "ghost")
CLASSES = ("Flow", "HotFlow", "Valve", "Probe", "Supply", "Return", "Bill", "Sign", "Station")
MORE = ("Pump", "Plant", "Meter", "Owner", "Zone", "Thing", "Ghost", "Ledger")
AXIOMS = Path(__file__).with_name("heating.ttl")
PREFIXES = (
    "@prefix : <http://e/> .\n@prefix rr: <http://www.w3.org/ns/r2rml#> .\n"
    "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
    "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
)
COLUMNS = {
    "flow": ("meter", "litres", "hot", "sensor"),
    "valve": ("net", "station", "valve", "open"),
    "temp": ("net", "station", "pipe", "deg", "note"),
    "tariff": ("zone", "price", "gone"),
    "bill": ("meter", "kwh", "due", "paid"),
    "stations": ("net", "station", "zone", "built", "name", "kind"),
    "meters": ("meter", "net", "station", "owner", "size"),
}
STREAMS = {
    "flow": ("of", "litres", "hot", "sensor", "about", "amount", "Flow", "HotFlow", "Sign"),
    "valve": ("at", "open", "state", "about", "Valve", "Sign"),
    "temp": ("at", "deg", "note", "code", "about", "amount", "Supply", "Return", "Probe", "Sign"),
    "tariff": ("price",),
    "bill": ("of", "kwh", "due", "paid", "about", "amount", "Bill"),
}


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of each table; those of streams begin with their times."""

    of: dict[str, list[tuple[Any, ...]]]


def make_rows(random: Random) -> Rows:
    """Rows that are drawn, around two midnights, close to each other and far apart."""

    def seldom(value: Any, often: float = 0.2) -> Any:
        return None if random.random() < often else value

    def yes() -> Any:
        return seldom(random.choice(["true", "false"]))

    near = [timedelta(minutes=m, seconds=s, milliseconds=ms) for m, s, ms in _OFFSETS]
    midnights = [START + timedelta(days=1), START + timedelta(days=2)]
    moments = sorted({m + random.choice(near) for m in midnights for _ in range(7)} | {*midnights})
    stations = [
        (net, station, seldom(random.choice(ZONES)), seldom(random.choice(_DATES)),
         seldom(random.choice(["Nord", "pump", "Süd"])), seldom(random.choice(["pump", "plant"])))
        for net in NETS for station in STATIONS
    ]  # fmt: skip
    meters = []
    for meter in METERS:
        net, station, *_ = random.choice(stations)
        owner, size = seldom(random.choice("jk")), seldom(random.choice(["0.5", "1.0", "2.5"]))
        meters.append((meter, net, seldom(station), owner, size))
    made: dict[str, list[tuple[Any, ...]]] = {name: [] for name in UNITS}
    for moment in moments:
        for name, unit in UNITS.items():
            if (moment - START) % unit or random.random() < 0.3:
                continue
            for _ in range(random.choice([1, 1, 2, 3])):
                made[name].append((moment, *_draw(random, name, seldom, yes)))
    keys = {"flow": 2, "valve": 4, "tariff": 2, "bill": 2}
    for name, long in keys.items():
        made[name] = list({row[:long]: row for row in made[name]}.values())
    return Rows({**made, "stations": stations, "meters": meters})


_OFFSETS = (
    *((-90, 0, 0), (-3, 0, 0), (-1, 0, 0), (0, -1, 0), (0, 0, -250), (0, 0, 1), (0, 0, 500)),
    *((0, 1, 0), (0, 2, 0), (0, 30, 0), (1, 0, 0), (2, 0, 0), (4, 0, 0), (75, 0, 0)),
)
_DATES = ("2019-12-31", "2020-01-02", "2020-01-03")


def _draw(random: Random, name: str, seldom: Any, yes: Any) -> tuple[Any, ...]:
    match name:
        case "flow":
            litres = random.choice(["0.5", "1.0", "2.5", "3.0"])
            return random.choice(METERS), seldom(litres), yes(), seldom(random.choice("uv"))
        case "valve":
            return random.choice(NETS), random.choice(STATIONS), random.choice([1, 2]), yes()
        case "temp":
            place = seldom(random.choice(NETS), 0.1), random.choice(STATIONS), random.choice(PIPES)
            return *place, seldom(random.randint(0, 3)), seldom(random.choice(["kalt", "warm"]))
        case "tariff":
            price = random.choice(["0.5", "1.0", "2.5"])
            return random.choice(ZONES), seldom(price), random.choice(["", "false", "true"])
        case _:
            due = seldom(random.choice(_DATES))
            return random.choice(METERS), seldom(random.randint(0, 3)), due, yes()


def write_heating(rows: Rows, folder: Path, *, domains: bool = True) -> None:
    """Write the project; `domains`: with the values that keys of the streams have."""
    text = CATALOG.read_text(encoding="utf-8")
    for name, values in (("METER", METERS), ("NET", NETS), ("STATION", STATIONS), ("ZONE", ZONES)):
        listed = ", ".join(f'"{v}"' for v in values)
        few = f'{{ type = "string", enum = [{listed}] }}' if domains else '"string"'
        text = text.replace(f"= {name}", f"= {few}")
    (folder / "ontoweir.toml").write_text(text, encoding="utf-8")
    named = [f":{c} a owl:Class ." for c in (*CLASSES, *MORE)]
    named += [f":{p} a owl:ObjectProperty ." for p in OBJECTS]
    named += [f":{p} a owl:DatatypeProperty ." for p in (*NUMBERS, *STATICS)]
    ontology = PREFIXES + "\n".join(named) + AXIOMS.read_text(encoding="utf-8")
    (folder / "o.ttl").write_text(ontology, encoding="utf-8")
    maps = PREFIXES + "".join(write_map(n, *made) for n, made in enumerate(_MAPS))
    (folder / "m.ttl").write_text(maps, encoding="utf-8")
    write_rows(rows, folder)


def write_map(
    number: int, source: str, subject: str, named: str, objects: tuple[tuple[str, str], ...]
) -> str:
    """A triples map: of a table, or SQL; its subject, class and objects."""
    table = f'rr:tableName "{source}"' if source.isidentifier() else f'rr:sqlQuery "{source}"'
    made = f"<#M{number}> rr:logicalTable [ {table} ] ;\n  rr:subjectMap [ {subject}"
    made += f" ; rr:class :{named} ]" if named else " ]"
    for name, term in objects:
        made += f" ;\n  rr:predicateObjectMap [ rr:predicate :{name} ; rr:objectMap [ {term} ] ]"
    return made + " .\n"


def write_rows(
    rows: Rows,
    folder: Path,
    *,
    columns: Mapping[str, Sequence[str]] = COLUMNS,
    streams: Collection[str] = UNITS.keys(),
) -> None:
    """Write the data: of tables with these `columns`, of which those of `streams` have times."""
    for name, named in columns.items():
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([*(["ts"] if name in streams else []), *named])
            for row in rows.of[name]:
                cells = [c.isoformat(" ") if isinstance(c, datetime) else c for c in row]
                writer.writerow(["" if c is None else c for c in cells])
