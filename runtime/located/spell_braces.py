"""Patterns with braces, as Hadoop has them: `{a,b}` stands for each of the two."""

import re

_BRACES = re.compile(r"\{([^{}]*)\}")


def spell_braces(pattern: str) -> list[str]:
    """A pattern for each of what braces have.

    >>> spell_braces("/in/{a,b}/{c,d{e,f}}.csv")[-3:]
    ['/in/b/c.csv', '/in/b/de.csv', '/in/b/df.csv']
    """
    held = _BRACES.search(pattern)
    if held is None:
        return [pattern]
    before, after = pattern[: held.start()], pattern[held.end() :]
    found = [x for one in held[1].split(",") for x in spell_braces(f"{before}{one}{after}")]
    return sorted(set(found))
