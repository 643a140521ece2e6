"""The examples on a diagnostic's page: one for which its code is told, then its mended twin."""

import re
from dataclasses import dataclass

from ontoweir.report.explain_code import explain_code

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MADE_OF = ("sql", "sparql", "turtle")


@dataclass(frozen=True, slots=True)
class Example:
    """A query or a mapping, and what the page gives with it: tables, triples, axioms."""

    language: str
    text: str
    given: dict[str, str]


def list_examples(code: str) -> list[Example]:
    """The examples of a code's page, in order: the first kind of block that there is."""
    page, _, shared = explain_code(code).partition("The tables of the example:")
    given = dict(_BLOCK.findall(shared)) | dict(_BLOCK.findall(page))
    blocks = [(language, text) for language, text in _BLOCK.findall(page) if language in _MADE_OF]
    return [Example(language, text, given) for language, text in blocks]
