"""The folder that the names of a source's local files are told below."""

import re
from functools import lru_cache

_PATTERN = re.compile(r"[*?\[\]{}]")


@lru_cache(1024)
def find_base(path: str) -> str:
    """A path as far as it is no pattern.

    >>> [find_base(path) for path in ("/a/b", "/a/b*/*.csv", "file:///a/[bc].csv")]
    ['/a/b', '/a', '/a']
    """
    path = re.sub("^file:/+", "/", path)
    parts = path.split("/")
    plain = next((n for n, part in enumerate(parts) if _PATTERN.search(part)), len(parts))
    return "/".join(parts[:plain]) or "/"
