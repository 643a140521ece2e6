"""`ontoweir init --from`: a project over data at hand that checks and replays."""

import json
import tomllib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.scaffold.flatten_rows import make_name
from ontoweir.scaffold.terms.name_terms import class_of, property_of
from tests.ontoweir.conftest import Run


def _sensors(folder: Path) -> Path:
    rows = [f"s{n},room {n % 2},20.{n}" for n in range(4)]
    (folder / "sensors.csv").write_text("\n".join(["sensor_id,room,height", *rows]) + "\n")
    return folder / "sensors.csv"


def _readings(folder: Path, *, stamp: str = "2026-01-05T{:02}:{:02}:00") -> Path:
    rows = [
        f"s{s},{stamp.format(8 + m // 60, m % 60)},{20 + (m + s) % 7}.5,OK"
        for m in range(0, 120, 5)
        for s in range(4)
    ]
    rows[7], rows[8] = rows[8], rows[7]  # one comes late
    header = "sensor_id,ts,celsius,state"
    (folder / "readings.csv").write_text("\n".join([header, *rows]) + "\n")
    return folder / "readings.csv"


def test_readings_of_sensors(run: Run, tmp_path: Path) -> None:
    project = tmp_path / "rooms"
    ran = run("init", project, "--from", _readings(tmp_path), "--from", _sensors(tmp_path))
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[0].startswith(
        f"{project}: 1 stream (readings), 1 relation (sensors), 4 queries"
    )
    declared = tomllib.loads((project / "ontoweir.toml").read_text())
    stream = declared["streams"]["readings"]
    assert stream["timestamp"] == {"column": "ts", "unit": "5 minutes", "lateness": "5 minutes"}
    assert stream["max_per_timestamp"] == 4
    assert stream["keys"] == [["sensor_id", "ts"]]
    assert stream["references"] == [
        {"columns": ["sensor_id"], "relation": "sensors", "to": ["sensor_id"]}
    ]
    assert stream["columns"]["state"] == {"type": "string", "enum": ["OK"]}
    assert stream["columns"]["celsius"] == "double"
    assert declared["relations"]["sensors"]["keys"][0] == ["sensor_id"]
    checked = json.loads(run("check", project, "--format", "json", "--quiet").out)
    assert {q["verdict"] for q in checked} <= {"bounded", "conditionally-bounded"}
    for query in ("readings-above", "readings-by-hour", "readings-latest"):
        shown = run("show", query, project, "--format", "jsonl", "-q")
        assert shown.code == 0, shown.err
        assert shown.out
    shown = run("show", "readings-above", project, "--format", "jsonl", "-q")
    row = json.loads(shown.out.splitlines()[0])
    assert row["it"].startswith("http://rooms.example/sensors/s")
    assert 25 < row["value"] <= 26.5
    assert run("check", project, "--mappings-only").code == 0
    assert "sosa:Observation" in (project / "ontology.ttl").read_text()


@pytest.mark.parametrize(
    ("stamp", "form"),
    [("{:02}:{:02}:00 05/31/2026", None), ("05/31/2026 {:02}:{:02}:00", "%m/%d/%Y %H:%M:%S")],
)
def test_how_times_are_written(run: Run, tmp_path: Path, stamp: str, form: str | None) -> None:
    ran = run("init", tmp_path / "p", "--from", _readings(tmp_path, stamp=stamp))
    if form is None:
        assert ran.code == 2
        assert "has a time that goes on" in ran.err
        assert not (tmp_path / "p").exists()
        return
    assert ran.code == 0, ran.err
    declared = tomllib.loads((tmp_path / "p" / "ontoweir.toml").read_text())
    assert declared["streams"]["readings"]["timestamp"]["format"] == form
    assert run("show", "readings-above", tmp_path / "p", "-q").code == 0


def test_parquet_with_fractions_and_nested_columns(run: Run, tmp_path: Path) -> None:
    table = pa.table(
        {
            "Event Time": pa.array([n * 333_000 for n in range(300)], pa.timestamp("us")),
            "level": [n % 10 for n in range(300)],
            "where": [{"x": 1}] * 300,
            "tags": [["a"]] * 300,
        }
    )
    pq.write_table(table, tmp_path / "Water Levels.parquet")
    ran = run("init", tmp_path / "p", "--from", tmp_path / "Water Levels.parquet")
    assert ran.code == 0, ran.err
    assert (
        "left out, as they are nested, or of types that are not read: water_levels.tags" in ran.out
    )
    declared = tomllib.loads((tmp_path / "p" / "ontoweir.toml").read_text())
    stream = declared["streams"]["water_levels"]
    assert stream["timestamp"] == {"column": "Event Time", "unit": "1 second", "align": "floor"}
    assert stream["max_per_timestamp"] == 4
    assert stream["columns"]["where_x"] == {"type": "int", "from": "where.x"}
    checked = json.loads(run("check", tmp_path / "p", "--format", "json", "-q").out)
    assert len(checked) >= 1
    for query in checked:
        assert run("show", query["query"], tmp_path / "p", "-q").code == 0


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", None, "there is no"),
        ("a.docx", "x\n", "is no file of data"),
        ("a.txt", "x\n", "has a time that goes on"),
        ("a.parquet", "x\n", "cannot be read"),
        ("a.csv", "k,v\n1,2\n2,3\n", "has a time that goes on"),
        ("a.csv", "", "has no rows"),
    ],
)
def test_what_is_wrong(run: Run, tmp_path: Path, name: str, text: str | None, said: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    ran = run("init", tmp_path / "p", "--from", tmp_path / name)
    assert ran.code == 2
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1
    assert not (tmp_path / "p").exists()


def test_two_tables_of_one_name(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    files = (_sensors(tmp_path), _sensors(tmp_path / "x"))
    ran = run("init", tmp_path / "p", "--from", files[0], "--from", files[1])
    assert (ran.code, "two tables would be called 'sensors'" in ran.err) == (2, True)


def test_names() -> None:
    assert make_name("Water Levels 2026!") == "water_levels_2026"
    assert make_name("2026-01") == "t_2026_01"
    assert class_of("room_sensors") == "RoomSensor"
    assert class_of("glass") == "Glass"
    assert property_of("avg_speed") == "avgSpeed"
    assert property_of("POINT_1_NAME") == "point1Name"


def test_numbers_of_devices_are_told(run: Run, tmp_path: Path) -> None:
    """Between which they lie is not declared, as another device may come; nor said of measures."""
    rows = [
        f"2026-01-05T08:{m:02}:{d:02},{700 + d},{m * 40 + d}" for m in range(40) for d in range(9)
    ]
    (tmp_path / "readings.csv").write_text("\n".join(["ts,device,count", *rows]) + "\n")
    ran = run("init", tmp_path / "p", "--from", tmp_path / "readings.csv")
    assert ran.code == 0, ran.err
    lines = (tmp_path / "p" / "ontoweir.toml").read_text().splitlines()
    said = "seen: 9 values, 700..708; min and max would bound groups by them"
    assert f'device = "int" # {said}' in lines
    assert 'count = "int"' in lines


def test_rows_that_other_streams_name_are_called_by_their_id(run: Run, tmp_path: Path) -> None:
    """An order by its id, which payments have: so they meet in the words of the ontology."""
    names = [f"a{n:03}f" for n in range(60)]
    orders = [f"2026-01-05T08:{n:02}:00,{o},c{n % 5},{n}.5" for n, o in enumerate(names)]
    pays = [f"2026-01-05T08:{n:02}:30,{o},card" for n, o in enumerate(names)]
    (tmp_path / "orders.csv").write_text("\n".join(["ts,order_id,customer,total", *orders]) + "\n")
    (tmp_path / "payments.csv").write_text("\n".join(["ts,order,method", *pays]) + "\n")
    project = tmp_path / "shop"
    files = [tmp_path / "orders.csv", tmp_path / "payments.csv"]
    ran = run("init", project, "--from", *files)
    assert ran.code == 0, ran.err
    (project / "queries" / "paid.rq").write_text(
        "PREFIX : <http://shop.example/ns#>\nPREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
        "SELECT ?total ?method WHERE {\n"
        "  GRAPH ?t { ?order :total ?total }\n"
        "  GRAPH ?u { ?payment :ofOrder ?order ; :method ?method }\n"
        '  FILTER(?t <= ?u && ?u - ?t <= "PT1H"^^xsd:dayTimeDuration)\n}\n'
    )
    shown = run("show", "paid", project, "--format", "jsonl", "-q", "--limit", "99")
    assert shown.code == 0, shown.err
    assert len(shown.out.splitlines()) == 60
    assert (
        'rr:template "http://shop.example/orders/{order_id}"'
        in (project / "mapping.r2rml.ttl").read_text()
    )


def test_what_several_streams_are_about_makes_them_no_others(run: Run, tmp_path: Path) -> None:
    """A property from the rows of two streams has no domain: by it, readings would be alarms."""
    for name in ("readings", "alarms"):
        rows = [f"2026-01-05T08:{m:02}:00,s{s},{m}.5" for m in range(30) for s in range(3)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["ts,sensor,value", *rows]) + "\n")
    files = [tmp_path / f"{name}.csv" for name in ("readings", "alarms")]
    for given, ends in ((files[:1], ["domain", "range"]), (files, ["range"])):
        project = tmp_path / f"p{len(given)}"
        assert run("init", project, "--from", *given).code == 0
        text = (project / "ontology.ttl").read_text()
        (line,) = (one for one in text.splitlines() if one.startswith(":ofSensor "))
        assert [end for end in ("domain", "range") if f"rdfs:{end} " in line] == ends
