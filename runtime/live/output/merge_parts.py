"""Merge neighbouring parts of a folder into one, so that a folder does not grow by a file a commit.

`merge_parts` writes merged files beside the checkpoint before a commit that lists them;
`settle_parts` shows them after it, and at the next start if a crash came between: a folder with the
merged file instead of those that it is made of is exchanged for the old one in a single step. So
whoever lists the folder finds every row once, whenever that is; the old files go some seconds
later, when nobody is in the middle of listing them any more. A part that is as often merged
as its neighbours is merged again with them (as in a log-structured merge tree): a row is written
about log(files) times, and the number of files follows that.
"""

import errno
import hashlib
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, groupby
from pathlib import Path

import pyarrow as pa

from ontoweir.errors import OntoweirError, RunError, Source, UsageError
from ontoweir.files.exchange_folders import exchange_folders
from ontoweir.files.replace_file import replacing
from ontoweir.runtime.live.checkpoint.record_spark import hash_file
from ontoweir.runtime.live.checkpoint.sync_files import sync_file
from ontoweir.runtime.live.output.join_parts import UnlikeError, join_contents, join_parquet
from ontoweir.runtime.live.output.list_parts import PublishedPart
from ontoweir.runtime.live.output.write_parts import PartWriter

LARGE = 64 << 20
"""Bytes of files that are merged into one at most."""
Failed = dict[str, OntoweirError]
"""Errors by the place that they are of."""
PATIENCE = 10.0
"""Seconds that the files of the folder before stay, for those that had begun to list it; its parts
are not merged again before."""
_MOST = 256
"""About so many parts are merged before one commit, or twice as many as have come since the last:
the run waits meanwhile."""


def merge_parts(writer: PartWriter, failed: Failed | None = None) -> None:
    """Write the files of parts that are merged by the next commit, and list them.

    Args:
        writer: of the run.
        failed: takes the errors of places, whose folders stay as they are (None: they are raised).

    Raises:
        RunError: a part is not what was published, or the disk does not take it.
    """
    parts = writer.parts
    if parts.compact is None:
        return
    most, count = max(_MOST, 2 * len(parts.touched)), 0
    for folder in list(parts.touched):
        if count >= most:
            return
        if folder[0] not in writer.places or folder in writer.left:
            continue
        if any(part.folder == folder for part in writer.merged):
            continue  # it could not be shown yet
        chosen = _choose(parts.tails[folder], parts.compact)
        try:
            merged = _merge(writer, chosen) if chosen else None
        except RunError as error:
            if failed is None:
                raise
            failed[folder[0]] = error
            merged = None
        if merged is None:
            del parts.touched[folder]
            continue
        count += len(chosen)
        parts.add_all([merged])
        writer.fresh.add(parts.file)
        writer.merged.append(merged)


def _choose(tail: list[PublishedPart], count: int) -> list[PublishedPart]:
    """Neighbours of one level, where there are so many, or fewer of them if they are large; never
    the last part, which may be published again. One that is too large to be merged with the next
    counts as merged."""
    begin = 0
    while begin < len(tail) - 1:
        _, same = next(groupby(tail[begin:-1], key=lambda part: part.level))
        run = list(same)
        if len(run) < count:
            begin += len(run)
            continue
        sizes = accumulate(part.size for part in run)
        chosen = run[: max(1, sum(size <= LARGE for size in sizes))]
        if len(chosen) > 1:
            return chosen
        tail[begin] = replace(tail[begin], level=tail[begin].level + 1)
        begin = 0
    return []


def _merge(writer: PartWriter, chosen: Sequence[PublishedPart]) -> PublishedPart | None:
    """The merged part of parts, in its file beside the checkpoint (None: they have other columns
    than one another, in a format that has one header)."""
    first, last = chosen[0], chosen[-1]
    suffix = Path(first.name).suffix
    name = f"{first.folder[1]}/part-{first.begin:012d}-{last.batch:012d}{suffix}"
    aside = _aside(writer, first.folder)
    target = aside / Path(name).name
    contents = (_read(writer, part) for part in chosen)
    try:
        if (writer.places[first.place] / first.folder[1]).is_symlink():
            raise OSError(errno.ENOTDIR, "its folder is a link, which cannot be exchanged")
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        with replacing(target, durable=True) as scratch:
            if suffix == ".parquet":
                join_parquet(contents, scratch, writer.run, f"{first.begin}-{last.batch}")
            else:
                join_contents(contents, scratch, suffix)
        for place in (aside, aside.parent, aside.parent.parent):
            sync_file(place)
        status, digest = os.stat(target), hash_file(target)
    except UnlikeError:
        shutil.rmtree(aside, ignore_errors=True)
        return None
    except (OSError, pa.ArrowException) as error:
        raise _not_merged(target, error) from error
    return PublishedPart(
        first.place,
        name,
        last.batch,
        status.st_size,
        status.st_ctime_ns,
        digest,
        first.begin,
        1 + max(part.level for part in chosen),
        max(part.age_ns for part in chosen),
    )


def _read(writer: PartWriter, part: PublishedPart) -> bytes:
    """The content of a part as it was published."""
    file = writer.places[part.place] / part.name
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        content = b""
    if hashlib.sha256(content).hexdigest() != part.digest:
        raise RunError(
            f"the published file {file} is gone, or is not what was published",
            why="it was to be merged with its neighbours (--compact)",
            fix="restore it from a copy; without --compact and with --parts-may-go files may be "
            "moved away",
            source=Source(str(file)),
        )
    return content


def settle_parts(writer: PartWriter, folder: tuple[str, str], last: PublishedPart | None) -> None:
    """Show the merged part that a commit lists last, if it is not shown yet, and remove what it is
    made of; what a merging that no commit lists has left is removed.

    Raises:
        RunError: the disk does not let it.
    """
    aside, shown = _aside(writer, folder), writer.places[folder[0]] / folder[1]
    if not aside.exists():
        return
    try:
        name = "" if last is None else Path(last.name).name
        if last is not None and (aside / name).exists() and not (shown / name).exists():
            _exchange(aside, shown, last)
        _empty(aside, shown)
    except OSError as error:
        raise _not_merged(shown, error) from error


def _empty(aside: Path, shown: Path) -> None:
    """Remove the folder before, but for what others have put there meanwhile."""
    for entry in list(os.scandir(aside)):
        ours = entry.name.startswith(("part-", ".part-"))
        if (ours or (shown / entry.name).exists()) and not entry.is_dir(follow_symlinks=False):
            os.unlink(entry.path)
        else:
            os.rename(entry.path, shown / entry.name)
    aside.rmdir()


def _exchange(aside: Path, shown: Path, merged: PublishedPart) -> None:
    name = Path(merged.name).name
    if hash_file(aside / name) != merged.digest:
        raise OSError(errno.EIO, "the merged file is not what was written", str(aside / name))
    for entry in list(os.scandir(aside)):
        if entry.name != name:
            os.unlink(entry.path)  # of an exchange that was not reached
    for entry in os.scandir(shown):
        made = find_batches(entry.name)
        inside = made is not None and merged.first <= made[0] and made[1] <= merged.batch
        if not inside and not entry.is_dir(follow_symlinks=False):
            os.link(entry.path, aside / entry.name, follow_symlinks=False)
    here, there = os.stat(shown), os.stat(aside)
    if (here.st_uid, here.st_gid) != (there.st_uid, there.st_gid):
        os.chown(aside, here.st_uid, here.st_gid)
    shutil.copystat(shown, aside)
    sync_file(aside)
    exchange_folders(aside, shown)
    for place in (shown.parent, aside.parent):
        sync_file(place)


def find_batches(name: str) -> tuple[int, int] | None:
    """The first and last micro-batch of a part, by the name of its file (None: it is none)."""
    first, _, last = Path(name).stem.removeprefix("part-").partition("-")
    if not name.startswith("part-") or not first.isdigit() or (last and not last.isdigit()):
        return None
    return int(first), int(last or first)


def show_merged(writer: PartWriter, failed: Failed | None = None) -> None:
    """Show the merged parts that a commit lists since now, and remove what was merged a while ago.

    Args:
        writer: of the run.
        failed: takes the errors of places whose merged parts are not shown, which is tried again
            with the next commit that they take part in, or at the next start (None: they are
            raised).

    Raises:
        RunError: the disk does not let it.
    """
    merged, writer.merged = writer.merged, []
    now = time.monotonic()
    for part in merged:
        if part.place not in writer.places:
            writer.merged.append(part)
            continue
        shown = writer.places[part.place] / part.folder[1]
        try:
            _exchange(_aside(writer, part.folder), shown, part)
        except OSError as error:
            if failed is None:
                raise _not_merged(shown, error) from error
            failed[part.place] = _not_merged(shown, error)
            writer.merged.append(part)
            continue
        writer.left[part.folder] = now
        for file in [f for f in writer.fresh if f.parent == shown and not f.exists()]:
            writer.fresh.discard(file)
    shown = writer.parts.file
    try:
        for folder, since in list(writer.left.items()):
            if folder[0] in writer.places and now - since >= PATIENCE:
                shown = writer.places[folder[0]] / folder[1]
                _empty(_aside(writer, folder), shown)
                del writer.left[folder]
    except OSError as error:
        raise _not_merged(shown, error) from error


def _aside(writer: PartWriter, folder: tuple[str, str]) -> Path:
    """Where the merged file of a folder is until it is shown, and the old files afterwards."""
    key = hashlib.sha256("\n".join(folder).encode()).hexdigest()[:24]
    return _merging(writer) / key


def _merging(writer: PartWriter) -> Path:
    return writer.parts.file.parent / "merging"


def _not_merged(file: Path, error: Exception) -> RunError:
    return RunError(
        f"files of answers cannot be merged into {file}: {getattr(error, 'strerror', '') or error}",
        why="--compact merges them; all that is committed and published is there",
        fix="make room, or mend the folder, and start again; or leave --compact out",
        source=Source(str(file)),
    )


def require_exchange(writer: PartWriter, places: Mapping[str, Path]) -> None:
    """See that folders of the output can be exchanged with those of the checkpoint, if parts are
    merged.

    Raises:
        UsageError: they cannot.
    """
    if writer.parts.compact is None:
        return
    for output in set(places.values()):
        one, other = _merging(writer) / ".exchange", output / ".exchange"
        try:
            for place in (one, other):
                shutil.rmtree(place, ignore_errors=True)  # of a start that was killed
                place.mkdir(parents=True)
            exchange_folders(one, other)
            (one / "file").touch()
            os.link(one / "file", other / "file")
        except OSError as error:
            raise UsageError(
                f"files in {output} cannot be merged: {error.strerror or error}",
                why="--compact exchanges a folder of answers for one beside the checkpoint, in one "
                "step (Linux, a local disk that both are on), so that readers see each row once",
                fix="put the output and the checkpoint on one local disk, or leave out --compact",
                source=Source(str(output)),
            ) from error
        finally:
            for place in (one, other):
                shutil.rmtree(place, ignore_errors=True)
