"""Move files that are committed to the archives of their streams.

Only a commit that is on the disk has files moved: before it nothing is, and what a crash leaves
undone is done at the next start. Each move is one rename, which leaves a file in one place.
"""

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ontoweir.errors import RunError
from ontoweir.files.find_base import find_base
from ontoweir.files.sync_file import sync_file
from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.live.archive.refuse_missed import refuse_missed
from ontoweir.runtime.live.archive.remove_folders import remove_folders
from ontoweir.runtime.live.arrivals.list_arrivals import ArrivedFile, list_logged, read_reached
from ontoweir.runtime.live.arrivals.open_batch import select_files
from ontoweir.runtime.live.arrivals.open_sources import LiveSources
from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord
from ontoweir.runtime.live.checkpoint.spark_folder import SparkFolder
from ontoweir.runtime.located.archive_places import find_archived_path, is_same_file, refuse_both
from ontoweir.runtime.located.data_files import is_data
from ontoweir.runtime.located.hold_archive import HeldArchive, Owner, hold_archive
from ontoweir.runtime.sources.history import History

FORGOTTEN = 10_000
"""Entries of Spark's logs from which on files that have been moved away are forgotten."""


@dataclass(slots=True)
class ArchiveKeeper:
    """Moves files of a run.

    `checkpoint`: the run's; `tell`: is called with what is to be said; `held`: the archives, by
    stream; `moved`: by stream, the last entry of Spark's log up to which all are moved; `spared`:
    files that cannot be read, which are to be repaired where they are; `told`: files that stay, as
    the archive has others by their names; `touched`: folders whose changes may not be on the disk.
    """

    checkpoint: Path
    tell: Callable[[str], None]
    held: dict[str, HeldArchive] = field(default_factory=dict)
    moved: dict[str, int] = field(default_factory=dict)
    spared: set[str] = field(default_factory=set)
    told: set[str] = field(default_factory=set)
    touched: set[Path] = field(default_factory=set)

    def hold(self, streams: Iterable[Stream], record: CommitRecord, commit: int) -> None:
        """Hold the archives of streams, those that have one.

        Args:
            streams: what is read.
            record: of the run's last commit.
            commit: its number (-1: none).

        Raises:
            UsageError: an archive is another run's, or not of this checkpoint.
            RunError: the disk does not take it.
        """
        owner = Owner(record.run, str(self.checkpoint.absolute()), commit)
        begun = {name for held in record.sources for name in held if commit >= 0}
        for stream in streams:
            if stream.data.archive is not None and stream.name not in self.held:
                if stream.name in begun:
                    refuse_missed(stream, SparkFolder(self.checkpoint / record.spark.folder))
                self.held[stream.name] = hold_archive(stream, owner)

    def move(
        self, folder: SparkFolder, sources: LiveSources, reached: Mapping[str, int], commit: int
    ) -> None:
        """Move the files that are read, but while somebody reads an archive: then later.

        Args:
            folder: Spark's, whose logs say which files came.
            sources: where each stream comes from.
            reached: by stream, the last entry of its log up to which all queries have read.
            commit: the one that says so, which is on the disk.

        Raises:
            UsageError: an archive does not say any more that it is this run's.
            RunError: Spark's log is not as expected; or the disk does not let it.
        """
        for name, held in self.held.items():
            since, to = self.moved.get(name, -1), reached.get(name, -1)
            if to <= since or name not in sources.numbers:
                continue
            with held.unread() as free:
                if not free:
                    continue
                logged = list_logged(folder, sources.numbers[name], since, to)
                history = History(held.stream, (), (), staged=True)
                self._move_those(held, select_files(history, sources, logged), commit)
            self.moved[name] = to

    def move_batch(
        self, folder: SparkFolder, sources: LiveSources, batch: int, commit: int
    ) -> None:
        """Move the files that Spark has listed up to a micro-batch of its; see `move`."""
        if self.held:
            offsets, numbers = folder.offsets_of(batch), sources.numbers
            reached = {n: read_reached(offsets, numbers[n]) for n in self.held if n in numbers}
            self.move(folder, sources, reached, commit)

    def _move_those(self, held: HeldArchive, files: Iterable[ArrivedFile], commit: int) -> None:
        data = held.stream.data
        base = f"{find_base(data.path or '').rstrip('/')}/"
        mine = [f.path for f in files if f.path.startswith(base) and f.path not in self.spared]
        there = [f for f in mine if os.path.isfile(f) and not os.path.islink(f)]
        there = [f for f in there if is_data(data, f)]
        if not there:
            return
        file = there[0]
        try:
            held.note(commit)
            for file in there:
                with contextlib.suppress(FileNotFoundError):  # somebody else moves it away
                    self._move(file, find_archived_path(data, file))
        except OSError as error:
            raise RunError(
                f"{file} cannot be moved to {data.archive}: {error.strerror or error}",
                why="all queries have read it, and its stream has an archive",
                fix="mend the disk, or take archive out of the stream's source, and start again: "
                "what was committed is intact",
            ) from error

    def _move(self, file: str, archived: str) -> None:
        if os.path.lexists(archived):
            if is_same_file(file, archived):
                os.unlink(file)
            elif file not in self.told:
                self.told.add(file)
                error = refuse_both(file, archived)
                self.tell(f"{error.what}: {error.why}; it stays; {error.fix}")
            return
        target = Path(archived).parent
        if target not in self.touched:
            target.mkdir(parents=True, exist_ok=True)
            self.touched |= {target, Path(file).parent}
        os.rename(file, archived)

    def begin(self) -> None:
        """Spark is about to list anew: what is read and still in its folder is moved next time, and
        folders that have become empty are removed, as long as it does not list."""
        self.moved.clear()
        for held in self.held.values():
            remove_folders(held.stream.data)

    def settle(self) -> None:
        """Wait until what was moved is so on the disk: Spark's logs are about to forget it.

        Raises:
            RunError: the disk does not take it.
        """
        for place in sorted(self.touched):
            try:
                sync_file(place)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise RunError(
                    f"{place} cannot be written: {error.strerror or error}",
                    why="files that were moved are to stay so also after a power cut",
                    fix="mend the disk, and start again: what was committed is intact",
                ) from error
        self.touched.clear()

    def release(self) -> None:
        """Let others move files."""
        for held in self.held.values():
            held.release()
        self.held.clear()
