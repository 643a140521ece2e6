"""A register that is replaced by a file of a later date: replayed, and live without a restart."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, cast

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.run.prepare_jobs import plan_job
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.arrivals.find_horizon import find_horizon
from ontoweir.runtime.live.arrivals.list_arrivals import ArrivedFile
from ontoweir.runtime.live.arrivals.plan_sources import plan_sources
from ontoweir.runtime.live.arrivals.read_arrivals import open_arrivals
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.live.model.live_job import LiveJob
from tests.runtime.harness import make_catalog
from tests.runtime.in_process import replay_here

TOML = """
[streams.reading]
source = { format = "csv", path = "readings", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 day" }
max_per_timestamp = 1
columns = { meter = "int" }

[streams.register]
source = { format = "csv", path = "register", options = { header = "true" } }
timestamp = { column = "since", unit = "1 day", idle = "1 second" }
keys = [["meter", "since"]]
max_per_timestamp = 4
columns = { meter = "int", owner = "string" }

[relations.owner]
versions = { stream = "register", key = ["meter"], whole = true }
"""
SQL = (
    "SELECT r.ts, r.meter, o.owner FROM reading AS r "
    "LEFT JOIN owner FOR SYSTEM_TIME AS OF r.ts AS o ON o.meter = r.meter"
)
MONTHS = ("2026-01-03", "2026-01-09", "2026-01-10", "2026-01-20")


def _write(folder: Path, random: Random) -> list[tuple[str, int, str | None]]:
    """A register for each of some days, readings of three spans of days; and what is expected."""
    registers: dict[str, dict[int, str]] = {}
    for day in MONTHS:
        held = {m: random.choice("abc") for m in random.sample(range(5), k=random.randint(1, 4))}
        registers[day] = held
        place = folder / "register" / f"since={day}"
        place.mkdir(parents=True)
        lines = [f"{m},{owner}" for m, owner in held.items()]
        (place / "part.csv").write_text("\n".join(["meter,owner", *lines]) + "\n")
    (folder / "readings").mkdir()
    expected = []
    for number, days in enumerate([range(1, 9), range(9, 20), range(20, 29)]):
        lines = ["ts,meter"]
        for n in days:
            meter = random.randint(0, 4)
            date = f"2026-01-{n:02}"
            lines.append(f"{date},{meter}")
            known = [registers[d] for d in MONTHS if d <= date]
            expected.append((date, meter, known[-1].get(meter) if known else None))
        (folder / "readings" / f"{number}.csv").write_text("\n".join(lines) + "\n")
    return expected


def _plan(folder: Path) -> tuple[Catalog, QueryJob]:
    catalog = make_catalog(folder, TOML)
    union = parse_sql(SQL, catalog, name="q", file="q.sql")
    verdict = check_query(union, catalog)
    assert verdict.bound is not None
    # those of one time, whatever meters there are: for rows with a version, and without one
    assert verdict.bound.rows == 4 + 4
    assert "R(register)" in verdict.bound.formula
    return catalog, replace(plan_job(verdict, catalog), union=union)


def _found(rows: list[dict[str, Any]]) -> Counter[tuple[str, int, str | None]]:
    found: Counter[tuple[str, int, str | None]] = Counter()
    for row in rows:
        found[str(row["ts"])[:10], row["meter"], row["owner"]] += row["multiplicity"]
    return found


@pytest.mark.parametrize("seed", range(4))
def test_the_file_of_a_rows_time(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = _write(tmp_path, Random(seed))
    catalog, job = _plan(tmp_path)
    whole, summary = replay_here(monkeypatch, job, tmp_path / "out.parquet", ranges=1)
    assert _found(whole) == Counter(expected)
    assert not summary.rejected
    live = make_live_job([job], catalog, {}, {"register": 1.0})
    state, rows = begin_live(live), []
    registers = [f"register/since={day}/part.csv" for day in MONTHS]
    # a register comes before the rows of its time, and holds back no others once it idles
    steps: list[list[str]] = [
        [registers[0], "readings/0.csv"],
        [],
        registers[1:3],
        ["readings/1.csv", registers[3]],
        [],
        ["readings/2.csv"],
        [],
    ]
    for number, files in enumerate(steps):
        arrived = {}
        for history in live.histories:
            name = "register" if history.stream.name == "register" else "readings"
            tables = [_read(live, history.stream.name, tmp_path / f) for f in files if name in f]
            if tables:
                arrived[history.stream.name] = pa.concat_tables(tables)
        outcome = advance_live(live, state, arrived, 10.0 * number)
        assert not outcome.rejects
        state = outcome.state
        rows += outcome.answers[0].to_pylist()
        if number == 1:
            assert len(rows) == 7  # all days that are over, though no later register is there
    assert _found(rows) == Counter(e for e in expected if e[0] < "2026-01-28")


def _read(job: LiveJob, stream: str, file: Path) -> pa.Table:
    history = next(h for h in job.histories if h.stream.name == stream)
    one = ArrivedFile(file.as_uri(), str(file), 1)
    portions, bad = open_arrivals(history, [one], cast(SparkSession, None), file.parent / "staged")
    assert not bad
    return pa.concat_tables([p.load() for p in portions])


def test_time_waits_for_a_register_that_is_there(tmp_path: Path) -> None:
    """What a folder's name says is known before the file is read."""
    _write(tmp_path, Random(1))
    stream = make_catalog(tmp_path, TOML).streams["register"]
    files = [str(tmp_path / "register" / f"since={d}" / "part.csv") for d in MONTHS[1:]]
    assert find_horizon(stream, files, {}) == 1_767_916_800_000_000  # 2026-01-09
    written = replace(stream, timestamp="day")
    assert find_horizon(written, files, {}) is None


def test_named_folders_have_a_source_of_their_own(tmp_path: Path) -> None:
    """Spark refuses to list folders together of which some have columns in their names."""
    _write(tmp_path, Random(1))
    catalog, job = _plan(tmp_path)
    histories = make_live_job([job], catalog, {}, {}).histories
    assert sorted(map(len, plan_sources(histories).sources)) == [1, 1]
    for folder in (tmp_path / "register").iterdir():
        folder.rename(folder.with_name(folder.name.replace("=", "-")))
    assert sorted(map(len, plan_sources(histories).sources)) == [2]


def test_without_a_rate_meters_are_any_number(tmp_path: Path) -> None:
    """A twin: nothing bounds how many rows a register has. No witness is made of such versions."""
    (tmp_path / "register").mkdir()
    catalog = make_catalog(tmp_path, TOML.replace("max_per_timestamp = 4\n", ""))
    verdict = check_query(parse_sql(SQL, catalog, name="q", file="q.sql"), catalog)
    assert verdict.tier is Tier.UNDECIDED
