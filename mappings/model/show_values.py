"""Listed values, in a line that can be read."""

from collections.abc import Sequence

_FEW = 8


def show_values(values: Sequence[object]) -> str:
    """Up to eight values each, `{a, b}`; of more the number, the first and the last, e.g. `300
    values: dev-0000 … dev-0299`."""
    if len(values) <= _FEW:
        return f"{{{', '.join(map(str, values))}}}"
    return f"{len(values):,} values: {values[0]} … {values[-1]}"
