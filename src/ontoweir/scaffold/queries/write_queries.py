"""Write first queries over a stream: its rows, averages by bucket of time, what comes again."""

import re
from collections import Counter
from collections.abc import Iterator
from math import ceil, floor
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, FloatType, Stream
from ontoweir.mappings.model.parse_duration import UNITS_US, show_duration
from ontoweir.scaffold.terms.describe_stream import Subject, describe_stream
from ontoweir.scaffold.terms.name_terms import local_name
from ontoweir.scaffold.terms.terms import Terms

if TYPE_CHECKING:
    from ontoweir.runtime.measure.measured import MeasuredStream

_KNOWN = {"urn:ontoweir:": "ow", "http://www.w3.org/2001/XMLSchema#": "xsd"}
_DAYS_US = UNITS_US["day"]
_BUCKETS = (
    ('"PT1M"^^xsd:dayTimeDuration', "minute", UNITS_US["minute"]),
    ('"PT1H"^^xsd:dayTimeDuration', "hour", UNITS_US["hour"]),
    ('"P1D"^^xsd:dayTimeDuration', "day", _DAYS_US),
    ('"P1M"^^xsd:yearMonthDuration', "month", 30 * _DAYS_US),
    ('"P1Y"^^xsd:yearMonthDuration', "year", 365 * _DAYS_US),
)
"""Durations, what they are called, and about how long they are (µs)."""
_ALIKE = 3
"""So many columns, at least, are said to be alike."""
_MANY = 50
"""Averages are by the greatest bucket of which the data has so many, or else by the least."""


def write_queries(
    stream: Stream, catalog: Catalog, measured: "MeasuredStream", terms: Terms
) -> Iterator[tuple[str, str]]:
    """Queries, by name: those that make sense of the stream, whether they are bounded or not.

    Args:
        stream: what they are over.
        catalog: its tables.
        measured: of its data.
        terms: that it is written with.
    """
    subject = describe_stream(stream, catalog)
    name = stream.name.replace("_", "-")
    kind, called = _show(terms, terms.classes[stream.name].iri)
    head = _prefixes(terms, stream.name, subject.value)
    leads = "" if subject.entity is None else terms.show(terms.about[stream.name].iri)
    about = f" ; {leads} ?it" if leads else ""
    shown = "" if subject.entity is None else "?it "
    each = shown if subject.entity is None or _comes_again(measured, subject.entity) else ""
    row = f"?row a {kind}{about}"
    width, unit = _bucket(measured)
    grouped = f"({_tumble(stream, width, unit)} AS ?{unit})"
    if subject.value is not None:
        of = terms.show(terms.columns[stream.name, subject.value].iri)
        value, limit = f" ; {of} ?value", _middle(measured, subject.value)
        yield (
            f"{name}-above",
            (
                f"# Every {called} with more than {limit}.\n{head}"
                f"SELECT {shown}?value\nWHERE {{\n  GRAPH ?t {{ {row}{value} }}\n"
                f"  FILTER(?value > {limit})\n}}\n"
            ),
        )
        yield (
            f"{name}-by-{unit}",
            (
                f"# How many there were, and their average, {unit} by {unit}.\n{head}"
                f"SELECT {each}?{unit} (COUNT(*) AS ?rows) (AVG(?value) AS ?average)\n"
                f"WHERE {{\n  GRAPH ?t {{ {row}{value} }}\n}}\nGROUP BY {each}{grouped}\n"
            ),
        )
    else:
        yield (
            f"{name}-by-{unit}",
            (
                f"# How many there were, {unit} by {unit}.\n{head}"
                f"SELECT {each}?{unit} (COUNT(*) AS ?rows)\n"
                f"WHERE {{\n  GRAPH ?t {{ {row} }}\n}}\nGROUP BY {each}{grouped}\n"
            ),
        )
    told = subject.value if subject.value is not None else subject.state
    if leads and told is not None:
        of = terms.show(terms.columns[stream.name, told].iri)
        yield f"{name}-latest", _latest(_prefixes(terms, stream.name, told), kind, about, of)
    if subject.entity is not None and subject.value is not None:
        by, time, shown = map(_name, (subject.entity, stream.timestamp, subject.value))
        yield (
            f"{name}-change",
            (
                "-- By how much each value differs from the one before it (SQL, over the tables).\n"
                f"SELECT {by}, {time}, {shown},\n"
                f"  {shown} - LAG({shown}) OVER (PARTITION BY {by} ORDER BY {time}) AS change\n"
                f"FROM {_name(stream.name)}\n"
            ),
        )
    yield from _ask_columns(stream, name, unit, subject)
    if subject.entity is not None and _comes_again(measured, subject.entity):
        within = _again_us(stream, measured, subject.entity)
        width = f"PT{within // UNITS_US['second']}S"
        yield (
            f"{name}-again",
            (
                f"# What is seen again within {show_duration(within)}.\n{head}"
                f"SELECT DISTINCT ?it ?t1 ?t2\nWHERE {{\n"
                f"  GRAPH ?t1 {{ ?one a {kind} ; {leads} ?it }}\n"
                f"  GRAPH ?t2 {{ ?other a {kind} ; {leads} ?it }}\n"
                f'  FILTER(?t1 < ?t2 && ?t2 - ?t1 <= "{width}"^^xsd:dayTimeDuration)\n}}\n'
            ),
        )


def _ask_columns(
    stream: Stream, name: str, unit: str, subject: Subject
) -> Iterator[tuple[str, str]]:
    """What is asked of columns alone: the averages of those that are alike; of rows that are about
    nothing, between which values one lies."""
    yield from _ask_alike(stream, name, unit)
    if subject.entity is None and subject.value is not None:
        value = _name(subject.value)
        yield (
            f"{name}-range",
            (
                f"-- The least and the greatest value, {unit} by {unit} (SQL, over the tables).\n"
                f"SELECT {_truncate(stream, unit)} AS since,\n"
                f"  MIN({value}) AS least, MAX({value}) AS greatest\n"
                f"FROM {_name(stream.name)}\nGROUP BY {_truncate(stream, unit)}\n"
            ),
        )


def _ask_alike(stream: Stream, name: str, unit: str) -> Iterator[tuple[str, str]]:
    """The averages of columns that are alike, if there are such."""
    alike = _list_alike(stream)
    listed = ", ".join(map(_name, alike))
    if alike:
        yield (
            f"{name}-of-each-column",
            (
                f"-- Averages of columns that are alike, {unit} by {unit} (SQL, over the tables).\n"
                f"SELECT which, {_truncate(stream, unit)} AS {unit}, AVG(value) AS average\n"
                f"FROM {_name(stream.name)} UNPIVOT (value FOR which IN ({listed}))\n"
                f"GROUP BY which, {_truncate(stream, unit)}\n"
            ),
        )


def _tumble(stream: Stream, width: str, unit: str) -> str:
    """When the bucket of a time begins, in SPARQL."""
    zone = _zone_of(stream, unit)
    days = f', "{zone}"' if zone else ""
    return f"ow:tumble(?t, {width}{days})"


def _truncate(stream: Stream, unit: str) -> str:
    """When the bucket of a row begins, in SQL."""
    zone = _zone_of(stream, unit)
    days = f", '{zone}'" if zone else ""
    return f"date_trunc('{unit}', {_name(stream.timestamp)}{days})"


def _zone_of(stream: Stream, unit: str) -> str:
    """The zone whose days, months and years a stream's buckets are (empty: those of UTC)."""
    zone = None if stream.written is None else stream.written.zone
    return zone if zone is not None and unit in ("day", "month", "year") else ""


def _list_alike(stream: Stream) -> list[str]:
    """The measured columns whose names differ in digits alone, as of one sensor each, if they are
    several (else none)."""
    known = {stream.timestamp.lower(), "which", "value"} | {u for _, u, _ in _BUCKETS}
    if known & {c.name.lower() for c in stream.columns}:
        return []
    numbers = [c.name for c in stream.columns if isinstance(c.type, FloatType)]
    shapes = Counter(re.sub("[0-9]+", "0", name) for name in numbers)
    shape, count = next(iter(shapes.most_common(1)), ("", 0))
    alike = [n for n in numbers if re.sub("[0-9]+", "0", n) == shape]
    return alike if count >= _ALIKE and "0" in shape else []


def _comes_again(measured: "MeasuredStream", entity: str) -> bool:
    """Whether rows are about the same things, most of them, as far as they were seen."""
    found = measured.columns.get(entity)
    return found is None or (found.distinct is not None and 2 * found.distinct <= measured.rows)


def _latest(head: str, kind: str, about: str, of: str) -> str:
    """The rows that have no later one about the same thing, with a value."""
    return (
        f"# The latest value of each: what holds now.\n{head}"
        f"SELECT ?it ?value\nWHERE {{\n  GRAPH ?t {{ ?row a {kind}{about} ; {of} ?value }}\n"
        f"  FILTER NOT EXISTS {{\n    GRAPH ?later {{ ?next a {kind}{about} ; {of} ?other }}\n"
        f"    FILTER(?later > ?t)\n  }}\n}}\n"
    )


def _again_us(stream: Stream, measured: "MeasuredStream", entity: str) -> int:
    """How long it takes for most things to be seen again: twice as long as on average, in whole
    steps, and at least two of them."""
    found, span = measured.columns.get(entity), 0
    if measured.first_us is not None and measured.last_us is not None:
        span = measured.last_us - measured.first_us
    things = 1 if found is None or found.distinct is None else found.distinct
    average = span * things // max(measured.rows, 1)
    return max(2, ceil(2 * average / stream.step_us)) * stream.step_us


def _show(terms: Terms, iri: str) -> tuple[str, str]:
    """A term as it is written, and its name."""
    return terms.show(iri), local_name(iri)


def _prefixes(terms: Terms, stream: str, value: str | None) -> str:
    """The prefixes of the terms of a stream's queries, and of functions and types."""
    used = [terms.classes[stream]]
    used += [terms.about[stream]] if stream in terms.about else []
    used += [terms.columns[stream, value]] if value is not None else []
    spaces = {iri[: len(iri) - len(local_name(iri))] for iri in (t.iri for t in used)}
    known = {s: terms.prefixes[s] for s in sorted(spaces) if s in terms.prefixes} | _KNOWN
    return "".join(f"PREFIX {name}: <{space}>\n" for space, name in known.items()) + "\n"


def _name(column: str) -> str:
    """A name in SQL, in quotes where it needs them."""
    plain = column.isascii() and column.replace("_", "a").isalnum() and not column[0].isdigit()
    return column if plain and column.islower() else f"`{column}`"


def _middle(measured: "MeasuredStream", column: str) -> str:
    """A number about three quarters of the way from the least to the greatest value."""
    found = measured.columns.get(column)
    if found is None or found.minimum is None or found.maximum is None:
        return "0"
    low, high = float(found.minimum), float(found.maximum)
    middle = low + 0.75 * (high - low)
    if abs(middle) >= 10:
        return str(floor(middle))
    return f"{middle:.2f}" if abs(middle) >= 1 else f"{middle:.2g}"


def _bucket(measured: "MeasuredStream") -> tuple[str, str]:
    """A bucket of time, in which there may be several timestamps, and what it is called."""
    if measured.first_us is None or measured.last_us is None:
        return _BUCKETS[1][:2]
    span = measured.last_us - measured.first_us
    apart = span * measured.rate // max(measured.rows, 1)  # on average, where all are full
    apart = max(min(apart, measured.gap_us or apart), measured.step_us or 1)
    wider = [b for b in _BUCKETS if b[2] >= 2 * apart] or [_BUCKETS[-1]]
    fits = [b for b in wider if span // b[2] >= _MANY]
    return (fits[-1] if fits else wider[0])[:2]
