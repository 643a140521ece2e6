"""`init --from` of times with offsets: the first queries have the days of their zone."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

from ontoweir.scaffold.times.find_offset_zone import find_offset_zone
from tests.ontoweir.conftest import Run

HOURS = [datetime(2025, 10, 20, tzinfo=UTC) + timedelta(hours=n) for n in range(24 * 20)]


def show(zone: str) -> list[str]:
    """The hours, as clocks of a zone show them, with their offsets."""
    return [hour.astimezone(ZoneInfo(zone)).isoformat() for hour in HOURS]


@pytest.mark.parametrize("zone", ["America/Chicago", "Europe/London", "Australia/Adelaide"])
def test_a_zone_whose_clocks_are_put_back(zone: str) -> None:
    texts = show(zone)
    expected = zone if zone != "Australia/Adelaide" else None  # it changes earlier: one offset
    assert find_offset_zone(pa.chunked_array([texts])) == expected
    assert find_offset_zone(pa.chunked_array([texts[::-1]])) == expected


def test_others_are_of_no_zone() -> None:
    hours = [hour.isoformat() for hour in HOURS]
    fixed = [hour.astimezone(timezone(timedelta(hours=-6))).isoformat() for hour in HOURS]
    turns = [text for pair in zip(hours, fixed, strict=True) for text in pair]
    for texts in (hours, fixed, turns, [*show("Europe/Berlin"), "2025-11-20T00:00:00"], []):
        assert find_offset_zone(pa.chunked_array([pa.array(texts, pa.string())])) is None


def test_queries_have_its_days(run: Run, tmp_path: Path) -> None:
    rows = [f"{text},{n % 7}.5" for n, text in enumerate(show("America/Chicago"))]
    (tmp_path / "meter.csv").write_text("\n".join(["start,kWh", *rows, ""]))
    project = tmp_path / "p"
    assert run("init", project, "--from", tmp_path / "meter.csv").code == 0
    catalog = (project / "ontoweir.toml").read_text()
    assert "their offsets are those of America/Chicago" in catalog
    (query,) = (project / "queries").glob("*-by-day.rq")
    output = tmp_path / "days.csv"
    assert run("replay", project, "--query", query.stem, "--output", output).code == 0
    cells = [line.split(",") for line in output.read_text().splitlines()]
    counts = {day[:13]: rows for day, rows, *_ in cells}
    assert counts["2025-10-20 05"] == "24"
    assert counts["2025-11-02 05"] == "25"  # clocks are put back
