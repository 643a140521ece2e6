"""Constant arguments of SPARQL's functions: numbers, texts, regular expressions."""

import re

from ontoweir.mappings.model.catalog import StringType
from ontoweir.mappings.model.expression import Expression, Value
from ontoweir.rewriter.expressions.not_exact import NotExactError


def constant_argument(given: Expression, kind: type, name: str) -> "int | str":
    if not isinstance(given, Value) or not isinstance(given.value, kind):
        raise NotExactError(f"{name} by what is no constant", "write a constant there")
    assert isinstance(given.value, int | str)
    return given.value


def read_pattern(given: Expression, flags: Expression | None) -> Value:
    """A regular expression that XPath, RE2 and others read alike."""
    import pyarrow as pa
    import pyarrow.compute as pc

    pattern = str(constant_argument(given, str, "REGEX"))
    marks = "" if flags is None else str(constant_argument(flags, str, "REGEX"))
    if marks not in ("", "i") or re.search(r"\\[^\\.\[\](){}*+?|^$nrt-]", pattern):
        raise NotExactError(
            f"the regular expression {pattern!r} {marks}".rstrip(),
            "write classes such as [0-9] out; the flag i is read",
        )
    if "(?" in pattern or "-[" in pattern:
        raise NotExactError(f"the regular expression {pattern!r}", "write plain groups and classes")
    whole = f"(?i){pattern}" if marks else pattern
    try:
        pc.match_substring_regex(pa.array([""]), whole)
        re.compile(whole)
    except (pa.ArrowInvalid, re.error) as error:
        raise NotExactError(f"{pattern!r}: {str(error).splitlines()[0]}", "mend it") from None
    return Value(whole, StringType())
