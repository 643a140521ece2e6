"""Recall which rows of streams were rejected, where their files were verified before."""

from base64 import b64decode
from collections.abc import Mapping, Set
from typing import Any
from zlib import decompress

import numpy as np

from ontoweir.runtime.sources.verified_rows import VerifiedRows
from ontoweir.runtime.verified.verification import WHAT, Verification


def recall_verified(
    verification: Verification, wanted: Mapping[str, Set[str]]
) -> dict[str, VerifiedRows]:
    """Of those streams that are verified, which rows are rejected.

    Args:
        verification: where it is kept.
        wanted: by stream, the columns that a run reads. Those whose values may not be of their type
            must have been read when it was verified.
    """
    found = {}
    for name, columns in wanted.items():
        if name not in verification.known or verification.again:
            continue
        record = read_record(verification, name)
        if record is not None and columns <= record[0]:
            found[name] = record[1]
    return found


def read_record(
    verification: Verification, name: str
) -> tuple[frozenset[str], VerifiedRows] | None:
    """The columns of a stream whose values were held to their types, and its rejected rows (None:
    it was not verified)."""
    return verification.cache.read(WHAT, verification.known[name], _decode)


def _decode(held: Any) -> tuple[frozenset[str], VerifiedRows]:
    rejects = {
        str(reason): {str(file): _numbers(text) for file, text in files.items()}
        for reason, files in held["rejects"].items()
    }
    return frozenset(map(str, held["columns"])), VerifiedRows(rejects)


def _numbers(text: str) -> np.ndarray[Any, Any]:
    steps = np.frombuffer(decompress(b64decode(text)), dtype="<i8")
    return np.cumsum(steps)
