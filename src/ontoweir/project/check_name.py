"""Check the name of a registered query, which also names folders."""

import re

from ontoweir.errors import UsageError

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


_TAKEN = ("rejects", "quarantine")
"""Names of folders that runs write beside those of answers."""


def check_name(name: str) -> str:
    """The name, if it is allowed for a registered query.

    Raises:
        UsageError: it cannot name a folder.
    """
    if _NAME.fullmatch(name) and name not in _TAKEN:
        return name
    raise UsageError(
        f"a registered query cannot be called {name!r}",
        why=f"{name} is a folder of every run"
        if name in _TAKEN
        else "its name is that of folders: letters, digits, _, - and ., at most 100",
        fix="choose another with --name",
    )
