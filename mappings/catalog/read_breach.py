"""Read what becomes of rows that break a rule on how rows come ([B]; docs/semantics.md)."""

import datetime
from collections.abc import Callable, Sequence

from ontoweir.mappings.model.catalog import BooleanType, Breach, Column, DateType, IntType
from ontoweir.mappings.model.parse_duration import parse_duration
from ontoweir.mappings.model.read_table import TomlTable, did_you_mean

BREACH_KEYS = ("on_violation", "remember")
"""The keys of a rule that say it."""

_ACTIONS = ("count", "reject", "spill")
_FOR_EVER = "forever"


def read_breach(
    entry: TomlTable,
    columns: Sequence[Column],
    step_us: int,
    *,
    remembers: bool = True,
    spills: bool = False,
) -> Breach | None:
    """What a rule's `on_violation` and `remember` say (None: nothing is said).

    Args:
        entry: the rule.
        columns: those whose values are remembered (none: their number is not known).
        step_us: the stream's unit of time.
        remembers: whether closed values have to be remembered.
        spills: whether the rule is of a span of time, so that what it drops can be kept on disk.

    Raises:
        CatalogError: something is wrong, with its line.
    """
    action, remember = entry.text("on_violation"), entry.text("remember")
    if action is None:
        if remember is not None:
            raise entry.error(
                "remember",
                f"{entry.path[-1]} says remember, and no on_violation",
                why="closed values are remembered to find rows that break the rule",
                fix='add on_violation = "reject", or "count"',
            )
        return None
    if action not in _ACTIONS:
        raise entry.error(
            "on_violation",
            f"on_violation is {action!r}",
            why='a row that breaks a rule is let in and counted ("count"), rejected ("reject"), or '
            'has its matches from disk ("spill")',
            fix=did_you_mean(action, _ACTIONS),
        )
    if action == "spill":
        return _read_spill(entry, spills=spills)
    reject = action == "reject"
    if remember is None and reject and remembers:
        raise entry.error(
            None,
            f"{entry.path[-1]} rejects, and does not say how long values are remembered",
            why="a row of a value that is forgotten cannot be told from the first one of a new "
            "value, and memory is bounded",
            fix='add remember = "1 day"; or remember = "forever", if few values are declared',
        )
    if remember == _FOR_EVER:
        return Breach(reject, values=_count_values(entry, columns))
    return Breach(reject, None if remember is None else _read_time(entry, remember, step_us))


def _read_spill(entry: TomlTable, *, spills: bool) -> Breach:
    if not spills:
        raise entry.error(
            "on_violation",
            f'{entry.path[-1]} has on_violation = "spill"',
            why="it says when values are closed: what is grouped by them is final then, and what "
            "comes later is not part of it, wherever rows are kept",
            fix='write "count" or "reject"; lags, and clustered by within, may spill',
        )
    if "remember" in entry.values:
        raise entry.error(
            "remember",
            f'{entry.path[-1]} says remember, and on_violation = "spill"',
            why="what the rule drops is kept on disk, and no value has to be remembered",
            fix="leave out remember",
        )
    return Breach(reject=False, spill=True)


def read_floor(entry: TomlTable, declared: int, read: Callable[[], int]) -> int | None:
    """What `adapt` and `floor` say: the least that a live run uses, where it uses what rows show
    (None: it uses what is declared).

    Args:
        entry: a rule that closes values.
        declared: what it declares.
        read: reads the floor, as that is read.

    Raises:
        CatalogError: something is wrong, with its line.
    """
    if not entry.flag("adapt"):
        if "floor" in entry.values:
            raise entry.error(
                "floor",
                "floor is declared, and adapt is not",
                why="it is the least that a run uses which adapts",
                fix="add adapt = true, or leave out floor",
            )
        return None
    entry.need("floor", "the least that is ever used, written as what is declared")
    floor = read()
    if floor > declared:
        raise entry.error(
            "floor",
            "the floor is greater than what is declared",
            why="a run uses what rows show, between the two",
            fix="write a floor that is less",
        )
    return floor


def read_rows(entry: TomlTable) -> int:
    """The floor of a rule that counts rows, or whole numbers."""
    return entry.count("floor", least=0) or 0


def read_order_breach(entry: TomlTable) -> Breach | None:
    """What an order's `on_violation` says (None: nothing): nothing has to be remembered of it but
    the greatest values.

    Raises:
        CatalogError: something is wrong, with its line.
    """
    breach = read_breach(entry, (), 1, remembers=False)
    return breach if breach is None else Breach(breach.reject, values=1)


def _read_time(entry: TomlTable, text: str, step_us: int) -> int:
    time = parse_duration(text)
    if time is None or time <= 0 or time % step_us:
        raise entry.error(
            "remember",
            f"{text!r} is not a whole number of the stream's steps",
            why="time is counted in steps of the stream's unit",
            fix='write a duration that is a multiple of the unit, e.g. "1 day", or "forever"',
        )
    return time


def _count_values(entry: TomlTable, columns: Sequence[Column]) -> int:
    """How many values columns can have together."""
    total = 1 if columns else None
    for column in columns:
        count = _count(column)
        total = None if total is None or count is None else total * count
    if total is None:
        named = ", ".join(column.name for column in columns)
        raise entry.error(
            "remember",
            f"values of {named} are any number" if named else "a lag remembers for ever",
            why="what is remembered for ever must be few values",
            fix='declare a range or an enumeration of it, or write remember = "1 day"',
        )
    return total


def _count(column: Column) -> int | None:
    """How many values a column can have, by what is declared of itself (None: any number)."""
    if column.enum is not None:
        return len(column.enum)
    if isinstance(column.type, BooleanType):
        return 2
    low, high = column.minimum, column.maximum
    if isinstance(column.type, IntType) and isinstance(low, int) and isinstance(high, int):
        return max(high - low + 1, 0)
    if isinstance(column.type, DateType) and isinstance(low, str) and isinstance(high, str):
        first, last = datetime.date.fromisoformat(low), datetime.date.fromisoformat(high)
        return max((last - first).days + 1, 0)
    return None
