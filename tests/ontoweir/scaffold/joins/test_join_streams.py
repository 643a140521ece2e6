"""`ontoweir init --from` of two files whose columns name the same things by other names."""

import csv
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.ontoweir.conftest import Run

_BEGIN = datetime(2026, 3, 1)
_ROWS, _VISITS = 120, 12


def _write(folder: Path, key: str, other: str, things: list[str], visited: list[str]) -> None:
    """Readings each minute of five things, and visits each ten minutes."""
    readings = [
        f"{_BEGIN + timedelta(minutes=n)},{things[n % len(things)]},{n % 7}.25"
        for n in range(_ROWS)
    ]
    visits = [
        f"{_BEGIN + timedelta(minutes=10 * n, seconds=30)},{visited[n % len(visited)]},{n % 5}.5"
        for n in range(_VISITS)
    ]
    (folder / "readings.csv").write_text("\n".join([f"time,{key},level", *readings]) + "\n")
    (folder / "visits.csv").write_text("\n".join([f"time,{other},cost", *visits]) + "\n")


def _init(run: Run, folder: Path) -> Path:
    files = [a for n in ("readings", "visits") for a in ("--from", folder / f"{n}.csv")]
    ran = run("init", folder / "p", *files)
    assert ran.code == 0, ran.err
    return folder / "p" / "queries" / "visits-after-readings.sql"


@pytest.mark.parametrize(
    ("key", "other"), [("station", "station_id"), ("device", "deviceId"), ("MMSI", "vessel_mmsi")]
)
def test_columns_that_name_the_same_are_joined(
    run: Run, tmp_path: Path, key: str, other: str
) -> None:
    things = [str(219000000 + n) for n in range(5)] if key == "MMSI" else [*"abcde"]
    visited = [things[1], things[3], things[4]]
    _write(tmp_path, key, other, things, visited)
    query = _init(run, tmp_path)
    assert "(a guess: 3 of 3 values of visits." in query.read_text()
    assert run("check", tmp_path / "p", "--fail-on", "unbounded", "-q").code == 0
    asked = ("show", query.stem, "--project", tmp_path / "p", "--limit", "0", "--format", "csv")
    shown = run(*asked)
    assert shown.code == 0, shown.err
    within = timedelta(minutes=10)  # five things in 119 minutes of 120 rows, twice, in whole steps
    expected = {
        (visited[v % 3], _BEGIN + timedelta(minutes=r), at)
        for v in range(_VISITS)
        for at in [_BEGIN + timedelta(minutes=10 * v, seconds=30)]
        for r in range(_ROWS)
        if things[r % 5] == visited[v % 3]
        and timedelta() <= at - (_BEGIN + timedelta(minutes=r)) <= within
    }
    assert expected
    assert _read(shown.out) == expected
    # the mapping says so, too, and marks it; SPARQL has the same answers
    mapping = (tmp_path / "p" / "mapping.r2rml.ttl").read_text()
    assert mapping.count(f"# guessed: 3 of 3 values of visits.{other} are in readings.{key}") == 2
    assert "`guessed` goes by values" in (tmp_path / "p" / "README.md").read_text()
    (leads,) = {*re.findall(r"rr:predicate (:of\w+)", mapping)}
    shown = run("show", _SPARQL % (leads, leads), *asked[2:])
    assert shown.code == 0, shown.err
    assert {(it.rpartition("/")[2], *times) for it, *times in _read(shown.out)} == expected


def test_a_thing_does_not_lead_to_itself(run: Run, tmp_path: Path) -> None:
    """An order is called by its number, which payments name: they lead to it, and it to nothing."""
    (tmp_path / "orders.csv").write_text(
        "time,order_id,total\n"
        + "".join(f"{_BEGIN + timedelta(minutes=n)},o{n:04d},{n % 7}.25\n" for n in range(_ROWS))
    )
    (tmp_path / "payments.csv").write_text(
        "time,order_id,amount\n"
        + "".join(
            f"{_BEGIN + timedelta(minutes=n, seconds=30)},o{n:04d},{n % 7}.5\n"
            for n in range(0, _ROWS, 2)
        )
    )
    files = [a for n in ("orders", "payments") for a in ("--from", tmp_path / f"{n}.csv")]
    ran = run("init", tmp_path / "p", *files)
    assert ran.code == 0, ran.err
    mapping = (tmp_path / "p" / "mapping.r2rml.ttl").read_text()
    order = 'rr:template "http://p.example/orders/{order_id}"'
    assert mapping.count(f"rr:subjectMap [ {order}") == 1
    assert mapping.count(f"rr:objectMap [ {order}") == 1
    assert run("check", tmp_path / "p", "--fail-on", "unbounded", "-q").code == 0


_SPARQL = """
PREFIX : <http://p.example/ns#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
SELECT DISTINCT ?it (?t1 AS ?before) (?t2 AS ?after)
WHERE {
  GRAPH ?t1 { ?one a :Reading ; %s ?it }
  GRAPH ?t2 { ?other a :Visit ; %s ?it }
  FILTER(?t1 <= ?t2 && ?t2 - ?t1 <= "PT10M"^^xsd:dayTimeDuration)
}
"""


def _read(shown: str) -> set[tuple[str, datetime, datetime]]:
    return {
        (
            r["it"],
            datetime.fromisoformat(r["before"]).replace(tzinfo=None),
            datetime.fromisoformat(r["after"]).replace(tzinfo=None),
        )
        for r in csv.DictReader(shown.splitlines())
    }


def test_what_rows_are_not_about_leads_there_too(run: Run, tmp_path: Path) -> None:
    _write(tmp_path, "device", "device_id", [*"abcde"], [*"bde"])
    visits = tmp_path / "visits.csv"
    head, *rows = visits.read_text().splitlines()
    rows = [f"{row},{n}" for n, row in enumerate(rows)]  # a visit is about its team
    team = [
        f"{time},t{n % 2},{rest}" for n, (time, rest) in enumerate(r.split(",", 1) for r in rows)
    ]
    visits.write_text("\n".join([f"{head.replace(',', ',team,', 1)},no", *team]) + "\n")
    query = _init(run, tmp_path)
    asked = ("--project", tmp_path / "p", "--limit", "0", "--format", "csv")
    shown = run("show", query.stem, *asked)
    assert shown.code == 0, shown.err
    there = run("show", _SPARQL % (":ofDevice", ":ofDevice"), *asked)
    assert there.code == 0, there.err
    assert _read(shown.out)
    assert {(it.rpartition("/")[2], *t) for it, *t in _read(there.out)} == _read(shown.out)
    assert ":deviceId" in (tmp_path / "p" / "mapping.r2rml.ttl").read_text()  # the value, too


@pytest.mark.parametrize(
    ("key", "other", "visited"),
    [
        ("station", "station_id", [*"vwx"]),  # other values
        ("station", "room", [*"bde"]),  # called otherwise
        ("station_kind", "station", [*"bde"]),  # a kind of it, not it
    ],
)
def test_others_are_not_joined(
    run: Run, tmp_path: Path, key: str, other: str, visited: list[str]
) -> None:
    _write(tmp_path, key, other, [*"abcde"], visited)
    assert not _init(run, tmp_path).exists()
    mapping = (tmp_path / "p" / "mapping.r2rml.ttl").read_text()
    assert "# guessed" not in mapping


def test_what_a_register_says_is_the_evidence(run: Run, tmp_path: Path) -> None:
    """Of things of two streams that are in one: the IRIs do not rest on the other stream's."""
    _write(tmp_path, "station", "station", [*"abcde"], [*"bde"])
    (tmp_path / "station.csv").write_text("station,town\n" + "".join(f"{n},t\n" for n in "abcde"))
    names = ("readings", "visits", "station")
    files = [a for n in names for a in ("--from", tmp_path / f"{n}.csv")]
    ran = run("init", tmp_path / "p", *files)
    assert ran.code == 0, ran.err
    mapping = (tmp_path / "p" / "mapping.r2rml.ttl").read_text()
    for stream in names[:2]:
        assert f"# guessed: {stream}.station references station.station" in mapping
    assert "values of visits" not in mapping
