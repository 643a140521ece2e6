"""Open the history of a stream: list its row groups, or stage what cannot be read as it is."""

import shutil
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.errors import RunError
from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.progress.replay_progress import ProgressListener, count_prepared
from ontoweir.runtime.chunks.row_groups import MAPPED
from ontoweir.runtime.chunks.unite_groups import unite_groups
from ontoweir.runtime.engine.configure_run import StreamColumns
from ontoweir.runtime.ingest.find_filled import find_filled
from ontoweir.runtime.ingest.prove_domains import prove_domains
from ontoweir.runtime.lateness.find_disorder import find_disorder
from ontoweir.runtime.lateness.known_order import recall_order
from ontoweir.runtime.lateness.order_pieces import order_pieces
from ontoweir.runtime.located.locate_source import Located, locate_source
from ontoweir.runtime.packed.read_packed import is_packed
from ontoweir.runtime.packed.unpack_stream import unpack_stream
from ontoweir.runtime.sources.history import History, Piece
from ontoweir.runtime.sources.list_pieces import check_file, list_pieces
from ontoweir.runtime.sources.verified_rows import VerifiedRows
from ontoweir.runtime.spark.read_view import VIEW
from ontoweir.runtime.staging.keep_rows import Kept, keep_rows
from ontoweir.runtime.staging.spool_stream import spool_stream
from ontoweir.runtime.staging.stage_stream import stage_stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class StagingArea:
    """With what histories are opened.

    `spark`: gives the session where it is needed; `folder`: for what is staged; `span`: [start,
    stop) in µs; `here`: local text is read in this process where it can be; `progress`: is called
    while rows are staged.
    """

    spark: "Callable[[], SparkSession]"
    folder: Path
    span: tuple[int | None, int | None]
    here: bool
    progress: ProgressListener | None


def open_history(
    catalog: Catalog, wanted: StreamColumns, area: StagingArea, known: VerifiedRows | None = None
) -> History:
    """A stream's history, with the columns in use and those that are read to be checked.

    Args:
        catalog: the tables.
        wanted: the stream and its columns.
        area: with what it is opened.
        known: which of its rows are rejected (None: that is found when they are read); only of all
            of it, where they may come late.

    Raises:
        DataError: files are missing, or cannot be read.
        RunError: Spark failed, or only it can read rows now of which another reader has told which
            are rejected.
    """
    stream = wanted.stream
    name = stream.name
    located = locate_source(stream.data, name, catalog.file)
    if located.files is not None and not located.files and Path(located.path).is_dir():
        raise check_file(located.path, name)
    shown: Mapping[str, str] = {}
    packed = is_packed(stream.data, located)
    if packed and not stream.data.keep:
        spare = wanted.spare()
        place = area.folder / f"{name}.unpacked"
        unpacked = unpack_stream(stream, located, wanted.select(spare), spare, place)
        stream, located, shown = unpacked.stream, unpacked.located, unpacked.shown
    local = stream.data.format == "parquet" and located.files is not None
    apart = stream.data.sort or stream.data.keep or stream.written is not None
    direct = local and not apart
    files = located.files or ()
    # what is sorted, as temporary views are, has no late rows
    late = 0 if stream.data.sort or stream.data.format == VIEW else stream.lateness_us
    proven = prove_domains(files, wanted.enforced) if direct else frozenset()
    spare = wanted.spare(frozenset(proven))
    filled = find_filled(files, stream, wanted.tested) if direct else frozenset()
    columns = wanted.select(spare, without=filled)
    made: Kept | None = None
    if direct:
        start_us, stop_us = (None, None) if late else area.span
        wide = (*columns, stream.timestamp)
        made = Kept(
            list_pieces(files, stream, wide, start_us=start_us, stop_us=stop_us, spare=spare)
        )
    elif packed or reads_here(stream, area.here):
        made = _spool(catalog, stream, located, (columns, spare), area)
    repeats = made is not None
    if made is None:
        made = Kept(_stage(stream, located, columns, spare, area, known))
    elif known is not None and not direct:
        parts = [file for file in {p.file: 0 for p in made.pieces} if not file.endswith(MAPPED)]
        filled = made.filled & wanted.tested
        filled |= find_filled(parts, stream, wanted.tested) if parts else frozenset()
        columns = wanted.select(spare, without=filled)
    pieces = tuple(replace(p, shown=shown.get(p.shown, p.shown)) for p in made.pieces)
    declared = wanted.stream  # its rows are read of other files, but are its
    declared = replace(declared, data=replace(declared.data, sort=stream.data.sort))
    history = History(
        declared,
        columns,
        order_pieces(pieces, late),
        not direct,
        filled=filled,
        verified=known,
        repeats=repeats,
        kept=made.files,
    )
    if not late:
        united = unite_groups(history.pieces, stream, columns) if direct else history.pieces
        return replace(history, pieces=united)
    order = None if known is None else recall_order(known.order, stream, history.pieces)
    if order is None:
        order = find_disorder(stream, history.pieces, area.span, staged=not direct)
    ordered, disorder, rows = order
    return replace(history, pieces=ordered, disorder=disorder, late=rows)


def _spool(
    catalog: Catalog,
    stream: Stream,
    located: Located,
    wanted: tuple[Sequence[str], Set[str]],
    area: StagingArea,
) -> Kept | None:
    """Rows that this process writes to files of their own (None: only Spark can); `wanted`: the
    columns, and those of them that are spare."""
    report = count_prepared(area.progress, stream.name)

    def spool(folder: Path, columns: Sequence[str], spare: Set[str]) -> tuple[Piece, ...] | None:
        if not is_packed(stream.data, located):
            return spool_stream(stream, located, columns, folder, spare, report)
        place = area.folder / f"{stream.name}.unpacked"
        opened = unpack_stream(stream, located, columns, spare, place)
        pieces = spool_stream(opened.stream, opened.located, columns, folder, spare, report)
        shutil.rmtree(place)
        if pieces is None:
            return None
        return tuple(replace(p, shown=opened.shown.get(p.shown, p.shown)) for p in pieces)

    if stream.data.keep and located.files is not None:
        return keep_rows(stream, located, *wanted, Path(catalog.file).parent, spool)
    pieces = spool(area.folder / stream.name, *wanted)
    return None if pieces is None else Kept(pieces)


def _stage(
    stream: Stream,
    located: Located,
    columns: Sequence[str],
    spare: Set[str],
    area: StagingArea,
    known: VerifiedRows | None,
) -> tuple[Piece, ...]:
    """Rows that Spark writes to files of their own.

    Raises:
        RunError: another reader has told which are rejected.
    """
    if known is not None:
        raise RunError(
            f"{stream.name} can only be read by Spark now",
            why="another reader has verified its rows, which counts them in its own way",
            fix="start the replay with --verify",
        )
    home = area.spark()
    session = home.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    # what folders' names hold is text, also where all of it looks like numbers
    session.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    place = area.folder / stream.name
    return stage_stream(session, stream, located, columns, place, home, spare)


def reads_here(stream: Stream, here: bool) -> bool:
    """Whether a stream's rows, if they are local files, are read without Spark wherever that is
    possible; `here`: text is.
    """
    return here or stream.data.format == "parquet" or stream.written is not None
