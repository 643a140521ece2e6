"""Windows of RSP-QL and C-SPARQL, and what a query of them is translated into."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ontoweir.errors import QueryError, Source
from ontoweir.rewriter.rsp.meet_makers import Way
from ontoweir.rewriter.rsp.stream_part import StreamPart

_DURATION = "<http://www.w3.org/2001/XMLSchema#dayTimeDuration>"
_SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class RspWindow:
    """A window: the rows later than NOW() less `begin_us`, and not later than NOW() less `end_us`,
    where NOW() is the last multiple of `step_us` since 1970 (None: any time)."""

    name: str | None
    part: StreamPart
    begin_us: int
    end_us: int
    step_us: int | None
    source: Source

    @property
    def shape(self) -> tuple[int, int, int | None]:
        """All that says when rows are in it."""
        return self.begin_us, self.end_us, self.step_us

    def write_filter(self, time: str) -> str:
        """The FILTER by which a time is in the window."""
        now = "NOW()"
        if self.step_us is not None:
            now = f"<urn:ontoweir:floor>(NOW(), {write_duration(self.step_us)})"
        begin = f"?{time} > {now} - {write_duration(self.begin_us)}"
        if self.step_us is None and not self.end_us:
            return f"FILTER({begin})"
        end = f" - {write_duration(self.end_us)}" if self.end_us else ""
        return f"FILTER({begin} && ?{time} <= {now}{end})"


@dataclass(frozen=True, slots=True)
class RspQuery:
    """A query as SPARQL: `seen` says which rows a time is one of; `stream` is what is written
    (`rstream`, `istream`, `dstream`); `columns`: of tokens, by line and column, where they stood.
    """

    text: str
    seen: tuple[tuple[str, tuple[StreamPart, ...]], ...]
    stream: str
    columns: dict[tuple[int, int], int]
    warnings: tuple[tuple[str, Source], ...] = ()

    def place_back(self, place: Source | None) -> Source | None:
        """A place in the SPARQL as one of the text as it was given; of what was put between its
        tokens the line alone."""
        if place is None or place.line is None or place.column is None:
            return place
        column = self.columns.get((place.line, place.column))
        if column is None or place.end_column is None:
            return Source(place.file, place.line)
        end = place.end_column + column - place.column
        return Source(place.file, place.line, column, end)


Predicate = tuple[str, bool]
"""A property, or (True) a class."""


@dataclass(frozen=True, slots=True)
class Known:
    """What a project says: `find_stream`: the rows of an IRI's stream; `ways`: how the triples of
    a predicate are made; `one_row`: whether all triples of a
    subject, of these predicates and streams, are of one row; `classes`: those that a subject of
    all of these predicates may be in."""

    find_stream: Callable[[str, Source], StreamPart]
    ways: Callable[[Predicate], tuple[Way, ...]]
    one_row: Callable[[Sequence[Predicate], frozenset[str]], bool]
    graphs: frozenset[str]
    classes: Callable[[Sequence[Predicate]], tuple[Predicate, ...]]
    name_stream: Callable[[str, Source], StreamPart]
    step_us: Callable[[str], int]


def refuse(what: str, why: str, fix: str, source: Source) -> QueryError:
    """The error of a construct that is not read."""
    return QueryError(what, why=why, fix=fix, source=source)


def write_duration(us: int) -> str:
    """A length of time as a literal."""
    seconds, rest = divmod(us, _SECOND)
    text = f"{seconds}.{rest:06}".rstrip("0") if rest else str(seconds)
    return f'"PT{text}S"^^{_DURATION}'
