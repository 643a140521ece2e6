"""Parts of times, as EXTRACT and a format have them."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

_POSTGRES = {"YYYY": "%Y", "MM": "%m", "DD": "%d", "HH24": "%H", "MI": "%M", "SS": "%S"}
_TOKEN = re.compile("|".join(_POSTGRES) + r"|[-/:., T]")


def name_parts(tree: "exp.Query") -> None:
    """Put EXTRACT in the place of DATE_PART and EPOCH, and a format of time in that of STRFTIME,
    and of TO_CHAR with a format of PostgreSQL."""
    from sqlglot import exp

    for call in list(tree.find_all(exp.Anonymous)):
        name, given = call.name.upper(), call.expressions
        if name in ("DATE_PART", "DATEPART") and len(given) == 2:
            part = given[0].name if isinstance(given[0], (exp.Literal, exp.Column)) else ""
            if part.isalpha():
                call.replace(exp.Extract(this=exp.var(part.upper()), expression=given[1]))
        elif name == "EPOCH" and len(given) == 1:
            call.replace(exp.Extract(this=exp.var("EPOCH"), expression=given[0]))
        elif name == "STRFTIME" and len(given) == 2:
            text, time = sorted(given, key=lambda g: not isinstance(g, exp.Literal))
            if isinstance(text, exp.Literal) and text.is_string:
                call.replace(exp.TimeToStr(this=time, format=text))
    for spelled in list(tree.find_all(exp.ToChar)):
        known = _read_format(spelled.args.get("format"))
        if known is not None:
            text = exp.Literal.string(known)
            spelled.replace(exp.TimeToStr(this=spelled.this, format=text))


def _read_format(given: "exp.Expr | None") -> str | None:
    """A format of PostgreSQL as STRFTIME has it (None: it is none of a time, or has more)."""
    text = given.name if given is not None and given.is_string else ""
    tokens = _TOKEN.findall(text)
    if "".join(tokens) != text or not set(tokens) & _POSTGRES.keys():
        return None
    return "".join(_POSTGRES.get(token, token) for token in tokens)
