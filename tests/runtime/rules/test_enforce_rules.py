"""What is admitted after rules, and what is remembered."""

from dataclasses import replace

import numpy as np
import pyarrow as pa

from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.rules.enforce_rules import enforce_rules
from ontoweir.runtime.rules.rule_state import UNKNOWN, RuleState, Values, read_rule, write_rule
from ontoweir.runtime.rules.watched_rule import RuleKind, WatchedRule
from ontoweir.runtime.times.steps import Steps

GAP = WatchedRule("s", ("k",), RuleKind.GAP, 2, None, None, keep_us=10, reject=True, limited=True)


def _admit(*rows: tuple[int | None, int]) -> dict[str, Admitted]:
    times = np.array([time for _, time in rows], dtype=np.int64)
    table = pa.table({"k": pa.array([k for k, _ in rows], pa.int64())})
    return {"s": Admitted(Steps(times), times, table, len(rows), {})}


def test_a_late_row_is_gone_with_all_that_was_made_of_it() -> None:
    came = _admit((1, 0), (None, 3), (1, 5), (2, 5))
    came["s"].memory.plain["k"] = ()
    kept = enforce_rules([GAP], came, (), 5)
    assert kept.admitted["s"].table.column("k").to_pylist() == [1, None, 2]
    assert kept.admitted["s"].times.tolist() == [0, 3, 5]
    assert kept.admitted["s"].memory.plain == {}
    reason = "s comes more than 2 microseconds after the last row with the same k"
    assert kept.admitted["s"].rejected == {reason: 1}
    ((stream, _, places),) = kept.rejected
    assert (stream, places.tolist()) == ("s", [2])


def test_a_value_is_forgotten_when_its_time_is_over() -> None:
    kept = enforce_rules([GAP], _admit((1, 0), (2, 9)), (), 9)
    assert kept.states[0].rows == 2
    after = enforce_rules([GAP], _admit((1, 11)), kept.states, 11)
    assert after.rejected == ()  # its first row is more than 10 µs old
    assert [int(time) for time in sorted(after.states[0].time)] == [9, 11]
    assert enforce_rules([GAP], _admit(), after.states, 30).states[0].rows == 0


def test_values_that_share_a_hash_are_told_apart() -> None:
    words = np.array([7, 7, 7, 9], dtype=np.uint64), np.array([3, 1, 2, 1], dtype=np.uint64)
    state = RuleState()
    for place in (0, 3, 1, 2):
        one = Values(*(word[[place]] for word in words))
        state = state.put(one, np.array([10 + place]), np.array([0]))
    places, there = state.find(Values(*words))
    assert there.all()
    assert state.time[places].tolist() == [10, 11, 12, 13]
    _, found = state.find(Values(np.array([7], np.uint64), np.array([5], np.uint64)))
    assert not found.any()
    gone = state.put(Values(*(word[[1]] for word in words)), np.array([UNKNOWN]), np.array([0]))
    assert gone.forget(UNKNOWN).time.tolist() == [10, 12, 13]


def test_what_is_remembered_is_read_back() -> None:
    state = enforce_rules([GAP], _admit((1, 0), (2, 1)), (), 1).states[0]
    state = replace(state, total=5, broken=3)
    again = read_rule(write_rule(state))
    assert (again.total, again.broken, again.limited) == (5, 3, True)
    for name in ("first", "second", "time", "upto"):
        assert np.array_equal(getattr(again, name), getattr(state, name))
