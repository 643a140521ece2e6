"""The places of rows among those of one time, against a count of those before each."""

from random import Random
from typing import Literal

import numpy as np
import pyarrow as pa
import pytest

from ontoweir.runtime.preceding.rank_rows import Ordered, rank_rows

ROWS = 60
FUNCTIONS: tuple[Literal["rank", "dense", "number"], ...] = ("rank", "dense", "number")


@pytest.mark.parametrize("seed", range(30))
def test_places(seed: int) -> None:
    random = Random(seed)
    groups = [random.randint(0, 3) for _ in range(ROWS)]
    columns: list[list[object]] = [
        random.choices([None, 1, 2, 3], k=ROWS),
        random.choices([None, "a", "b"], k=ROWS),
        random.choices([0.0, -0.0, 1.5], k=ROWS),
    ]
    sides = [(random.random() < 0.5, random.random() < 0.5) for _ in columns]
    order = [Ordered(pa.array(c), *side) for c, side in zip(columns, sides, strict=True)]
    ties = pa.array(random.sample(range(ROWS), k=ROWS))

    def before(one: int, other: int) -> bool | None:
        """Whether a row comes before another one (None: they are equal)."""
        for column, (down, nulls_first) in zip(columns, sides, strict=True):
            mine, theirs = column[one], column[other]
            if mine == theirs:
                continue
            if mine is None or theirs is None:
                return (mine is None) == nulls_first
            return bool(mine > theirs) if down else bool(mine < theirs)  # type: ignore[operator]
        return None

    last = {"number": [Ordered(ties, down=False, nulls_first=False)]}
    found = {
        f: rank_rows(f, [np.array(groups)], [*order, *last.get(f, [])]).to_pylist()
        for f in FUNCTIONS
    }
    for row in range(ROWS):
        others = [o for o in range(ROWS) if groups[o] == groups[row]]
        ahead = [o for o in others if before(o, row)]
        assert found["rank"][row] == len(ahead) + 1
        kinds = {tuple(0.0 if c[o] == 0 else c[o] for c in columns) for o in ahead}
        assert found["dense"][row] == len(kinds) + 1
        mine = [o for o in others if before(o, row) is None and ties[o].as_py() < ties[row].as_py()]
        assert found["number"][row] == len(ahead) + len(mine) + 1


def test_no_rows() -> None:
    none = pa.array([], pa.int64())
    found = rank_rows("rank", [np.zeros(0, np.int64)], [Ordered(none, False, False)])
    assert found.to_pylist() == []
