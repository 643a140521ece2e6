"""Names the classes and properties that a target of an .obda mapping could be about."""

import re
from collections.abc import Iterator, Mapping, Sequence

from ontoweir.mappings.r2rml.mapping_file import NO_IRI
from ontoweir.mappings.r2rml.parse_obda_target import TargetRefusal, TargetToken, read_tokens
from ontoweir.mappings.r2rml.r2rml_document import RDF_TYPE

_BRACED = re.compile(r"\{([^{}]*)\}")
_NO_COLUMN = re.compile(r"[;:<>]")
"""What hardly a column's name has."""
_ENDS = frozenset(".;,{}")
_OBJECTS = ("column", "string", "number")


def name_target(
    text: str, prefixes: Mapping[str, str]
) -> tuple[frozenset[str], frozenset[str]] | None:
    """The IRIs that a target could make triples of, whatever is wrong in it; and the local names
    behind undeclared prefixes, with which such an IRI could end.

    Where the text is triples, these are the predicates, and the objects of rdf:type. Where it is
    not, they are all that it names, if what is made from data can be no predicate and no class.

    >>> whole, endings = name_target(":s/{id} a :C :p {x} ; ex:q", {"": "http://e/"})
    >>> sorted(whole), sorted(endings)
    (['http://e/C', 'http://e/p'], ['q'])

    Returns:
        None where it could be about anything: a text that cannot be read, a word without a colon,
        a predicate or a class made from data.
    """
    try:
        tokens = read_tokens(text)
    except TargetRefusal:
        return None
    if has_odd_column(text):
        return None
    if any(t.kind == "word" and not _is_word(t) for t in tokens):
        return None
    names = _Names(prefixes)
    if not all(_add_part(part, before, names) for part, before in _split(tokens, names)):
        return None
    if names.wrong or not (names.whole or names.endings):
        return None
    return frozenset(names.whole), frozenset(names.endings)


def has_odd_column(text: str) -> bool:
    """Whether a column's name may have taken in a part of the target: a brace is missing."""
    return any(_NO_COLUMN.search(inside) for inside in _BRACED.findall(text))


def _is_word(token: TargetToken) -> bool:
    return token.text in ("a", "true", "false") or _is_graph(token)


def _is_graph(token: TargetToken) -> bool:
    return token.kind == "word" and token.text.upper() == "GRAPH"


class _Names:
    def __init__(self, prefixes: Mapping[str, str]) -> None:
        self.prefixes = prefixes
        self.whole: set[str] = set()
        self.endings: set[str] = set()
        self.wrong = False
        """Whether one is not an IRI, so that the one that was meant is unknown."""
        self.typed = False
        """Whether what comes next could be a class."""

    def add(self, token: TargetToken) -> bool:
        """Collect the IRI; True if it may be rdf:type, so that a class follows."""
        if token.text == "a":
            return True
        ending = None
        if token.kind == "iri":
            text = token.text[1:-1]
            if ":" not in text:
                ending = text
        else:
            prefix, _, local = token.text.partition(":")
            text = self.prefixes.get(prefix, "") + local
            if ":" not in self.prefixes.get(prefix, ""):
                ending = local
        self.wrong |= bool(NO_IRI.search(text))
        if ending is not None:
            self.endings.add(ending)
            return RDF_TYPE.endswith(ending)
        if text != RDF_TYPE:
            self.whole.add(text)
        return text == RDF_TYPE


def _split(tokens: Sequence[TargetToken], names: _Names) -> Iterator[tuple[list[TargetToken], str]]:
    """What is between full stops, semicolons, commas and the braces of a graph, with the mark
    before it. A graph's name and a datatype are not part of it."""
    part: list[TargetToken] = []
    before = "."
    aside = ""
    for token in tokens:
        if aside and _is_name(token):
            if _is_fixed(token):
                names.add(token)  # a property, where the datatype was forgotten
            elif aside == "mark":
                names.wrong = True
            aside = ""
            continue
        aside = token.kind if token.kind == "mark" or _is_graph(token) else ""
        if aside:
            continue
        if token.kind == "stop" and token.text in _ENDS:
            if part:
                yield part, before
            part, before = [], token.text
        elif token.kind != "tag":
            part.append(token)
    if part:
        yield part, before


def _add_part(part: list[TargetToken], before: str, names: _Names) -> bool:
    """Add what a part could be about; False: anything."""
    match before, len(part):
        case (";", 2):
            return _add_pair(part, names)
        case (",", 1):
            return _add_object(part[0], names)
        case (("." | "{" | "}"), 3):
            return _is_name(part[0]) and _add_pair(part[1:], names)
        case _:
            return _add_all(part, before, names)


def _add_pair(pair: Sequence[TargetToken], names: _Names) -> bool:
    predicate, value = pair
    if not _is_fixed(predicate):
        return False
    names.typed = names.add(predicate)
    return _add_object(value, names)


def _add_object(value: TargetToken, names: _Names) -> bool:
    if not names.typed:
        return _is_name(value) or value.kind in _OBJECTS or value.text in ("true", "false")
    if not _is_fixed(value):
        return False
    names.add(value)
    return True


def _add_all(part: list[TargetToken], before: str, names: _Names) -> bool:
    """Of what is not a triple: all that is named. What is made from data is its subject at the
    beginning, and an object behind a property; elsewhere it could be anything."""
    begins = before not in (";", ",")
    classes = 1 if before == "," and names.typed else 0
    for place, token in enumerate(part):
        if token.kind == "star":
            return False
        if _is_fixed(token):
            classes = 2 if names.add(token) else max(classes - 1, 0)
        elif _is_name(token) or token.kind in _OBJECTS:
            subject = begins and place == 0 and _is_name(token)
            behind = place > (1 if begins else 0) and _is_fixed(part[place - 1])
            if not subject and (classes or not behind):
                return False
    names.typed = True  # what follows a comma may be a class, of an unknown subject
    return classes != 2  # a class that is missing may be any


def _is_name(token: TargetToken) -> bool:
    return token.kind in ("iri", "name")


def _is_fixed(token: TargetToken) -> bool:
    """Whether it is an IRI, the same for all rows."""
    if token.kind == "word":
        return token.text == "a"
    return _is_name(token) and "{" not in token.text and not token.text.startswith("_:")
