"""Check, when a run goes on, that what it has published is still there, as it was."""

import hashlib
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import pyarrow as pa

from ontoweir.errors import Source, UsageError
from ontoweir.runtime.live.checkpoint.record_spark import hash_file
from ontoweir.runtime.live.output.list_parts import PublishedPart
from ontoweir.runtime.live.output.merge_parts import find_batches, settle_parts
from ontoweir.runtime.live.output.sinks.files import FileFormat
from ontoweir.runtime.live.output.write_parts import (
    SMALL,
    PartFolder,
    PartWriter,
    foreign_part,
    is_mine,
    list_part_files,
    put_part,
)

Rows = Callable[[PublishedPart], "pa.Table | None"]
"""What finds the rows of a part in a commit that is still kept (None: it is not)."""


def check_parts(
    writer: PartWriter,
    folders: Sequence[PartFolder],
    last: int,
    rows: Rows,
    *,
    may_be_gone: bool,
    again: Collection[str] = (),
) -> None:
    """Compare the listed parts with the output; those whose commit is kept are written again, and
    those that have been let go of, but are there, removed.

    Args:
        writer: knows the list and the folders.
        folders: those that parts are in.
        last: the last committed micro-batch.
        rows: finds a part's rows in a commit.
        may_be_gone: whoever reads parts may move them away.
        again: the names of files that are about to be published again.

    Raises:
        UsageError: a part is gone, changed, or of another run.
        OSError: the output cannot be read or written.
    """
    for folder in folders:
        _settle(writer, folder)
    listed: set[Path] = set()
    for part in writer.parts.parts:
        if part.place not in writer.places:
            continue
        file = writer.places[part.place] / part.name
        listed.add(file)
        what = _compare(file, part)
        may_go = may_be_gone or writer.parts.is_old(part, time.time_ns())
        if what is None or (what == "is gone" and may_go):
            continue
        if not _write_again(file, part, rows(part), writer):
            raise _changed(file, what)
    for folder in folders:
        for file in list_part_files(writer, folder):
            number = file.stem.removeprefix("part-")
            if file in listed or file.name in again or not number.isdigit():
                continue
            if int(number) <= writer.parts.let_go and is_mine(file, writer.run):
                file.unlink()
            elif int(number) < last:
                raise foreign_part(file)


def _settle(writer: PartWriter, folder: PartFolder) -> None:
    """Finish what a crash left of a merging; merged files that the checkpoint does not know have
    been let go of, or are of later micro-batches than it."""
    key = (folder.place, folder.name)
    merged = [p for p in writer.parts.parts if p.folder == key and p.first >= 0]
    names = {Path(part.name).name for part in merged}
    shown = writer.places[folder.place] / folder.name
    absent = [p for p in merged if not (shown / Path(p.name).name).exists()]
    for file in list_part_files(writer, folder):
        made = find_batches(file.name)
        if made is None or "-" not in file.stem.removeprefix("part-") or file.name in names:
            continue
        if made[1] <= writer.parts.let_go and is_mine(file, writer.run):
            file.unlink()
        elif not any(p.first <= made[0] and made[1] <= p.batch for p in absent):
            raise _merged_later(file)
    settle_parts(writer, key, merged[-1] if merged else None)


def _merged_later(file: Path) -> UsageError:
    return UsageError(
        f"{file} is not in the checkpoint",
        why="it is of another run, or of this one, and the checkpoint is a copy from before its "
        "files were merged (--compact): its answers would come again",
        fix="restore the newer checkpoint, or the output as it was with this one",
        source=Source(str(file)),
    )


def _compare(file: Path, part: PublishedPart) -> str | None:
    """What is wrong with a part (None: nothing)."""
    try:
        status = file.stat()
    except FileNotFoundError:
        return "is gone"
    if status.st_size != part.size:
        return f"has {status.st_size:,} bytes, and was published with {part.size:,}"
    if status.st_ctime_ns != part.changed and hash_file(file) != part.digest:
        return "is not what was published"
    return None


def _write_again(
    file: Path, part: PublishedPart, rows: "pa.Table | None", writer: PartWriter
) -> bool:
    if rows is None:
        return False
    forms: tuple[FileFormat, ...] = ("jsonl", "csv", "arrow", "avro", "srj", "nq")
    form: FileFormat = next((f for f in forms if file.suffix == f".{f}"), "parquet")
    folder = part.name.rpartition("/")[0]
    # Parquet is packed in the parts of versions up to 0.1
    for content in (writer.encode(folder, rows, form, part.batch, small=s) for s in (SMALL, -1)):
        if hashlib.sha256(content).hexdigest() == part.digest:
            put_part(content, file)
            return True
    return False


def _changed(file: Path, what: str) -> UsageError:
    return UsageError(
        f"the published file {file} {what}",
        why="its answers were given, and would be missing, or wrong, without a word",
        fix="restore it from a copy; or, if its answers are used or are to be replayed, remove it "
        "and add --parts-may-go",
        source=Source(str(file)),
    )
