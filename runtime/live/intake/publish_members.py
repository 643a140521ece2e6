"""Publish what a commit has of each member: its answers where they belong, its rejected rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ontoweir.errors import OntoweirError, RunError
from ontoweir.runtime.live.check_new_run import refuse_answers_of_others
from ontoweir.runtime.live.checkpoint.restore_spark import unwritable
from ontoweir.runtime.live.checkpoint.state_tables import decode_table
from ontoweir.runtime.live.intake.model import LastOutput, Member, Parked
from ontoweir.runtime.live.intake.step_lanes import explain_failure
from ontoweir.runtime.live.model.live_errors import notice_gone
from ontoweir.runtime.live.output.bind_sink import bind_sink
from ontoweir.runtime.live.output.check_parts import check_parts
from ontoweir.runtime.live.output.list_parts import PublishedPart
from ontoweir.runtime.live.output.merge_parts import require_exchange
from ontoweir.runtime.live.output.note_sent import check_sent, note_sent
from ontoweir.runtime.live.output.publish_commit import PUBLISHED, REJECTS
from ontoweir.runtime.live.output.sinks.files import FileSink
from ontoweir.runtime.live.output.sinks.sink import MessageSink
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
    checked: set[str] = field(default_factory=set)
    """Members whose output was found as they left it, since the intake was opened."""
    _listed: dict[str, list[PublishedPart]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for part in self.writer.parts.parts:
            self._listed.setdefault(part.place, []).append(part)
        self.writer.parts.parts = ()

    def begin(
        self,
        member: Member,
        last: int,
        rows: FindRows,
        held: Parked | None,
        read: Callable[[str], bytes],
    ) -> None:
        """See that a member's output is as it left it, and take it back to the last commit.

        Args:
            member: who joins.
            last: the number of the last commit.
            rows: finds a part's rows in a commit.
            held: where it stopped (None: it has given no answers yet).
            read: a content of the last commit.

        Raises:
            UsageError: the output is not as this run left it, or is of another.
            RunError: the disk does not let it.
        """
        bind_sink(member.sink, member.query)
        self.writer.terms[member.name] = member.query.terms
        if held is None:
            refuse_answers_of_others([member.name], member.place, member.sink)
        folders = [PartFolder(f"rejects:{member.id}", REJECTS, "parquet")]
        places = {f"rejects:{member.id}": member.place}
        if isinstance(member.sink, FileSink):
            folders.append(PartFolder(f"answers:{member.id}", member.name, member.sink.format))
            places[f"answers:{member.id}"] = member.sink.folder
        require_exchange(self.writer, places)
        again = None if held is None else held.last
        if member.id in self.checked:
            self.writer.places |= places
            if again is not None:  # it failed because that could not be published
                self._publish_again(member, again, read)
            return
        if member.sink.irrevocable:
            check_sent(member.place, self.writer.run, last)
        mine = tuple(p for place in places for p in self._listed.pop(place, ()))
        alone = PartWriter(self.writer.run, replace(self.writer.parts, parts=mine), places)
        alone.terms = self.writer.terms
        drop_future(alone, folders, last)
        names = [] if again is None else [f"part-{again.number:012d}.{f.format}" for f in folders]
        try:
            check_parts(alone, folders, last, rows, may_be_gone=self.parts_may_go, again=names)
        except OSError as error:
            raise unwritable(member.place, error) from error
        self.writer.places |= places
        self.checked.add(member.id)
        if again is not None:
            self._publish_again(member, again, read)

    def _publish_again(
        self, member: Member, last: LastOutput, read: Callable[[str], bytes]
    ) -> None:
        """What goes to files is written, or found to be there."""
        if last.answers is not None:
            table, sink = decode_table(read(last.answers)), member.sink
            if isinstance(sink, FileSink):
                place = f"answers:{member.id}"
                self.writer.put(place, member.name, last.number, table, sink.format)
            elif not last.done:
                self._send(member, sink, last.number, table)
        if last.rejects is not None:
            table = decode_table(read(last.rejects))
            self.writer.put(f"rejects:{member.id}", REJECTS, last.number, table, "parquet")

    def _send(self, member: Member, sink: MessageSink, number: int, rows: pa.Table) -> None:
        sink.publish(member.name, number, rows, self.spark)
        if sink.irrevocable:
            note_sent(member.place, self.writer.run, number)

    def end(self, member: Member) -> None:
        """Publish nothing more of a member."""
        for kind in ("answers", "rejects"):
            self.writer.places.pop(f"{kind}:{member.id}", None)

    def publish(self, place: Path, answers: Answers, rejects: Rejects) -> dict[str, OntoweirError]:
        """Put what a commit has where it belongs; then the commit says so, unless it fails for a
        member: those, by their ids, and why.

        Raises:
            RunError: there is no room.
        """
        number = int(place.name)
        failed: dict[str, OntoweirError] = {}
        parts: list[tuple[PartFolder, pa.Table]] = []
        for member, table in answers:
            if isinstance(member.sink, FileSink):
                folder = PartFolder(f"answers:{member.id}", member.name, member.sink.format)
                parts.append((folder, table))
            else:
                try:
                    self._send(member, member.sink, number, table)
                except Exception as error:
                    if notice_gone(error) is not None:
                        raise
                    failed[member.id] = explain_failure(error)
        for members, table in rejects:
            parts += [(PartFolder(f"rejects:{m.id}", REJECTS, "parquet"), table) for m in members]
        for owner, why in self.writer.put_each(parts, number).items():
            failed.setdefault(owner.partition(":")[2], why)
        if failed:
            return failed
        try:
            (place / PUBLISHED).touch()
        except OSError as error:
            raise RunError(
                f"commit {number} cannot be marked as published: {error.strerror or error}",
                why="it is committed and published; at the next start it is published again",
                fix="make room, or mend the disk, and start again",
            ) from error
        return failed
