"""A replay's answers as changes, or as snapshots, on their way to a file."""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.runtime.changes.change_feed import ChangeFeed, no_answers
from ontoweir.runtime.changes.end_rows import count_held
from ontoweir.runtime.changes.sliding_groups import count_leaving
from ontoweir.runtime.groups.repeat_rows import repeat_rows
from ontoweir.runtime.kept.kept_parts import KeptParts
from ontoweir.runtime.kept.kept_table import KeptTable
from ontoweir.runtime.results.render_results import AT, MULTIPLICITY
from ontoweir.runtime.results.write_results import RowSink
from ontoweir.runtime.told.make_snapshots import advance_feed


class ChangeRows:
    """Takes answers in the order of time, and passes on changes.

    Args:
        sink: takes them.
        feed: how answers become changes.
        expand: repeat rows instead of a column `multiplicity`.
    """

    def __init__(self, sink: RowSink, feed: ChangeFeed, *, expand: bool) -> None:
        self._sink, self._feed, self._expand = sink, feed, expand
        self._held: pa.Table | KeptTable | KeptParts | None = None
        self._waiting: pa.Table | None = None  # of a time of which more may come
        replaced = feed.group is not None or bool(feed.latest)
        plain = feed.ending is None and feed.sliding is None and not replaced
        self._waits = plain or (feed.snapshots and feed.group is not None)
        self._ahead_us = feed.delay_us if _has_latest(feed) else 0
        self.most = 0
        """The most rows held."""

    @property
    def rows(self) -> int:
        """Rows that are passed on."""
        return self._sink.rows

    def write(self, table: pa.Table) -> None:
        """Take answers; more of the same time may come."""
        if not table.num_rows:
            return
        moment = pc.max(table.column(AT))
        if self._waits:  # rows of a time that is not over are not yet kept for later
            table = table if self._waiting is None else pa.concat_tables([self._waiting, table])
            now = pc.subtract(moment, pa.scalar(self._ahead_us, pa.duration("us")))
            over = pc.less(table.column(AT), now)
            self._waiting = table.filter(pc.invert(over))
            table = table.filter(over)
        self._advance(table, moment.cast(pa.int64()).as_py() - self._feed.delay_us - 1)

    def append(self, file: Path) -> None:
        """Files are not taken: their rows have to be looked at."""
        raise NotImplementedError(file)

    def finish(self, now: int | None) -> None:
        """Pass on what is left up to the end of history, in µs (None: there is none)."""
        if self._waiting is not None:
            self._advance(self._waiting, 0 if now is None else now)
        elif now is not None and self._held is not None and self._feed.group is None:
            self._advance(None, now)

    def _advance(self, answers: "pa.Table | None", now: int) -> None:
        if answers is None:
            answers = no_answers(self._feed)
        rows, self._held = advance_feed(self._feed, self._held, answers, now)
        self.most = max(self.most, _count(self._feed, self._held))
        if not self._expand or MULTIPLICITY not in rows.column_names:
            if rows.num_rows:
                self._sink.write(rows)
            return
        for part in repeat_rows(rows):
            self._sink.write(part)


def _has_latest(feed: ChangeFeed) -> bool:
    """Whether rows of it hold until others of their key take their place: those are taken when
    their time is over, not before, as what they take the place of holds until then."""
    if feed.joined is not None:
        return any(_has_latest(part.feed) for part in feed.joined.parts)
    return bool(feed.latest) or (feed.first is not None and not feed.ends)


def _count(feed: ChangeFeed, held: "pa.Table | None") -> int:
    """How many rows are held."""
    if held is None:
        return 0
    if feed.ending is not None:
        return count_held(held)
    if feed.sliding is None or feed.delay_us:
        return int(held.num_rows)
    return count_leaving(held)
