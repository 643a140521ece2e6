"""Parts of times, as EXTRACT and a format have them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def name_parts(tree: "exp.Query") -> None:
    """Put EXTRACT in the place of DATE_PART and EPOCH, and a format of time in that of STRFTIME."""
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
