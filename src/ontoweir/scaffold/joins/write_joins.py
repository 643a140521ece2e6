"""Write first queries that join two streams by columns that seem to name the same things."""

from collections.abc import Sequence
from math import ceil

from ontoweir.mappings.model.parse_duration import UNITS_US, show_duration
from ontoweir.scaffold.joins.find_same import Same


def write_joins(found: Sequence[Same]) -> list[tuple[str, str]]:
    """Queries, by name, of rows of a stream after rows of another one about the same, within a
    limit of time. Each says that this is a guess, and its evidence; of two streams there is one.

    Args:
        found: the columns.
    """
    made: dict[str, str] = {}
    for same in found:
        name = f"{same.few[0].name}-after-{same.many[0].name}".replace("_", "-")
        made.setdefault(name, _ask(same))
    return [*made.items()]


def _ask(same: Same) -> str:
    """The query; within twice the time after which a thing of the one is seen again, or the time
    after which all rows come."""
    (late, mine), (early, theirs) = same.few, same.many
    step = max(late.step_us, early.step_us, UNITS_US["second"])
    again = 2 * same.again_us
    within = max(2, ceil(min(again, same.lag_us or again) / step)) * step
    return (
        f"-- Rows of {late.name} after those of {early.name} about the same, within "
        f"{show_duration(within)} (a guess: {same.because}).\n"
        f"SELECT DISTINCT late.{_quote(mine.name)} AS it, early.{_quote(early.timestamp)} AS "
        f"before, late.{_quote(late.timestamp)} AS after\n"
        f"FROM {_quote(early.name)} AS early JOIN {_quote(late.name)} AS late\n"
        f"  ON early.{_quote(theirs.name)} = late.{_quote(mine.name)}\n"
        f"WHERE early.{_quote(early.timestamp)} <= late.{_quote(late.timestamp)}\n"
        f"  AND late.{_quote(late.timestamp)} <= early.{_quote(early.timestamp)}"
        f" + INTERVAL '{within // UNITS_US['second']}' SECOND\n"
    )


def _quote(name: str) -> str:
    return f"`{name}`"
