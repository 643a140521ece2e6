"""A live run whose state is divided has the answers, counts and rejected rows of one that is not.

Parts run in this process; test_spark_parts.py gives them to Spark.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import event, example, given

from ontoweir.errors import DataError
from ontoweir.runtime.engine.query_job import WatchedKey
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.checkpoint import table_changes
from ontoweir.runtime.live.checkpoint.state_tables import (
    assemble_state,
    decode_table,
    describe_state,
    encode_table,
    list_tables,
)
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.live.measure_state import measure_state
from ontoweir.runtime.live.model.divided_state import DividedState
from ontoweir.runtime.live.model.live_job import LiveJob, LiveState
from ontoweir.runtime.live.parts import run_part as tasks
from ontoweir.runtime.live.parts.part_files import drop_files
from ontoweir.runtime.sources.read_source import BAD
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import STYLES, Case
from tests.runtime.harness import make_catalog, make_sql_job
from tests.runtime.live_cases import cut_arrivals
from tests.runtime.parts_here import divide, tied_case


def _stop_and_start(state: LiveState, job: LiveJob) -> LiveState:
    """The state, read from what a commit has of it."""
    described = json.loads(json.dumps(describe_state(state)))
    tables = {n: decode_table(encode_table(t)) for n, t in list_tables(state).items()}
    streams = [h.stream.name for h in job.histories]
    return assemble_state(described, tables, streams, state.batch)


def _forget(random: Random, folder: Path, state: LiveState) -> None:
    """What happens between steps: a part is advanced by another process; files of steps that were
    not committed are removed."""
    if random.random() < 0.3:
        tasks._memory.held.clear()
    if random.random() < 0.1:
        tasks._memory.run = ""
    if random.random() < 0.3:
        drop_files(folder, state.files_of_parts)


@contextmanager
def changes_of(rows: int, local: Path | None) -> Iterator[None]:
    """Changes are written of tables of so many rows, and copies kept in a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_changes, "LARGE", rows)
        if local is None:
            patch.delenv("SPARK_LOCAL_DIRS", raising=False)
        else:
            local.mkdir()
            patch.setenv("SPARK_LOCAL_DIRS", str(local))
        yield


@pytest.mark.parametrize("style", sorted(STYLES))
@budget(0.12)
@given(seed=SEEDS)
@example(seed=3576)  # a synopsis without the dividing column: each part has a row of it
def test_parts_equal_the_driver(style: str, seed: int) -> None:
    random = Random(seed)
    found = tied_case(random, style)
    if found is None:
        return
    case, job, query = found
    with TemporaryDirectory() as place:
        folder = Path(place) / "parts"
        divided = divide(job, query, random.choice([2, 3, 4]), folder)
        if divided is None:
            event("not divided")
            return
        local = Path(place) / "local" if random.random() < 0.5 else None
        with changes_of(random.choice([1, 3, 1 << 16]), local):
            compare_divided(random, case, job, divided, folder)


def compare_divided(
    random: Random, case: Case, job: LiveJob, divided: LiveJob, folder: Path
) -> None:
    """Assert that a divided run answers as one that is not."""
    one, several = begin_live(job), begin_live(divided)
    assert isinstance(several.queries[0], DividedState)
    streams = {h.stream.name for h in job.histories}
    for batch in cut_arrivals(case, random, streams):
        left, right = (advance_live(j, s, batch, 0.0) for j, s in ((job, one), (divided, several)))
        assert left.answers[0].equals(right.answers[0]), (left.answers[0], right.answers[0])
        if left.answers[0].num_rows:
            event("answers")
        assert left.rejects == right.rejects
        one, several = left.state, right.state
        assert one.totals == several.totals
        bound = divided.queries[0].bound
        assert bound is None or several.queries[0].rows <= bound
        sizes = [measure_state(job.queries[0], s.queries[0]) for s in (one, several)]
        assert [s.name for s in sizes[0]] == [s.name for s in sizes[1]]
        _forget(random, folder, several)
        if random.random() < 0.2:
            several = _stop_and_start(several, divided)


TOML = """
[streams.s]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 3
[streams.s.columns]
k = { type = "int", min = 0, max = 99 }
i = "int"
[streams.t]
source = { format = "parquet", path = "t" }
timestamp = { column = "ts", unit = "1 second" }
[streams.t.columns]
i = "int"
"""
"""No query reads t."""


def test_keys_over_whole_streams_are_watched(tmp_path: Path) -> None:
    """In the driver, where all rows come by: repeats of a key may be in different parts."""
    catalog = make_catalog(tmp_path, TOML)
    query = make_sql_job("SELECT DISTINCT s.k FROM s", catalog)
    watched = WatchedKey("s", ("i",)), WatchedKey("t", ("i",))
    query = replace(query, name="q", watched=watched)
    job = make_live_job([query], catalog, {}, {})
    divided = divide(job, query, 2, tmp_path / "parts")
    assert divided is not None
    state = begin_live(divided)

    def rows(second: int, keys: list[int], numbers: list[int]) -> dict[str, pa.Table]:
        times = pa.array([second * 1_000_000] * len(keys), pa.int64())
        bad = pa.nulls(len(keys), pa.string())
        return {"s": pa.table({"ts": times, "k": keys, "i": numbers, BAD: bad})}

    for second, numbers in enumerate(([1, 2, 3], [11, 12, 13])):
        state = advance_live(divided, state, rows(second, [2, 3, 4], numbers), 0.0).state
    state = advance_live(divided, state, rows(5, [7, 8], [2, 40]), 0.0).state
    with pytest.raises(DataError, match=r"s repeats its key \(i\): i = 2"):
        advance_live(divided, state, rows(6, [9], [50]), 0.0)
