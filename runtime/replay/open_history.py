"""Open the history of a stream: list its row groups, or stage what cannot be read as it is."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.progress.replay_progress import ProgressListener, count_prepared
from ontoweir.runtime.engine.configure_run import StreamColumns
from ontoweir.runtime.ingest.find_filled import find_filled
from ontoweir.runtime.ingest.prove_domains import prove_domains
from ontoweir.runtime.lateness.find_disorder import find_disorder
from ontoweir.runtime.lateness.order_pieces import order_pieces
from ontoweir.runtime.sources.history import History, Piece
from ontoweir.runtime.sources.list_pieces import check_file, list_pieces
from ontoweir.runtime.sources.read_source import locate_source
from ontoweir.runtime.sources.verified_rows import VerifiedRows
from ontoweir.runtime.spark.read_view import VIEW
from ontoweir.runtime.staging.keep_rows import keep_rows
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
        known: which of its rows are rejected (None: that is found when they are read).

    Raises:
        DataError: files are missing, or cannot be read.
        RunError: Spark failed.
    """
    stream = wanted.stream
    name = stream.name
    located = locate_source(stream.data, name, catalog.file)
    if located.files is not None and not located.files and Path(located.path).is_dir():
        raise check_file(located.path, name)
    local = stream.data.format == "parquet" and located.files is not None
    direct = local and not stream.data.sort and stream.written is None
    files = located.files or ()
    # what is sorted, as temporary views are, has no late rows
    late = 0 if stream.data.sort or stream.data.format == VIEW else stream.lateness_us
    proven = prove_domains(files, wanted.enforced) if direct else frozenset()
    spare = wanted.spare(frozenset(proven))
    filled = find_filled(files, stream, wanted.tested) if direct else frozenset()
    columns = wanted.select(spare, without=filled)
    pieces: tuple[Piece, ...] | None = None
    if direct:
        pieces = list_pieces(
            files,
            stream,
            (*columns, stream.timestamp),
            start_us=None if late else area.span[0],
            stop_us=None if late else area.span[1],
            spare=spare,
        )
    elif area.here or local or stream.written is not None:
        report = count_prepared(area.progress, name)

        def spool(folder: Path) -> tuple[Piece, ...] | None:
            return spool_stream(stream, located, columns, folder, spare, report)

        if stream.data.keep and located.files is not None:
            project = Path(catalog.file).parent
            pieces = keep_rows(stream, located, columns, spare, project, spool)
        else:
            pieces = spool(area.folder / name)
    if pieces is None:
        home = area.spark()
        session = home.newSession()
        session.conf.set("spark.sql.session.timeZone", "UTC")
        # what folders' names hold is text, also where all of it looks like numbers
        session.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
        place = area.folder / name
        pieces = stage_stream(session, stream, located, columns, place, home, spare)
    verified = known if direct else None
    ordered = order_pieces(pieces, late)
    history = History(stream, columns, ordered, not direct, filled=filled, verified=verified)
    if not late:
        return history
    ordered, disorder, rows = find_disorder(stream, ordered, area.span, staged=not direct)
    return replace(history, pieces=ordered, disorder=disorder, late=rows)
