"""Recall and keep the timestamps, by runs, of streams whose files were verified before."""

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from zlib import compress, decompress

import numpy as np

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.times.known_times import KnownTimes, Place
from ontoweir.runtime.times.time_runs import TimeRuns
from ontoweir.runtime.verified.identify_streams import Identity, identify_streams
from ontoweir.runtime.verified.verification import Verification

_WHAT = "times"
"""How entries of the cache are called."""


def recall_times(verification: Verification, name: str) -> KnownTimes:
    """The timestamps of a stream, which are read from the cache when they are wanted.

    Args:
        verification: where they are kept.
        name: the stream, which is known to it.
    """
    return KnownTimes(partial(_read, verification, verification.known[name]))


def keep_times(verification: Verification, catalog: Catalog, histories: Sequence[History]) -> None:
    """Keep those timestamps that were read, of streams whose files are as they were before.

    Args:
        verification: where, and how the files were.
        catalog: the declarations.
        histories: the streams, with what was read of them.
    """
    new = {
        h.stream.name: h.verified.times
        for h in histories
        if h.verified is not None and h.verified.times is not None and h.verified.times.new
    }
    now = identify_streams(catalog, new)
    for name, times in new.items():
        if now.get(name) == verification.known[name]:
            held = _encode({**times.known, **times.new})
            verification.cache.write(_WHAT, verification.known[name], held)


def _read(verification: Verification, identity: Identity) -> Mapping[Place, TimeRuns]:
    return verification.cache.read(_WHAT, identity, _decode) or {}


def _encode(known: Mapping[Place, TimeRuns]) -> dict[str, object]:
    none = np.zeros(0, dtype=np.int64)
    marks = np.concatenate([none, *(runs.marks for runs in known.values())])
    lengths = np.concatenate([none, *(runs.lengths for runs in known.values())])
    return {
        "places": [[*place, runs.rows, len(runs.marks)] for place, runs in known.items()],
        "marks": _pack(np.diff(marks, prepend=0)),
        "lengths": _pack(lengths),
    }


def _decode(held: Any) -> dict[Place, TimeRuns]:
    marks, lengths = np.cumsum(_unpack(held["marks"])), _unpack(held["lengths"])
    found, start = dict[Place, TimeRuns](), 0
    for file, group, groups, rows, count in held["places"]:
        mine = lengths[start : start + count]
        first = np.cumsum(mine) - mine
        if len(mine) != count or int(mine.sum()) != rows or int(mine.min(initial=1)) < 1:
            raise ValueError("runs have other rows")
        place = Place(str(file), int(group), int(groups))
        found[place] = TimeRuns(marks[start : start + count], first, int(rows))
        start += count
    return found


def _pack(numbers: Array) -> str:
    return b64encode(compress(numbers.astype("<i8").tobytes(), 1)).decode("ascii")


def _unpack(text: str) -> Array:
    return np.frombuffer(decompress(b64decode(text)), dtype="<i8")
