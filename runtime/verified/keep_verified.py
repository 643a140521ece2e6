"""Keep what a whole replay has found of its streams' files."""

from base64 import b64encode
from collections.abc import Sequence
from zlib import compress

import numpy as np
import pyarrow.parquet as pq

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.runtime.columnar.convert_column import holds_only
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.verified.identify_streams import identify_streams
from ontoweir.runtime.verified.recall_verified import read_record
from ontoweir.runtime.verified.verification import WHAT, Verification
from ontoweir.runtime.verified.watch_rejects import RejectWatch


def keep_verified(
    verification: Verification,
    catalog: Catalog,
    histories: Sequence[History],
    watch: RejectWatch,
) -> None:
    """Keep which rows were rejected of the streams whose files are as they were before the replay.

    Args:
        verification: where, and how the files were.
        catalog: the declarations.
        histories: all rows of which were replayed.
        watch: what was rejected.
    """
    new = [
        h
        for h in histories
        if h.stream.name in verification.known
        and h.verified is None
        and h.stream.name not in watch.spoiled
        and watch.rows.get(h.stream.name, 0) == h.rows
    ]
    now = identify_streams(catalog, [h.stream.name for h in new])
    for history in new:
        name = history.stream.name
        if now.get(name) != verification.known[name]:
            continue
        columns = {*history.columns, *_hold_all(history)}
        rejects = watch.rejects(name)
        before = None if verification.again else read_record(verification, name)
        if before is not None and not before[1].rejects and not rejects:
            columns |= before[0]
        held = {
            "columns": sorted(columns),
            "rejects": {
                reason: {file: _encode(numbers) for file, numbers in files.items()}
                for reason, files in rejects.items()
            },
        }
        verification.cache.write(WHAT, verification.known[name], held)


def _encode(numbers: Array) -> str:
    steps = np.diff(numbers, prepend=0).astype("<i8")
    return b64encode(compress(steps.tobytes())).decode("ascii")


def _hold_all(history: History) -> set[str]:
    """The declared columns whose type in every file holds nothing but values of their own."""
    good = {c.name: c for c in history.stream.columns}
    for file in {p.file for p in history.pieces}:
        schema = pq.read_schema(file)
        there = {f.name: f.type for f in schema}
        good = {n: c for n, c in good.items() if n in there and holds_only(there[n], c.type)}
    return set(good)
