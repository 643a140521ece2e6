"""Keys of whole numbers that lie further apart than 2^63 are told apart."""

from collections.abc import Sequence
from random import Random

import numpy as np
import pyarrow as pa

from ontoweir.runtime.columnar.find_repeated_keys import find_repeated_keys

FAR = (-(2**63), -(2**63) + 1, -1, 0, 1, 2**63 - 2, 2**63 - 1)


def _expected(groups: Sequence[int], rows: Sequence[tuple[int | None, ...]]) -> list[bool]:
    seen: set[tuple[int | None, ...]] = set()
    found = []
    for group, row in zip(groups, rows, strict=True):
        found.append(None not in row and (group, *row) in seen)
        seen.add((group, *row))
    return found


def test_the_least_and_the_greatest() -> None:
    key = [pa.chunked_array([[-2, -3, -2]]), pa.chunked_array([[-(2**63), 2**63 - 1, 2**63 - 2]])]
    assert not find_repeated_keys(np.array([1, 2, 6]), key).any()
    assert not find_repeated_keys(np.array([0, 0, 0]), [key[1]]).any()
    twice = pa.chunked_array([[2**63 - 1, -(2**63), 2**63 - 1]])  # its twin
    assert find_repeated_keys(np.array([0, 0, 0]), [twice]).tolist() == [False, False, True]


def test_as_a_set_of_rows_says() -> None:
    for seed in range(300):
        random = Random(seed)
        count = random.randint(1, 8)
        groups = sorted(random.randrange(3) for _ in range(count))
        wide = random.randint(1, 3)
        rows = [tuple(random.choice([*FAR, *FAR, None]) for _ in range(wide)) for _ in range(count)]
        columns = [pa.chunked_array([pa.array(c, pa.int64())]) for c in zip(*rows, strict=True)]
        found = find_repeated_keys(np.array(groups), columns).tolist()
        assert found == _expected(groups, rows)
