"""Publish what a commit has of each member: its answers where they belong, its rejected rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ontoweir.errors import RunError
from ontoweir.runtime.live.check_new_run import refuse_answers_of_others
from ontoweir.runtime.live.checkpoint.restore_spark import unwritable
from ontoweir.runtime.live.intake.model import Member
from ontoweir.runtime.live.output.check_parts import check_parts
from ontoweir.runtime.live.output.list_parts import PublishedPart
from ontoweir.runtime.live.output.note_sent import check_sent, note_sent
from ontoweir.runtime.live.output.publish_commit import PUBLISHED, REJECTS
from ontoweir.runtime.live.output.sinks.files import FileSink
from ontoweir.runtime.live.output.write_parts import PartFolder, PartWriter, drop_future

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Answers = Sequence[tuple[Member, pa.Table]]
Rejects = Sequence[tuple[Sequence[Member], pa.Table]]
FindRows = Callable[[PublishedPart], "pa.Table | None"]
"""The rows of a part in a commit that is kept (None: it is not)."""


@dataclass(slots=True)
class Publisher:
    """Publishes for all members. `writer`: its places are `answers:ID` and `rejects:ID`;
    `parts_may_go`: files may be moved away by who reads them."""

    writer: PartWriter
    spark: "SparkSession | None"
    parts_may_go: bool = False

    def begin(self, member: Member, last: int, rows: FindRows, *, new: bool) -> None:
        """See that a member's output is as it left it, and take it back to the last commit.

        Args:
            member: who joins.
            last: the number of the last commit.
            rows: finds a part's rows in a commit.
            new: it has given no answers yet.

        Raises:
            UsageError: the output is not as this run left it, or is of another.
            RunError: the disk does not let it.
        """
        if new:
            refuse_answers_of_others([member.name], member.place, member.sink)
        folders = [PartFolder(f"rejects:{member.id}", REJECTS, "parquet")]
        places = {f"rejects:{member.id}": member.place}
        if isinstance(member.sink, FileSink):
            folders.append(PartFolder(f"answers:{member.id}", member.name, member.sink.format))
            places[f"answers:{member.id}"] = member.sink.folder
        if member.sink.irrevocable:
            check_sent(member.place, self.writer.run, last)
        alone = PartWriter(self.writer.run, self.writer.parts, places)
        drop_future(alone, folders, last)
        try:
            check_parts(alone, folders, last, rows, may_be_gone=self.parts_may_go)
        except OSError as error:
            raise unwritable(member.place, error) from error
        self.writer.places |= places

    def end(self, member: Member) -> None:
        """Publish nothing more of a member."""
        for kind in ("answers", "rejects"):
            self.writer.places.pop(f"{kind}:{member.id}", None)

    def publish(self, place: Path, answers: Answers, rejects: Rejects) -> None:
        """Put what a commit has where it belongs; then the commit says so.

        What goes to files is written, or found to be there, also if it says so already.

        Raises:
            RunError: there is no room, or a sink does not take them.
            UsageError: the output has a file of another run.
        """
        number = int(place.name)
        done = (place / PUBLISHED).exists()
        for member, rows in answers:
            if isinstance(member.sink, FileSink):
                form = member.sink.format
                self.writer.put(f"answers:{member.id}", member.name, number, rows, form)
            elif not done:
                member.sink.publish(member.name, number, rows, self.spark)
                if member.sink.irrevocable:
                    note_sent(member.place, self.writer.run, number)
        for members, rows in rejects:
            for member in members:
                self.writer.put(f"rejects:{member.id}", REJECTS, number, rows, "parquet")
        try:
            (place / PUBLISHED).touch()
        except OSError as error:
            raise RunError(
                f"commit {number} cannot be marked as published: {error.strerror or error}",
                why="it is committed and published; at the next start it is published again",
                fix="make room, or mend the disk, and start again",
            ) from error
