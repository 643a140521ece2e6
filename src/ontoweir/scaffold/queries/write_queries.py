"""Write first queries over a stream: its rows, averages by bucket of time, what comes again."""

import re
from collections import Counter
from collections.abc import Iterator
from math import ceil, floor, isfinite
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
_ROUND_US = tuple(
    n * UNITS_US[unit]
    for unit, numbers in (
        ("second", (1, 2, 5, 10, 15, 30)),
        ("minute", (1, 2, 5, 10, 15, 30)),
        ("hour", (1, 2, 3, 6, 12)),
        ("day", (1, 2, 3, 7, 14, 30, 60, 90, 180, 365)),
    )
    for n in numbers
)
"""How long people say that something takes."""
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
    row = f"?row a {kind}{about}"
    unit = _bucket(measured)[1]
    if subject.value is not None:
        of = terms.show(terms.columns[stream.name, subject.value].iri)
        limit = _middle(measured, subject.value)
        what = f"Every {called} whose {_say(subject.value)} is above {limit}"
        if not stream.keys:
            yield f"{name}-above", _above_in_sql(stream, subject, what, limit)
        else:
            yield (
                f"{name}-above",
                (
                    f"# {what}.\n{head}SELECT {'?it ' if leads else ''}?value\nWHERE {{\n"
                    f"  GRAPH ?t {{ {row} ; {of} ?value }}\n  FILTER(?value > {limit})\n}}\n"
                ),
            )
    yield from _ask_buckets(stream, catalog, measured, terms)
    told = subject.value if subject.value is not None else subject.state
    if subject.entity is not None and told is not None:
        of = terms.show(terms.columns[stream.name, told].iri)
        what = f"# The latest {_say(told)} of each {_say(subject.entity)}: what holds now.\n"
        yield f"{name}-latest", what + _latest(_prefixes(terms, stream.name, told), row[5:], of)
    if subject.entity is not None and subject.value is not None:
        parts = (subject.entity, stream.timestamp, subject.value)
        by, time, shown = map(_name, parts)
        yield (
            f"{name}-change",
            (
                "-- By how much each value differs from the one before it (SQL, over the tables).\n"
                f"SELECT {', '.join(map(_show_column, parts))},\n"
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
                f"# Each {_say(subject.entity)} that is seen again within "
                f"{show_duration(within)}.\n{head}"
                f"SELECT ?it ?t1 ?t2\nWHERE {{\n"
                f"  GRAPH ?t1 {{ ?one a {kind} ; {leads} ?it }}\n"
                f"  GRAPH ?t2 {{ ?other a {kind} ; {leads} ?it }}\n"
                f'  FILTER(?t1 < ?t2 && ?t2 - ?t1 <= "{width}"^^xsd:dayTimeDuration)\n}}\n'
            ),
        )


def _ask_buckets(
    stream: Stream, catalog: Catalog, measured: "MeasuredStream", terms: Terms
) -> Iterator[tuple[str, str]]:
    """How many rows there are in buckets of time, and their average: of each thing, where rows are
    about the same ones; and of all, where it is not known which there are."""
    subject = describe_stream(stream, catalog)
    kind, _ = _show(terms, terms.classes[stream.name].iri)
    width, unit = _bucket(measured)
    value = average = ""
    of = "How many there were"
    if subject.value is not None:
        value = f" ; {terms.show(terms.columns[stream.name, subject.value].iri)} ?value"
        average = " (AVG(?value) AS ?average)"
        column = stream.column(subject.value)
        some = column is not None and column.nullable
        said = _say(subject.value)
        of += f" with a value of {said}, and its average" if some else f", and their average {said}"
    about, asked = "", [""]
    if subject.entity is not None:
        about = f" ; {terms.show(terms.about[stream.name].iri)} ?it"
        asked = ["?it "] if _comes_again(measured, subject.entity) else []
        asked += [] if asked and _is_known(stream, subject.entity) else [""]
    for each in asked:
        thing = f" of each {_say(subject.entity)}" if each and subject.entity is not None else ""
        more = "-of-all" if each != asked[0] else ""
        name = f"{stream.name.replace('_', '-')}-by-{unit}{more}"
        if not stream.keys:
            by = subject.entity if each else None
            yield name, _count_in_sql(stream, by, subject.value, f"{of}{thing}", unit)
            continue
        yield (
            name,
            (
                f"# {of}{thing}, {unit} by {unit}.\n"
                f"{_prefixes(terms, stream.name, subject.value)}"
                f"SELECT {each}?{unit} (COUNT(*) AS ?rows){average}\n"
                f"WHERE {{\n  GRAPH ?t {{ ?row a {kind}{about if each else ''}{value} }}\n}}\n"
                f"GROUP BY {each}({_tumble(stream, width, unit)} AS ?{unit})\n"
            ),
        )


_AS_ROWS = "(SQL: no columns tell its rows apart, of which SPARQL would take equal ones for one)"


def _above_in_sql(stream: Stream, subject: Subject, what: str, limit: str) -> str:
    """The rows with a great value; in SPARQL those that are called alike would be one."""
    assert subject.value is not None
    shown = [n for n in (subject.entity, stream.timestamp, subject.value) if n is not None]
    return (
        f"-- {what} {_AS_ROWS}.\nSELECT {', '.join(map(_show_column, shown))}\n"
        f"FROM {_name(stream.name)}\nWHERE {_name(subject.value)} > {limit}\n"
    )


def _count_in_sql(stream: Stream, by: str | None, value: str | None, what: str, unit: str) -> str:
    """How many rows there are in buckets of time; in SPARQL those that are called alike would
    be one."""
    each = "" if by is None else f"{_name(by)}, "
    average = "" if value is None else f", AVG({_name(value)}) AS average"
    since = _truncate(stream, unit)
    column = None if value is None else stream.column(value)
    number = f"COUNT({_name(column.name)})" if column and column.nullable else "COUNT(*)"
    return (
        f"-- {what}, {unit} by {unit} {_AS_ROWS}.\n"
        f"SELECT {each}{since} AS since, {number} AS number{average}\n"
        f"FROM {_name(stream.name)}\nGROUP BY {each}{since}\n"
    )


def _is_known(stream: Stream, entity: str) -> bool:
    """Whether it is declared which values a column may have."""
    column = stream.column(entity)
    if column is None or any(entity in r.columns for r in stream.references):
        return True
    return column.enum is not None or column.minimum is not None


def _say(column: str) -> str:
    """A column's name in a sentence: `depth class`."""
    return " ".join(re.split(r"[_\W]+", column)).strip() or column


def _ask_columns(
    stream: Stream, name: str, unit: str, subject: Subject
) -> Iterator[tuple[str, str]]:
    """What is asked of columns alone: the averages of those that are alike, and between which
    values one lies."""
    yield from _ask_alike(stream, name, unit)
    if subject.value is not None:
        value, since = _name(subject.value), _truncate(stream, unit)
        known = subject.entity is not None and _is_known(stream, subject.entity)
        each = f"{_name(subject.entity)}, " if known and subject.entity is not None else ""
        thing = f" of each {_say(subject.entity)}" if each and subject.entity is not None else ""
        yield (
            f"{name}-range",
            (
                f"-- The least and the greatest {_say(subject.value)}{thing}, {unit} by {unit} "
                f"(SQL, over the tables).\nSELECT {each}{since} AS since,\n"
                f"  MIN({value}) AS least, MAX({value}) AS greatest\n"
                f"FROM {_name(stream.name)}\nGROUP BY {each}{since}\n"
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


def _latest(head: str, row: str, of: str) -> str:
    """The rows that have no later one about the same thing, with a value."""
    return (
        f"{head}SELECT ?it ?value\nWHERE {{\n  GRAPH ?t {{ ?row {row} ; {of} ?value }}\n"
        f"  FILTER NOT EXISTS {{\n    GRAPH ?later {{ ?next {row} ; {of} ?other }}\n"
        f"    FILTER(?later > ?t)\n  }}\n}}\n"
    )


def _again_us(stream: Stream, measured: "MeasuredStream", entity: str) -> int:
    """How long it takes for most things to be seen again: twice as long as on average, rounded up,
    in whole steps, and at least two of them."""
    found, span = measured.columns.get(entity), 0
    if measured.first_us is not None and measured.last_us is not None:
        span = measured.last_us - measured.first_us
    things = 1 if found is None or found.distinct is None else found.distinct
    average = span * things // max(measured.rows, 1)
    least = max(2, ceil(2 * average / stream.step_us)) * stream.step_us
    return next((w for w in _ROUND_US if w >= least and not w % stream.step_us), least)


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


def _show_column(column: str) -> str:
    """A column in SELECT; every answer has columns of its own that are called so."""
    own = column.lower() in ("at", "multiplicity", "until", "op")
    return f"{_name(column)} AS {column.lower()}_seen" if own else _name(column)


def _middle(measured: "MeasuredStream", column: str) -> str:
    """A number about three quarters of the way from the least to the greatest value."""
    found = measured.columns.get(column)
    if found is None or found.minimum is None or found.maximum is None:
        return "0"
    low, high = float(found.minimum), float(found.maximum)
    if not isfinite(high - low):  # a file may have inf in it
        low = high = next((end for end in (low, high) if isfinite(end)), 0.0)
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
