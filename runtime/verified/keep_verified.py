"""Keep what a whole replay has found of its streams' files."""

from base64 import b64encode
from collections.abc import Sequence
from zlib import compress

import numpy as np
import pyarrow.parquet as pq

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.runtime.columnar.convert_column import holds_only
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.ingest.enforced_columns import enforced_columns
from ontoweir.runtime.lateness.known_order import describe_order
from ontoweir.runtime.located.locate_source import locate_source
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.sources.verified_rows import VerifiedRows
from ontoweir.runtime.verified.identify_streams import identify_streams
from ontoweir.runtime.verified.recall_times import keep_times
from ontoweir.runtime.verified.recall_verified import read_record
from ontoweir.runtime.verified.verification import WHAT, Verification
from ontoweir.runtime.verified.watch_rejects import RejectWatch

_VARIANTS = 15
"""Of so many other sets of doubtful columns, what was found last is kept."""


def keep_verified(
    verification: Verification,
    catalog: Catalog,
    histories: Sequence[History],
    watch: RejectWatch,
) -> None:
    """Keep which rows were rejected of the streams whose files are as they were before the replay,
    and the timestamps of those whose rejected rows are known.

    Args:
        verification: where, and how the files were.
        catalog: the declarations.
        histories: all rows of which were replayed.
        watch: what was rejected.
    """
    keep_times(verification, catalog, histories)
    new = [
        h
        for h in histories
        if h.stream.name in verification.known
        and h.verified is None
        and h.repeats
        and h.stream.name not in watch.spoiled
        and watch.rows.get(h.stream.name, 0) == h.rows
    ]
    now = identify_streams(catalog, [h.stream.name for h in new])
    for history in new:
        name = history.stream.name
        if now.get(name) != verification.known[name]:
            continue
        safe = _hold_all(history.stream, catalog)
        enforced = {c.name for c in enforced_columns(history.stream)}
        read = frozenset(history.columns) - enforced - safe
        found = {read: VerifiedRows(watch.rejects(name))}
        before = None if verification.again else read_record(verification, name)
        for others, rows in () if before is None else before.found[:_VARIANTS]:
            found.setdefault(others, rows)
        held = {
            "safe": sorted(safe),
            "order": describe_order(history),
            "found": [[sorted(others), _encode_rows(rows)] for others, rows in found.items()],
        }
        verification.cache.write(WHAT, verification.known[name], held)


def _encode_rows(rows: VerifiedRows) -> dict[str, dict[str, str]]:
    return {
        reason: {file: _encode(numbers) for file, numbers in files.items()}
        for reason, files in rows.rejects.items()
    }


def _encode(numbers: Array) -> str:
    steps = np.diff(numbers, prepend=0).astype("<i8")
    return b64encode(compress(steps.tobytes())).decode("ascii")


def _hold_all(stream: Stream, catalog: Catalog) -> set[str]:
    """The declared columns whose type in every file holds nothing but values of their own: of text,
    none."""
    if stream.data.format != "parquet":
        return set()
    good = {c.name: c for c in stream.columns}
    for file in locate_source(stream.data, stream.name, catalog.file).files or ():
        schema = pq.read_schema(file)
        there = {f.name: f.type for f in schema}
        good = {n: c for n, c in good.items() if n in there and holds_only(there[n], c.type)}
    return set(good)
