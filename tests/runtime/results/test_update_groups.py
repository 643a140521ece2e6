"""Groups from marker to marker: exact numbers, and only what changed is told."""

import pickle
from collections import defaultdict
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ontoweir.errors import RunError
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction
from ontoweir.runtime.columnar.frame import LONG_AGO
from ontoweir.runtime.pool.text_columns import show_columns
from ontoweir.runtime.results.group_state import GroupState, add_groups
from ontoweir.runtime.results.measures import ALL_MATCHES, Measure, MeasureKind
from ontoweir.runtime.results.update_groups import (
    AggregateValues,
    ChangedGroups,
    Deltas,
    Shown,
    show_groups,
)
from ontoweir.runtime.results.update_groups import update_groups as update_places
from ontoweir.runtime.results.update_last import update_last

AVG = Aggregate("a", AggregateFunction.AVG, "v")
MIN = Aggregate("a", AggregateFunction.MIN, "v")
MEDIAN = Aggregate("a", AggregateFunction.MEDIAN, "v")


def show(*aggregates: Aggregate, scale: int | None = 0) -> Shown:
    """Aggregates of v."""
    return Shown(aggregates, {"v": scale}, {})


def keys(*groups: object) -> pa.Table:
    """Groups of one column."""
    return pa.table({"g": pa.array(groups)})


def update_groups(
    shown: Shown, table: pa.Table, parts: list[Deltas], state: GroupState
) -> ChangedGroups:
    """As update_groups, where codes are rows of a table of groups, in what comes and in what is
    told."""
    known = state.count
    state, places = add_groups(state, table, table.num_rows)
    parts = [Deltas(places[part.code], part.at, part.columns) for part in parts]
    changes = update_places(shown, parts, state, known)
    codes = np.array([places.tolist().index(place) for place in changes.codes], dtype=np.int64)
    return changes._replace(codes=codes)


def deltas(*rows: tuple[int, int, int, int], column: str = "s") -> Deltas:
    """Rows of (group, marker, value, how often)."""
    code, at, value, weight = (np.array(c, dtype=np.int64) for c in zip(*rows, strict=True))
    columns: dict[tuple[str, ...], NDArray[np.int64]] = {(column, "v"): value}
    if column != "min":
        columns[("w",)] = weight
    return Deltas(code, at, columns)


def test_an_average_is_the_exact_quotient_rounded_once() -> None:
    large = (1 << 61) - 1
    changes = update_groups(show(AVG), keys("g"), [deltas((0, 1, large, 3))], GroupState())
    assert changes.aggregates["a"].values.tolist() == [float(Fraction(large, 3))]
    measures = changes.after.measures
    assert {name: held.values.tolist() for name, held in measures.items()} == {
        ("s", "v"): [large],
        ("w",): [3],
    }
    hundredths = show(AVG, scale=2)
    changes = update_groups(hundredths, keys("g"), [deltas((0, 1, 10, 3))], GroupState())
    assert changes.aggregates["a"].values.tolist() == [float(Fraction(10, 300))]


def test_what_does_not_change_is_not_told() -> None:
    parts = [deltas((0, 1, 4, 2), (0, 2, 2, 1), (0, 3, 9, 1), (1, 3, 1, 1))]
    code, at, shown, state = update_groups(show(AVG), keys("g", "h"), parts, GroupState())
    assert list(zip(code.tolist(), at.tolist(), shown["a"].values.tolist(), strict=True)) == [
        (0, 1, 2.0),
        (0, 3, 15 / 4),
        (1, 3, 1.0),
    ]
    assert state.changed.tolist() == [3, 3]
    # not across chunks either
    changes = update_groups(show(AVG), keys("h"), [deltas((0, 4, 1, 1))], state)
    assert changes.codes.tolist() == []
    assert changes.after.changed.tolist() == [3, 3]


def test_what_is_not_a_number_does_not_change() -> None:
    values = AggregateValues(np.array([1.0, np.nan, np.nan, 1.0]), np.ones(4, dtype=np.bool_))
    assert values.changes().tolist() == [True, False, True]
    assert not values.differs(values).any()


def test_a_minimum_starts_from_what_is_known() -> None:
    before = [deltas((0, 1, 5, 1), column="min")]
    state = update_groups(show(MIN), keys("g"), before, GroupState()).after
    parts = [deltas((0, 7, 6, 1), (0, 8, 4, 1), (0, 9, 7, 1), column="min")]
    _, at, shown, after = update_groups(show(MIN), keys("g"), parts, state)
    assert (at.tolist(), shown["a"].values.tolist()) == ([8], [4])
    assert after.measures[("min", "v")].values.tolist() == [4]


def test_a_median_of_an_even_number_is_between_two_values() -> None:
    parts = [deltas((0, 1, 1, 1), (0, 1, 4, 1), (0, 2, 4, 1), (0, 3, -3, 2), column="hist")]
    _, at, shown, after = update_groups(show(MEDIAN), keys("g"), parts, GroupState())
    assert list(zip(at.tolist(), shown["a"].values.tolist(), strict=True)) == [
        (1, 2.5),
        (2, 4.0),
        (3, 1.0),
    ]
    held = after.histograms[("hist", "v")]
    assert dict(zip(held.values.tolist(), held.counts.tolist(), strict=True)) == {-3: 2, 1: 1, 4: 2}
    assert after.rows == 1 + 3


def test_a_sum_that_does_not_fit_is_an_error() -> None:
    parts = [deltas(*((0, m, 1 << 61, 1) for m in range(4)))]
    with pytest.raises(RunError, match=r"does not fit 64 bits at 1970-01-01T00:00:00.000003"):
        update_groups(show(AVG), keys("g"), parts, GroupState())


def test_only_a_sum_that_does_not_fit_is_an_error() -> None:
    """Whatever chunks the data comes in: neither other groups nor what cancels out counts."""
    large = 3 << 60
    rows = [(g, m, large if m % 2 else -large, 1) for g in range(3) for m in range(1, 9)]
    for cut in (0, 5, 20):
        state, told = GroupState(), 0
        for part in (rows[:cut], rows[cut:]):
            if part:
                changes = update_groups(show(AVG), keys(0, 1, 2), [deltas(*part)], state)
                state, told = changes.after, told + len(changes.codes)
        assert state.measures[("s", "v")].values.tolist() == [0, 0, 0]
        assert told == 24


def test_a_state_that_was_advanced_can_be_advanced_again() -> None:
    """What finds groups grows: a state before is not disturbed by groups of one that was left."""
    first = update_groups(show(AVG), keys("g"), [deltas((0, 1, 1, 1))], GroupState()).after
    left = update_groups(show(AVG), keys("h"), [deltas((0, 2, 5, 1))], first).after
    again = update_groups(show(AVG), keys("i"), [deltas((0, 2, 7, 1))], first).after
    both = [deltas((0, 3, 9, 1), (1, 3, 9, 1))]
    again = update_groups(show(AVG), keys("h", "g"), both, again).after
    assert left.keys is not None
    assert again.keys is not None
    assert show_columns(left.keys, left.texts).column("g").to_pylist() == ["g", "h"]
    assert show_columns(again.keys, again.texts).column("g").to_pylist() == ["g", "i", "h"]
    assert again.measures[("s", "v")].values.tolist() == [10, 7, 9]


# -- against the definition -----------------------------------------------------------------------

F = AggregateFunction
NAMED = tuple(
    Aggregate(
        f.name,
        f,
        None if f is F.COUNT else "v",
        fraction=Fraction(3, 4) if f.takes_fraction else None,
    )
    for f in F
    if not f.varies and not f.lists  # test_exact_products.py, oracle/test_lists.py
)
GROUPS = st.sampled_from([None, "", "a", "b"]), st.sampled_from([None, 0, -1, 7])
ROWS = st.lists(
    st.tuples(
        st.tuples(*GROUPS),
        st.integers(0, 5),
        st.integers(-3, 3) | st.sampled_from([-(1 << 53) - 1, (1 << 55) + 1]),
        st.integers(1, 3),
    ),
    max_size=40,
)
Group = tuple[Any, ...]
Row = tuple[Group, int, int, int]


def expect(aggregate: Aggregate, rows: list[Row]) -> Any:
    """An aggregate of some matches."""
    values = sorted(v for _, _, v, weight in rows for _ in range(weight))
    middle = Fraction(values[(len(values) - 1) // 2] + values[len(values) // 2], 2)
    place = Fraction(3, 4) * (len(values) - 1)
    low, high = values[floor(place)], values[ceil(place)]
    return {
        F.COUNT: len(values),
        F.COUNT_DISTINCT: len(set(values)),
        F.SUM: sum(values),
        F.SUM_DISTINCT: sum(set(values)),
        F.AVG_DISTINCT: float(Fraction(sum(set(values)), len(set(values)))),
        F.AVG: float(Fraction(sum(values), len(values))),
        F.MIN: values[0],
        F.MAX: values[-1],
        F.MEDIAN: float(middle),
        F.PERCENTILE: float(low + (high - low) * (place - floor(place))),
        F.QUANTILE: values[max(-(-3 * len(values) // 4), 1) - 1],
    }[aggregate.function]


def make_deltas(rows: list[Row], known: set[tuple[Group, int]]) -> tuple[pa.Table, list[Deltas]]:
    """The rows of a chunk, as the parts of all aggregates have them."""
    groups = list(dict.fromkeys(group for group, *_ in rows))
    table = pa.table(
        {
            "g": pa.array([g for g, _ in groups], pa.string()),
            "h": pa.array([h for _, h in groups], pa.int64()),
        }
    )
    code, at, value, weight = (
        np.array(column, dtype=np.int64)
        for column in zip(*((groups.index(g), m, v, w) for g, m, v, w in rows), strict=True)
    )
    fresh = []
    for place, (group, _, v, _) in sorted(enumerate(rows), key=lambda entry: entry[1][1]):
        if (group, v) not in known:
            known.add((group, v))
            fresh.append(place)

    def part(columns: dict[Measure, NDArray[np.int64]], of: Any = slice(None)) -> Deltas:
        return Deltas(code[of], at[of], {n: c[of] for n, c in columns.items()})

    kinds = MeasureKind
    return table, [
        part({ALL_MATCHES: weight, (kinds.SUM, "v"): value * weight}),
        part({(kinds.MIN, "v"): value}),
        part({(kinds.MAX, "v"): value}),
        part({(kinds.DISTINCT, "v"): np.ones_like(value)}, fresh),
        part({(kinds.HISTOGRAM, "v"): value, ALL_MATCHES: weight}),
    ]


@given(ROWS, st.sets(st.integers(0, 5)), st.booleans(), st.sets(st.sampled_from(NAMED), min_size=1))
def test_updates_are_those_of_the_definition(
    rows: list[Row], cuts: set[int], pickled: bool, named: set[Aggregate]
) -> None:
    aggregates = sorted(named, key=lambda a: a.name)
    expected: dict[tuple[Group, int], tuple[Any, ...]] = {}
    latest: dict[Group, tuple[int, tuple[Any, ...]]] = {}
    for marker in range(6):
        for group in {r[0] for r in rows if r[1] == marker}:
            mine = [r for r in rows if r[0] == group and r[1] <= marker]
            made = tuple(expect(a, mine) for a in aggregates)
            if group not in latest or latest[group][1] != made:
                expected[group, marker] = made
                latest[group] = marker, made
    state, found = GroupState(), {}
    known: set[tuple[Group, int]] = set()
    parts: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        parts[sum(cut <= row[1] for cut in cuts)].append(row)
    for _, chunk in sorted(parts.items()):
        table, more = make_deltas(chunk, known)
        code, at, shown, state = update_groups(Shown(aggregates, {"v": 0}, {}), table, more, state)
        groups = [tuple(row.values()) for row in table.to_pylist()]
        columns = [shown[a.name].values.tolist() for a in aggregates]
        for c, marker, *values in zip(code.tolist(), at.tolist(), *columns, strict=True):
            assert (groups[c], marker) not in found
            found[groups[c], marker] = tuple(values)
        if pickled:
            state = pickle.loads(pickle.dumps(state))
    assert found == expected
    places = np.flatnonzero(state.changed > LONG_AGO)
    last = show_groups(Shown(aggregates, {"v": 0}, {}), state, places)
    if state.keys is not None:
        shown_keys = show_columns(state.keys.take(pa.array(places)), state.texts)
        names = [tuple(row.values()) for row in shown_keys.to_pylist()]
        columns = [last[a.name].values.tolist() for a in aggregates]
        markers = state.changed[places].tolist()
        shown_last = zip(markers, zip(*columns, strict=True), strict=True)
        assert dict(zip(names, shown_last, strict=True)) == latest
        assert not (state.settle().changed > LONG_AGO).any()


# -- where only the last rows are asked for -------------------------------------------------------

FAR = 1 << 60
PART = st.dictionaries(
    st.integers(0, 4),
    st.tuples(
        st.integers(0, 3), st.integers(-3, 3) | st.sampled_from([-FAR, FAR]), st.integers(1, 3)
    ),
    max_size=5,
)
SHOWN = (
    (Aggregate("n", F.COUNT, None), Aggregate("s", F.SUM, "v"), Aggregate("a", F.AVG, "v")),
    (Aggregate("least", F.MIN, "v"),),
    (Aggregate("most", F.MAX, "v"),),
    (),
)


@given(st.lists(st.tuples(PART, PART, PART, PART), max_size=5), st.booleans(), st.booleans())
def test_last_rows_are_those_of_all_updates(
    chunks: list[tuple[dict[int, tuple[int, int, int]], ...]], summed: bool, double: bool
) -> None:
    """Parts have one row of a group, at markers of their own; the last part only says that a group
    is there."""
    kinds = MeasureKind
    mine = [SHOWN[0] if summed else SHOWN[0][:1], *SHOWN[1:]]
    shown = [Shown(part, {"v": 0}, {}) for part in mine]
    whole = Shown([a for part in mine for a in part], {"v": 0}, {})
    state = GroupState()
    for number, chunk in enumerate(chunks):
        deltas = []
        for part, kind in zip(
            chunk, (kinds.SUM, kinds.MIN, kinds.MAX, kinds.DISTINCT), strict=True
        ):
            rows = np.array([(g, *r) for g, r in part.items()], dtype=np.int64).reshape(-1, 4)
            code, at, value, weight = rows.T
            halved = double and kind in (kinds.MIN, kinds.MAX)
            columns: dict[Measure, Any] = {(kind, "v"): value * 0.5 if halved else value}
            if kind is kinds.DISTINCT:
                columns = {(kind, None): np.ones_like(value)}
            if kind is kinds.SUM:
                columns[ALL_MATCHES] = weight
            deltas.append((code, at + 4 * number, columns))
        groups = [int(g) for code, _, _ in deltas for g in code]
        before, first = state.count, state
        was = [first.changed.tolist(), {n: c.values.tolist() for n, c in first.measures.items()}]
        state, places = add_groups(state, keys(*map(str, groups)), len(groups))
        of = dict(zip(groups, places.tolist(), strict=True))
        parts = [
            Deltas(np.array([of[int(g)] for g in code], dtype=np.int64), at, columns)
            for code, at, columns in deltas
        ]
        expected = update_places(whole, parts, state, before).after
        found = update_last(shown, parts, state, before)
        if found is None:  # sums may not fit; then nothing has changed
            assert any(abs(v) == FAR for part in chunk for _, v, _ in part.values()) or number
            found = update_places(whole, parts, state, before).after
        assert found.changed.tolist() == expected.changed.tolist()
        assert found.measures.keys() == expected.measures.keys()
        for name, column in expected.measures.items():
            assert found.measures[name].valid.tolist() == column.valid.tolist()
            assert (found.measures[name].values == column.values)[column.valid].all()
        now = [first.changed.tolist(), {n: c.values.tolist() for n, c in first.measures.items()}]
        assert now == was
        state = found


def test_several_rows_of_a_group_are_not_one() -> None:
    state, _ = add_groups(GroupState(), keys("g"), 1)
    assert (
        update_last([show(MIN)], [deltas((0, 1, 5, 1), (0, 2, 4, 1), column="min")], state, 0)
        is None
    )
