"""The catalog: declared streams and static relations, their columns, types, keys and domains."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal, TypeAlias

from ontoweir.errors import CatalogError, Source
from ontoweir.mappings.model.expression import Expression, UserFunction
from ontoweir.mappings.model.preceding import Preceding
from ontoweir.mappings.model.time_bucket import TimeBucket


@dataclass(frozen=True, slots=True)
class IntType:
    """A whole number (64 bit)."""


@dataclass(frozen=True, slots=True)
class DecimalType:
    """A fixed-point number with `precision` digits, `scale` of them behind the point."""

    precision: int
    scale: int


@dataclass(frozen=True, slots=True)
class FloatType:
    """An IEEE double: a dense domain, which no range bounds."""


@dataclass(frozen=True, slots=True)
class StringType:
    """A character string."""


@dataclass(frozen=True, slots=True)
class BooleanType:
    """True or false."""


@dataclass(frozen=True, slots=True)
class DateType:
    """A calendar day."""


@dataclass(frozen=True, slots=True)
class TimestampType:
    """A point in time, microseconds, that is not the stream's application time."""


ColumnType: TypeAlias = (
    IntType | DecimalType | FloatType | StringType | BooleanType | DateType | TimestampType
)
"""The type of a column, a closed union."""

Scalar: TypeAlias = int | Decimal | float | str | bool
"""A constant. Dates are ISO strings 'YYYY-MM-DD' in the catalog."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column; `minimum`, `maximum` (inclusive) and `enum` are domains that ingestion enforces.
    `bucket`: it is not in the data, but says in which bucket of time a row lies; `expression`: it
    is not in the data, but computed from other columns of the row; `path`: in JSON lines, the names
    that lead to it, with dots (None: its own name); `nullable`: NULL is shown in answers of SQL."""

    name: str
    type: ColumnType
    minimum: Scalar | None = None
    maximum: Scalar | None = None
    enum: tuple[Scalar, ...] | None = None
    source: Source | None = None
    bucket: TimeBucket | None = None
    expression: Expression | None = None
    path: str | None = None
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Envelope:
    """Messages that say how a table changes. `form`: "debezium" (before, after, op), or "upsert" (a
    key, and a value, which is null where the key is deleted); `delete`: the boolean column that is
    true of a row that says so."""

    form: Literal["debezium", "upsert"]
    delete: str


LIVE_OPTIONS = frozenset(
    ("maxfilespertrigger", "maxbytespertrigger", "maxcachedfiles", "maxfileage", "filenameonly")
) | {"cleansource", "sourcearchivedir", "latestfirst", "discardcachedinputratio"}
"""Options of sources that say when a live run takes files, not what these are; in small letters."""


@dataclass(frozen=True, slots=True)
class DataSource:
    """Where rows come from: a Spark reader's format, path and options; `view` is Spark SQL over
    the other static relations instead; `paths`: by column, what leads into a nested one; `archive`:
    the folder that a live run moves files to when they are read (None: they stay)."""

    format: str
    path: str | None
    options: tuple[tuple[str, str], ...] = ()
    view: str | None = None
    sort: bool = False
    """Sort the history by timestamp before replaying it (otherwise going backwards is an error)."""
    keep: bool = False
    """Keep what is made of local files, as Parquet beside the project, for the next replay."""
    unnest: str | None = None
    """The names that lead to an array, with dots: each of its elements is a row."""
    envelope: Envelope | None = None
    """What a message is, beside its row (None: it is the row)."""
    mqtt: tuple[tuple[str, str], ...] = ()
    """Where messages of MQTT come from, which `receive` writes to the path (none: no others do)."""
    registry: tuple[tuple[str, str], ...] = ()
    """Of Kafka's messages in a schema registry's framing, its URL, and how it is reached."""
    paths: tuple[tuple[str, str], ...] = ()
    archive: str | None = None


ANSWERS = DataSource("answers", None)  # of a stream that is the answers of another query


@dataclass(frozen=True, slots=True)
class Reference:
    """A foreign key: `columns` of the declaring table occur as `to` in static `relation`."""

    columns: tuple[str, ...]
    relation: str
    to: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Breach:
    """What becomes of a row that breaks a rule on how rows come. `reject`: it is rejected; `spill`:
    it has its matches, as what the rule drops is kept on disk; else it is let in, and counted.
    `remember_us`: how long a value that is closed is remembered, as others
    cannot be told from new ones (None: no limit is declared); `values`: the columns have so many
    values at most, which are remembered for ever (None: a time limits it, or nothing)."""

    reject: bool
    remember_us: int | None = None
    values: int | None = None
    spill: bool = False


@dataclass(frozen=True, slots=True)
class Lag:
    """A stream's rows that join a row of `behind` (`columns` = `to`) come at most `within_us`
    after it: a k-constraint ([B] RIDS), counted in time.

    `rows`: it is declared as so many rows of the stream, of which one comes at least every
    `every_us`, so that `within_us` is their product. `one`: no two rows of the stream agree on
    `columns`, so that one at most joins a row of `behind` (a many-one join).
    """

    behind: str
    columns: tuple[str, ...]
    to: tuple[str, ...]
    within_us: int
    source: Source | None = None
    breach: Breach | None = None
    rows: int | None = None
    every_us: int | None = None
    one: bool = False


@dataclass(frozen=True, slots=True)
class ClosingRule:
    """When a value of `columns` is closed: no further row of the stream has it. By exactly one of
    `gap_us`: two consecutive rows with a value are at most so far apart in time; `rows`: at most so
    many rows with other values come between them, in steps that lie between theirs; `ends`: the row
    in which this column is true is the last one, and at most `most_open` values are without it;
    `span_us`: a lag of the stream behind itself says that all rows with a value lie within it;
    `slack`: a value (a whole number, a day) is at most so much less than the greatest before;
    `late_rows`: at most so many rows, of later steps, come between a greater value and it.

    [B] CA(k) counts rows; a gap is a session's; `ends` is a punctuation; the last two are OA(k). It
    bounds how many values are open at once, not how long one is.
    `floor`: live, less is used where rows show less, and at least so much (in µs, rows or values).
    `most_rows`: of a value, until it is closed, so many rows come at most (None: any number).
    No stream declares these: `session`: a query asks for runs of rows with no greater gap; values
    are times, in units of at least `width_us`: rows come at most `ahead_us` before, and `span_us`
    after one; `of_key`: a key says so; `implied`: the query, of its matches.
    """

    columns: tuple[str, ...]
    gap_us: int | None = None
    rows: int | None = None
    ends: str | None = None
    most_open: int | None = None
    span_us: int | None = None
    source: Source | None = None
    breach: Breach | None = None
    slack: int | None = None
    late_rows: int | None = None
    floor: int | None = None
    most_rows: int | None = None
    session: bool = False
    width_us: int | None = None
    of_key: bool = False
    ahead_us: int = 0
    implied: bool = False

    @property
    def is_order(self) -> bool:
        """Whether values come in their order."""
        return self.slack is not None or self.late_rows is not None


@dataclass(frozen=True, slots=True)
class TimeFormat:
    """How timestamps are written where their column does not hold them as such. `format`: "iso"
    (text of ISO 8601, or timestamps), one of EPOCHS (numbers since 1970-01-01T00:00:00Z), or a
    pattern (time_pattern); `columns`: one, or several whose texts are joined by blanks, as a date
    and a time of day; `zone`: of times that do not say theirs, by its IANA name (None: UTC).
    """

    format: str
    columns: tuple[str, ...]
    zone: str | None = None


@dataclass(frozen=True, slots=True)
class VersionsOf:
    """Of a relation that changes: the `stream` of its versions, the latest of each `key` being its
    row; `delete`: a column that is true where the key has no row any more; `order`: a column that
    says which of several versions of a key at one timestamp is the latest; `only`: what is true of
    the rows that are versions (None: all are); `time`: the column of the relation that says
    since when it holds (None: none does). `earlier`: a row meets the latest version of an earlier
    time than its own; `optional`: where there is none, it has NULLs in its place; `whole`: the rows
    of a time are all that there are from then on, so that a key not among them has none."""

    stream: str
    key: tuple[str, ...]
    delete: str | None = None
    order: str | None = None
    only: Expression | None = None
    time: str | None = None
    earlier: bool = False
    optional: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Meeting:
    """How rows of the stream `base` meet the rows of a relation that changes (`versions`), as of
    their own time.

    `key`: for each column of its key, a column of `base`, or a constant; `columns`: the names of
    columns of the relation as columns of the rows that met it.
    """

    base: str
    versions: VersionsOf
    key: "tuple[tuple[str | KeyConstant, str], ...]"
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class KeyConstant:
    """A constant that a column of a key equals."""

    value: Scalar


Align: TypeAlias = Literal["error", "floor", "round"]
"""Of a time between two steps: it is refused; the step before; the nearest, of two the later."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A declared stream.

    `timestamp` names the application-time column, which is not among `columns`; `step_us` is the
    unit of the flow of time in microseconds; `unit_us`: the one that is declared, where a query
    counts time in finer steps, of which it is a whole number; `max_per_timestamp` is R, the most
    tuples that share one timestamp (None: not declared); `start_us`: no timestamp is before it (µs
    since 1970, None: not declared); `idle_us`: live, after how long without a row it holds other
    streams back no more (None: never); `on_bad_file`: live, "stop" when a file cannot be read, or
    "quarantine": it is moved away; `align`: what becomes of timestamps between two steps;
    `written`: how they are written (None: as their column's type has them; text is ISO 8601, whole
    numbers are microseconds); `lateness_us`: a row comes at most so long (application time) after
    one with a later timestamp; `floor_us`: live, less is used where rows of a window (`window_us`;
    None: of some lateness) show less, and at least so much (None: what is declared is used);
    `versions`: it is a relation that changes, as of every time: it has no rows of its own, and is
    read at the times of other rows only; `closing`: when values of columns are closed; `present`:
    columns of answers that are times of their rows: never NULL or after the timestamp, and at most
    as long before it as a lag says of answers with one such time; `filled`: others that are never
    NULL; `iri`: its name in RSP-QL, or its rows'.
    """

    name: str
    data: DataSource
    timestamp: str
    step_us: int
    max_per_timestamp: int | None
    columns: tuple[Column, ...]
    keys: tuple[tuple[str, ...], ...] = ()
    references: tuple[Reference, ...] = ()
    source: Source | None = None
    idle_us: int | None = None
    lags: tuple[Lag, ...] = ()
    start_us: int | None = None
    on_bad_file: str = "stop"
    align: Align = "error"
    written: TimeFormat | None = None
    unit_us: int | None = None
    lateness_us: int = 0
    floor_us: int | None = None
    window_us: int | None = None
    versions: VersionsOf | None = None
    closing: tuple[ClosingRule, ...] = ()
    present: tuple[str, ...] = ()
    filled: tuple[str, ...] = ()
    iri: str | None = None

    @property
    def grid_us(self) -> int:
        """Every timestamp is a multiple of it, in µs."""
        return self.step_us if self.unit_us is None else self.unit_us

    @property
    def spacing(self) -> int:
        """Every timestamp is a multiple of so many steps."""
        return self.grid_us // self.step_us

    @property
    def time_columns(self) -> tuple[str, ...]:
        """The columns of a file that the timestamp is made from."""
        return (self.timestamp,) if self.written is None else self.written.columns

    def column(self, name: str) -> Column | None:
        """The column called `name` (case-sensitive), or None."""
        return next((c for c in self.columns if c.name == name), None)


@dataclass(frozen=True, slots=True)
class Relation:
    """A declared static relation; `max_rows` is a declared limit on its size."""

    name: str
    data: DataSource
    columns: tuple[Column, ...]
    keys: tuple[tuple[str, ...], ...] = ()
    references: tuple[Reference, ...] = ()
    max_rows: int | None = None
    source: Source | None = None

    def column(self, name: str) -> Column | None:
        """The column called `name` (case-sensitive), or None."""
        return next((c for c in self.columns if c.name == name), None)


@dataclass(frozen=True, slots=True)
class QueryView:
    """A query that others read by its name: its SQL; `file`: where that is written (None: in the
    declaration)."""

    name: str
    text: str
    source: Source
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Catalog:
    """All streams, static relations, and queries that others read, by name; `file`: of these."""

    streams: Mapping[str, Stream] = field(default_factory=dict)
    relations: Mapping[str, Relation] = field(default_factory=dict)
    file: str = "ontoweir.toml"
    functions: Mapping[str, UserFunction] = field(default_factory=dict)
    """Users' functions of a row, by name."""
    views: Mapping[str, QueryView] = field(default_factory=dict)
    preceding: Mapping[str, Preceding] = field(default_factory=dict)
    """What the rows of streams are that a query makes of rows and those before them, by name."""
    rising: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Of streams of answers, the columns that rise with their timestamp."""
    begins: tuple[str, ...] = ()
    """While a query is read, its streams: what always holds does from their first timestamp on."""

    def table(self, name: str) -> Stream | Relation:
        """The stream or relation called `name`.

        Raises:
            CatalogError: nothing of that name is declared.
        """
        declared = self.streams.get(name) or self.relations.get(name)
        if declared is None:
            known = ", ".join(sorted([*self.streams, *self.relations])) or "nothing"
            raise CatalogError(
                f"unknown table {name!r}",
                why=f"the catalog declares {known}",
                fix=f"declare [streams.{name}] or [relations.{name}]",
                source=Source(self.file),
            )
        return declared
