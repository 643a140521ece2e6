"""Open the history of a stream in the order in which its rows came, with their places in files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from ontoweir.mappings.model.catalog import Catalog, Reference, Stream
from ontoweir.runtime.engine.configure_run import StreamColumns
from ontoweir.runtime.ingest.admit_rows import ReferenceCheck
from ontoweir.runtime.ingest.list_references import list_references, reference_checks
from ontoweir.runtime.replay.open_history import StagingArea, open_history
from ontoweir.runtime.sources.history import History


@dataclass(frozen=True, slots=True)
class Arrivals:
    """The history of a stream in the order in which its rows came, and the references to hold them
    to: of one column as they are enforced, and those of several with what they refer to."""

    history: History
    checks: tuple[ReferenceCheck, ...]
    wide: Sequence[tuple[Reference, pa.Table]]


def open_declared(
    catalog: Catalog, stream: Stream, to: "Mapping[str, pa.Table]", area: StagingArea
) -> Arrivals:
    """The history of a stream with all its columns, in the order in which its rows came.

    Args:
        catalog: the tables.
        stream: one of its streams.
        to: by name, the rows of the relations that the stream refers to.
        area: with what it is opened.

    Raises:
        DataError: files or columns are missing, or cannot be read.
    """
    checks = reference_checks(list_references(catalog, [stream.name]), to)
    columns = StreamColumns(stream, frozenset(c.name for c in stream.columns), ())
    several = (r for r in stream.references if len(r.columns) > 1)
    wide = [(r, to[r.relation]) for r in several if stream.timestamp not in r.columns]
    history = open_arrivals(catalog, columns, area)
    return Arrivals(history, tuple(checks.get(stream.name, ())), wide)


def open_arrivals(catalog: Catalog, wanted: StreamColumns, area: StagingArea) -> History:
    """As open_history, but what comes late is not put into order, and what is declared to be sorted
    is not.

    Args:
        catalog: the tables.
        wanted: the stream and its columns.
        area: with what it is opened.

    Raises:
        DataError: files are missing, or cannot be read.
    """
    stream = wanted.stream
    if stream.data.sort:
        data = replace(stream.data, sort=False, keep=False)
        raw = replace(stream, data=data, lateness_us=0)
        opened = open_history(catalog, replace(wanted, stream=raw), area)
        return replace(opened, stream=stream)
    opened = open_history(catalog, wanted, area)
    if opened.disorder is None:
        return opened
    return replace(opened, pieces=opened.disorder.groups, disorder=None)
