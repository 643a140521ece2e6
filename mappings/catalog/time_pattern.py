"""Patterns of timestamps, such as `%d/%m/%Y %H:%M:%S`: the meaning of strptime's directives."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

DIRECTIVES = {
    "Y": r"\d{4}",
    "y": r"\d{2}",
    "m": r"\d{1,2}",
    "d": r"\d{1,2}",
    "b": r"[A-Za-z]{3}",
    "B": r"[A-Za-z]{3,9}",
    "a": r"[A-Za-z]{3}",
    "A": r"[A-Za-z]{6,9}",
    "H": r"\d{1,2}",
    "I": r"\d{1,2}",
    "p": r"[AaPp][Mm]",
    "M": r"\d{1,2}",
    "S": r"\d{1,2}",
    "f": r"\d{1,6}",
    "z": r"Z|UTC|GMT|[+-]\d{2}:?\d{2}",
}
"""By its letter, what a directive matches: year of four digits or two (1969 to 2068), month, day,
the month's English name in three letters, or in full, and the weekday's likewise, which says
nothing; hour, hour of twelve with AM or PM, minute, second, its fraction, and the distance from
UTC."""

EPOCHS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"epoch_s": (1_000_000, 1), "epoch_ms": (1_000, 1), "epoch_us": (1, 1), "epoch_ns": (1, 1_000)}
)
"""Formats of times that are numbers; so many microseconds are so many of them."""
MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
"""In full; in short their first three letters."""
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@dataclass(frozen=True, slots=True)
class TimePattern:
    """`regex`: of RE2 and Python alike, with a group for each of `fields`, its directives."""

    regex: str
    fields: frozenset[str]


def read_pattern(text: str) -> TimePattern:
    """The pattern that a format is: what it does not say of a day is the first one, of a month, or
    of January; a blank matches several.

    Raises:
        ValueError: what is wrong with it, as the rest of a sentence.
    """
    regex, fields = "", list[str]()
    for part in re.findall(r"%.?|[^%]+", text, re.DOTALL):
        if part[0] != "%":
            regex += re.sub(r"(\\ )+", " +", re.escape(part))
        elif part == "%%":
            regex += "%"
        elif part == "%T":
            return read_pattern(text.replace("%T", "%H:%M:%S", 1))
        elif part[1:] not in DIRECTIVES:
            raise ValueError(f"has {part}, which is not known")
        elif part[1] in fields:
            raise ValueError(f"has {part} twice")
        else:
            fields.append(part[1])
            regex += f"(?P<{part[1]}>{DIRECTIVES[part[1]]})"
    for name, choices in (("year", "Yy"), ("month", "mbB"), ("day", "d"), ("weekday", "aA")):
        if len(set(choices) & set(fields)) > 1:
            raise ValueError(f"says the {name} twice")
    if not {"Y", "y"} & set(fields):
        raise ValueError("does not say a year")
    month, clock = {"m", "b", "B"} & set(fields), {"H", "I", "M", "S", "f"} & set(fields)
    if ("d" in fields and not month) or (clock and "d" not in fields):
        raise ValueError(f"does not say {'a month' if not month else 'a day'}")
    if ("I" in fields) != ("p" in fields) or {"I", "H"} <= set(fields):
        raise ValueError("does not say the hour once: %H, or %I with %p")
    return TimePattern(f"^{regex}$", frozenset(fields))
