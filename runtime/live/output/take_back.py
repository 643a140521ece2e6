"""Take the output of a run back to its last commit."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.runtime.live.checkpoint.restore_spark import unwritable
from ontoweir.runtime.live.model.live_job import LiveJob
from ontoweir.runtime.live.output.check_parts import check_parts
from ontoweir.runtime.live.output.list_parts import PublishedPart
from ontoweir.runtime.live.output.note_sent import check_sent
from ontoweir.runtime.live.output.publish_commit import REJECTS, read_arrow
from ontoweir.runtime.live.output.sinks.files import FileSink
from ontoweir.runtime.live.output.sinks.sinks import Sink
from ontoweir.runtime.live.output.write_parts import PartFolder, PartWriter, drop_future

if TYPE_CHECKING:
    import pyarrow as pa


def take_back(
    job: LiveJob, answers: Sink, writer: PartWriter, commits: Path, last: int, *, may_go: bool
) -> None:
    """Remove what was published after the last commit, and see that the rest is whole.

    Args:
        job: the queries.
        answers: where answers go.
        writer: knows the list of what was published, and the folders.
        commits: the folder of all micro-batches.
        last: the last one that is committed.
        may_go: whoever reads parts may move them away.

    Raises:
        UsageError: it is not as this run left it.
        RunError: the disk does not let it.
    """
    output, names = writer.places["rejects"], [query.name for query in job.queries]
    folders = [PartFolder("rejects", REJECTS, "parquet")]
    if isinstance(answers, FileSink):
        folders += [PartFolder("answers", name, answers.format) for name in names]
    if answers.irrevocable:
        check_sent(output, writer.run, last)
    drop_future(writer, folders, last)
    try:
        check_parts(writer, folders, last, partial(_find_rows, commits, names), may_be_gone=may_go)
    except OSError as error:
        raise unwritable(output, error) from error


def _find_rows(commits: Path, names: list[str], part: PublishedPart) -> "pa.Table | None":
    """The rows of a published part in its commit, while that is kept."""
    place = commits / f"{part.batch:012d}"
    file = place / "rejects.arrow"
    if part.place == "answers":
        folder = part.name.split("/")[0]
        file = place / f"answers-{names.index(folder) if folder in names else -1}.arrow"
    return read_arrow(file) if file.exists() else None
