"""What `--query` is given, in the words of a command's other options."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from ontoweir.project.language_of import language_of_text

_OPTIONS = ("--query", "--for")
_APART = "--ontology"
"""Without a project, `--query` of `rewrite` is a file."""
_FIRST = "show"
"""The command that takes a query before the project."""
_FILES = (".sql", ".rq", ".sparql", ".rspql", ".csparql", ".starql")


def spell_queries(given: Sequence[str]) -> list[str]:
    """The arguments of a command, in which a query whose text, or file, follows `--query` or
    `--for` stands by itself; names stay, and all of a command that has no project.

    >>> spell_queries(["check", "p", "--query", "SELECT id FROM s", "-q"])
    ['check', 'p', 'SELECT id FROM s', '-q']
    >>> spell_queries(["show", "p", "--query=SELECT id FROM s"])
    ['show', 'SELECT id FROM s', 'p']
    >>> spell_queries(["check", "--query", "by-hour"])
    ['check', '--query', 'by-hour']
    """
    if any(one.partition("=")[0] == _APART for one in given):
        return list(given)
    made: list[str] = []
    place = 0
    while place < len(given):
        option, mark, text = given[place].partition("=")
        used = 1
        if not mark and option in _OPTIONS and place + 1 < len(given):
            text, used = given[place + 1], 2
        asked = option in _OPTIONS and _is_query(text)
        if asked and given[0] == _FIRST:
            made.insert(1, text)
        else:
            made += [text] if asked else given[place : place + used]
        place += used
    return made


def name_typed(text: str) -> str:
    """What a query that is typed is called: so that answers and states of different ones are kept
    apart.

    >>> name_typed("SELECT id FROM s")
    'query-140a4f'
    """
    return f"query-{hashlib.sha256(text.strip().encode()).hexdigest()[:6]}"


def _is_query(text: str) -> bool:
    """Whether it is a query, or a file of one, and no name."""
    if language_of_text(text) is not None:
        return True
    try:
        return Path(text).suffix.lower() in _FILES and Path(text).is_file()
    except OSError:  # a text that is too long for a name
        return False
