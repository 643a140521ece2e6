"""Two times of one bucket, in SPARQL."""

from ontoweir.mappings.model.column_types import XSD
from ontoweir.mappings.model.time_bucket import CalendarBuckets, FixedBuckets
from ontoweir.rewriter.calendar.compare_named_buckets import Call, read_call
from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.syntax.group_binds import list_prefixes

_SECOND = 1_000_000
_PARTS = (
    ("SECONDS", _SECOND, 60 * _SECOND),
    ("MINUTES", 60 * _SECOND, 3_600 * _SECOND),
    ("HOURS", 3_600 * _SECOND, 86_400 * _SECOND),
)
"""A function of a time, the unit of what it gives, and after how long it begins anew (µs)."""
_DAY = 86_400 * _SECOND
_MONTHS = {"month": (1, 31), "quarter": (3, 92)}
"""How many months a bucket has, and how many days at most."""


def equal_buckets(text: str) -> str:
    """`ow:tumble(?t, W) = ow:tumble(?u, W)` as what it says of parts of both times, on its lines:
    `HOURS(?t) = HOURS(?u) && ?t < ?u + W && ?u < ?t + W` where W is an hour. So are seconds and
    minutes of which a whole number is in the next unit, hours of which one is in a day, days,
    months, quarters and years of UTC. Other texts are as they were."""
    if text.count("tumble") < 2:
        return text
    edit = Edit(text)
    names, many = list_prefixes(edit.tokens), len(edit.tokens)
    for n, token in enumerate(edit.tokens):
        if token.text != "=":
            continue
        calls = (read_call(edit.tokens, k, names) for k in range(n))
        one = next((c for c in calls if c is not None and c.last == n - 1), None)
        other = read_call(edit.tokens, n + 1, names) if n + 1 < len(edit.tokens) else None
        if one is None or other is None or one.grid != other.grid or other.last + 1 >= many:
            continue
        around = edit.tokens[one.first - 1].text, edit.tokens[other.last + 1].text
        if around[0] not in ("(", "&&", "||") or around[1] not in (")", "&&", "||"):
            continue
        if (made := _write(one, other)) is not None:
            edit.blank(one.first, other.last)
            edit.before(one.first, made)
    return edit.finish()


def _write(one: Call, other: Call) -> str | None:
    found = _find_part(one.grid)
    if found is None:
        return None
    part, many, longest_us = found
    width = f'"PT{longest_us // _SECOND}S"^^<{XSD}dayTimeDuration>'
    if longest_us % _DAY == 0:
        width = f'"P{longest_us // _DAY}D"^^<{XSD}dayTimeDuration>'
    equal = " = ".join(_write_part(part, many, call.time) for call in (one, other))
    near = " && ".join(f"{a.time} < {b.time} + {width}" for a, b in ((one, other), (other, one)))
    return f"{equal} && {near}"


def _find_part(grid: FixedBuckets | CalendarBuckets) -> tuple[str, int, int] | None:
    """The function that gives the buckets of times that are less than a bucket apart, how many of
    its units one has, and how long it is at most."""
    if isinstance(grid, CalendarBuckets):
        if grid.zone != "UTC":
            return None
        if grid.unit == "year":
            return "YEAR", 1, 366 * _DAY
        many, days = _MONTHS.get(grid.unit, (0, 0))
        return ("MONTH", many, days * _DAY) if many else None
    if grid.origin_us:
        return None
    if grid.width_us == _DAY:
        return "DAY", 1, _DAY
    for part, unit, whole in _PARTS:
        if grid.width_us % unit == 0 and whole % grid.width_us == 0 and grid.width_us < whole:
            return part, grid.width_us // unit, grid.width_us
    return None


def _write_part(part: str, many: int, time: str) -> str:
    shown = f"{part}({time})"
    if part == "SECONDS":
        return f"FLOOR(<{XSD}double>({shown}) / {many})"
    if many == 1:
        return shown
    before = " + 2" if part == "MONTH" else ""
    return f"FLOOR((<{XSD}double>({shown}){before}) / {many})"
