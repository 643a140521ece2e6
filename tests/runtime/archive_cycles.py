"""A run without Spark whose files go to archives: `archive_cycles.py FOLDER SEED KILLS`.

A child process lists files as Spark does, takes them in, commits, and moves them; it kills itself
at some call that changes the disk, and the next goes on. Now and then logs are renewed, or the
checkpoint is removed, so that a run begins with what is in the archives. In the end one comes to
the end; its answers are those of a replay of folders and archives, and no file is left.
"""

import itertools
import json
import os
import shutil
import signal
import sys
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.run.prepare_live_run import check_live, prepare_run
from ontoweir.run.run_options import RunOptions
from ontoweir.runtime.live.archive.begin_archived import begin_archived, is_archived
from ontoweir.runtime.live.archive.move_files import FORGOTTEN
from ontoweir.runtime.live.arrivals.open_sources import LiveSources
from ontoweir.runtime.live.live_options import LiveOptions
from ontoweir.runtime.live.process_batches import BatchProcessor
from tests.runtime.kill_at import kill_at
from tests.runtime.live.archive.archived_project import declare, replayed
from tests.runtime.live.test_run_live import read_output, write_history

HOURS = 12
NAMES = ("s", "u")


def run(
    folder: Path,
    workspace: Workspace,
    compiled: list[CompiledQuery],
    random: Random,
    rows: int | None = None,
) -> None:
    """One process: from the last commit to the end of what arrives. `rows`: about how many a step
    takes in (None: 10 or 40)."""
    spark: Any = object()  # reads nothing here
    verdicts = [check_live(workspace, query) for query in compiled]
    options = RunOptions(folder / "check", folder / "out")
    job = prepare_run(workspace, compiled, verdicts, spark, options).job
    step = (rows or random.choice([10, 40]), 1 << 20)  # a micro-batch in several steps, or in one
    live = LiveOptions(folder / "check", folder / "out", step=step, tell=_refuse)
    taker = BatchProcessor(job, "fingerprint", live, spark)
    if random.random() < 0.3 and taker.state.batch >= 0 and taker.record.cut_us is None:
        taker.sources = LiveSources(frozenset(NAMES), {"s": 0, "u": 1}, {}, [["s"], ["u"]])
        taker.rotate()
    taker.sources = LiveSources(frozenset(NAMES), {"s": 0, "u": 1}, {}, [["s"], ["u"]])
    taker.keeper.begin()
    begins = taker.state.batch < 0
    if begins and is_archived(h.stream for h in job.histories):
        begin_archived(taker.spark_folder, taker.sources)
        taker.take(None, 0)
    elif not begins:
        taker.archive()
    _list(folder, taker, random)
    taker.close()


def _refuse(text: str) -> None:
    raise AssertionError(text)


def _list(folder: Path, taker: BatchProcessor, random: Random) -> None:
    """List what arrives, as Spark does, micro-batch by micro-batch."""
    spark = taker.spark_folder
    for place in (spark.offsets, spark.commits, spark.sources / "0", spark.sources / "1"):
        place.mkdir(parents=True, exist_ok=True)
    if not spark.metadata.exists():
        spark.metadata.write_text("the run")
    seen = set()
    reached = [-1, -1]
    for log in spark.list_logs():
        number = int(log.split("/")[1])
        reached[number] = max(reached[number], int(Path(log).name))
        seen |= {json.loads(x)["path"] for x in (spark.path / log).read_text().splitlines()[1:]}
    batch = 1 + max((int(f.name) for f in spark.commits.iterdir()), default=-1)
    told = spark.offsets_of(batch)
    if told.exists():  # it was not finished: it comes again
        taker.take(None, batch)
        spark.commit_of(batch).write_text('v1\n{"nextBatchWatermarkMs":0}')
        batch += 1
    while True:
        staged = sorted(folder.glob("*.staged/*"), key=lambda f: f.stat().st_mtime_ns)
        for file in staged[: random.randint(0, 3)]:
            os.rename(file, folder / file.parent.name.removesuffix(".staged") / file.name)
        brought = False
        for number, name in enumerate(NAMES):
            there = sorted((folder / name).iterdir(), key=lambda f: f.stat().st_mtime_ns)
            fresh = [f for f in there if f.as_uri() not in seen][:2]
            if not fresh:
                continue
            brought = True
            reached[number] += 1
            entries = [
                {"path": f.as_uri(), "timestamp": f.stat().st_mtime_ns // 1_000_000} for f in fresh
            ]
            lines = [json.dumps({**e, "batchId": reached[number]}) for e in entries]
            seen |= {f.as_uri() for f in fresh}
            entry = spark.sources / str(number) / str(reached[number])
            entry.write_text("\n".join(["v1", *lines]))
        if brought:
            offsets = ["-" if n < 0 else json.dumps({"logOffset": n}) for n in reached]
            spark.offsets_of(batch).write_text("\n".join(["v1", "{}", *offsets]))
            taker.take(None, batch)
            spark.commit_of(batch).write_text('v1\n{"nextBatchWatermarkMs":0}')
            batch += 1
        elif not staged:
            return


def main() -> None:
    """Kill a run so many times, then compare."""
    folder, seed, kills = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    folder.mkdir(parents=True)
    random = Random(seed)
    write_history(folder, 0, HOURS)
    for name in NAMES:
        os.rename(folder / name, folder / f"{name}.staged")
        (folder / name).mkdir()
    workspace, compiled = declare(folder)
    assert FORGOTTEN > HOURS
    killed = anew = 0
    for turn in itertools.count():
        child = os.fork()
        if child == 0:
            if killed < kills:
                kill_at("at-the-disk", random.randint(1, 250))
            try:
                run(folder, workspace, compiled, Random(f"{seed} {turn}"))
            except BaseException:
                import traceback

                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        random.random()
        died = os.waitpid(child, 0)[1]
        assert died in (0, int(signal.SIGKILL)), died
        if died == 0 and killed >= kills:
            break
        killed += died != 0
        if died == 0 or random.random() < 0.06:  # it begins anew, of what the archives have
            anew += 1
            shutil.rmtree(folder / "check", ignore_errors=True)
            shutil.rmtree(folder / "out", ignore_errors=True)
    assert not [f for name in NAMES for f in (folder / name).iterdir()]
    rows = 0
    for query in compiled:
        found = read_output(folder / "out", query.name)
        assert found == replayed(folder, workspace, query), query.name
        rows += len(found)
    print(json.dumps({"killed": killed, "anew": anew, "rows": rows}))


if __name__ == "__main__":
    main()
