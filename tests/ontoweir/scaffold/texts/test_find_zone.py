"""Zones are seen by the hour that their clocks leave out or have twice."""

import json
import tomllib
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from ontoweir.scaffold.texts.find_zone import ZONES, Times, find_zone
from tests.ontoweir.conftest import Run


def _show(zone: str, first: datetime, minutes: int, days: int, seed: int | None = None) -> Times:
    """What clocks show of moments that are some minutes apart (with a seed: at most, at random)."""
    clock, shown, moment = ZoneInfo(zone), list[int](), first
    random = Random(seed)
    while moment < first + timedelta(days=days):
        local = moment.astimezone(clock).replace(tzinfo=UTC)
        shown.append(round(local.timestamp()) * 1_000_000)
        step = minutes if seed is None else random.uniform(0.1, minutes)
        moment += timedelta(minutes=step)
    return np.array(shown, dtype=np.int64)


@cache
def _list_odd(zone: str) -> tuple[tuple[int, int], ...]:
    """Half hours that clocks show not once in the year, and how often."""
    shown = _show(zone, datetime(2025, 1, 1, tzinfo=UTC), 30, 365)
    counts = Counter(shown.tolist())
    inner = range(min(counts) + 86_400_000_000, max(counts) - 86_400_000_000, 1_800_000_000)
    return tuple((time, counts[time]) for time in inner if counts[time] != 1)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("minutes", [10, 30])
def test_a_year_of_a_zone(zone: str, minutes: int) -> None:
    times = _show(zone, datetime(2025, 1, 1, tzinfo=UTC), minutes, 365)
    seen = find_zone(np.random.default_rng(1).permutation(times))
    assert seen is not None
    assert seen.zones == tuple(z for z in ZONES if _list_odd(z) == _list_odd(zone))


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "Asia/Kolkata", "America/Phoenix"])
def test_clocks_that_are_never_changed(zone: str) -> None:
    assert find_zone(_show(zone, datetime(2025, 1, 1, tzinfo=UTC), 30, 365)) is None


def test_rows_in_an_hour_that_is_left_out_speak_against_it() -> None:
    times = _show("Europe/Berlin", datetime(2025, 1, 1, tzinfo=UTC), 30, 365)
    gap = round(datetime(2025, 3, 30, 2, 30, tzinfo=UTC).timestamp()) * 1_000_000
    seen = find_zone(np.append(times, gap))
    assert seen is None or "Europe/Berlin" not in seen.zones


def test_half_a_year_without_a_change_shows_nothing() -> None:
    assert find_zone(_show("Europe/Berlin", datetime(2025, 5, 1, tzinfo=UTC), 30, 100)) is None


@pytest.mark.parametrize("seed", range(20))
def test_gaps_of_rows_that_come_by_chance_show_nothing(seed: int) -> None:
    times = _show("UTC", datetime(2025, 1, 1, tzinfo=UTC), 60, 365, seed)
    assert find_zone(times) is None


def test_an_hour_without_rows_on_another_day() -> None:
    times = _show("UTC", datetime(2025, 1, 1, tzinfo=UTC), 10, 365)
    start = round(datetime(2025, 3, 22, 2, tzinfo=UTC).timestamp()) * 1_000_000
    assert find_zone(times[(times < start) | (times >= start + 3_600_000_000)]) is None


@pytest.mark.parametrize("written", ["%d.%m.%Y %H:%M", "%Y-%m-%d %H:%M:%S"])
def test_answers_have_the_moments_that_there_were(run: Run, tmp_path: Path, written: str) -> None:
    first = datetime(2026, 3, 27, tzinfo=UTC)
    moments = [first + timedelta(minutes=30 * n) for n in range(200)]
    clock = ZoneInfo("Europe/Berlin")
    rows = [f"{m.astimezone(clock).strftime(written)},{n}" for n, m in enumerate(moments)]
    (tmp_path / "power.csv").write_text("zeit,watt\n" + "\n".join(rows) + "\n")
    assert run("init", tmp_path / "p", "--from", tmp_path / "power.csv").code == 0
    catalog = (tmp_path / "p" / "ontoweir.toml").read_text()
    assert "2026-03-29 02:00 to 03:00 has no row" in catalog
    assert tomllib.loads(catalog)["streams"]["power"]["timestamp"]["zone"] == "Europe/Berlin"
    query = "SELECT zeit, watt FROM power"
    ran = run("show", query, "--project", tmp_path / "p", "--format", "jsonl", "--limit", "999")
    answers = [json.loads(line) for line in ran.out.splitlines()]
    got = {a["watt"]: datetime.fromisoformat(a["zeit"]).replace(tzinfo=UTC) for a in answers}
    assert got == dict(enumerate(moments))


@pytest.mark.parametrize("odd", [False, True])
def test_the_zone_of_a_wide_table(run: Run, tmp_path: Path, odd: bool) -> None:
    """Its first rows, which types are guessed by, end long before the clocks are changed."""
    clock, first = ZoneInfo("Europe/Berlin"), datetime(2026, 1, 1, tzinfo=UTC)
    moments = [(first + timedelta(hours=n)).astimezone(clock) for n in range(24 * 100)]
    cells = ";".join(f"0,{n:028}" for n in range(30))
    rows = [f"{moment:%d.%m.%Y %H:%M};{cells}" for moment in moments]
    if odd:
        rows.insert(1500, f"??;{cells}")
    head = ";".join(["zeit", *(f"x{n}" for n in range(30))])
    (tmp_path / "wide.csv").write_text("\n".join([head, *rows]) + "\n")
    assert (tmp_path / "wide.csv").stat().st_size > 2_000_000
    ran = run("init", tmp_path / "p", "--from", tmp_path / "wide.csv")
    assert ran.code == 0, ran.err
    catalog = (tmp_path / "p" / "ontoweir.toml").read_text()
    assert tomllib.loads(catalog)["streams"]["wide"]["timestamp"]["zone"] == "Europe/Berlin"
    assert "2026-03-29 02:00 to 03:00 has no row" in catalog
    texts = {q.name: q.read_text() for q in (tmp_path / "p" / "queries").iterdir()}
    assert '"P1D"^^xsd:dayTimeDuration, "Europe/Berlin")' in texts["wide-by-day.rq"]
    shown = run("show", "wide-by-day", tmp_path / "p", "--format", "jsonl", "--limit", "0", "-q")
    days = [json.loads(line) for line in shown.out.splitlines()]
    counts = Counter(f"{m:%Y-%m-%d}" for m in moments)  # 23 on the day of the change
    assert len(days) in (len(counts) - 1, len(counts))
    for day in days:
        local = datetime.fromisoformat(day["day"]).astimezone(clock)
        assert (local.hour, day["rows"]) == (0, counts[f"{local:%Y-%m-%d}"])
    for name, text in texts.items():
        if "date_trunc" in text:
            assert "date_trunc('day', zeit, 'Europe/Berlin')" in text, name


def test_of_several_zones_none_is_taken(run: Run, tmp_path: Path) -> None:
    first = datetime(2026, 3, 6, tzinfo=UTC)
    clock = ZoneInfo("America/Denver")
    moments = [(first + timedelta(minutes=30 * n)).astimezone(clock) for n in range(200)]
    rows = [f"{m:%m/%d/%Y %H:%M},{n}" for n, m in enumerate(moments)]
    (tmp_path / "power.csv").write_text("time,watt\n" + "\n".join(rows) + "\n")
    assert run("init", tmp_path / "p", "--from", tmp_path / "power.csv").code == 0
    catalog = (tmp_path / "p" / "ontoweir.toml").read_text()
    assert "perhaps add zone, as in America/New_York or America/Chicago or " in catalog
    assert "zone" not in tomllib.loads(catalog)["streams"]["power"]["timestamp"]
