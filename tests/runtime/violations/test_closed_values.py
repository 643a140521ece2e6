"""Rows that come after their value was closed, counted as the rule's words say."""

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from ontoweir.mappings.model.catalog import ClosingRule
from ontoweir.run.check_data import DataCheck
from ontoweir.runtime.violations.closed_values import ClosedValues
from tests.oracle.budget import SEEDS, budget
from tests.oracle.closing_cases import PAGE, find_order_end, keeps_rule, make_closing_case
from tests.runtime.harness import make_catalog

KINDS = pa.int64(), pa.int64(), pa.bool_()


def _is_late(rule: ClosingRule, rows: tuple[Any, ...], row: tuple[Any, ...]) -> bool:
    """By the rows of the same value in earlier steps; of an order, those of greater ones."""
    before = [r for r in rows if r[0] is not None and r[4] < row[4]]
    if rule.is_order:
        return find_order_end(rule, row[0], before) is not None
    mine = [r for r in before if r[0] == row[0]]
    if rule.ends is not None:
        return any(r[3] for r in mine)
    if not mine:
        return False
    last = max(r[4] for r in mine)
    if rule.gap_us is not None:
        return bool(row[4] - last > rule.gap_us)
    assert rule.rows is not None
    between = [r for r in rows if r[0] is not None and last < r[4] < row[4]]
    return len(between) > rule.rows


@given(SEEDS)
@budget(0.5)
def test_late_rows_are_those_that_break_the_rule(seed: int) -> None:
    random = Random(seed)
    case = make_closing_case(random)
    if case.rule.span_us is not None:  # a lag, which FirstTimes holds rows to
        return
    rows, closed = case.page, ClosedValues(case.rule)
    found: list[bool] = []
    start = 0
    while start < len(rows):  # whole timestamps
        stop = start + 1
        while stop < len(rows) and (rows[stop][4] == rows[stop - 1][4] or random.random() < 0.5):
            stop += 1
        part = rows[start:stop]
        kinds = pa.int64() if case.rule.is_order else pa.string(), *KINDS
        names = {n: pa.array([r[i] for r in part], kinds[i]) for i, n in enumerate(PAGE)}
        times = np.array([r[4] for r in part], dtype=np.int64)
        found += closed.find_late(pa.table(names), times).tolist()
        start = stop
    counted = [row[0] is not None and _is_late(case.rule, rows, row) for row in rows]
    assert found == counted
    assert any(found) is not keeps_rule(case)


@pytest.mark.parametrize(
    ("rule", "reason", "numbers"),
    [
        (
            'clustered = [{ columns = ["session"], gap = "5 seconds" }]',
            "more than 5 seconds after the last row with the same session",
            [6, 7, 8],
        ),
        (
            'clustered = [{ columns = ["session"], rows = 1 }]',
            "more than 1 rows after the last row with the same session",
            [6],
        ),
        (
            'closed_by = [{ columns = ["session"], column = "done", max_open = 3 }]',
            "after a row with the same session in which done is true",
            [6],
        ),
        (
            'clustered = [{ columns = ["session"], gap = "1 hour", max_rows_per_value = 2 }]',
            "after 2 other rows with the same session",
            [6, 8],
        ),
    ],
)
@pytest.mark.parametrize("kind", ["int", "string"])
def test_rows_are_quoted(
    rule: str, reason: str, numbers: list[int], kind: str, tmp_path: Path
) -> None:
    toml = f"""\
[streams.S]
source = {{ format = "csv", path = "s.csv", options = {{ header = "true" }} }}
timestamp = {{ column = "ts", unit = "1 second" }}
{rule}
columns = {{ session = "{kind}", done = "boolean" }}
"""
    came = [(1, 0), (1, 2), (2, 3), (3, 4), (1, 9), (2, 9), (2, 20)]
    lines = [f"{s},{n == 1},2026-01-01T00:00:{second:02}" for n, (s, second) in enumerate(came)]
    (tmp_path / "s.csv").write_text("\n".join(["session,done,ts", *lines]) + "\n")
    (found,) = DataCheck(make_catalog(tmp_path, toml), lambda: pytest.fail("no Spark")).find({"S"})
    (violation,) = found.violations
    assert violation.reason == reason
    assert [e.number for e in violation.examples] == numbers
