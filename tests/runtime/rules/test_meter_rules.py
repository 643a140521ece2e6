"""What is measured of rules as rows come is what the rows show, looked at all together."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from ontoweir.mappings.model.catalog import (
    BooleanType,
    ClosingRule,
    Column,
    DataSource,
    IntType,
    Lag,
    Stream,
)
from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.rules import meter_rules as module
from ontoweir.runtime.rules.meter_rules import Metered, RuleMeter, list_metered, meter_rules
from ontoweir.runtime.rules.watched_rule import describe_rule
from ontoweir.runtime.times.sliding_max import SlidingMax
from ontoweir.runtime.times.steps import Steps

Row = tuple[int | None, bool, int]
"""k, last, ts."""

RULES: dict[str, ClosingRule | Lag] = {
    "gap": ClosingRule(("k",), gap_us=5),
    "rows": ClosingRule(("k",), rows=20),
    "within": Lag("s", ("k",), ("k",), 20),
    "lag": Lag("t", ("k",), ("k",), 20),
    "slack": ClosingRule(("k",), slack=2),
    "order": ClosingRule(("k",), late_rows=10),
    "end": ClosingRule(("k",), ends="last", most_open=5),
}


def _make_rows(random: Random, wide: int) -> list[Row]:
    return [
        (None if random.random() < 0.1 else random.randrange(wide), random.random() < 0.2, ts)
        for ts in range(20)
        for _ in range(random.choice([0, 1, 1, 3]))
    ]


def _admit(rows: Sequence[Row]) -> Admitted:
    times = np.array([row[2] for row in rows], dtype=np.int64)
    table = pa.table(
        {
            "k": pa.array([row[0] for row in rows], pa.int64()),
            "last": pa.array([row[1] for row in rows], pa.bool_()),
        }
    )
    return Admitted(Steps(times), times, table, len(rows), {})


def _measure(name: str, rows: list[Row], behind: list[Row]) -> int:
    """By the words of the rule, row by row."""
    found = [0]
    valued = [row for row in rows if row[0] is not None]
    for value, _, ts in valued:
        assert value is not None
        earlier = [row for row in valued if row[2] < ts]
        same = [row[2] for row in earlier if row[0] == value]
        match name:
            case "gap" if same:
                found.append(ts - max(same))
            case "within" if same:
                found.append(ts - min(same))
            case "rows" if same:
                found.append(sum(max(same) < row[2] < ts for row in valued))
            case "lag":
                firsts = [row[2] for row in behind if row[0] == value and row[2] < ts]
                found += [ts - min(firsts)] if firsts else []
            case "slack" if earlier:
                found.append(max(row[0] or 0 for row in earlier) - value)
            case "order":
                greater = [row[2] for row in earlier if (row[0] or 0) > value]
                found += [sum(min(greater) < r[2] < ts for r in valued)] if greater else []
            case _:
                pass
    return max(found)


def _count_open(rows: list[Row]) -> int:
    """Values of which a row has come, and none that says that it is the last after it, or with
    it."""
    values = {row[0] for row in rows if row[0] is not None}
    last = {v: max(row[2] for row in rows if row[0] == v) for v in values}
    ends = {v for v, ends, ts in rows if ends and v is not None and ts == last[v]}
    return len(values - ends)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("seed", range(6))
def test_what_is_measured(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REACH", 1000)
    random = Random(seed)
    rule = describe_rule("s", RULES[name])
    rows, behind = _make_rows(random, 6), _make_rows(random, 6)
    meters: tuple[RuleMeter, ...] = ()
    start = 0
    while start < 20:
        stop = start + random.choice([1, 2, 7, 20])
        came = {
            n: _admit([row for row in held if start <= row[2] < stop])
            for n, held in (("s", rows), ("t", behind))
        }
        meters = meter_rules([Metered(rule, 5, 1)], meters, came, stop - 1)
        start = stop
        if name == "end":
            so_far = _count_open([row for row in rows if row[2] < stop])
            assert len(meters[0].known.time) == so_far
    if name != "end":
        assert meters[0].seen.ever == _measure(name, rows, behind)


def _count_rows(name: str, rows: list[Row]) -> int:
    """The most rows of a value until it is closed, by the words of the rule, row by row."""
    valued = [row for row in rows if row[0] is not None]
    most = 0
    for value in {row[0] for row in valued}:
        count, before, ended = 0, None, False
        for ts in sorted({row[2] for row in valued if row[0] == value}):
            mine = [row for row in valued if row[0] == value and row[2] == ts]
            between = 0 if before is None else sum(before < row[2] < ts for row in valued)
            over = {
                "gap": before is not None and ts - before > 5,
                "rows": before is not None and between > 20,
                "end": ended,
            }
            count = len(mine) if over.get(name) else count + len(mine)
            before, ended = ts, any(row[1] for row in mine)
            most = max(most, count)
    return most


@pytest.mark.parametrize("name", ["gap", "rows", "end", "slack", "order"])
@pytest.mark.parametrize("seed", range(40))
def test_rows_of_one_value_are_counted(name: str, seed: int) -> None:
    random = Random(seed)
    declared = RULES[name]
    assert isinstance(declared, ClosingRule)
    columns = (Column("k", IntType()), Column("last", BooleanType()))
    rule = replace(declared, most_rows=3)
    stream = Stream("s", DataSource("csv", "-"), "ts", 1, 9, columns, closing=(rule,))
    metered = list_metered({"s": (stream, ("k", "last"))})
    assert [m.counts for m in metered] == [False, True]
    rows = [r for r in _make_rows(random, random.choice([2, 6, 12])) if random.random() < 0.8]
    meters: tuple[RuleMeter, ...] = ()
    start = 0
    while start < 20:
        stop = start + random.choice([1, 2, 7, 20])
        mine = _admit([row for row in rows if start <= row[2] < stop])
        meters = meter_rules(metered, meters, {"s": mine}, stop - 1)
        start = stop
        seen = meters[1].seen.ever
        assert seen == _count_rows(name, [row for row in rows if row[2] < stop])
    assert metered[1].used == 3


@pytest.mark.parametrize("name", ["gap", "rows", "within", "lag", "end"])
def test_many_values_are_sampled(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 200)
    rule = describe_rule("s", RULES[name])
    wide = np.arange(20_000)
    rows: list[Row] = [(int(v), False, int(v) // 100) for v in wide]
    rows += [(int(v), False, int(v) // 100 + 3) for v in wide]
    rows.sort(key=lambda row: row[2])
    meters: tuple[RuleMeter, ...] = ()
    for start in range(0, 210, 5):
        mine = _admit([row for row in rows if start <= row[2] < start + 5])
        meters = meter_rules([Metered(rule, 5, 1)], meters, {"s": mine, "t": mine}, start + 4)
        assert len(meters[0].known.time) <= 200
    (meter,) = meters
    assert meter.bits > 0 or name == "rows"  # of which few are remembered
    match name:
        case "end":
            assert 0.5 < meter.seen.most / 20_000 < 2
        case "rows":
            assert 300 <= meter.seen.ever <= 500
        case _:
            assert meter.seen.ever == 3


def test_a_window_forgets_what_it_has_passed() -> None:
    seen = SlidingMax()
    for at, number in ((0, 9), (4, 1), (5, 2), (9, 1)):
        seen = seen.see(number, at, 10)
    assert (seen.most, seen.full, seen.ever) == (9, False, 9)
    seen = seen.see(1, 10, 10)
    assert (seen.most, seen.full) == (2, True)
    assert seen.see(3, 40, 10) == replace(seen, now=3, before=0, begun_us=40, halves=4)
