"""Answers that hold until later rows end them: the latest of each key, and what is not over yet."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Standing:
    """Which rows of a query hold. Rows of one key belong together.

    `key`: the variables that tell keys apart. `ender`: the variable that is 1 for rows that are no
    answers, but end those of their key with an earlier timestamp, and 0 for answers (None: every
    answer ends the earlier ones). `inclusive`: they end those of their own timestamp too.
    `replaced`: wherever there is an answer, there is a row that ends the earlier ones; `nulls`: of
    those without a value in the key too, which are one key. `hidden`: the variables that are not
    shown. `distinct`: what is shown holds once, however many rows say
    so; the rows themselves are counted all the same.
    """

    key: tuple[str, ...]
    ender: str | None = None
    inclusive: bool = False
    replaced: bool = True
    nulls: bool = False
    hidden: tuple[str, ...] = ()
    distinct: bool = False
