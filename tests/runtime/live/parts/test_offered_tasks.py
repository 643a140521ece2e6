"""Tasks of a step are in files; each process takes those of the part that it holds, if it can."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from ontoweir.errors import RunError
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.parts import run_part as tasks
from ontoweir.runtime.live.parts.part_task import PartTask
from ontoweir.runtime.live.parts.run_part import OfferedTasks
from ontoweir.runtime.live.parts.spark_parts import SparkParts
from tests.runtime.live_cases import cut_arrivals
from tests.runtime.parts_here import divide, tied_case

PARTS = (("one", 0), ("one", 1), ("two", 0), ("two", 1))


def _offer(folder: Path) -> OfferedTasks:
    offered = OfferedTasks(folder / "step", PARTS)
    offered.offer([bytes([number]) for number in range(len(PARTS))])
    return offered


def test_what_is_liked_is_taken_first(tmp_path: Path) -> None:
    offered = _offer(tmp_path)
    assert offered.take(0, {("two", 1)}) == 3
    assert offered.take(1, {("two", 1), ("two", 0)}) == 2
    assert offered.take(1, {("one", 1)}) == 2  # the slot is tried again
    assert offered.take(2, {("two", 1), ("none", 7)}) == 0  # another has what it likes
    assert offered.take(3, set()) == 1
    assert [offered.taken(n, s).read_bytes() for n, s in ((3, 0), (2, 1), (0, 2), (1, 3))] == [
        bytes([n]) for n in (3, 2, 0, 1)
    ]
    with pytest.raises(LookupError, match="no task is left"):
        offered.take(4, set())


@pytest.mark.parametrize("seed", range(20))
def test_each_task_is_taken_once(seed: int, tmp_path: Path) -> None:
    random, offered = Random(seed), _offer(tmp_path)
    liked = [set(random.sample(PARTS, random.randrange(3))) for _ in PARTS]
    with ThreadPoolExecutor(len(PARTS)) as pool:
        taken = list(pool.map(offered.take, range(len(PARTS)), liked))
    assert sorted(taken) == list(range(len(PARTS)))


class _Slots:
    """What Spark does with a list: workers, each a process with a memory of its own, take its
    elements in any order."""

    def __init__(self, random: Random, slots: Sequence[int], workers: list[Any]) -> None:
        self.random, self.slots, self.workers = random, list(slots), workers

    def map(self, run: Callable[[int], Any]) -> "_Slots":
        self.random.shuffle(self.slots)
        self.random.shuffle(self.workers)
        self.done = []
        for slot, worker in zip(self.slots, self.workers, strict=True):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(tasks, "_memory", worker)
                if self.random.random() < 0.2:
                    run(slot)  # it was lost, and is tried again
                self.done.append(run(slot))
        return self

    def collect(self) -> list[Any]:
        return self.done


@pytest.mark.parametrize("seed", range(30))
def test_workers_go_on_with_the_parts_that_they_hold(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answers are those of one process; in whatever order Spark hands tasks to workers, no part
    is read that a worker holds."""
    random = Random(seed)
    found = tied_case(random)
    divided = None if found is None else divide(found[1], found[2], 2, tmp_path / "parts")
    if found is None or divided is None:
        return
    case, job, _ = found
    workers = [tasks._Memory(), tasks._Memory()]
    context: Any = SimpleNamespace(
        broadcast=lambda content: SimpleNamespace(value=content, destroy=lambda: None),
        setJobDescription=lambda text: None,
        parallelize=lambda slots, count: _Slots(random, slots, workers),
    )
    folder = tmp_path / "parts"
    killed = folder / "step-of-a-driver-that-was-killed"
    killed.mkdir(parents=True)
    run = SparkParts(SimpleNamespace(sparkContext=context), divided, folder)  # type: ignore[arg-type]
    assert not killed.exists()
    advance = tasks._advance
    advanced = []

    def watch(name: str, query: Any, task: PartTask) -> Any:
        mine = tasks._memory.held.get(task.query)
        assert mine is None or mine.part == task.part
        advanced.append(task.part)
        return advance(name, query, task)

    monkeypatch.setattr(tasks, "_advance", watch)
    divided = replace(divided, run_parts=run)
    one, several = begin_live(job), begin_live(divided)
    for batch in cut_arrivals(case, random, {h.stream.name for h in job.histories}):
        left = advance_live(job, one, batch, 0.0)
        right = advance_live(divided, several, batch, 0.0)
        assert left.answers[0].equals(right.answers[0])
        one, several = left.state, right.state
    assert not list(folder.glob("step-*"))
    assert {0, 1} <= set(advanced) or not advanced


def test_what_the_disk_does_not_take_is_told(tmp_path: Path) -> None:
    context: Any = SimpleNamespace(setJobDescription=lambda text: None)
    job: Any = SimpleNamespace(queries=())
    run = SparkParts(SimpleNamespace(sparkContext=context), job, tmp_path / "parts")  # type: ignore[arg-type]
    (tmp_path / "parts").rmdir()
    with pytest.raises(RunError, match="cannot be written"):
        run({("q", 0): b""})
