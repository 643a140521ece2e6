"""Read what is declared of a stream's timestamps."""

from dataclasses import dataclass

from ontoweir.mappings.catalog.read_time_format import read_time_format
from ontoweir.mappings.model.catalog import Align, TimeFormat
from ontoweir.mappings.model.column_types import epoch_us, parse_instant
from ontoweir.mappings.model.parse_duration import parse_duration
from ontoweir.mappings.model.read_table import TomlTable

_KNOWN = ("column", "unit", "idle", "start", "align", "lateness", "format", "zone", "from")
_ADAPT = ("adapt", "floor", "window")
"""What a live run may do with a lateness."""


@dataclass(frozen=True, slots=True)
class DeclaredTime:
    """What is declared of timestamps; see Stream."""

    column: str
    step_us: int
    idle_us: int | None
    start_us: int | None
    align: Align
    written: TimeFormat | None
    lateness_us: int
    floor_us: int | None = None
    window_us: int | None = None


def read_timestamp(table: TomlTable) -> DeclaredTime:
    """What the table of a stream says of its timestamps.

    Raises:
        CatalogError: something is wrong, with its line.
    """
    time = table.table("timestamp")
    time.refuse_unknown((*_KNOWN, *_ADAPT))
    time.need("column", '"ts"')
    time.need("unit", '"5 minutes"')
    column, unit = time.text("column") or "", time.text("unit") or ""
    step = parse_duration(unit)
    if step is None or step <= 0:
        raise time.error(
            "unit",
            f"the unit of time {unit!r} is not a positive duration",
            why="one step of the flow of time has a fixed length",
            fix='write a number and a unit, e.g. "5 minutes", or an ISO duration, e.g. "PT5M"',
        )
    limited = table.count("max_per_timestamp", least=1) is not None
    lateness = _read_lateness(time, limited=limited)
    floor, window = _read_adapt(time, lateness, step)
    return DeclaredTime(
        column,
        step,
        _read_idle(time),
        _read_start(time, step),
        _read_align(time),
        read_time_format(time, column),
        lateness,
        floor,
        window,
    )


def _read_idle(time: TomlTable) -> int | None:
    """After how long without a row a stream holds others back no more, in µs."""
    idle = time.text("idle")
    patience = None if idle is None else parse_duration(idle)
    if idle is not None and (patience is None or patience <= 0):
        raise time.error(
            "idle",
            f"{idle!r} is not a positive duration",
            why="it is how long, by the clock, others wait for a stream that says nothing",
            fix='write a number and a unit, e.g. "1 minute", or leave it out: then they wait',
        )
    return patience


def _read_lateness(time: TomlTable, *, limited: bool) -> int:
    """How long after a row with a later timestamp a row may come, in µs."""
    text = time.text("lateness")
    if text is None:
        return 0
    lateness = parse_duration(text)
    if lateness is None or lateness < 0:
        raise time.error(
            "lateness",
            f"{text!r} is not a duration",
            why="it is how long after a row with a later timestamp a row may come",
            fix='write a number and a unit, e.g. "30 seconds", or leave it out: rows come in order',
        )
    if lateness and not limited:
        raise time.error(
            "lateness",
            "a lateness is declared, but no max_per_timestamp",
            why="the rows of so many timestamps are kept until no row can come for them any more, "
            "and nothing bounds how many those are",
            fix="declare max_per_timestamp, the most rows of one timestamp",
        )
    return lateness


def _read_adapt(time: TomlTable, lateness: int, step: int) -> tuple[int | None, int | None]:
    """The least lateness that a live run may use, and how long it looks at rows, in µs (None: it
    uses what is declared; as long as fits that).

    Raises:
        CatalogError: they do not fit together.
    """
    if not time.flag("adapt"):
        for key in ("floor", "window"):
            if key in time.values:
                raise time.error(
                    key,
                    f"{key} is declared, and adapt is not",
                    why="it says how a live run uses less than the declared lateness",
                    fix=f"add adapt = true, or leave out {key}",
                )
        return None, None
    if not lateness:
        raise time.error(
            "adapt",
            "adapt is declared, and no lateness",
            why="a live run uses the lateness that rows show, at most the declared one",
            fix='declare lateness = "10 minutes", the most that is ever waited',
        )
    time.need("floor", '"10 seconds", the least that is ever waited')
    floor = _read_steps(time, "floor", step)
    if floor > lateness:
        raise time.error(
            "floor",
            f"the floor is greater than the lateness, {time.text('lateness')}",
            why="what is used lies between the two",
            fix="write a floor that is less",
        )
    return floor, _read_steps(time, "window", step) if "window" in time.values else None


def _read_steps(time: TomlTable, key: str, step: int) -> int:
    text = time.text(key) or ""
    span = parse_duration(text)
    if span is None or span < 0 or span % step or (key == "window" and not span):
        raise time.error(
            key,
            f"{text!r} is not a whole number of the stream's steps",
            why="time is counted in steps of the stream's unit",
            fix='write a duration that is a multiple of the unit, e.g. "1 minute"',
        )
    return span


def _read_align(time: TomlTable) -> Align:
    """What becomes of timestamps between two steps."""
    match time.text("align") or "error":
        case "error":
            return "error"
        case "floor":
            return "floor"
        case "round":
            return "round"
        case other:
            raise time.error(
                "align",
                f"align is {other!r}",
                why="a timestamp between two steps is refused, or moved to a step",
                fix='write "error", "floor" (the step before) or "round" (the nearest step)',
            )


def _read_start(time: TomlTable, step_us: int) -> int | None:
    """The declared first timestamp, in microseconds since 1970."""
    value = time.values.get("start")
    if value is None:
        return None
    start = None
    if not isinstance(value, (bool, int, float, list, dict)):
        try:
            start = epoch_us(parse_instant(str(value)))
        except ValueError:
            start = None
    if start is None or start % step_us:
        raise time.error(
            "start",
            f"{value!r} is not a timestamp of this stream",
            why="it is the first timestamp that the stream has, a whole number of steps since 1970",
            fix='write e.g. start = "2014-08-01T00:00:00"',
        )
    return start
