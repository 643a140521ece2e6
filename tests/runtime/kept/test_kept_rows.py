"""Rows that are kept: a value, whatever is made of it later; and work that follows the batch."""

import pickle
from random import Random

import numpy as np
import pytest

from ontoweir.runtime.columnar.columns import stamp, value
from ontoweir.runtime.columnar.frame import Array, Frame
from ontoweir.runtime.kept.kept_rows import KeptRows
from ontoweir.runtime.kept.sorted_runs import SortedRuns

KEY, LEVEL, TIME = value(0), value(1), stamp(0)
Row = tuple[int, float, int]


def _when(rows: Frame) -> Array:
    due: Array = rows[TIME] + 5
    return due


def _frame(rows: list[Row]) -> Frame:
    columns = list(zip(*rows, strict=True)) if rows else [(), (), ()]
    kinds = (np.int64, np.float64, np.int64)
    made = [np.array(c, dtype=k) for c, k in zip(columns, kinds, strict=True)]
    return Frame(len(rows), dict(zip((KEY, LEVEL, TIME), made, strict=True)))


def _rows(frame: Frame) -> list[Row]:
    return list(zip(*(frame[n].tolist() for n in (KEY, LEVEL, TIME)), strict=True))


def _draw(random: Random, count: int) -> list[Row]:
    return [
        (random.randrange(6), random.choice([-0.0, 0.0, 1.5, 2.5]), random.randrange(30))
        for _ in range(count)
    ]


@pytest.mark.parametrize("seed", range(40))
def test_every_state_keeps_its_rows(seed: int) -> None:
    """Also where two states go on from the same one, and where old ones are looked at again."""
    random = Random(seed)
    states = [(first := _draw(random, 8), KeptRows(_frame(first)), -1)]
    for _ in range(30):
        _, kept, now = random.choice(states[-3:] if random.random() < 0.7 else states)
        wanted = _draw(random, random.randrange(1, 4))
        names = random.choice([(KEY,), (KEY, LEVEL), (LEVEL,), ()])
        found = kept.find(names, _frame(wanted)).tolist()
        keys = {tuple(_pick(row, names)) for row in wanted}
        assert found == [
            n for n, row in enumerate(_rows(kept.frame())) if _pick(row, names) in keys
        ]
        seen = [_pick(row, names) for row in _rows(kept.look_up(names, _frame(wanted)))]
        assert [key for key in seen if key in keys] == [
            _pick(_rows(kept.frame())[n], names) for n in found
        ]
        later = now + random.randrange(3)
        due = kept.due(later, _when).tolist()
        assert due == [n for n, row in enumerate(_rows(kept.frame())) if row[2] + 5 <= later]
        gone = sorted({*due, *(n for n in found if random.random() < 0.5)})
        more = [row for row in _draw(random, random.randrange(5)) if row[2] + 5 > later]
        after = kept.replace(np.array(gone, dtype=np.int64), _frame(more), when=_when, now=later)
        left = [row for n, row in enumerate(_rows(kept.frame())) if n not in gone]
        assert sorted(_rows(after.frame())) == sorted([*left, *more])
        assert after.rows == len(left) + len(more)
        states.append((sorted([*left, *more]), after, later))
        for known, state, _ in states if random.random() < 0.2 else states[-2:]:
            assert sorted(_rows(state.frame())) == sorted(known)


def _pick(row: Row, names: tuple[object, ...]) -> tuple[float, ...]:
    return tuple(row[(KEY, LEVEL, TIME).index(name)] for name in names)


def test_few_rows_move() -> None:
    """So that little has changed of a table that is compared row by row."""
    rows = [(n, 0.0, n) for n in range(1_000)]
    kept = KeptRows(_frame(rows))
    after = kept.replace(np.array([3, 500, 999]), _frame([(3, 1.0, 3)]))
    before, now = _rows(kept.frame()), _rows(after.frame())
    assert sum(a != b for a, b in zip(before, now, strict=False)) == 2
    again = after.replace(np.array([7]), _frame([(7, 1.0, 7), (1_000, 0.0, 8)]))
    assert sum(a != b for a, b in zip(now, _rows(again.frame()), strict=False)) == 1


def test_a_copy_in_another_process_has_the_rows() -> None:
    kept = KeptRows(_frame([(1, 0.5, 2), (2, 1.5, 3)]))
    after = kept.replace(np.array([0]), _frame([(5, 5.0, 5)]))
    for state in (kept, after):
        assert _rows(pickle.loads(pickle.dumps(state)).frame()) == _rows(state.frame())


def test_an_entry_is_moved_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Adding to an index costs time that follows what is added, not what is there."""
    moved = []
    insert = np.insert

    def count(into: Array, at: Array, what: Array) -> Array:
        moved.append(len(into) + len(what))
        return insert(into, at, what)

    monkeypatch.setattr(np, "insert", count)
    runs, random = SortedRuns(), np.random.default_rng(1)
    runs.add(random.integers(0, 1 << 40, 100_000), np.arange(100_000))
    for n in range(500):
        runs.add(random.integers(0, 1 << 40, 10), 100_000 + 10 * n + np.arange(10))
    assert sum(moved) < 2 * 5_000 * np.log2(5_000)
    assert len(runs) == 105_000
    assert np.sort(runs.up_to(1 << 40)).tolist() == list(range(105_000))


@pytest.mark.parametrize("seed", range(20))
def test_who_shares_rows_finds_them_when_another_has_gone_on(seed: int) -> None:
    """In the order of their places, and without a copy of all of them."""
    random = Random(seed)
    rows = [(random.randrange(100), random.choice([-0.0, 0.0, 1.5]), n) for n in range(300)]
    kept = KeptRows(_frame(rows))
    for _ in range(8):
        before = _rows(kept.frame())
        gone = sorted(random.sample(range(len(before)), random.randrange(6)))
        more = [(random.randrange(100), 9.5, 0) for _ in range(random.randrange(8))]
        after = kept.replace(np.array(gone, dtype=np.int64), _frame(more))
        names = random.choice([(KEY,), (KEY, LEVEL)])
        wanted = [random.choice(before), *(before[n] for n in gone[:2]), *more[:2]]
        keys = {_pick(row, names) for row in wanted}
        found = _rows(kept.look_up(names, _frame(wanted)))
        assert [row for row in found if _pick(row, names) in keys] == [
            row for row in before if _pick(row, names) in keys
        ]
        assert len(found) < len(before)
        assert (kept._store is None) is bool(gone or more)
        assert after._store is not None
        kept = after


def test_what_comes_of_shared_rows_is_the_same_object() -> None:
    """Where the same comes to them in the same way; not where they are not shared, or other rows
    come, or in another way."""
    kept, more = KeptRows(_frame([(1, 0.5, 2), (2, 1.5, 3)])), [(5, 5.0, 5)]
    places = np.array([0])
    after = kept.replace(places, _frame(more))
    kept.go_on("how", _frame(more), after)
    assert kept.went_on("how", _frame(more)) is None
    kept.shared = True
    kept.go_on("how", _frame(more), after)
    assert kept.went_on("how", _frame(more)) is after
    assert kept.went_on("other", _frame(more)) is None
    assert kept.went_on("how", _frame([(5, 5.5, 5)])) is None
    assert kept.went_on("how", _frame([(5, -0.0, 5)])) is None


def test_where_nothing_changes_the_state_is_the_same() -> None:
    """So its columns are, too, and nobody has to compare them with those before."""
    kept = KeptRows(_frame([(n, 0.0, n) for n in range(50)]))
    assert kept.due(3, _when).tolist() == []
    none = np.zeros(0, dtype=np.int64)
    after = kept.replace(none, _frame([]), when=_when, now=3)
    assert after is kept
    assert after.frame() is kept.frame()
    assert after.due(8, _when).tolist() == [0, 1, 2, 3]
    changed = after.replace(none, _frame([(7, 1.5, 9)]), when=_when, now=3)
    assert changed is not kept
    assert changed.rows == 51
    assert after.rows == 50
