"""The content of files, and of the program, as text to compare."""

import os
import sys
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_LIBRARIES = ("pyoxigraph", "rdflib", "sqlglot", "networkx", "rich")
"""Libraries on which depends what is read, decided and shown."""


def digest_file(path: Path) -> str | None:
    """A text that changes with a file's content, and with the file that its links lead to; None
    where it cannot be read."""
    try:
        return f"{sha256(path.read_bytes()).hexdigest()} {os.path.realpath(path)}"
    except OSError:
        return None


@cache
def digest_program() -> str:
    """A text that changes with the program: with any of its files, as their sizes and times show,
    with its libraries, and with Python."""
    root = Path(__file__).resolve().parent.parent
    found = [sys.version, *(f"{name} {_find_version(name)}" for name in _LIBRARIES)]
    folders = [str(root)]
    while folders:
        for entry in sorted(os.scandir(folders.pop()), key=lambda entry: entry.path):
            if entry.is_dir():  # also what is linked: the folders at the top of the repository
                if entry.name != "__pycache__":
                    folders.append(entry.path)
            elif entry.name.endswith((".py", ".md")):
                known = entry.stat()
                found.append(f"{entry.path} {known.st_size} {known.st_mtime_ns}")
    return sha256("\n".join(found).encode()).hexdigest()


def _find_version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"
