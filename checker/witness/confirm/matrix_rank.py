"""The rank of a matrix, exactly."""

from collections.abc import Sequence
from fractions import Fraction


def matrix_rank(rows: Sequence[Sequence[Fraction]], width: int) -> int:
    """The rank of rows of so many numbers."""
    rank = 0
    left = [list(r) for r in rows]
    for column in range(width):
        pivot = next((i for i in range(rank, len(left)) if left[i][column]), None)
        if pivot is None:
            continue
        left[rank], left[pivot] = left[pivot], left[rank]
        for i in range(rank + 1, len(left)):
            if left[i][column]:
                factor = left[i][column] / left[rank][column]
                left[i] = [a - factor * b for a, b in zip(left[i], left[rank], strict=True)]
        rank += 1
    return rank
