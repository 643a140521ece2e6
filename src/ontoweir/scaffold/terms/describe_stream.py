"""What a stream is about, for an ontology: what is observed, and which column is its value."""

import re
from dataclasses import dataclass

from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    DecimalType,
    FloatType,
    IntType,
    Stream,
    StringType,
)
from ontoweir.scaffold.terms.name_terms import class_of, without_id

_NUMBERS = {"id", "nr", "no", "number", "nummer", "mmsi", "imei", "imo"}
_THINGS = {"mmsi", "imei", "imo"}
"""Of them those that number things, alone, too."""
_VALUES = {"value", "val", "wert", "valeur", "valor", "reading", "measurement"}
_TIMES = {"date", "time", "day", "datum", "zeit", "tag", "timestamp", "datetime", "month", "year"}
"""Words in the names of columns that are another time of a row, which is not what it is about."""
_PLACES = {"lat", "latitude", "lon", "lng", "long", "longitude"}
"""Words in the names of columns that say where something is, which is not its value."""


@dataclass(frozen=True, slots=True)
class Subject:
    """`entity`: the column that says what a row is about (None: none does), `relation`: the static
    relation that knows it, or the stream whose rows are called so (None: none does); `value`: the
    first column of measured numbers (None: there is none); `state`: the first of texts or truths,
    beside the entity."""

    entity: str | None
    relation: str | None
    value: str | None
    state: str | None = None


def describe_stream(stream: Stream, catalog: Catalog) -> Subject:
    """What a stream is about: what it references; else what tells the rows of a timestamp apart;
    else a column called as numbers of things are, or one of texts, of which there are several, in
    all rows: of a row without one nothing would be said."""
    entity = relation = None
    for reference in stream.references:
        if len(reference.columns) == 1 and entity is None:
            entity, relation = reference.columns[0], reference.relation
    own = find_own_id(stream)
    things = (c for c in stream.columns if isinstance(c.type, IntType | StringType))
    names = [c.name for c in things if c.name != own and not _TIMES & {*_words(c.name)}]
    for key in stream.keys:
        others = [n for n in key if n != stream.timestamp]
        if entity is None and len(others) == 1 and len(key) == 2 and others[0] in names:
            entity = others[0]
    plain_things = (c for c in stream.columns if c.name in names)
    alone = {"id"} if own is None else set()  # of rows, else
    called = (c.name for c in plain_things if _is_number(c.name) or c.name.lower() in alone)
    texts = (
        c.name
        for c in stream.columns
        if isinstance(c.type, StringType)
        and c.name in names
        and not c.nullable
        and (c.enum is None or len(c.enum) > 1)
    )
    entity = entity or next(called, None) or next(texts, None)
    numbers = [
        c.name
        for c in stream.columns
        if isinstance(c.type, IntType | DecimalType | FloatType) and c.name != entity
    ]
    numbers = [n for n in numbers if not _PLACES & {*_words(n)}]
    kinds = {c.name: c.type for c in stream.columns}
    measured = [n for n in numbers if not isinstance(kinds[n], IntType)]
    keys = {n for key in stream.keys for n in key}
    plain = [n for n in numbers if n not in keys and not names_thing(n)]
    called_so = [n for n in numbers if _VALUES & {*_words(n)}]
    told = [n for n, k in kinds.items() if isinstance(k, StringType | BooleanType)]
    state = next((n for n in told if n not in {entity, *keys}), None)
    if entity is not None and relation is None:
        relation = _find_rows(entity, stream, catalog)
    return Subject(entity, relation, next(iter([*called_so, *measured, *plain]), None), state)


def find_own_id(stream: Stream) -> str | None:
    """The column that rows are called by: of a key, and named `id`, or as the stream is: an order
    by `order_id` (None: there is none). Its key begins with it: one that comes again, as
    `vehicle_id` does in `vehicles.csv`, comes after the timestamp (`measure_guessed`)."""
    name = class_of(stream.name).lower()
    known = {"id", "uuid", "guid", name, *(f"{name}{end}" for end in ("id", "uuid", "no", "nr"))}
    for key in stream.keys:
        first, *others = key
        if others in ([], [stream.timestamp]) and "".join(_words(first)) in known:
            return first
    return None


def _find_rows(entity: str, stream: Stream, catalog: Catalog) -> str | None:
    """The stream whose rows a column of another one names: `order` those of `orders`."""
    kind = class_of(without_id(entity)).lower()
    return next(
        (
            other.name
            for other in catalog.streams.values()
            if other != stream and class_of(other.name).lower() == kind and find_own_id(other)
        ),
        None,
    )


def names_thing(column: str) -> bool:
    """Whether whole numbers of a column are called as what tells things apart, not as what is
    measured of them.

    >>> names_thing("vessel_mmsi"), names_thing("deviceId"), names_thing("tons")
    (True, True, False)
    """
    return _is_number(column) or column.lower().endswith("id")


def _is_number(column: str) -> bool:
    """Whether a column is called as what things are numbered by: `id`, or `No`, alone is of
    rows."""
    words = _words(column)
    return bool(words) and words[-1] in _NUMBERS and (len(words) > 1 or words[0] in _THINGS)


def _words(column: str) -> list[str]:
    return [w for w in re.split(r"[_\W]+", column.lower()) if w]
