"""Recall which rows of streams were rejected, where their files were verified before."""

from base64 import b64decode
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from typing import Any
from zlib import decompress

import numpy as np

from ontoweir.runtime.sources.verified_rows import VerifiedRows
from ontoweir.runtime.verified.recall_times import recall_times
from ontoweir.runtime.verified.verification import WHAT, Verification


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of a stream's files.

    `safe`: the columns whose type holds nothing but values of their own; `found`: the rejected rows
    of replays, each with the other columns that it read though they are not enforced, whose values
    may not be of their type.
    """

    safe: frozenset[str]
    found: tuple[tuple[frozenset[str], VerifiedRows], ...]


def recall_verified(
    verification: Verification, wanted: Mapping[str, Set[str]], *, whole: bool = False
) -> dict[str, VerifiedRows]:
    """Of those streams that are verified, which rows are rejected.

    A row is rejected for a value that is not of its type only where that is read, or enforced. So
    what was found holds for a run that reads the same doubtful columns; or fewer, if no row was
    rejected.

    Args:
        verification: where it is kept.
        wanted: by stream, the columns that a run reads beside those that are enforced.
        whole: all of history is replayed, so that timestamps are recalled too, and kept.
    """
    known = {}
    for name, columns in wanted.items():
        record = read_record(verification, name)
        if record is None or verification.again:
            continue
        doubtful = columns - record.safe
        for others, rows in record.found:
            if others == doubtful or (doubtful <= others and not rows.rejects):
                times = recall_times(verification, name) if whole else None
                known[name] = replace(rows, times=times)
    return known


def read_record(verification: Verification, name: str) -> Record | None:
    """What is known of a stream (None: nothing)."""
    if name not in verification.known:
        return None
    return verification.cache.read(WHAT, verification.known[name], _decode)


def _decode(held: Any) -> Record:
    return Record(
        frozenset(map(str, held["safe"])),
        tuple(
            (frozenset(map(str, read)), _rows(rejects, held["order"]))
            for read, rejects in held["found"]
        ),
    )


def _rows(held: Any, order: Any) -> VerifiedRows:
    rejects = {
        str(reason): {str(file): _numbers(text) for file, text in files.items()}
        for reason, files in held.items()
    }
    return VerifiedRows(rejects, order)


def _numbers(text: str) -> np.ndarray[Any, Any]:
    steps = np.frombuffer(decompress(b64decode(text)), dtype="<i8")
    return np.cumsum(steps)
