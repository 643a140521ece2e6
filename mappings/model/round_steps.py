"""Comparisons of times in microseconds, made exact comparisons in whole steps."""

from typing import Literal

from ontoweir.mappings.model.assertion import CompareOp


def round_steps(
    op: CompareOp, offset_us: int, step_us: int
) -> tuple[CompareOp, int] | Literal[True, False]:
    """`d op offset` for a whole number of steps d, with the offset in steps too.

    Between grid points `<=` and `>` round down, `<` and `>=` up; `=` is false and `<>` true.

    >>> round_steps("<=", 31, 5), round_steps(">=", 31, 5), round_steps("=", 31, 5)
    (('<=', 6), ('>=', 7), False)
    """
    whole, rest = divmod(offset_us, step_us)
    if rest == 0:
        return op, whole
    if op == "=":
        return False
    if op == "<>":
        return True
    return (op, whole) if op in ("<=", ">") else (op, whole + 1)
