"""Rows that hold until others end them, as SQL reads them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

KEY = "key of what ends"
"""How the columns of the key are called, with a number."""


@dataclass(frozen=True, slots=True)
class StandingRows:
    """`rows`: the answers, with the key after their columns; `enders`: the key of the rows that end
    them, of each kind of these; `size`: of how many columns it is; `free`: which of them may be
    NULL, as they are not shown; `inclusive`: those of their own time too; `replaced`: each answer
    is among the rows that end others; `distinct`: it holds once, however often; `groups`: what is
    shown are groups of the rows that hold, and the key is counted after their columns; `nulls`:
    rows may have NULL in all columns, and NULL is a value of the key; `over`: they are asked of the
    latest rows, and are other ones without what ends them; `ever`: nor may what ends them come
    before them; `beside`: static relations are LEFT JOINed with the answers, or asked for what is
    in them."""

    rows: "exp.Select"
    enders: "tuple[exp.Select, ...]"
    size: int
    free: tuple[int, ...]
    inclusive: bool = False
    replaced: bool = True
    distinct: bool = False
    nulls: bool = False
    groups: bool = False
    over: bool = False
    ever: bool = False
    beside: bool = False
