"""Sums over a window are the same whether keys or rows of the window are looked at."""

from collections import Counter
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ontoweir.runtime.columnar.columns import value
from ontoweir.runtime.columnar.frame import EVENT, LONG_AGO, WEIGHT, Frame, Name
from ontoweir.runtime.kernel import asof_join

IDENTITY, SHARED, OWN = value(2), value(0), value(1)


def make_frame(random: Random, rows: int, names: list[Name], *, old: bool) -> Frame:
    times = [
        random.choice([LONG_AGO] if old and random.random() < 0.2 else range(12))
        for _ in range(rows)
    ]
    made = {EVENT: np.array(times, np.int64)}
    made[WEIGHT] = np.array([random.choice([1, 1, 3]) for _ in range(rows)], np.int64)
    for name in names:
        made[name] = np.array([random.randrange(4) for _ in range(rows)], np.int64)
    return Frame(rows, made)


def join(frame: Frame, events: Frame, keys: list[Name], window: Any, *, bag: bool) -> Counter[Any]:
    table: Any = SimpleNamespace(keys=[SimpleNamespace(value=k[1]) for k in keys])
    view: Any = SimpleNamespace(bag=bag)
    found: Counter[Any] = Counter()
    for made in asof_join.look_up_sums(view, frame, table, events, window):
        columns = [made[n].tolist() for n in (IDENTITY, *keys, WEIGHT)]
        for *pair, weight in zip(*columns, strict=True):
            found[tuple(pair)] += weight
            assert bag or weight == 1
    return found


@pytest.mark.parametrize("bag", [True, False])
@pytest.mark.parametrize("shared", [True, False])
def test_both_ways_are_one(bag: bool, shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = 0
    for seed in range(150):
        random = Random(seed)
        keys = [SHARED, OWN] if shared else [OWN]
        frame = make_frame(random, random.randint(1, 12), [SHARED], old=False)
        frame = frame.with_columns({IDENTITY: np.arange(frame.rows)})
        if not shared:
            frame = frame.select([EVENT, WEIGHT, IDENTITY])
        events = make_frame(random, random.randint(0, 25), keys, old=True)
        window = (random.choice([0, 2, 5]), random.choice([0, 1]))
        by_rows = join(frame, events, keys, window, bag=bag)
        found = asof_join._find_near(frame, events, keys, window)
        taken += found is not None
        with monkeypatch.context() as patch:
            patch.setattr(asof_join, "_find_near", lambda *given: None)
            assert join(frame, events, keys, window, bag=bag) == by_rows
    assert taken > 20
