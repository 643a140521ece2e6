"""Measure what was guessed, and declare what the data keeps."""

import re
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DecimalType,
    IntType,
    Reference,
    Stream,
    StringType,
)
from ontoweir.mappings.model.parse_duration import show_duration
from ontoweir.measuring.count_nulls import count_nulls
from ontoweir.measuring.declared import (
    AddCluster,
    AddGap,
    AddKey,
    AddLag,
    AddOrder,
    AddReference,
    AddRows,
    Declared,
    SetDomain,
    SetLateness,
    SetNullable,
    SetRate,
    declare_in,
)
from ontoweir.measuring.measure_streams import measure_streams
from ontoweir.measuring.propose_declarations import (
    Proposed,
    propose_declarations,
    propose_nullable,
)
from ontoweir.progress.progress import OnProgress, ignore_progress
from ontoweir.progress.replay_progress import PreparedRows
from ontoweir.scaffold.mend_types import mend_types, tell_nan, tell_texts
from ontoweir.scaffold.terms.describe_stream import find_own_id, names_thing
from ontoweir.scaffold.terms.name_terms import class_of, names_rows, without_id

if TYPE_CHECKING:
    from ontoweir.runtime.measure.measured import MeasuredStream

_SHARES = (0.5, 0.99, 0.999)
"""Of so many timestamps the measured quantiles are."""
_SECOND = 1_000_000
UNITS_US = tuple(n * _SECOND for n in (86_400, 3_600, 1_800, 900, 600, 300, 60, 30, 15, 10, 5, 1))
"""The units of time that a stream is given, the greatest that fits."""
DECLARED = "declared, not seen"
"""The evidence of what has no data."""
BY_DATABASE = "declared by the database"
"""That of what a database holds its tables to."""
_ONCE = 0.9
"""Of the values of a column that numbers rows so many are there once, at least."""
_EXPECTED = 3
"""Where of numbers drawn by lot so many pairs would be the same, it says something that none is."""
_ADDRESS = re.compile(r"^/.|://|::|\S@\S|^\d+(\.\d+){3}$|^([\da-fA-F]+:){3}")
"""Paths, URLs, mail and network addresses: there are always new ones."""
_DAY = re.compile(r"[0-9]{4}[-/.][0-9]{1,2}\b|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2,4}\b")
"""Texts that begin so are days or times, and others will come."""
_SOME, _OFTEN, _ENOUGH = 60, 100, 2_000
"""So many texts, at most, are taken for all that there are; each is there so often, on average; or
in so many rows, had there been as many."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A catalog, and of its streams what was seen: of the unit, and of each declaration; and of
    static relations, by column, how often it is NULL. Relations have as many rows at most as were
    seen. `undeclared`: by stream, what was seen of messages in so short a time that to declare it
    would reject later ones. `static_keys`: by static relation, the keys that a database declares;
    `notes`: by table, what it declares otherwise."""

    catalog: Catalog
    units: tuple[tuple[str, str], ...]
    seen: tuple[tuple[Declared, str], ...]
    measured: "tuple[tuple[str, MeasuredStream], ...]"
    static_nulls: tuple[tuple[str, str, str], ...] = ()
    undeclared: tuple[tuple[str, str], ...] = ()
    static_keys: tuple[tuple[str, tuple[str, ...]], ...] = ()
    notes: tuple[tuple[str, str], ...] = ()


def measure_guessed(
    catalog: Catalog, spark: Any, on_progress: OnProgress = ignore_progress
) -> Evidence:
    """The catalog with units of time, and with what all of the data keeps.

    Args:
        catalog: whose streams have steps of a microsecond.
        spark: gives the session where a source needs it.
        on_progress: is told of rows that are read.

    Raises:
        DataError: data cannot be read.
    """
    heard = PreparedRows("measuring", on_progress)
    found = measure_streams(catalog, list(catalog.streams.values()), spark, heard)
    guessed, before = catalog, found
    catalog, found = mend_types(catalog, found, spark)
    notes = (*tell_texts(guessed, catalog, before), *tell_nan(catalog, found))
    streams: dict[str, Stream] = {}
    units = []
    for name, stream in catalog.streams.items():
        streams[name], why = _choose_unit(stream, found[name].step_us)
        if _is_shuffled(found[name]):
            sorted_rows = replace(streams[name].data, sort=True)
            streams[name] = replace(streams[name], data=sorted_rows)
            why += "; its rows are in another order, and are sorted"
        units.append((name, why))
    catalog = replace(catalog, streams=streams)
    again = [s for s in streams.values() if s.align != "error"]
    found |= measure_streams(catalog, again, spark, heard) if again else {}
    seen: list[tuple[Declared, str]] = []
    undeclared: list[tuple[str, str]] = []
    for name, stream in streams.items():
        made = (p for p in propose_declarations(stream, found[name]) if not p.asked)
        proposed = [
            p for p in made if _is_safe(p, found[name].rows) and not _is_chance(p.declared, stream)
        ]
        proposed = [p for p in proposed if not _may_repeat(p.declared, stream, found[name])]
        proposed = _leave_named(proposed, stream)
        if stream.data.sort:
            proposed = [p for p in proposed if not isinstance(p.declared, SetLateness)]
        keys = [p for p in proposed if isinstance(p.declared, AddKey)]
        keys.sort(key=partial(_rank_key, stream=stream, measured=found[name]))
        own = _find_own_key(stream, found[name])
        if (
            own is not None
        ):  # that others tell rows apart, whose values hardly come again, is chance
            some = [k for k in keys if not _is_serial(k.declared, stream, found[name])]
            proposed = [p for p in proposed if p in some or p not in keys or p.declared == own]
            keys = some
        alone = found[name].rate == 1 and found[name].rows > 1
        mine: list[tuple[Declared, str]] = []
        for one in proposed:
            if one not in (keys if alone else keys[1:]):
                mine.append((_order_key(one.declared, stream, own), one.evidence))
        if alone:  # a key with the time is enforced by a run, and no number that repeats some day
            single = AddKey(name, (stream.timestamp,))
            mine.append((single, "no two rows share a timestamp"))
        if own is not None and own not in [declared for declared, _ in mine]:
            mine.append((own, f"{own.columns[0]} has no value twice"))
        late = [one for one in mine if not stream.data.mqtt or isinstance(one[0], SetLateness)]
        seen += late
        undeclared += [(name, one[1]) for one in mine if one not in late]
    catalog = declare_in(catalog, [declared for declared, _ in seen])
    catalog = replace(
        catalog, streams={n: _mark_nullable(s, found[n]) for n, s in catalog.streams.items()}
    )
    catalog, nulls = _mark_static(catalog)
    told = tuple(undeclared)
    measured = tuple(found.items())
    return Evidence(catalog, tuple(units), tuple(seen), measured, nulls, told, notes=notes)


def _mark_static(catalog: Catalog) -> tuple[Catalog, tuple[tuple[str, str, str], ...]]:
    """The catalog with relations whose columns are declared nullable in which NULL was seen, and
    by table and column what was seen."""
    told: list[tuple[str, str, str]] = []
    relations = {}
    for relation in catalog.relations.values():
        rows, nulls = count_nulls(relation, catalog.file)
        relations[relation.name] = replace(relation, max_rows=rows or None)
        for proposed in propose_nullable(relation, nulls, rows):
            assert isinstance(proposed.declared, SetNullable)
            name = proposed.declared.column
            told.append((relation.name, name, f"NULL in {nulls[name]:,} of {rows:,} rows"))
    declared = [SetNullable(table, column, True) for table, column, _ in told]
    return declare_in(replace(catalog, relations=relations), declared), tuple(told)


def _mark_nullable(stream: Stream, measured: "MeasuredStream") -> Stream:
    """The stream, where columns in which NULL was seen are declared so: but for those of a key, in
    which a row has values."""
    key = {name for key in stream.keys for name in key}
    wrong = measured.mistyped  # which are none of a column that is declared
    null = {n for n, c in measured.columns.items() if c.nulls > wrong.get(n, 0) and n not in key}
    if stream.data.mqtt:  # others may lack what all of these have, but no level of a topic
        levels = dict(stream.data.mqtt)["topic"].split("/")
        null = {n for n in measured.columns if f"{{{n}}}" not in levels}
    columns = (replace(c, nullable=True) if c.name in null else c for c in stream.columns)
    return replace(stream, columns=tuple(columns))


def trust_declared(catalog: Catalog) -> Evidence:
    """What is declared of tables without data, which has yet to be seen."""
    from ontoweir.runtime.measure.measured import MeasuredLateness, MeasuredStream

    late = MeasuredLateness((0,), (0,), True)
    nothing = MeasuredStream(0, 0, None, None, None, late, 0, None, {}, (), (), {})
    seen: list[tuple[Declared, str]] = []
    for name, stream in catalog.streams.items():
        seen += [(AddKey(name, key), DECLARED) for key in stream.keys[:1]]
        seen += [(AddReference(name, r), DECLARED) for r in stream.references[:1]]
    units = tuple((name, "no data yet") for name in catalog.streams)
    return Evidence(catalog, units, tuple(seen), tuple((n, nothing) for n in catalog.streams))


def _rank_key(
    proposed: Proposed, stream: Stream, measured: "MeasuredStream"
) -> tuple[bool, int, bool, bool]:
    """First keys with the time, which a run enforces; of those, of few columns; of what comes
    again, not of numbers of rows; of texts."""
    declared = proposed.declared
    assert isinstance(declared, AddKey)
    others = [n for n in declared.columns if n != stream.timestamp]
    serial = _is_serial(declared, stream, measured)
    kinds = [c.type for c in stream.columns if c.name in others]
    plain = bool(kinds) and all(isinstance(kind, StringType) for kind in kinds)
    return not _has_time(declared, stream), len(declared.columns), serial, not plain


def _is_serial(declared: Declared, stream: Stream, measured: "MeasuredStream") -> bool:
    """Whether a column of a key numbers rows, or is another time of theirs: as good as all of its
    values are there once."""
    assert isinstance(declared, AddKey)
    others = [n for n in declared.columns if n != stream.timestamp]
    found = [measured.columns[n] for n in others if n in measured.columns]
    return any(c.distinct is None or c.distinct >= _ONCE * measured.rows for c in found)


def _has_time(declared: Declared, stream: Stream) -> bool:
    return isinstance(declared, AddKey) and stream.timestamp in declared.columns


def _is_shuffled(measured: "MeasuredStream") -> bool:
    """Whether rows come so late that they are not in an order of time at all: by a tenth of it."""
    if measured.first_us is None or measured.last_us is None:
        return False
    return 10 * measured.lateness.greatest_us > measured.last_us - measured.first_us


def _find_own_key(stream: Stream, measured: "MeasuredStream") -> AddKey | None:
    """The key by what rows are called, which other streams may name them by (None: there is no
    such column, or it has a value twice)."""
    for name, values in measured.columns.items():
        key = name, stream.timestamp
        if values.nulls or values.distinct != measured.rows or measured.rows < 2:
            continue
        if find_own_id(replace(stream, keys=(key,))) is not None:
            return AddKey(stream.name, key)
    return None


def _order_key(declared: Declared, stream: Stream, own: AddKey | None) -> Declared:
    """The same; a key that seems to be of what rows are called by, and comes again, with the
    timestamp first (`find_own_id`)."""
    if not isinstance(declared, AddKey) or declared == own:
        return declared
    if find_own_id(replace(stream, keys=(declared.columns,))) is None:
        return declared
    return AddKey(declared.stream, (stream.timestamp, declared.columns[0]))


def _is_chance(declared: Declared, stream: Stream) -> bool:
    """Whether it is a key by a number with a fraction, as what is measured repeats, sooner or
    later; or whole numbers that are among those of a relation which they are not called after, as
    all counting begins alike."""
    match declared:
        case AddKey(columns=names):
            columns = (stream.column(name) for name in names)
            return any(c is not None and isinstance(c.type, DecimalType) for c in columns)
        case AddReference(reference=made):
            (name,), (to,) = made.columns, made.to
            column = stream.column(name)
            whole = column is not None and isinstance(column.type, IntType)
            return whole and not names_rows(name, made.relation, to)
        case _:
            return False


def _leave_named(proposed: list[Proposed], stream: Stream) -> list[Proposed]:
    """The same, of references of a column to several relations only those to what it is called
    after: `study_id` is of `studies`, not of `study_directions`. And none of what rows of the
    stream are called by: a trial's `trial_id` does not refer to the `trial_values` that it has."""
    named: dict[str, set[str]] = {}
    for one in proposed:
        match one.declared:
            case AddReference(reference=Reference(columns=(column,), relation=relation)):
                kind, own = class_of(without_id(column)), class_of(stream.name)
                if kind == own or kind == class_of(relation):
                    found = named.setdefault(column, set())
                    found |= {relation} if kind == class_of(relation) else set()
            case _:
                pass
    return [
        one
        for one in proposed
        if not isinstance(one.declared, AddReference)
        or one.declared.reference.relation
        in named.get(one.declared.reference.columns[0], {one.declared.reference.relation})
    ]


def _may_repeat(declared: Declared, stream: Stream, measured: "MeasuredStream") -> bool:
    """Whether it is a key by whole numbers of which so few share a timestamp that they would hardly
    be the same, were they drawn by lot: fewer than `_EXPECTED` times. Later rows would be rejected
    that have the same. (Not of numbers that are called as what tells things apart.)"""
    if not isinstance(declared, AddKey):
        return False
    others = [n for n in declared.columns if n != stream.timestamp]
    kinds = {c.name: c.type for c in stream.columns}
    numbers = [n for n in others if isinstance(kinds[n], IntType) and not names_thing(n)]
    if len(others) != 1 or not numbers:
        return False
    distinct = measured.columns[others[0]].distinct or measured.rows
    return _count_pairs(measured) < _EXPECTED * distinct


def _count_pairs(measured: "MeasuredStream") -> float:
    """How many pairs of rows share a timestamp, at most."""
    most = (measured.rate,) * len(_SHARES) if measured.rates is None else measured.rates.quantiles
    ends = [0.0, *_SHARES, 1.0]
    shares = (b - a for a, b in pairwise(ends))
    sizes = (*most, measured.rate)
    return sum(p * measured.rows * n * (n - 1) / 2 for p, n in zip(shares, sizes, strict=True))


def _choose_unit(stream: Stream, step_us: int | None) -> tuple[Stream, str]:
    if step_us is None:
        return replace(stream, step_us=_SECOND), "there are no rows"
    for unit in UNITS_US:
        if step_us % unit == 0:
            why = f"all times are multiples of {show_duration(unit)}"
            return replace(stream, step_us=unit), why
    return (
        replace(stream, step_us=_SECOND, align="floor"),
        "times have fractions of a second, which are cut off",
    )


def _is_safe(proposed: Proposed, rows: int) -> bool:
    """Whether what was seen of some data is likely to hold of more: of values, texts that are few,
    or that come again and again in its rows; a range of numbers is left to whoever knows them."""
    match proposed.declared:
        case SetDomain(column=Column(type=StringType(), enum=values)):
            if values is None or len(values) > _SOME or len(values) * _OFTEN > max(rows, _ENOUGH):
                return False
            texts = [str(value) for value in values]
            return not all(map(_DAY.match, texts)) and not any(map(_ADDRESS.search, texts))
        case SetDomain() | SetNullable():  # these are marked
            return False
        case AddGap() | AddRows() | AddOrder() | AddLag():
            return False
        case SetRate() | SetLateness() | AddKey() | AddReference() | AddCluster():
            return not proposed.loses
