"""Changes and snapshots of a query, replayed and live, beside what holds at every time."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from ontoweir.checker.decide.bound_changes import bound_changes
from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.rewriter.windows.choose_emit import Emit
from tests.oracle.random_queries import Case
from tests.oracle.test_latest import fold
from tests.oracle.test_sql_nulls import upto
from tests.oracle.test_stacked_queries import Stacked, make_job
from tests.oracle.test_windows_beside import run_live
from tests.runtime.in_process import EPOCH, replay_here, store


def compare_changes(
    case: Case,
    verdict: Verdict,
    query: Stacked,
    expected: Sequence[Counter[Any]],
    last: int,
    random: Random,
) -> bool:
    """Assert that a replay's changes until each marker up to the `last` one, its snapshots, and a
    live run's changes make what is `expected` to hold then, and several ranges the same as one,
    with the state within the bound of changes. Whether there are answers."""
    text = query.ours
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        stored, statics = store(case, random, Path(folder))
        job = replace(
            make_job(verdict, case.query, stored),
            emit=Emit.CHANGES,
            bound=bound_changes(verdict, case.catalog).rows,
        )
        options: dict[str, Any] = {"statics": statics, "rows_per_range": 1}
        whole, _ = replay_here(patch, job, Path(folder, "1.parquet"), **options, ranges=1)
        for marker in range(last + 1):
            found = fold(upto(whole, marker), query.names)
            assert found == expected[marker], (text, marker, found, expected[marker])
        shots = replace(job, emit=Emit.SNAPSHOTS)
        seen, _ = replay_here(patch, shots, Path(folder, "3.parquet"), **options, ranges=1)
        for at in {row["at"] for row in seen}:
            marker = (at - EPOCH) // timedelta(microseconds=1)
            mine = fold([row for row in seen if row["at"] == at], query.names)
            assert mine == expected[marker], ("snapshots", text, marker)
        ranges = random.randint(2, 4)
        again, _ = replay_here(patch, job, Path(folder, "2.parquet"), **options, ranges=ranges)
        assert again == whole, (text, whole, again)
        live, until = run_live(replace(job, catalog=case.catalog), case, random, Path(folder))
        for marker in range(until + 1):
            found = fold(upto(live, marker), query.names)
            assert found == expected[marker], ("live", text, marker)
    return bool(whole)
