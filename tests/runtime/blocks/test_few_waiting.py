"""Where many answers wait, only some are looked at: with the same outcome, chunk by chunk."""

from random import Random
from typing import Any

import pyarrow as pa
import pytest

from ontoweir.rewriter.model.spj import Absence, AbsencePart, Deadline
from ontoweir.runtime.blocks.keep_waiting import keep_few_waiting, keep_waiting, waiting_schema
from ontoweir.runtime.kept.kept_table import KeptTable, whole_table
from ontoweir.runtime.results.render_results import AT, INSTANT
from tests.oracle.run_kernel import few_touched

ANSWERS = pa.schema([("k", pa.string()), ("ts", INSTANT), (AT, INSTANT)])
HITS = pa.schema([("k", pa.string()), ("ts", INSTANT), (AT, INSTANT)])
PARTS = {
    "not there": (False,),
    "there": (True,),
    "one there, one not": (True, False),
    "both there": (True, True),
}


def _rows(table: pa.Table) -> list[Any]:
    return sorted(table.to_pylist(), key=str)


@pytest.mark.parametrize("kinds", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("seed", range(6))
def test_few_are_as_all(kinds: tuple[bool, ...], seed: int) -> None:
    random = Random(seed)
    hits = None  # which query finds them does not matter here
    parts = tuple(
        AbsencePart(hits, (Deadline((("ts", random.choice([2, 5])),)),), present)  # type: ignore[arg-type]
        for present in kinds
    )
    absence = Absence(("k", "ts"), parts)
    waiting = waiting_schema(absence, ANSWERS).empty_table()
    few: pa.Table | KeptTable = waiting
    final = passed = 0
    known: list[tuple[str, int]] = []
    for now in range(40):
        new = [(random.choice("abc"), now) for _ in range(random.randrange(4))]
        known += new
        beside = [
            [(k, ts, now) for k, ts in known if ts >= now - 5 and random.random() < 0.15]
            for _ in parts
        ]
        found = pa.Table.from_pylist([{"k": k, "ts": t, AT: t} for k, t in new], ANSWERS)
        told = [
            pa.Table.from_pylist([{"k": k, "ts": t, AT: at} for k, t, at in mine], HITS)
            for mine in beside
        ]
        expected, waiting = keep_waiting(absence, waiting, found, told, now)
        with few_touched():
            made, few = keep_few_waiting(absence, few, found, told, now)
        assert isinstance(few, KeptTable)
        assert _rows(made) == _rows(expected)
        assert _rows(whole_table(few)) == _rows(waiting)
        final, passed = final + made.num_rows, passed + waiting.num_rows
    assert final
    assert passed
