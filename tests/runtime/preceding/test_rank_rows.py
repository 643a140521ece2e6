"""The places of rows among those of one time, against a count of those before each."""

from random import Random

import numpy as np
import pyarrow as pa
import pytest

from ontoweir.runtime.preceding.rank_rows import (
    Ordered,
    Placed,
    first_in_order,
    rank_rows,
)

ROWS = 60
FUNCTIONS: tuple[Placed, ...] = ("rank", "dense", "number", "percent", "share", "part")
PARTS = 4


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

    apart = [Ordered(ties, down=False, nulls_first=False)]
    last = {"number": apart, "part": apart}
    found = {
        f: rank_rows(f, [np.array(groups)], [*order, *last.get(f, [])], PARTS).to_pylist()
        for f in FUNCTIONS
    }
    first = first_in_order(pa.array(range(ROWS)), [np.array(groups)], [*order, *apart])
    for row in range(ROWS):
        others = [o for o in range(ROWS) if groups[o] == groups[row]]
        ahead = [o for o in others if before(o, row)]
        assert found["rank"][row] == len(ahead) + 1
        kinds = {tuple(0.0 if c[o] == 0 else c[o] for c in columns) for o in ahead}
        assert found["dense"][row] == len(kinds) + 1
        mine = [o for o in others if before(o, row) is None and ties[o].as_py() < ties[row].as_py()]
        place = len(ahead) + len(mine)
        assert found["number"][row] == place + 1
        assert found["percent"][row] == len(ahead) / max(len(others) - 1, 1)
        after = [o for o in others if before(row, o)]
        assert found["share"][row] == (len(others) - len(after)) / len(others)
        parts = [list(p) for p in np.array_split(range(len(others)), PARTS)]
        assert found["part"][row] == next(n for n, p in enumerate(parts, 1) if place in p)
        assert (first[row].as_py() == row) == (place == 0)
        assert groups[first[row].as_py()] == groups[row]


def test_no_rows() -> None:
    none = pa.array([], pa.int64())
    found = rank_rows("rank", [np.zeros(0, np.int64)], [Ordered(none, False, False)])
    assert found.to_pylist() == []
