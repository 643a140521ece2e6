"""Which sources Spark lists for a live run: one for several folders of files, where it may.

Each source costs a listing, a log and a plan in every micro-batch, which is most of its time. But
one source hands out the files of all its folders in the order of their modification times, so that
streams copied one after the other would wait for each other in memory: so folders share a source
only where a run begins with no more in them than a micro-batch takes. A run stays as it began:
its commits say how.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.live.arrivals.list_partitions import walk_files
from ontoweir.runtime.live.arrivals.read_stream import (
    FILE_DEFAULTS,
    LISTING,
    is_listed,
    source_options,
)
from ontoweir.runtime.located.data_files import local_path
from ontoweir.runtime.located.name_levels import name_levels
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.spark.read_view import VIEW
from ontoweir.runtime.spark.tune_session import FolderListing

_PLAIN = re.compile(r"[\w /.@+=-]+")
_AT_ONCE = "maxFilesPerTrigger"


@dataclass(frozen=True, slots=True)
class SourcePlan:
    """The sources in Spark's order, each the streams that it is of: several in one of folders."""

    sources: tuple[tuple[History, ...], ...]

    def number(self, stream: str) -> int:
        """The number of the source that a stream is in."""
        return next(
            n for n, held in enumerate(self.sources) if any(h.stream.name == stream for h in held)
        )


def plan_sources(
    histories: Sequence[History], begun: Sequence[Sequence[str]] = (), *, apart: bool = False
) -> SourcePlan:
    """The sources of a run: as it began, or the best for one that begins.

    Args:
        histories: the streams.
        begun: the streams of each source, as the last commit says (none: nothing is committed).
        apart: whether a run that begins has a source for each stream at any rate.
    """
    named = {h.stream.name: h for h in histories}
    if begun:
        return SourcePlan(tuple(tuple(named[n] for n in held) for held in begun))
    shared = [] if apart else _choose(histories)
    together = tuple(h for h in histories if h.stream.name in shared)
    alone = [(h,) for h in histories if h.stream.name not in shared]
    # views last: they may be made of any number of sources
    alone.sort(key=lambda held: held[0].stream.data.format == VIEW)
    return SourcePlan((together, *alone) if together else tuple(alone))


def shared_path(histories: Sequence[History]) -> str:
    """A pattern that is the folders of some streams, and nothing else."""
    folders = [folder_of(h.stream) for h in histories]
    base = os.path.commonpath(folders)
    return f"{base}/{{{','.join(os.path.relpath(f, base) for f in folders)}}}"


def shared_options(histories: Sequence[History]) -> dict[str, str]:
    """The options of a source of several folders: it takes as many files as they would alone."""
    most = sum(_at_once(h.stream) for h in histories)
    given = source_options(histories[0].stream).items()
    kept = {n: v for n, v in given if n != _AT_ONCE and n.lower() in LISTING}
    return {**kept, _AT_ONCE: str(most)}


def plan_listing(histories: Sequence[History]) -> FolderListing | None:
    """What of local folders is listed for a source's streams; None, if they are not in folders or
    of a pattern, or have options by which Spark chooses among the files."""
    streams = [h.stream for h in histories]
    if not all(is_listed(s) and _is_whole(s) and "\n" not in folder_of(s) for s in streams):
        return None
    folders, below = [folder_of(s) for s in streams], tuple[str, ...]()
    most = sum(map(_at_once, streams))
    if not all(map(os.path.isdir, folders)):
        base, below = name_levels(folders[0])
        other = "**" in folders[0] or "{" in folders[0] or os.path.exists(folders[0])
        if len(folders) > 1 or not below or other:
            return None
        folders = [base]
    return FolderListing(folders, below, most) if all(map(os.path.isabs, folders)) else None


def folder_of(stream: Stream) -> str:
    """A stream's local folder."""
    return os.path.normpath(local_path(stream.data.path or ""))


def _choose(histories: Sequence[History]) -> list[str]:
    """The streams that share a source in a run that begins; none, or two and more."""
    fit = [h for h in histories if is_listed(h.stream) and _fits(h.stream)]
    folders = [folder_of(h.stream) for h in fit]
    for number, one in enumerate(folders):
        for other in folders[number + 1 :]:
            if os.path.commonpath([one, other]) in (one, other):
                return []  # one holds the other: their files differ by folder
    there = 0
    for history in fit:
        there += sum(1 for _ in walk_files(folder_of(history.stream)))
    if len(fit) < 2 or there > sum(_at_once(h.stream) for h in fit):
        return []
    return [h.stream.name for h in fit]


def _fits(stream: Stream) -> bool:
    """A plain folder without columns in the names of folders below."""
    return _is_plain(stream) and not _has_named_folders(folder_of(stream))


def _is_plain(stream: Stream) -> bool:
    """A folder with a plain name, and no options but how many files are taken at once."""
    folder = folder_of(stream)
    if not os.path.isdir(folder) or not os.path.isabs(folder):
        return False
    return _PLAIN.fullmatch(folder) is not None and _is_whole(stream)


def _is_whole(stream: Stream) -> bool:
    """Whether no option says of which files a stream is, but how many are taken at once."""
    named = {name for name, _ in stream.data.options if name.lower() in LISTING}
    return named <= {_AT_ONCE} and _at_once(stream) > 0


def _has_named_folders(folder: str) -> bool:
    """Whether names of folders say columns, which Spark finds in all of a source, or in none."""
    with os.scandir(folder) as entries:
        return any("=" in entry.name for entry in entries if entry.is_dir())


def _at_once(stream: Stream) -> int:
    text = {**FILE_DEFAULTS, **dict(stream.data.options)}[_AT_ONCE]
    return int(text) if text.isascii() and text.isdigit() else 0
