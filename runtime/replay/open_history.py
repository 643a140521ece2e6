"""Open the history of a stream: list its row groups, or stage what cannot be read as it is."""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.errors import RunError
from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.progress.replay_progress import ProgressListener, count_prepared
from ontoweir.runtime.engine.configure_run import StreamColumns
from ontoweir.runtime.ingest.find_filled import find_filled
from ontoweir.runtime.ingest.prove_domains import prove_domains
from ontoweir.runtime.sources.history import History, Piece
from ontoweir.runtime.sources.list_pieces import check_file, list_pieces
from ontoweir.runtime.sources.order_pieces import order_pieces
from ontoweir.runtime.sources.read_chunk import MAPPED
from ontoweir.runtime.sources.read_source import locate_source
from ontoweir.runtime.sources.verified_rows import VerifiedRows
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
        known: which of its rows are rejected (None: that is found when they are read).

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
    local = stream.data.format == "parquet" and located.files is not None
    direct = local and not stream.data.sort and stream.written is None
    files = located.files or ()
    proven = prove_domains(files, wanted.enforced) if direct else frozenset()
    spare = wanted.spare(frozenset(proven))
    filled = find_filled(files, stream, wanted.tested) if direct else frozenset()
    columns = wanted.select(spare, without=filled)
    made: Kept | None = None
    if direct:
        pieces = list_pieces(
            files,
            stream,
            (*columns, stream.timestamp),
            start_us=area.span[0],
            stop_us=area.span[1],
            spare=spare,
        )
        made = Kept(pieces)
    elif reads_here(stream, area.here):
        report = count_prepared(area.progress, name)

        def spool(
            folder: Path, columns: Sequence[str], spare: Set[str]
        ) -> tuple[Piece, ...] | None:
            return spool_stream(stream, located, columns, folder, spare, report)

        if stream.data.keep and located.files is not None:
            project = Path(catalog.file).parent
            made = keep_rows(stream, located, columns, spare, project, spool)
        elif (spooled := spool(area.folder / name, columns, spare)) is not None:
            made = Kept(spooled)
    if made is None:
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
        place = area.folder / name
        pieces = stage_stream(session, stream, located, columns, place, home, spare)
        return History(stream, columns, order_pieces(pieces), staged=True, repeats=False)
    if known is not None and not direct:
        parts = [file for file in {p.file: 0 for p in made.pieces} if not file.endswith(MAPPED)]
        filled = find_filled(parts, stream, wanted.tested) if parts else frozenset()
        columns = wanted.select(spare, without=filled)
    return History(
        stream,
        columns,
        order_pieces(made.pieces),
        not direct,
        filled=filled,
        verified=known,
        kept=made.files,
    )


def reads_here(stream: Stream, here: bool) -> bool:
    """Whether a stream's rows, if they are local files, are read without Spark wherever that is
    possible; `here`: text is.
    """
    return here or stream.data.format == "parquet" or stream.written is not None
