"""Guess which tables are streams, what their time is, and what tells rows apart."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from ontoweir.files.name_formats import LOGGED, NESTED, NESTED_PARQUET
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    Column,
    ColumnType,
    DataSource,
    DateType,
    FloatType,
    IntType,
    Relation,
    Stream,
    StringType,
    TimeFormat,
    TimestampType,
)
from ontoweir.mappings.model.parse_duration import UNITS_US
from ontoweir.scaffold.find_envelope import Changes
from ontoweir.scaffold.flatten_rows import make_name
from ontoweir.scaffold.read_sample import Sample, read_further, read_texts
from ontoweir.scaffold.texts.find_zone import find_zone
from ontoweir.scaffold.times.drop_odd import drop_odd

if TYPE_CHECKING:
    import pyarrow as pa

_HINTS = (
    "ts",
    "time",
    "timestamp",
    "datetime",
    "date_time",
    "event_time",
    "resulttime",
    "date",
    "epoch",
    "t",
)
_WORDS = ("time", "stamp", "date", "zeit", "datum", "uhr", "tijd", "tid", "heure", "hora", "fecha")
"""In names of times, in some languages."""
_UNNAMED = 99
"""The rank of a column that is not called like a time."""
_DAY = len("2026-01-05")
_ZONED = re.compile(r"[T ].*(Z|z|[+-][0-9]{2}:?[0-9]{2})\s*$")
_IN_ZONES = ("csv", "json", "parquet")
"""Formats whose times may be in a zone."""
_OURS_S = (1_000_000_000, 2_200_000_000)
"""Numbers with fractions between these that go on are seconds since 1970, likewise."""
_SEEN = 1000
"""So many values say whether times have a zone."""
_OURS_MS = (1_000_000_000_000, 2_200_000_000_000)
"""Whole numbers between these that go on are milliseconds since 1970, in the years 2001 to 2039,
whatever they are called."""
_KEYS = 3
"""So many keys of a relation are declared."""
_IS_ID = re.compile(r"(^|[^a-z])(id|uuid|guid|key|code|no|nr|number|isin)$|[a-z](Id|ID|Key|No|Nr)$")
_ORDERLY = 0.6
"""Of the rows of a stream so many do not come before the row before them."""


@dataclass(frozen=True, slots=True)
class Guessed:
    """A catalog, and in words why its streams are such, by name."""

    catalog: Catalog
    reasons: tuple[tuple[str, str], ...]


def guess_tables(samples: "list[Sample]", static: frozenset[str] = frozenset()) -> Guessed:
    """A catalog of tables: those with a time that goes on are streams, in steps of a microsecond;
    columns that tell the sampled rows of others apart are their keys. Where there is no such table,
    years that go on will do, and else times in any order.

    Args:
        samples: of the tables.
        static: the names of those that are no streams.
    """
    parted = [one for sample in samples for one in _part(sample)]
    for ways in (_STRICT, _BY_YEAR, _IN_ANY_ORDER, _WITH_GAPS):
        guessed = _guess(parted, ways, static)
        if guessed.catalog.streams:
            break
    return guessed


def _guess(samples: "list[Sample]", ways: "_Ways", static: frozenset[str]) -> Guessed:
    streams: dict[str, Stream] = {}
    relations: dict[str, Relation] = {}
    reasons = []
    for sample in samples:
        source = DataSource(
            sample.format,
            str(sample.path),
            sample.options,
            unnest=sample.unnest,
            mqtt=sample.mqtt,
        )
        paths = dict(sample.paths)
        if sample.changes is not None:
            streams[sample.name] = _guess_changes(sample, sample.changes, source)
            reasons.append((sample.name, f"its lines are changes, each with {sample.changes.time}"))
            continue
        found = None if sample.name in static else _find_placed(sample, ways)
        if found is None:
            columns = tuple(Column(n, t, path=paths.get(n)) for n, t in sample.types)
            others = {n.lower() for s in samples if s is not sample for n, _ in s.types}
            keys = _find_keys(sample, others)
            relations[sample.name] = Relation(sample.name, _lead(source, columns), columns, keys)
            continue
        time, written, why = found
        parts = {time} if written is None else {time, *written.columns}
        if sample.received is not None and sample.received not in parts:
            parts.add(sample.received)  # messages have a time of their own
            options = [one for one in sample.mqtt if one[0] != "received"]
            source = replace(source, mqtt=tuple(options))
        columns = tuple(Column(n, t, path=paths.get(n)) for n, t in sample.types if n not in parts)
        if time in paths:  # what is nested is read by its format
            known = written or TimeFormat("iso", ())
            written = replace(known, columns=(paths[time],))
        times = () if written is None else written.columns
        source = _lead(source, columns, times)
        streams[sample.name] = Stream(
            sample.name, source, time, 1, None, columns, align="error", written=written
        )
        reasons.append((sample.name, why))
    return Guessed(Catalog(streams, relations), tuple(reasons))


def _lead(source: DataSource, columns: Sequence[Column], times: Sequence[str] = ()) -> DataSource:
    """The source with the paths that lead to columns and times, of files that have types."""
    paths = [(c.name, c.path) for c in columns if c.path is not None]
    paths += [(name, name) for name in times if "." in name]
    if source.format not in NESTED or not (paths or source.unnest):
        return source
    form = NESTED_PARQUET if source.format == "parquet" else source.format
    return replace(source, format=form, paths=tuple(paths))


def find_odd_times(samples: Sequence[Sample]) -> str | None:
    """In words, a value that keeps a column of texts from being the time, as all but few of the
    others are written alike (None: there is no such column)."""
    for sample in samples:
        texts = {n: k for n, k in sample.types if isinstance(k, StringType)}
        if len(sample.types) == 1:  # rows of text, which begin with a time, perhaps
            continue
        for kept in drop_odd(sample, texts):
            return (
                f"{sample.name}.{kept.column} would be one, but for values such as {kept.odd!r}, "
                f"where others are as {kept.usual!r}"
            )
    return None


def _part(sample: Sample) -> list[Sample]:
    """The lines of a sample and, as a table of its own, the elements of their array; the latter
    alone, where the lines have no time."""
    if sample.outer is None or _find_time(sample.outer, _STRICT) is None:
        return [sample]
    assert sample.unnest is not None
    inner = f"{sample.name}_{make_name(sample.unnest.rpartition('.')[2])}"
    return [sample.outer, replace(sample, name=inner)]


def _guess_changes(sample: Sample, changes: Changes, source: DataSource) -> Stream:
    """The stream of messages that say how a table changes."""
    paths = dict(sample.paths)
    names = {name for name, _ in sample.types}
    time = next(n for n in ("ts", "changed_at", "change_time_us") if n not in names)
    columns = [Column(n, t, path=paths.get(n)) for n, t in sample.types]
    columns.append(Column(changes.envelope.delete, BooleanType()))
    written = TimeFormat("epoch_ms", (changes.time,))
    data = replace(source, envelope=changes.envelope)
    return Stream(sample.name, data, time, 1, None, tuple(columns), written=written)


@dataclass(frozen=True, slots=True)
class _Ways:
    """What makes a column the time of a stream: its rows are in its order (`orderly`); `least`: so
    many parts of a time, a year first, where each is in a column of its own; `gaps`: few of its
    rows have no time."""

    orderly: bool
    least: int
    gaps: bool = False

    def fit(self, times: "list[int]") -> bool:
        """Whether times are those of a stream."""
        return _goes_on(times) if self.orderly else len(set(times)) > 1


_STRICT, _BY_YEAR, _IN_ANY_ORDER = _Ways(True, 3), _Ways(True, 1), _Ways(False, 3)
_WITH_GAPS = _Ways(True, 3, gaps=True)


def _find_placed(sample: Sample, ways: _Ways) -> tuple[str, TimeFormat | None, str] | None:
    """The column that is the time, how it is written, in which zone, and why it is (None: there is
    none)."""
    if not ways.gaps:
        found = _find_time(sample, ways)
        return None if found is None else _place_zone(sample, *found)
    ranked = dict(sorted(sample.types, key=lambda c: _rank(c[0])))
    for kept in drop_odd(sample, ranked):
        rest = replace(sample, rows=kept.rows)
        found = _find_time(rest, ways)
        if found is None or found[0] != kept.column:
            continue
        time, written, why = _place_zone(rest, *found)
        few = f"{kept.left_out:,} of the first {sample.rows.num_rows:,}"
        odd = f"as in {kept.odd!r} instead" if kept.odd else "without one"
        return time, written, f"{why}; rows {odd} are rejected, {few}"
    return None


def _find_time(sample: Sample, ways: _Ways) -> tuple[str, TimeFormat | None, str] | None:
    """The column that is the time, how it is written, and why it is (None: there is none)."""
    ranked = sorted(sample.types, key=lambda c: _rank(c[0]))
    for name, kind in ranked:
        if not ways.orderly and _rank(name) == _UNNAMED and isinstance(kind, IntType | FloatType):
            continue
        found = _read_times(sample, name, kind)
        if found is None:
            continue
        times, written, why = found
        if sample.format in LOGGED:  # its rows have no order
            times = sorted(times)
        if len(times) < 2:
            continue
        if all(time % UNITS_US["day"] == 0 for time in times):  # perhaps of one day
            joined = _join_times(sample, name, ways)
            if joined is not None:
                return joined
        if ways.fit(times):
            return name, written, why
    return _join_times(sample, None, ways)


def _join_times(
    sample: Sample, day: str | None, ways: _Ways
) -> tuple[str, TimeFormat | None, str] | None:
    """The time that several columns have: a day and a time of day, or its parts (None: there is no
    such)."""
    from ontoweir.scaffold.texts.join_times import join_clock, join_parts

    if sample.format != "csv" and day is not None:
        return None
    texts = partial(read_texts, sample)
    found = join_parts(sample.types, sample.rows, ways.least, texts) if day is None else None
    made = [found] if found is not None else []
    for written, times, why in made if day is None else join_clock(sample.types, sample.rows, day):
        if ways.fit(times):
            known = {n for n, _ in sample.types}
            called = next(n for n in ("ts", "time", "moment", "row_time") if n not in known)
            return (written.columns[0] if len(written.columns) == 1 else called), written, why
    return None


def _place_zone(
    sample: Sample, time: str, written: TimeFormat | None, why: str
) -> tuple[str, TimeFormat | None, str]:
    """The same, with the zone that times without one show, and why."""
    import pyarrow as pa

    from ontoweir.runtime.columnar.decode_times import decode_times
    from ontoweir.runtime.times.read_times import read_times
    from ontoweir.scaffold.times.find_offset_zone import find_offset_zone

    plain = written if written is not None else TimeFormat("iso", (time,))
    columns = [sample.rows.column(name) for name in plain.columns]
    kind = columns[0].type
    aware = pa.types.is_timestamp(kind) and kind.tz is not None
    texts = [] if written is not None else [str(v) for v in columns[0].slice(0, _SEEN).to_pylist()]
    aware = aware or any(_ZONED.search(text) for text in texts) or "%z" in plain.format
    if aware and plain.format == "iso" and len(plain.columns) == 1:
        written_so = read_texts(sample, plain.columns[0])
        zone = None if written_so is None else find_offset_zone(written_so)
        if zone is not None:
            why += f"; their offsets are those of {zone}, whose days and months queries have"
            return time, replace(plain, zone=zone), why
    if aware or plain.format.startswith("epoch") or sample.format not in _IN_ZONES:
        return time, written, why
    rows = read_further(sample, plain.columns)
    columns = [rows.column(name) for name in plain.columns]
    if written is None:
        times, timed = decode_times(columns[0])
        times = times[timed]
    else:
        read, _ = read_times(columns, plain)
        times = read.drop_null().to_numpy()
    seen = find_zone(times)
    if seen is None:
        return time, written, why
    if len(seen.zones) == 1:
        why += f"; in {seen.zones[0]}, or a zone with the same clocks, as {seen.why}"
        return time, replace(plain, zone=seen.zones[0]), why
    zones = " or ".join(seen.zones)
    why += f"; perhaps add zone, as in {zones}, as {seen.why}"
    return time, written, why


def _rank(name: str) -> int:
    """Columns that are called like a time first."""
    plain = name.lower().replace("-", "_")
    if plain in _HINTS:
        return _HINTS.index(plain)
    if re.fullmatch("_c[0-9]+", plain):  # without a header
        return len(_HINTS) + 1
    said = any(word in plain for word in _WORDS) or re.search(r"(^|_)at$|[a-z]At$", name)
    return len(_HINTS) if said else _UNNAMED


def _read_times(
    sample: Sample, name: str, kind: ColumnType
) -> "tuple[list[int], TimeFormat | None, str] | None":
    import pyarrow as pa

    from ontoweir.runtime.columnar.decode_times import decode_times
    from ontoweir.runtime.times.read_times import read_times
    from ontoweir.runtime.times.suggest_format import suggest_format
    from ontoweir.scaffold.texts.join_times import spread, tell_turned
    from ontoweir.scaffold.texts.read_cells import is_plain

    column = sample.rows.column(name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if column.null_count or not len(column):
        return None
    if isinstance(kind, TimestampType | DateType):
        times, timed = decode_times(column)
        return (times.tolist(), None, "it holds times") if timed.all() else None
    if not isinstance(kind, StringType | IntType | FloatType):
        return None
    texts = [str(v) for v in spread(column.to_pylist())]
    if isinstance(kind, StringType) and all(len(t) >= _DAY for t in texts):
        times, timed = decode_times(column)
        if timed.all() and is_plain(column):
            return times.tolist(), None, "its texts are times of ISO 8601"
    form = suggest_format(texts)
    if form is None:
        return None
    ours = form == "epoch_ms" and all(_OURS_MS[0] <= float(text) < _OURS_MS[1] for text in texts)
    if form == "epoch_s" and isinstance(kind, FloatType):
        ours = all(_OURS_S[0] <= float(text) < _OURS_S[1] for text in texts)
    told = {*"/. -T"} & {*form} or form == "iso" or (ours and not _IS_ID.search(name))
    if _rank(name) == _UNNAMED and not told:  # numbers, of anything
        return None
    written = TimeFormat(form, (name,))
    read, wrong = read_times([column], written)
    if wrong is not None:
        return None
    why = f"its values are times as {form}, such as {texts[0]}{tell_turned(texts, form)}"
    return read.to_pylist(), written, why


def _goes_on(times: "list[int]") -> bool:
    """Whether times go on from row to row, but for some that come late; or back, as in lists that
    begin with the latest."""
    on = sum(a <= b for a, b in pairwise(times))
    back = sum(a >= b for a, b in pairwise(times))
    return len(set(times)) > 1 and max(on, back) >= _ORDERLY * (len(times) - 1)


def _find_keys(sample: Sample, others: Collection[str]) -> tuple[tuple[str, ...], ...]:
    """The columns that tell the rows apart: first those that are called like a column elsewhere,
    then the first one of the others, and what is called an id; that no value of the rest is there
    twice may be by chance."""
    found = []
    for name, kind in sample.types:
        column: pa.ChunkedArray = sample.rows.column(name)
        if isinstance(kind, FloatType) or column.null_count or not len(column):
            continue
        if len(column.unique()) == len(column):
            found.append(name)
    first = [name for name in found if name.lower() in others]
    rest = [name for name in found if name not in first]
    called = [n for n in rest if n in rest[:1] or _IS_ID.search(n)]
    return tuple((name,) for name in [*first, *(called if not first else ())][:_KEYS])
