"""Kill cycles without Spark: `fork_cycles.py FOLDER STAGE SEED KILLS [KIND]`.

KIND is `late`, `views`, `parts`, `moved` (each start in another number of parts), `spill`, `joined`
(what is run), or `compact`: files of answers are merged.

A child process takes in micro-batches as Spark gives them (one that is not committed comes
again), and kills itself; the next goes on. In the end one that is not killed.
"""

import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ontoweir.checker.decide.check_query import check_query
from ontoweir.errors import OntoweirError
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.arrivals.ingest import LATE
from ontoweir.runtime.live.arrivals.read_stream import STREAM
from ontoweir.runtime.live.checkpoint.state_tables import decode_table
from ontoweir.runtime.live.live_options import LiveOptions
from ontoweir.runtime.live.model.live_job import LiveJob
from ontoweir.runtime.live.output import merge_parts
from ontoweir.runtime.live.process_batches import BatchProcessor
from tests.oracle.random_queries import Case
from tests.runtime.joined_cases import choose_joined
from tests.runtime.kill_at import kill_at
from tests.runtime.live_cases import cut_arrivals, find_case, make_job
from tests.runtime.parts_here import Divide, find_divided
from tests.runtime.spill.spill_cases import choose_spill
from tests.runtime.view_cases import choose_views

FULL = "full-disk"
"""A stage that no kill is at: files longer than so many hundreds of bytes cannot be written."""


RENEWED = "renewed-logs"
"""A stage: at the disk, of a run whose every start goes on from new logs of Spark's."""


MOVED = "moved"
"""A kind: each start is in another number of parts."""


COMPACT = "compact"
"""A kind: two files of answers become one."""


DEEPEST = {
    "in-kernel": 240,
    FULL: 60,
    "at-the-disk": 250,
    RENEWED: 600,
    "after-output-commit": 1,
}
"""How often a stage is reached, at most, before the kill: many runs commit answers once."""


class _Rows:
    """What a micro-batch's DataFrame is asked for."""

    def __init__(self, tables: dict[str, pa.Table]) -> None:
        self.tables = tables

    def toArrow(self) -> pa.Table:
        parts = []
        for name, table in self.tables.items():
            renamed = table.rename_columns([f"{name}.{c}" for c in table.column_names])
            tag = pa.array([name] * len(table), pa.string())
            parts.append(renamed.append_column(STREAM, tag))
        return pa.concat_tables(parts, promote_options="permissive")


def choose(seed: int) -> tuple[LiveJob, list[dict[str, pa.Table]]]:
    """A random query, with answers, and its rows in twelve micro-batches or more."""
    for case, job in find_case(seed=seed):
        streams = {h.stream.name for h in job.histories}
        batches = _batches(case, Random(seed), streams)
        if len(batches) >= 6 and len(streams) > 1:
            return job, batches
    raise AssertionError


def choose_parts(seed: int) -> "tuple[Callable[[Path], LiveJob], list[dict[str, pa.Table]]]":
    """As choose, with rows that are divided; their files are in the folder of a run."""
    for case, job, make in find_divided(seed):
        batches = _batches(case, Random(seed), {h.stream.name for h in job.histories})
        if len(batches) >= 6:
            return partial(make, Random(seed).choice([2, 3, 4])), batches
    raise AssertionError


def choose_moved(seed: int) -> "tuple[Callable[[Path], LiveJob], list[dict[str, pa.Table]]]":
    """As choose_parts, in a number of parts that is another one at most starts; at times in one
    process."""
    for case, job, make in find_divided(seed):
        batches = _batches(case, Random(seed), {h.stream.name for h in job.histories})
        if len(batches) < 6:
            continue

        def start(folder: Path, job: LiveJob = job, make: Divide = make) -> LiveJob:
            last = max((folder / "check" / "commits").glob("[0-9]*"), default=None)
            parts = Random(str(seed) if last is None else last.name).choice([1, 2, 3, 4])
            return job if parts == 1 else make(parts, folder)

        return start, batches
    raise AssertionError


def choose_late(seed: int) -> tuple[LiveJob, list[dict[str, pa.Table]]]:
    """As choose, with rows that come late, within the lateness: steps stay open from one
    micro-batch to the next."""
    random = Random(seed)
    for plain, _ in find_case(seed=seed):
        streams = {
            n: replace(s, lateness_us=3 * s.step_us) for n, s in plain.catalog.streams.items()
        }
        case = replace(plain, catalog=replace(plain.catalog, streams=streams))
        verdict = check_query(case.query, case.catalog, disprove=False)
        data = dict(case.data)
        for name in streams:
            columns, rows = data[name]
            moved = [(row[-1] + random.uniform(0, 3), row) for row in rows]
            data[name] = columns, [row for _, row in sorted(moved, key=lambda m: m[0])]
        case = replace(case, data=data)
        job = make_job(case, verdict)
        read = {h.stream.name for h in job.histories}
        batches = _batches(case, Random(seed), read)
        whole, held = begin_live(job), 0
        for batch in batches:
            outcome = advance_live(job, whole, batch, 0.0)
            whole = outcome.state
            held += any(table.num_rows for table in whole.buffered_rows.values())
            if any(reject.reason == LATE for reject in outcome.rejects):
                break
        else:
            if len(batches) >= 6 and len(read) > 1 and held > 3:
                return job, batches
    raise AssertionError


def choose_many(seed: int) -> tuple[LiveJob, list[dict[str, pa.Table]]]:
    """As choose, with answers in five micro-batches or more: their files can be merged."""
    for case, job in find_case(seed=seed):
        batches = _batches(case, Random(seed), {h.stream.name for h in job.histories})
        state, answering = begin_live(job), 0
        for batch in batches:
            outcome = advance_live(job, state, batch, 0.0)
            state = outcome.state
            answering += any(len(rows) for rows in outcome.answers)
        if answering >= 5:
            return job, batches
    raise AssertionError


def _batches(case: Case, random: Random, streams: set[str]) -> list[dict[str, pa.Table]]:
    return cut_arrivals(case, random, streams)


def run(
    folder: Path,
    job: "LiveJob | Callable[[Path], LiveJob]",
    batches: list[dict[str, pa.Table]],
    options: LiveOptions | None = None,
    *,
    renew: bool = False,
) -> None:
    """Take in the micro-batches that are not finished; `renew`: from new logs of Spark's."""
    compact = 2 if COMPACT in sys.argv[5:] else None
    options = options or LiveOptions(folder / "check", folder / "out", compact=compact)
    if callable(job):
        job = job(folder)
    taker = BatchProcessor(job, "fingerprint", options)
    if renew and taker.state.batch >= 0 and taker.record.cut_us is None:
        taker.rotate()
    spark = taker.spark_folder.path
    for name in ("commits", "offsets"):
        (spark / name).mkdir(parents=True, exist_ok=True)
    (spark / "metadata").write_text("the run")
    last = max((int(f.name) for f in (spark / "commits").iterdir()), default=-1)
    told = (spark / "offsets" / str(last)).read_text() if last >= 0 else '{"logOffset":-1}'
    first = 1 + int(json.loads(told.split("\n")[-1])["logOffset"])
    try:
        for number, place in enumerate(range(first, len(batches)), last + 1):
            rows: Any = _Rows(batches[place])
            (spark / "offsets" / str(number)).write_text(f'v1\n{{}}\n{{"logOffset":{place}}}')
            taker.advance(rows, number)
            (spark / "commits" / str(number)).write_text('v1\n{"nextBatchWatermarkMs":0}')
    finally:
        taker.close()


def cycle(folder: Path, stage: str, count: int, work: tuple[Any, Any]) -> int:
    """Run in a child that kills itself: what it died of (0: it came to the end)."""
    child = os.fork()
    if child == 0:
        if stage == FULL:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write then fails, as on a full disk
            resource.setrlimit(resource.RLIMIT_FSIZE, (100 * count, resource.RLIM_INFINITY))
        else:
            kill_at("at-the-disk" if stage == RENEWED else stage, count)
        try:
            run(folder, *work, renew=stage == RENEWED)
        except OntoweirError as error:
            os._exit(error.exit_code)
        os._exit(0)
    return os.waitpid(child, 0)[1]


def main() -> None:
    """Kill a run at a stage KILLS times, on as many cases as it takes; compare with no kills."""
    folder, stage, seed, kills = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    picks: dict[str, Callable[[int], tuple[Any, Any]]] = {
        "late": choose_late,
        "views": choose_views,
        "parts": choose_parts,
        MOVED: choose_moved,
        "spill": choose_spill,
        "joined": choose_joined,
        COMPACT: choose_many,
    }
    merge_parts.PATIENCE = 0.0  # micro-batches are not that far apart
    pick = picks[sys.argv[5]] if sys.argv[5:] else choose
    random = Random(seed)
    done = 0
    cases = merged = 0
    while done < kills:
        mine = folder / str(cases)
        work = pick(seed + 1000 * cases)
        deepest = DEEPEST.get(stage, 2)
        ended = False
        while done < kills and not ended:
            died = cycle(mine / "killed", stage, random.randint(1, deepest), work)
            ended = died == 0
            if not ended:
                wanted = 3 << 8 if stage == FULL else int(signal.SIGKILL)
                assert died == wanted, died
                done += 1
        assert cycle(mine / "killed", "never", 0, work) == 0
        assert cycle(mine / "whole", "never", 0, work) == 0
        tell = _tell_answers if stage == RENEWED else fingerprint
        tell = _tell_moved if MOVED in sys.argv[5:] else tell
        assert tell(mine / "killed") == tell(mine / "whole"), (stage, work)
        cases += 1
        merged += len(list((mine / "killed" / "out").rglob("part-*-*")))
    print(json.dumps({"kills": done, "cases": cases, "merged": merged}))


def _tell_answers(folder: Path) -> dict[str, Any]:
    """What does not depend on how micro-batches are numbered; of the answers of the last one, which
    say so, the rows."""
    found = fingerprint(folder)
    last = sorted((folder / "check" / "commits").glob("[0-9]*"))[-1]
    found["files"] = {
        name: _rows(decode_table((last / name).read_bytes())) if name[:8] == "answers-" else told
        for name, told in found["files"].items()
    }
    rows: dict[str, list[Any]] = {}
    for name, (_, _, told) in sorted(found.pop("output").items()):
        rows.setdefault(str(Path(name).parent), []).extend(told)
    return {"output": rows, **found, "batch": None}


def _tell_moved(folder: Path) -> dict[str, Any]:
    """What does not depend on where states are, either."""
    found = _tell_answers(folder)
    return {**found, "files": {n: h for n, h in found["files"].items() if "buffered" in n}}


def fingerprint(folder: Path) -> dict[str, Any]:
    """The hash of every file of the last state, what else it has, and every file of the output."""
    last = sorted((folder / "check" / "commits").glob("[0-9]*"))[-1]
    manifest = json.loads((last / "manifest.json").read_text())
    kept = (
        "batch",
        "finished_us",
        "max_event_time",
        "totals",
        "files",
        "offsets",
        "arrived",
        "reasons",
    )
    output = {
        str(f.relative_to(folder / "out")): _content(f)
        for f in sorted((folder / "out").rglob("part-*"))
    }
    return {"output": output, **{name: manifest[name] for name in kept}}


def _content(file: Path) -> Any:
    """A part, without the id of its run."""
    return _rows(pq.read_table(file))


def _rows(table: pa.Table) -> Any:
    marks = {k: v for k, v in (table.schema.metadata or {}).items() if k != b"ontoweir.run"}
    return sorted(marks.items()), str(table.schema.remove_metadata()), table.to_pylist()


if __name__ == "__main__":
    main()
