"""Patterns of timestamps, such as `%d/%m/%Y %H:%M:%S`: the meaning of strptime's directives."""

import re
from dataclasses import dataclass

DIRECTIVES = {
    "Y": r"\d{4}",
    "y": r"\d{2}",
    "m": r"\d{1,2}",
    "d": r"\d{1,2}",
    "b": r"[A-Za-z]{3}",
    "H": r"\d{1,2}",
    "I": r"\d{1,2}",
    "p": r"[AaPp][Mm]",
    "M": r"\d{1,2}",
    "S": r"\d{1,2}",
    "f": r"\d{1,6}",
    "z": r"Z|[+-]\d{2}:?\d{2}",
}
"""By its letter, what a directive matches: year of four digits or two (1969 to 2068), month, day,
the month's English name, hour, hour of twelve with AM or PM, minute, second, its fraction, and the
distance from UTC."""

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@dataclass(frozen=True, slots=True)
class TimePattern:
    """`regex`: of RE2 and Python alike, with a group for each of `fields`, its directives."""

    regex: str
    fields: frozenset[str]


def read_pattern(text: str) -> TimePattern:
    """The pattern that a format is.

    Raises:
        ValueError: what is wrong with it, as the rest of a sentence.
    """
    regex, fields = "", list[str]()
    for part in re.findall(r"%.?|[^%]+", text, re.DOTALL):
        if part[0] != "%":
            regex += re.escape(part)
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
    for name, choices in (("a year", "Yy"), ("a month", "mb"), ("a day", "d")):
        if len(set(choices) & set(fields)) != 1:
            raise ValueError(f"does not say {name} once")
    if ("I" in fields) != ("p" in fields) or {"I", "H"} <= set(fields):
        raise ValueError("does not say the hour once: %H, or %I with %p")
    return TimePattern(f"^{regex}$", frozenset(fields))
