"""Names of tables and columns as names of classes and properties, and as words."""

import re
from functools import lru_cache

_GENERAL = frozenset(("id", "uuid", "guid", "no", "nr", "number", "key", "code", "row", "index"))
"""What a column may be called in any table."""
_ALIKE = frozenset(("series", "species", "news", "data", "lens", "canvas", "atlas", "bias"))
_WITH_IE = frozenset(("movies", "cookies", "calories", "zombies", "ties", "pies", "dies", "lies"))
"""Words whose plural is as the singular is, and whose singular has an e."""


def class_of(table: str) -> str:
    """The class of a table's rows: `room_sensors` has `RoomSensor`."""
    words = _parts(table)
    words[-1] = singular_of(words[-1])
    return "".join(w[:1].upper() + w[1:] for w in words)


def singular_of(word: str) -> str:
    """A word without the end of its plural.

    >>> [singular_of(w) for w in ("Sensors", "studies", "movies", "series", "addresses", "boxes")]
    ['Sensor', 'study', 'movie', 'series', 'address', 'box']
    >>> [singular_of(w) for w in ("status", "analysis", "gas", "class", "houses", "databases")]
    ['status', 'analysis', 'gas', 'class', 'house', 'database']
    """
    plain = word.lower()
    if plain in _ALIKE or len(word) <= 3 or not plain.endswith("s"):
        return word
    if plain.endswith("ies") and len(word) > 4 and plain not in _WITH_IE:
        return f"{word[:-3]}y"
    if plain.endswith(("sses", "xes", "shes", "ches")):
        return word[:-2]
    return word if plain.endswith(("ss", "us", "is")) else word[:-1]


def property_of(column: str) -> str:
    """The property of a column: `avg_speed` has `avgSpeed`."""
    words = _parts(column) or ["value"]
    name = words[0][:1].lower() + words[0][1:] + "".join(w[:1].upper() + w[1:] for w in words[1:])
    return name if not name[0].isdigit() else f"p{name}"


def without_id(column: str) -> str:
    """The name of what a column identifies: `sensor_id` is of a `sensor`."""
    return re.sub(r"[_\W]*id$", "", column, flags=re.IGNORECASE) or column


@lru_cache(maxsize=1 << 16)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, of snake or camel case, in lower case: `avgSpeed` and `AVG_SPEED` have
    `avg` and `speed`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return tuple(w.lower() for w in re.split(r"[_\W]+", spaced) if w)


def names_rows(column: str, relation: str, key: str) -> bool:
    """Whether a column is called as what names rows of a relation: after its key, or after the
    relation.

    >>> names_rows("customer_id", "customers", "id"), names_rows("report", "sensor", "REPORT")
    (True, True)
    >>> names_rows("id", "clicks", "id"), names_rows("customer_id", "clicks", "id")
    (False, False)
    """
    mine, other = ("".join(words_of(name)) for name in (column, key))
    if mine == other and mine not in _GENERAL:
        return True
    thing, rows = "".join(words_of(without_id(column))), class_of(relation).lower()
    return mine not in _GENERAL and len(thing) > 1 and (rows in thing or thing in rows)


def local_name(iri: str) -> str:
    """What an IRI ends with, after its namespace."""
    return iri[len(namespace_of(iri)) :]


def namespace_of(iri: str) -> str:
    """An IRI up to its last # or /; or :, where it has neither."""
    end = max(iri.rfind("#"), iri.rfind("/"))
    return iri[: (end if end >= 0 else iri.rfind(":")) + 1]


def _parts(text: str) -> list[str]:
    """The words of a name as they are; capitals alone say nothing."""
    return [w for w in re.split(r"[_\W]+", text.lower() if text.isupper() else text) if w]
