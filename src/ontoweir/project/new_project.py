"""The project that `ontoweir init` makes: sensors in rooms, with data for two hours."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from math import pi, sin

PROJECT = """\
# Temperatures of rooms. Check it, replay it, then put your own tables in their places.
#
#   ontoweir check                   can each query be answered in bounded memory?
#   ontoweir check --mappings-only   what the mappings allow
#   ontoweir replay --query rooms-hot-then-cold --output answers.csv

[project]
ontology = ["rooms.ttl"]
mappings = ["rooms.r2rml.ttl"]
queries = ["queries/*.rq"]

# A stream: one row is what one sensor measured in one minute.
[streams.reading]
source = { format = "csv", path = "data/reading.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 minute" }
max_per_timestamp = 8       # one reading of each sensor
keys = [["sensor", "ts"]]   # a repeated delivery is rejected and counted
references = [{ columns = ["sensor"], relation = "sensor", to = ["sensor"] }]

[streams.reading.columns]
sensor = "int"
celsius = { type = "decimal(4,1)", min = -40, max = 60 }
state = { type = "string", enum = ["OK", "FAULT"] }

# A static relation: it does not change while queries run.
[relations.sensor]
source = { format = "csv", path = "data/sensor.csv", options = { header = "true" } }
keys = [["sensor"]]
max_rows = 8

[relations.sensor.columns]
sensor = "int"
room = "string"
"""

ONTOLOGY = """\
@prefix :     <http://rooms.example/ns#> .
@prefix owl:  <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .

<http://rooms.example/ns> a owl:Ontology .

:Reading a owl:Class .
:HotReading a owl:Class ; rdfs:subClassOf :Reading .
:ColdReading a owl:Class ; rdfs:subClassOf :Reading .
:Sensor a owl:Class .
:Room a owl:Class .

:madeBy a owl:ObjectProperty ; rdfs:domain :Reading ; rdfs:range :Sensor .
:standsIn a owl:ObjectProperty ; rdfs:domain :Sensor ; rdfs:range :Room .
:temperature a owl:DatatypeProperty ; rdfs:domain :Reading .
:state a owl:DatatypeProperty ; rdfs:domain :Reading .
"""

MAPPINGS = """\
@prefix :   <http://rooms.example/ns#> .
@prefix rr: <http://www.w3.org/ns/r2rml#> .
@base <http://rooms.example/mapping/> .

# A sensor has one reading in a minute: the reading is called after the sensor, and holds then.
<Reading> a rr:TriplesMap ;
    rr:logicalTable [ rr:tableName "reading" ] ;
    rr:subjectMap [ rr:template "http://rooms.example/reading/{sensor}" ; rr:class :Reading ] ;
    rr:predicateObjectMap
        [ rr:predicate :madeBy ;
          rr:objectMap [ rr:template "http://rooms.example/sensor/{sensor}" ] ] ,
        [ rr:predicate :temperature ; rr:objectMap [ rr:column "celsius" ] ] ,
        [ rr:predicate :state ; rr:objectMap [ rr:column "state" ] ] .

<Hot> a rr:TriplesMap ;
    rr:logicalTable [ rr:sqlQuery "SELECT sensor FROM reading WHERE celsius > 26" ] ;
    rr:subjectMap [ rr:template "http://rooms.example/reading/{sensor}" ; rr:class :HotReading ] .

<Cold> a rr:TriplesMap ;
    rr:logicalTable [ rr:sqlQuery "SELECT sensor FROM reading WHERE celsius < 18" ] ;
    rr:subjectMap [ rr:template "http://rooms.example/reading/{sensor}" ; rr:class :ColdReading ] .

<Sensor> a rr:TriplesMap ;
    rr:logicalTable [ rr:tableName "sensor" ] ;
    rr:subjectMap [ rr:template "http://rooms.example/sensor/{sensor}" ; rr:class :Sensor ] ;
    rr:predicateObjectMap
        [ rr:predicate :standsIn ;
          rr:objectMap [ rr:template "http://rooms.example/room/{room}" ] ] .

<Room> a rr:TriplesMap ;
    rr:logicalTable [ rr:tableName "sensor" ] ;
    rr:subjectMap [ rr:template "http://rooms.example/room/{room}" ; rr:class :Room ] .
"""

QUERIES = {
    "hot-readings": """\
# Every hot reading, with its sensor.
PREFIX : <http://rooms.example/ns#>

SELECT ?sensor ?celsius
WHERE {
  GRAPH ?t { ?reading a :HotReading ; :madeBy ?sensor ; :temperature ?celsius }
}
""",
    "rooms-hot-then-cold": """\
# Rooms that were hot, and cold within half an hour after.
PREFIX :    <http://rooms.example/ns#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>

SELECT DISTINCT ?room
WHERE {
  GRAPH ?t1 { ?hot  a :HotReading  ; :madeBy ?sensor1 }
  GRAPH ?t2 { ?cold a :ColdReading ; :madeBy ?sensor2 }
  ?sensor1 :standsIn ?room .
  ?sensor2 :standsIn ?room .
  FILTER(?t1 < ?t2 && ?t2 - ?t1 <= "PT30M"^^xsd:dayTimeDuration)
}
""",
    "how-often-each-sensor-failed": """\
# The number of faults of each sensor so far.
PREFIX : <http://rooms.example/ns#>

SELECT ?sensor (COUNT(*) AS ?faults)
WHERE {
  GRAPH ?t { ?reading :state "FAULT" ; :madeBy ?sensor }
}
GROUP BY ?sensor
""",
}

README = """\
# Temperatures of rooms

    ontoweir check                                   # verdicts, bounds, reasons
    ontoweir check --mappings-only                   # what the mappings allow
    ontoweir replay --query rooms-hot-then-cold --output answers.csv
    ontoweir report --output report.html

`ontoweir.toml` declares the tables, `rooms.ttl` is the ontology, `rooms.r2rml.ttl` maps the tables
to it, and `queries/` has the queries.
"""

START = datetime(2026, 1, 5, 8)
MINUTES, SENSORS = 120, 8


def list_project_files() -> Iterator[tuple[str, str]]:
    """The files of the project: paths in its folder, and texts."""
    yield "ontoweir.toml", PROJECT
    yield "rooms.ttl", ONTOLOGY
    yield "rooms.r2rml.ttl", MAPPINGS
    yield "README.md", README
    for name, text in QUERIES.items():
        yield f"queries/{name}.rq", text
    rooms = ("hall", "yard", "lab", "store")
    rows = (f"{n},{rooms[n % 4]}\n" for n in range(SENSORS))
    yield "data/sensor.csv", "sensor,room\n" + "".join(rows)
    yield "data/reading.csv", "ts,sensor,celsius,state\n" + "".join(_readings())


def _readings() -> Iterator[str]:
    """Waves of different lengths between 13 and 29 °C; now and then a sensor fails."""
    for minute in range(MINUTES):
        at = (START + timedelta(minutes=minute)).isoformat(sep=" ")
        for sensor in range(SENSORS):
            wave = sin(2 * pi * (minute + 11 * sensor) / (40 + 7 * sensor))
            state = "FAULT" if (minute * 13 + sensor * 5) % 97 == 0 else "OK"
            yield f"{at},{sensor},{21 + 8 * wave:.1f},{state}\n"
