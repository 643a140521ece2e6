"""A folder of entries between runs, each under a key, that any process may use at once."""

import json
import os
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from ontoweir.cache.digest_file import digest_program

T = TypeVar("T")
VARIABLE = "ONTOWEIR_CACHE"
OFF = "off"
LIMIT = 256 << 20
"""How many bytes the folder holds; of more, what was used longest ago is removed."""
_SUFFIX, _SCRATCH = ".json", ".part"
_OF_OTHERS = 0o022
"""Permissions with which others can write."""


def open_cache(named: str | None = None) -> "Cache | None":
    """The cache in the folder that is named, else in $ONTOWEIR_CACHE, else in the folder for caches
    of the user ($XDG_CACHE_HOME, ~/.cache); None where that is "off", or cannot be trusted.

    A folder that somebody else owns or can write to is not used: who can change an entry decides
    what a verdict says.
    """
    given = named or os.environ.get(VARIABLE)
    if given == OFF:
        return None
    try:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(given) if given else Path(home) / "ontoweir"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        known = folder.stat()
    except (OSError, RuntimeError):  # read-only, a file, or nobody's home
        return None
    if known.st_uid != os.getuid() or known.st_mode & _OF_OTHERS:
        return None
    return Cache(folder)


@dataclass(frozen=True, slots=True)
class Cache:
    """Entries in a folder. Whatever is wrong with one, it is as if it were not there, and it is
    written again; what cannot be written is not kept. No method raises."""

    folder: Path
    limit: int = LIMIT

    def read(self, what: str, key: object, make: Callable[[Any], T]) -> T | None:
        """What `make` makes of the JSON under a key; None where there is none, or `make` raises."""
        file = self._file(what, key)
        try:
            digest, _, content = file.read_bytes().partition(b"\n")
            if sha256(content).hexdigest().encode() != digest:
                return None
            made = make(json.loads(content))
            os.utime(file)
        except Exception:  # corrupted, or of another version: only a checksum of ours was passed
            return None
        return made

    def write(self, what: str, key: object, value: object) -> None:
        """Keep JSON under a key, in place of what is there."""
        self.write_all(what, [(key, value)])

    def write_all(self, what: str, entries: Iterable[tuple[object, object]]) -> None:
        """Keep JSON under keys. The folder is looked through once, however many there are."""
        with suppress(OSError):
            for key, value in entries:
                content = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
                if len(content) <= self.limit:
                    digest = sha256(content).hexdigest().encode()
                    self._replace(self._file(what, key), digest + b"\n" + content)
            self._trim()

    def _file(self, what: str, key: object) -> Path:
        """Keys are JSON; the program is part of each."""
        text = json.dumps([digest_program(), what, key], ensure_ascii=False)
        return self.folder / f"{what}-{sha256(text.encode()).hexdigest()}{_SUFFIX}"

    def _replace(self, file: Path, content: bytes) -> None:
        """By a rename: who reads meanwhile finds what was there, or all of what is."""
        handle, scratch = tempfile.mkstemp(_SCRATCH, dir=self.folder)
        try:
            with os.fdopen(handle, "wb") as opened:
                opened.write(content)
            os.replace(scratch, file)
        except BaseException:
            Path(scratch).unlink(missing_ok=True)
            raise

    def _trim(self) -> None:
        """Remove what was used longest ago; others may do so at the same time."""
        found = []
        for file in self.folder.iterdir():
            if file.suffix in (_SUFFIX, _SCRATCH):
                with suppress(FileNotFoundError):
                    known = file.stat()
                    found.append((known.st_mtime_ns, known.st_size, file))
        size = sum(one for _, one, _ in found)
        for _, one, file in sorted(found):
            if size <= self.limit:
                break
            file.unlink(missing_ok=True)
            size -= one
