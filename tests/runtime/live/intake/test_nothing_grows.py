"""Nothing that a server holds grows with the files that it has read, or the answers it has written.

Files arrive and are moved away, answers are kept for an instant. As with 30 days of four files a
second, only that a day is some steps: Spark's logs are renewed whenever they have some entries, and
the list of answers is made anew when it has some lines.
"""

import gc
import os
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
import pytest

from ontoweir.runtime.live.checkpoint.rotate_spark import count_entries, rotate_spark
from ontoweir.runtime.live.intake.intake import Intake
from ontoweir.runtime.live.intake.model import IntakeOptions, Reach
from ontoweir.runtime.live.output import list_parts
from tests.runtime.intake_cycles import FORMATS, Lister, make_member, open_project

QUERIES = ("matches", "some", "counts", "notes", "noted", "hourly")
DAY = 12
"""Steps after which logs are renewed."""
STAY = 4
"""Steps after which a file that has been read is moved away."""
_CODE = (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType, types.CodeType)


def _arrive(folder: Path, step: int) -> None:
    """A file of each stream, with a row or two of late hours; those read long ago go."""
    for name, form in FORMATS.items():
        table = pa.table(
            {
                "ts": pa.array([(400 * step + n) * 1_000_000 for n in (0, 3)], pa.timestamp("us")),
                "k": pa.array([step % 5, (step + 1) % 5]),
                "a": pa.array([50 + step % 50, step * 7 % 100]),
                "note": pa.array(["xxx", "zzz" if step % 2 else "yyy"]),
            }
        )
        file = folder / name / f"{step:06d}.{form}"
        if form == "csv":
            pcsv.write_csv(table, file)
        else:
            pq.write_table(table, file)
        os.utime(file, (1000 + step, 1000 + step))
        (folder / name / f"{step - STAY:06d}.{form}").unlink(missing_ok=True)


def _renew(folder: Path, intake: Intake) -> Lister:
    """Go on from new logs of Spark's, as a server does (IntakeRun.rotate)."""
    assert intake.is_even
    log = rotate_spark(intake.options.folder, intake.record, frozenset(range(len(FORMATS))))
    intake.go_on_from(log, Reach(0, dict.fromkeys(intake.reach.entries, 0)))
    intake.restore(ticks=False)
    return Lister(folder, intake, 20)


def _held(root: Any) -> int:
    """Bytes of all that an object refers to, about."""
    seen: set[int] = set()
    waiting, total = [root], 0
    while waiting:
        held = waiting.pop()
        if id(held) in seen or isinstance(held, _CODE):
            continue
        seen.add(id(held))
        total += held.nbytes if hasattr(held, "nbytes") else sys.getsizeof(held)
        waiting += _list_parts(held)
    return total


def _list_parts(held: Any) -> Iterator[Any]:
    yield from gc.get_referents(held)
    for base in type(held).__mro__:
        slots = base.__dict__.get("__slots__", ())
        names = (slots,) if isinstance(slots, str) else slots
        yield from (getattr(held, n) for n in names if n[:2] != "__" and hasattr(held, n))


def _count_files(folder: Path) -> dict[str, int]:
    return {
        place: sum(file.is_file() for file in (folder / place).rglob("*"))
        for place in ("intake", "out", "registry")
    }


def test_nothing_grows_with_what_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    monkeypatch.setattr(list_parts, "_LONG", 500)
    for name in FORMATS:
        (tmp_path / name).mkdir()
    workspace = open_project(tmp_path)
    spark: Any = object()  # reads nothing here
    failed: dict[str, Any] = {}
    options = IntakeOptions(
        tmp_path / "intake", (40, 1 << 20), 300, keep_ns=0, on_failed=failed.__setitem__
    )
    intake = Intake(options, spark)
    intake.restore(ticks=False)
    lister = Lister(tmp_path, intake, 20)
    for name in QUERIES:
        intake.join(make_member(tmp_path, workspace, name))
    days = 60 if pytestconfig.getoption("--long") else 6
    seen: list[tuple[int, int, dict[str, int]]] = []
    for day in range(days):
        for step in range(day * DAY, (day + 1) * DAY):
            _arrive(tmp_path, step)
            lister.list()
        lister = _renew(tmp_path, intake)
        seen.append((_held(intake), count_entries(intake.spark_folder), _count_files(tmp_path)))
    intake.close()
    assert not failed
    assert all(member.results for lane in intake.lanes for member in lane.members)
    entries = {entries for _, entries, _ in seen}
    assert entries == {STAY * len(FORMATS)}, entries
    (early, _, files), (late, _, now) = seen[2], seen[-1]
    assert late < 1.05 * early, [size for size, _, _ in seen]
    assert all(now[place] <= files[place] + 3 for place in files), (files, now)
