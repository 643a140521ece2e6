"""`init --from`: places have the W3C's properties, and units that names say QUDT's."""

from pathlib import Path

import pytest
import rdflib

from ontoweir.scaffold.terms.find_units import _SIGNS, QUDT, UNIT, find_unit
from tests.ontoweir.conftest import Run

GEO = "http://www.w3.org/2003/01/geo/wgs84_pos#"
HEAD = "ts,sensor,temp [°C],{lat},{lon}\n"


def _make(folder: Path, run: Run, lat: str, lon: str) -> Path:
    rows = (
        f"2026-01-05T08:{n:02}:00Z,s{n % 3},{20 + n / 4},{56 + n % 3 / 8},{10 + n % 3 / 8}\n"
        for n in range(60)
    )
    file = folder / "rows.csv"
    file.write_text(HEAD.format(lat=lat, lon=lon) + "".join(rows), encoding="utf-8")
    assert run("init", folder / "p", "--from", file).code == 0
    return folder / "p"


def test_answers_have_places(tmp_path: Path, run: Run) -> None:
    project = _make(tmp_path, run, "start_lat", "start_lon")
    (project / "queries" / "places.rq").write_text(
        f"PREFIX geo: <{GEO}> SELECT ?x ?lat ?long WHERE {{ GRAPH ?t {{ ?x geo:lat ?lat ; "
        "geo:long ?long } }"
    )
    assert "56.125" in run("show", "places", project).out
    ontology = rdflib.Graph().parse(project / "ontology.ttl")
    assert (rdflib.URIRef(f"{GEO}lat"), None, None) in ontology
    units = {str(unit) for unit in ontology.objects(None, rdflib.URIRef(f"{QUDT}hasUnit"))}
    assert units == {f"{UNIT}DEG_C"}
    assert "0 left out" in run("ontology", project).out  # an annotation says nothing else


@pytest.mark.parametrize(("lat", "lon"), [("lat", "x"), ("lat", "alt"), ("flat", "long_run")])
def test_one_alone_is_no_place(tmp_path: Path, run: Run, lat: str, lon: str) -> None:
    project = _make(tmp_path, run, lat, lon)
    assert GEO not in (project / "mapping.r2rml.ttl").read_text()


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("Temperatur (°C)", "DEG_C"),
        ("Luftdruck [hPa]", "HectoPA"),
        ("power_kW", "KiloW"),
        ("energy_kwh", "KiloW-HR"),
        ("PM10 (μg/m³)", "MicroGM-PER-M3"),
        ("humidity_percent", "PERCENT"),
        ("outdoor_temperature_c", "DEG_C"),
        ("tempF", "DEG_F"),
        ("speed (km/h)", "KiloM-PER-HR"),
        ("class_c", None),
        ("temp", None),
        ("c", None),
        ("size (big)", None),
        ("a", None),
        ("()", None),
        ("", None),
        ("v", None),
        ("plan_w", None),
        ("foo_mw", None),
    ],
)
def test_units(name: str, unit: str | None) -> None:
    found = find_unit(name)
    assert (None if found is None else found[0]) == (None if unit is None else UNIT + unit)


def test_signs_are_in_lower_case() -> None:
    assert all(sign == sign.lower() for sign in _SIGNS)
