"""`measure` and `init --from` propose columns that are NULL as `nullable`, of relations too."""

import json
import tomllib
from pathlib import Path

import pytest

from ontoweir.edit.edit_project import edit_column, set_nullable
from ontoweir.mappings.model.catalog import Column, IntType
from tests.ontoweir.conftest import Run

TOML = """\
[project]
queries = []

[streams.reading]
source = { format = "csv", path = "readings.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 minute" }
keys = [["sensor", "ts"]]
[streams.reading.columns]
sensor = "string" # of the plant
value = "int"
state = { type = "string", nullable = true }

[relations.sensors]
source = { format = "csv", path = "sensors.csv", options = { header = "true" } }
keys = [["sensor"]]
[relations.sensors.columns]
sensor = "string"
room = "string" # where it is
floor = { type = "int", min = 0, max = 9 }

[relations.rooms]
source = { view = "SELECT room FROM sensors" }
columns = { room = "string" }
"""
SQL = "SELECT r.ts, s.room FROM reading r JOIN sensors s ON r.sensor = s.sensor"


@pytest.fixture
def plant(tmp_path: Path) -> Path:
    """A project of four sensors, of which one is in no room."""
    (tmp_path / "ontoweir.toml").write_text(TOML)
    rows = [
        f"s{s},2026-01-05T08:{m:02}:00,{'' if m % 10 == 9 else m % 3},{'' if s else 'OK'}"
        for m in range(60)
        for s in range(4)
    ]
    (tmp_path / "readings.csv").write_text("\n".join(["sensor,ts,value,state", *rows]) + "\n")
    sensors = ["s0,,1", "s1,north,2", "s2,south,", "s3,,3"]
    (tmp_path / "sensors.csv").write_text("\n".join(["sensor,room,floor", *sensors]) + "\n")
    return tmp_path


def _proposed(run: Run, project: Path, *more: object) -> dict[str, str]:
    """The columns that are proposed as nullable, with the evidence."""
    ran = run("measure", project, "--format", "json", "-q", *more)
    assert ran.code == 0, ran.err
    found = {}
    for one in json.loads(ran.out)["declarations"]:
        if " is NULL in " not in one["evidence"]:
            continue
        (section,) = tomllib.loads(one["toml"]).items()
        (table,) = section[1].items()
        (column,) = table[1]["columns"].items()
        assert column[1]["nullable"] is True
        assert (one["changes"], one["loses"]) == ([], 0)
        found[f"{table[0]}.{column[0]}"] = one["evidence"]
    return found


def test_of_streams_and_relations(run: Run, plant: Path) -> None:
    found = _proposed(run, plant)
    assert set(found) == {"reading.value", "sensors.room", "sensors.floor"}  # not what is declared
    assert found["sensors.room"].startswith("room is NULL in 2 of the 4 rows of sensors")
    assert found["reading.value"].startswith("value is NULL in 24 of the 240 rows of reading")


def test_without_null_nothing_is_said(run: Run, plant: Path) -> None:
    (plant / "sensors.csv").write_text("sensor,room,floor\ns0,north,1\n")
    assert set(_proposed(run, plant)) == {"reading.value"}


def test_only_of_what_a_query_reads(run: Run, plant: Path) -> None:
    assert set(_proposed(run, plant, "--sql", "SELECT ts, value FROM reading")) == {"reading.value"}
    assert "sensors.room" in _proposed(run, plant, "--sql", SQL)


def test_a_value_of_another_type_is_no_null(run: Run, plant: Path) -> None:
    (plant / "sensors.csv").write_text("sensor,room,floor\ns0,north,1\ns1,south,two\n")
    ran = run("measure", plant, "--format", "json", "-q")
    assert "floor" not in json.dumps(json.loads(ran.out or '{"declarations": []}')["declarations"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "there is no data for sensors"),
        ("sensor,place,floor\ns0,x,1\n", "there is no column 'room'"),
    ],
)
def test_wrong_data(run: Run, plant: Path, text: str | None, said: str) -> None:
    if text is None:
        (plant / "sensors.csv").unlink()
    else:
        (plant / "sensors.csv").write_text(text)
    ran = run("measure", plant, "-q")
    assert (ran.code, said in ran.err) == (2, True), ran.err


def test_what_is_written_shows_the_rows(run: Run, plant: Path) -> None:
    """And answers have them then, as many as there are; comments and domains stay."""

    def count() -> int:
        ran = run("replay", plant, "--sql", SQL, "--output", "-", "--format", "jsonl", "-q")
        assert ran.code == 0, ran.err
        return sum(json.loads(line)["multiplicity"] for line in ran.out.splitlines())

    assert count() == 120
    ran = run("measure", plant, "--write", "-q")
    assert ran.code == 0, ran.err
    text = (plant / "ontoweir.toml").read_text()
    assert "# where it is" in text
    declared = tomllib.loads(text)
    relation = declared["relations"]["sensors"]["columns"]
    assert relation["room"] == {"type": "string", "nullable": True}
    assert relation["floor"] == {"type": "int", "min": 0, "max": 9, "nullable": True}
    stream = declared["streams"]["reading"]["columns"]
    assert stream["value"] == {"type": "int", "min": 0, "max": 2, "nullable": True}
    assert stream["state"]["nullable"] is True  # it stays, beside what is declared of its values
    assert "enum" in stream["state"]
    assert count() == 240
    assert _proposed(run, plant) == {}


def test_projects_over_data(run: Run, plant: Path) -> None:
    project = plant / "p"
    ran = run("init", project, "--from", plant / "readings.csv", plant / "sensors.csv")
    assert ran.code == 0, ran.err
    text = (project / "ontoweir.toml").read_text()
    columns = tomllib.loads(text)["relations"]["sensors"]["columns"]
    assert columns == {
        "sensor": "string",
        "room": {"type": "string", "nullable": True},
        "floor": {"type": "int", "nullable": True},
    }
    assert 'room = { type = "string", nullable = true } # seen: NULL in 2 of 4 rows' in text
    assert run("check", project, "-q").code == 0
    ran = run("replay", project, "--sql", SQL.replace("reading r", "readings r"), "--output", "-")
    assert ran.code == 0, ran.err


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('x = "int" # c', 'x = { type = "int", nullable = true } # c'),
        ('x = { type = "int", max = 3 }', 'x = { type = "int", max = 3, nullable = true }'),
        ('y = "int"', None),
    ],
)
def test_set_nullable(text: str, wanted: str | None) -> None:
    head = "[relations.r.columns]\n"
    made = set_nullable(f"{head}{text}\n", "relations", "r", "x")
    assert made == (None if wanted is None else f"{head}{wanted}\n")


@pytest.mark.parametrize("nullable", [True, False])
def test_a_domain_leaves_nullable_as_it_is(nullable: bool) -> None:
    """A repair that declares one would else take rows out of answers."""
    more = ", nullable = true" if nullable else ""
    text = f'[streams.s.columns]\nx = {{ type = "int"{more} }}\n'
    made = edit_column(text, "s", Column("x", IntType(), 0, 9, nullable=nullable))
    assert made is not None
    (column,) = tomllib.loads(made)["streams"]["s"]["columns"].values()
    assert column == {"type": "int", "min": 0, "max": 9, **({"nullable": True} if nullable else {})}
