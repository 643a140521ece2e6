"""Which declarations are wrong, by what was rejected: half of a stream's rows, for one reason."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ontoweir.mappings.model.catalog import Stream


@dataclass(frozen=True, slots=True)
class WrongDeclaration:
    """`count` of the `rows` rows of a stream are rejected for a `reason`."""

    stream: Stream
    reason: str
    count: int
    rows: int

    @property
    def is_time(self) -> bool:
        """Whether the timestamps are not written as declared."""
        return self.reason == f"{self.stream.timestamp} is not of its type"

    def __str__(self) -> str:
        return (
            f"{self.count:,} of the {self.rows:,} rows of {self.stream.name} are rejected: "
            f"{self.reason}"
        )


def find_wrong(
    streams: Sequence[tuple[Stream, int]], rejected: Mapping[str, int]
) -> Iterator[WrongDeclaration]:
    """The reasons for which half or more of a stream's rows are rejected.

    Args:
        streams: each with the number of its rows.
        rejected: how many rows were rejected, by reason.
    """
    for reason, count in rejected.items():
        meant = [(stream, rows) for stream, rows in streams if _is_of(reason, stream)]
        rows = sum(n for _, n in meant)
        if meant and 2 * count >= rows > 0:
            yield WrongDeclaration(meant[0][0], reason, count, rows)


def _is_of(reason: str, stream: Stream) -> bool:
    """Whether a reason is about a stream: it begins with its name, or with one of its columns."""
    first = reason.partition(" is not of its type")[0]
    if first != reason:
        return first in (stream.timestamp, *(c.name for c in stream.columns))
    return reason.startswith((f"{stream.name}.", f"{stream.name} "))
