"""Whether a term of an ontology is called as a table or a column is."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ontoweir.scaffold.terms.name_terms import local_name, singular_of, words_of

_FILLER_WORDS = """
    a an and at belongs by for from get has have in is located made measured observed of on part
    stands the to was with
"""
_FILLERS = frozenset(_FILLER_WORDS.split())
"""Words of properties that say little: hasSpeed, madeBySensor."""
_UNIT_WORDS = """
    a bar c cm celsius count db deg degc f fahrenheit g hpa hz k kg kelvin km kmh kph kw kwh lux m
    mm mph ms mps n nr num pa pct percent ppm s sec secs seconds v w
"""
_UNITS = frozenset(_UNIT_WORDS.split())
"""Words at the end of columns that say how a value is written."""
_SPELLED = {
    "avg": "average",
    "lat": "latitude",
    "lng": "longitude",
    "lon": "longitude",
    "nr": "number",
    "qty": "quantity",
    "ts": "timestamp",
}
"""What abbreviations stand for that stand for nothing else."""
_SHORT = 3
"""So many letters, or more, may stand for a word that begins with them."""


@dataclass(frozen=True, slots=True)
class Match:
    """How well names agree: the less the `grade`, the better, below 4 all words do; and in words
    why."""

    grade: int
    because: str


def match_names(
    iri: str, labels: Sequence[str], name: str, around: Collection[str] = ()
) -> Match | None:
    """The best agreement of a term with a name (None: there is none).

    Args:
        iri: of the term.
        labels: of the term.
        name: of a table or column.
        around: of a column, the names of its table.
    """
    local = local_name(iri)
    called = [(local, f"its name {local}"), *((label, f'its label "{label}"') for label in labels)]
    more = _list_words(tuple(around))
    found = (_match(text, said, name, more) for text, said in called)
    return min((m for m in found if m is not None), key=lambda m: m.grade, default=None)


@lru_cache(maxsize=1 << 10)
def _list_words(names: tuple[str, ...]) -> frozenset[str]:
    """The words of some names."""
    return frozenset(singular_of(word) for name in names for word in words_of(name))


def _match(text: str, said: str, name: str, around: frozenset[str]) -> Match | None:
    theirs, mine = words_of(text), words_of(name)
    if not theirs or not mine:
        return None
    left, right = _stems(theirs), _stems(mine)
    if left == right or "".join(theirs) == "".join(mine):
        return Match(1, f"{said} is that of {name}")
    bare = tuple(w for w in left if w not in _FILLERS)
    if bare and bare == right:
        return Match(2, f"{said} is that of {name}, without words such as has and of")
    if bare and bare == (spelled := tuple(_SPELLED.get(w, w) for w in right)):
        return Match(2, f"{said} is that of {name}, which is {' '.join(spelled)}")
    if bare and len(right) > 1 and right[-1] in _UNITS and bare == right[:-1]:
        return Match(2, f"{said} is that of {name} without {mine[-1]}")
    longer, shorter = (bare, right) if len(bare) > len(right) else (right, bare)
    rest = [w for w in longer if w not in shorter]
    if shorter and set(shorter) < set(longer) and set(rest) <= around:
        return Match(3, f"{said} is that of {name}, without the words of the table")
    if len(bare) == len(right) and all(map(_abbreviates, bare, right)):
        return Match(4, f"{said} begins like {name}")
    return None


def _abbreviates(one: str, other: str) -> bool:
    shorter = min(one, other, key=len)
    return one == other or (
        len(shorter) >= _SHORT and one.startswith(shorter) and other.startswith(shorter)
    )


@lru_cache(maxsize=1 << 16)
def _stems(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(singular_of(word) for word in words)
