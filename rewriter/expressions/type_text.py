"""SPARQL's functions of texts, typed."""

import re
from collections.abc import Sequence

from ontoweir.mappings.model.catalog import BooleanType, IntType, StringType
from ontoweir.mappings.model.expression import Call, Expression, Function, Value
from ontoweir.rewriter.expressions.not_exact import NotExactError
from ontoweir.rewriter.expressions.read_pattern import constant_argument, read_pattern

TEXTS = {
    "STRLEN": 1,
    "UCASE": 1,
    "LCASE": 1,
    "SUBSTR": 1,
    "CONCAT": 99,
    "CONTAINS": 2,
    "STRSTARTS": 2,
    "STRENDS": 2,
    "REGEX": 99,
    "REPLACE": 99,
    "STRBEFORE": 2,
    "STRAFTER": 2,
    "ENCODE_FOR_URI": 1,
    "MD5": 1,
    "SHA1": 1,
    "SHA256": 1,
    "SHA384": 1,
    "SHA512": 1,
}
"""How many of the first arguments are strings."""


def type_text(name: str, given: Sequence[Expression]) -> Expression:
    """A function of texts.

    Raises:
        NotExactError: a pattern, place or length is no constant, or read differently elsewhere.
    """
    subject = given[0]
    match name:
        case "STRLEN":
            return Call(Function.LENGTH, (subject,), IntType())
        case "UCASE" | "LCASE":
            function = Function.UCASE if name == "UCASE" else Function.LCASE
            return Call(function, (subject,), StringType())
        case "CONCAT":
            return Call(Function.CONCAT, tuple(given), StringType())
        case "SUBSTR":
            places = [int(constant_argument(g, int, name)) for g in given[1:]]
            if places[0] < 1 or any(p < 0 for p in places):
                raise NotExactError("SUBSTR from before the first character", "begin at 1")
            numbers = tuple(Value(p, IntType()) for p in places)
            return Call(Function.SUBSTRING, (subject, *numbers), StringType())
        case "REGEX":
            pattern = read_pattern(given[1], given[2] if len(given) > 2 else None)
            return Call(Function.MATCHES, (subject, pattern), BooleanType())
        case "REPLACE":
            pattern = read_pattern(given[1], given[3] if len(given) > 3 else None)
            text = str(constant_argument(given[2], str, name))
            if "$" in text or "\\" in text or re.search(str(pattern.value), ""):
                raise NotExactError("REPLACE with groups, or of nothing", "replace plain texts")
            pair = (pattern, Value(text, StringType()))
            return Call(Function.REGEX_REPLACE, (subject, *pair), StringType())
        case "STRBEFORE" | "STRAFTER":
            function = Function.BEFORE if name == "STRBEFORE" else Function.AFTER
            needle = Value(constant_argument(given[1], str, name), StringType())
            return Call(function, (subject, needle), StringType())
        case "ENCODE_FOR_URI" | "MD5" | "SHA1" | "SHA256" | "SHA384" | "SHA512":
            function = Function.URL_ENCODE if name == "ENCODE_FOR_URI" else Function(name)
            return Call(function, (subject,), StringType())
        case _:
            tests = {
                "CONTAINS": Function.CONTAINS,
                "STRSTARTS": Function.STARTS_WITH,
                "STRENDS": Function.ENDS_WITH,
            }
            needle = Value(constant_argument(given[1], str, name), StringType())
            return Call(tests[name], (subject, needle), BooleanType())
