"""Write declarations into a project file, and show the lines that say them."""

import tomllib
from collections.abc import Sequence
from difflib import SequenceMatcher

from ontoweir.measuring.declared import Declared, SetNullable, write_in


def write_declarations(text: str, declared: Sequence[Declared]) -> tuple[str, tuple[Declared, ...]]:
    """The text of a project file with declarations, and those for which it has no simple place.

    Args:
        text: of the project file.
        declared: what it is to say; comments and order stay.
    """
    left = []
    # others write a column as a whole, as it was
    for one in sorted(declared, key=lambda d: isinstance(d, SetNullable)):
        changed = write_in(text, one)
        if changed is None:
            left.append(one)
        else:
            text = changed
    return text, tuple(left)


def show_lines(text: str, declared: Declared) -> str:
    """The lines of a project file that say a declaration, below the section that they are in; as
    they would be after it.

    Args:
        text: of the project file.
        declared: what it is to say.
    """
    changed = write_in(text, declared)
    if changed is None:
        return ""
    old, new = text.split("\n"), changed.split("\n")
    fresh = [
        number
        for tag, _, _, first, last in SequenceMatcher(None, old, new, False).get_opcodes()
        if tag in ("replace", "insert")
        for number in range(first, last)
    ]
    headers = (line for line in reversed(new[: fresh[0]]) if _is_header(line))
    lines = [next(headers, ""), *(new[number] for number in fresh)]
    return "\n".join(line for line in lines if line)


def _is_header(line: str) -> bool:
    try:
        return line.lstrip().startswith("[") and bool(tomllib.loads(line))
    except tomllib.TOMLDecodeError:
        return False
