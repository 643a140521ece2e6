"""A query that standard input has, in the place of `-`."""

import sys
from collections.abc import Sequence

from ontoweir.errors import Source, UsageError
from ontoweir.project.language_of import language_of_text

_OPTIONS = ("--query", "--for")


def pipe_query(given: Sequence[str]) -> list[str]:
    """The arguments of a command, in which `-` after `--query` or `--for` is the text of a query,
    in SPARQL or SQL, that standard input has. SQL that begins with a comment is no option: it has a
    blank before it.

    Raises:
        UsageError: it has none.
    """
    made = list(given)
    for place, one in enumerate(given):
        option, mark, text = one.partition("=")
        if option in _OPTIONS and mark and text == "-":
            made[place] = f"{option}={_read(option)}"
        elif one == "-" and place and given[place - 1] in _OPTIONS:
            made[place] = _read(given[place - 1])
    return [f" {one}" if _is_commented(one) else one for one in made]


def _is_commented(text: str) -> bool:
    return text.startswith("--") and "\n" in text and language_of_text(text) == "sql"


def _read(option: str) -> str:
    try:
        text = "" if sys.stdin is None else sys.stdin.read()
    except UnicodeDecodeError:
        text = ""
    if language_of_text(text) is None:
        raise UsageError(
            "standard input has no query",
            why=f"{option} - reads SPARQL or SQL there",
            fix="pipe the text of a query in, or name a query or a file",
            source=Source(option),
        )
    return text
