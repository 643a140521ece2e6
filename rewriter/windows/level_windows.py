"""As many windows in all parts of a query."""

from collections.abc import Sequence
from typing import TypeVar

from ontoweir.mappings.sql.read_scope import SqlRefusal

T = TypeVar("T")


def level_windows(
    columns: Sequence[T], mine: tuple[int, int], most: tuple[int, int]
) -> tuple[T, ...]:
    """The columns of a part of a query with as many that say when rows leave their windows, and
    after these from when on they are shown, as the part has that has the most: the last of each is
    repeated, which says nothing new.

    Args:
        columns: the part's, these last.
        mine: how many of these the part has.
        most: how many it is to have.

    Raises:
        SqlRefusal: it has none, and another part has.
    """
    for have, want, what in zip(mine, most, ("window", "delay"), strict=True):
        if want and not have:
            raise SqlRefusal(
                f"a part of the query has no {what}",
                why="its answers hold for ever, and those of the others end"
                if what == "window"
                else "its answers begin at once, and those of the others later",
                fix="write one in each part, or one query for each",
            )
    ends, begins = (have - want for have, want in zip(most, mine, strict=True))
    place = len(columns) - mine[1]
    told = (*columns[:place], *(columns[place - 1] for _ in range(ends)), *columns[place:])
    return (*told, *(columns[-1] for _ in range(begins)))
