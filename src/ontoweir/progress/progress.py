"""How far long work on a query is, and who listens."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a phase of work is.

    `phase`: what is done, or what is counted, in words; `done`: how much of it; `total`: how much
    there is (None: not known). What is done may jump to the total: what is found early ends a
    search.
    """

    phase: str
    done: int
    total: int | None


FINISHED = Progress("", 0, 0)
"""The work is over; whoever shows progress may clear it away."""

OnProgress: TypeAlias = Callable[[Progress], None]
"""Called several hundred times a second at most, also where nothing new is done: who shows it shows
it now and then."""


def ignore_progress(progress: Progress) -> None:
    """No progress wanted."""
