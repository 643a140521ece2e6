"""What a pattern of files says of the names of each level of folders, for who lists them level by
level."""

import re

_MAGIC = re.compile(r"[*?\[]")
_CLASS = re.compile(r"\[(!?)(\]?[^\]]*)\]")


def name_levels(pattern: str) -> tuple[str, tuple[str, ...]]:
    r"""The folder that a pattern begins with, and a regular expression of whole names for each
    level below it. As in Python's glob, `*` and `?` at the beginning stand for no dot. What
    crosses levels (`**`) has none.

    >>> name_levels("/in/day*/[!x].csv")
    ('/in', ('(?!\\.)day.*', '(?!\\.)[^x]\\.csv'))
    >>> name_levels("/in/.*/a")
    ('/in', ('\\..*', '(?!\\.)a'))
    """
    parts = pattern.split("/")
    plain = next((n for n, part in enumerate(parts) if _MAGIC.search(part)), len(parts))
    return "/".join(parts[:plain]) or "/", tuple(map(_translate, parts[plain:]))


def _translate(part: str) -> str:
    written = "" if part.startswith(".") else r"(?!\.)"
    place = 0
    while place < len(part):
        held = _CLASS.match(part, place)
        if held is not None:
            inner = re.sub(r"([\\\[\]^&~|])", r"\\\1", held[2])
            written += f"[{'^' if held[1] else ''}{inner}]"
            place = held.end()
            continue
        one = part[place]
        written += {"*": ".*", "?": "."}.get(one) or re.escape(one)
        place += 1
    return written
