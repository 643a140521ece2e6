"""Rejected rows of live runs say where they are, as those of a replay do, also of rows that waited
over commits; those of Kafka's messages name topic/partition and offset."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, NoReturn, cast

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from ontoweir.mappings.model.catalog import DataSource
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.arrivals import read_arrivals
from ontoweir.runtime.live.arrivals.list_arrivals import ArrivedFile
from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord
from ontoweir.runtime.live.checkpoint.save_state import commit_batch, load_state
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.live.model.live_job import PARTITION_OF, KnownSources, LiveJob
from ontoweir.runtime.live.model.row_places import FILE, OFFSET, PARTITION, leave_unused
from ontoweir.runtime.live.output.publish_commit import read_arrow
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest
from ontoweir.runtime.sources.read_source import BAD
from ontoweir.runtime.violations.number_rows import number_rows
from tests.runtime.harness import make_catalog, make_sql_job

TOML = """\
[streams.S]
source = {{ format = "{form}", path = "s", options = {{ {options} }} }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 99
keys = [["id", "ts"]]
columns = {{ id = "int", size = {{ type = "int", min = 0, max = 50 }} }}
[streams.T]
source = {{ format = "parquet", path = "t" }}
timestamp = {{ column = "ts", unit = "1 second" }}
columns = {{ id = "int" }}
"""
HEADER = 'header = "true"'
FORMS = {
    "csv": ("csv", HEADER),
    "csv with comments": ("csv", f'{HEADER}, comment = "#", skip = "1"'),
    "csv of cells with lines": ("csv", f'{HEADER}, multiLine = "true", escape = "\\""'),
    "csv.gz": ("csv", HEADER),
    "json": ("json", ""),
    "parquet": ("parquet", ""),
    "arrow": ("arrow", ""),
}


def _draw(random: Random, form: str) -> list[dict[str, str | None]]:
    rows = []
    for n in range(random.randint(30, 90)):
        second = n // 3
        row: dict[str, str | None] = {
            "id": str(random.randint(0, 6)),
            "size": str(random.choice([0, 50, 7, 7, 51, -1])),
            "ts": f"2026-01-01T00:{second // 60:02}:{second % 60:02}",
        }
        if random.random() < 0.05:
            row["ts"] = None
        if form not in ("parquet", "arrow") and random.random() < 0.1:
            row[random.choice(["id", "size", "ts"])] = "noon"
        rows.append(row)
    return rows


def _write(random: Random, form: str, rows: list[dict[str, str | None]], file: Path) -> None:
    file.parent.mkdir(exist_ok=True)
    if form in ("parquet", "arrow"):
        table = pa.table(
            {n: pa.array([r[n] for r in rows]).cast(pa.timestamp("us") if n == "ts" else pa.int64())
             for n in ("id", "size", "ts")}
        )  # fmt: skip
        if form == "parquet":
            pq.write_table(table, file, row_group_size=7)
        else:
            feather.write_feather(table, str(file), chunksize=7)
        return
    lines = []
    for row in rows:
        if form == "json":
            lines.append(json.dumps(row))
        elif form == "csv of cells with lines":
            lines.append(f'{row["id"]},{row["size"]},{row["ts"] or ""},"of\nday"')
        else:
            lines.append(f"{row['id']},{row['size']},{row['ts'] or ''}")
        while random.random() < 0.2 and form not in ("csv of cells with lines", "csv.gz"):
            lines.append("# by hand" if "comments" in form and random.random() < 0.5 else "")
    head = {"csv with comments": ["Site 4", "# x", "id,size,ts"], "json": []}
    head["csv of cells with lines"] = ["id,size,ts,note"]
    text = "\n".join([*head.get(form, ["id,size,ts"]), *lines]) + random.choice(["", "\n"])
    file.write_bytes(gzip.compress(text.encode()) if form == "csv.gz" else text.encode())


def _never() -> NoReturn:
    raise AssertionError("Spark is not needed")


def _read(job: LiveJob, name: str, file: Path, folder: Path) -> dict[str, pa.Table]:
    """A file's rows."""
    history = next(h for h in job.histories if h.stream.name == name)
    arrived = ArrivedFile(file.as_uri(), str(file), file.stat().st_mtime_ns // 1_000_000)
    opened, bad = read_arrivals.open_arrivals(
        history, [arrived], cast(SparkSession, None), folder / "staged"
    )
    assert not bad
    return {name: pa.concat_tables([p.load() for p in opened]).unify_dictionaries()}


def _run(job: LiveJob, files: list[tuple[str, Path]], folder: Path) -> list[dict[str, Any]]:
    """The rejected rows that are published, each file in a micro-batch; state read back."""
    state, rejects = begin_live(job), []
    for name, file in files:
        outcome = advance_live(job, state, _read(job, name, file, folder), 0.0)
        place = commit_batch(folder / "commits", "f", CommitRecord("r"), outcome)
        state = load_state(place, "f", job)[0]
        if outcome.rejects:
            rejects += read_arrow(place / "rejects.arrow").to_pylist()
    return rejects


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", sorted(FORMS))
def test_places_are_those_of_a_replay(
    shape: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    monkeypatch.setattr(read_arrivals, "_COLLECTED", random.choice([0, 4 << 20]))
    form, options = FORMS[shape]
    rows = _draw(random, form)
    half, ending = len(rows) // 2, shape if shape == "csv.gz" else form
    files = [tmp_path / "s" / f"{n}.{ending}" for n in ("a", "b")]
    for file, part in zip(files, (rows[:half], rows[half:]), strict=True):
        _write(random, shape, part, file)
    (tmp_path / "t").mkdir()
    others = [tmp_path / "t" / f"{n}.parquet" for n in (1, 2)]
    for number, other in enumerate(others):
        second = (5, 59)[number]
        times = pa.array([f"2026-01-01T00:00:{second:02}"]).cast(pa.timestamp("us"))
        pq.write_table(pa.table({"id": [1], "ts": times}), other)
    catalog = make_catalog(tmp_path, TOML.format(form=form, options=options))
    sql = "SELECT x.id, x.size FROM S x"
    job = make_sql_job(sql, catalog)
    out = tmp_path / "out"
    request = ReplayRequest(out / "o.parquet", "parquet", engine="driver", rejects=out)
    replay_history(job, request, spark=_never)
    wanted = pq.read_table(out / "rejects.parquet").to_pylist()
    assert wanted
    both = make_sql_job("SELECT x.id, x.size, y.id AS o FROM S x JOIN T y ON x.ts = y.ts", catalog)
    for live, order in (
        (make_live_job([job], catalog, {}, {}), [("S", f) for f in files]),
        # rows of S wait for T
        (
            make_live_job([both], catalog, {}, {}),
            [("S", files[0]), ("T", others[0]), ("S", files[1]), ("T", others[1])],
        ),
    ):
        found = _run(live, order, tmp_path / str(len(order)))
        places = {(r["file"], r["number"], r["reason"]) for r in found}
        finished = max(r["at"] for r in found if r["at"])
        timed = {(r["file"], r["number"], r["reason"]) for r in wanted
                 if r["at"] is None or r["at"] <= finished}  # fmt: skip
        assert places == timed
        assert len(found) == len(places)
        assert len({r["file"] for r in found}) == 2
        contents = [json.loads(r["row"]) for r in found]
        assert all({*row} <= {"id", "size"} for row in contents)  # what was read, and no marks


def test_lines_that_do_not_show_the_rows(tmp_path: Path) -> None:
    """What may be rows or not has no number, rather than a wrong one."""
    file = tmp_path / "s.csv"
    file.write_text('a,b\n1,2\n\n3,4\n"x\ny",5\n')
    data = DataSource("csv", str(file), (("header", "true"),))
    assert number_rows(data, str(file), 3).to_pylist() == [2, 4, 5]
    assert number_rows(data, str(file), 4).to_pylist() == [None] * 4
    plain = DataSource("csv", str(file), (("header", "true"), ("multiLine", "true")))
    assert number_rows(plain, str(file), 5).to_pylist() == [2, 3, 4, 5, 6]


def test_names_of_files_that_no_row_is_from_do_not_stay() -> None:
    files = pa.array(["a", "b", "a", None, "c"]).dictionary_encode()
    rows = pa.table({FILE: files, "n": [1, 2, 3, 4, 5]}).filter(
        pa.array([0, 0, 1, 1, 1]).cast("bool")
    )
    left = leave_unused(rows)
    assert left.column(FILE).to_pylist() == ["a", None, "c"]
    assert left.column(FILE).chunk(0).dictionary.to_pylist() == ["a", "c"]


def test_messages_have_their_offsets(tmp_path: Path) -> None:
    """Also a state of a run that did not know them yet goes on."""
    toml = TOML.format(form="parquet", options="")
    job = make_live_job(
        [make_sql_job("SELECT x.id, x.size FROM S x", make_catalog(tmp_path, toml))],
        make_catalog(tmp_path, toml), {}, {},
    )  # fmt: skip
    name = f"S{PARTITION_OF}t/0"
    second = 1_000_000

    def batch(sizes: list[int], first: int, at: int) -> dict[str, pa.Table]:
        count = len(sizes)
        offsets = list(range(first, first + count))
        columns = {"id": offsets, "size": sizes, "ts": [at * second] * count}
        marks = {BAD: pa.nulls(count, pa.string()), PARTITION: [name] * count, OFFSET: offsets}
        return {"S": pa.table({**columns, **marks})}

    state = begin_live(job)
    found = []
    for arrived in (batch([99, 1], 0, 5), batch([2, 77], 10, 5), batch([3], 12, 6)):
        outcome = advance_live(job, state, arrived, 0.0, KnownSources({"S": [name]}))
        found += [(r.file, r.number) for r in outcome.rejects]
        place = commit_batch(tmp_path / "commits", "f", CommitRecord("r"), outcome)
        state = load_state(place, "f", job)[0]
        if not outcome.state.batch:
            former = state.buffered_rows["S"].drop_columns([PARTITION, OFFSET])
            state = replace(state, buffered_rows={"S": former})
    assert sorted(found, key=str) == [("t/0", 11), (None, None)]
